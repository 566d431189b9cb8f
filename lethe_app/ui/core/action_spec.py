"""Declaration of an action of the user: name, title, shortcuts, and its group in the list of shortcuts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QT_TRANSLATE_NOOP


class ActionGroup(Enum):
    """Group of actions in the list of shortcuts, in its order; the values are the titles."""

    MESSAGES = str(QT_TRANSLATE_NOOP("Action", "Messages and replies"))
    CONVERSATIONS = str(QT_TRANSLATE_NOOP("Action", "Conversations"))
    PERSONAS = str(QT_TRANSLATE_NOOP("Action", "Personas and worlds"))
    MEMORY = str(QT_TRANSLATE_NOOP("Action", "Memory"))
    MODELS = str(QT_TRANSLATE_NOOP("Action", "Models, background and internet"))
    WINDOW = str(QT_TRANSLATE_NOOP("Action", "Window"))


@dataclass(frozen=True)
class ActionSpec:
    """Action of the user.

    Keys of an `is_local` action are handled by the focused widget, not by a shortcut of the window; the command palette can
    trigger it if a controller has connected it.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    group: ActionGroup
    is_local: bool = False
