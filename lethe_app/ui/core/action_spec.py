"""Declaration of an action of the user: name, title, shortcuts, and its group in the list of shortcuts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ActionGroup(Enum):
    """Group of actions in the list of shortcuts, in its order; the values are the titles."""

    MESSAGES = "Messages and replies"
    CONVERSATIONS = "Conversations"
    PERSONAS = "Personas and worlds"
    MEMORY = "Memory"
    MODELS = "Models, background and internet"
    WINDOW = "Window"


@dataclass(frozen=True)
class ActionSpec:
    """Action of the user.

    Keys of an `is_local` action are handled by the focused widget, not by a shortcut of the window; the command palette can
    trigger it if a controller has connected it.
    """

    name: str
    title: str
    keys: str
    """Shortcuts, separated by spaces."""
    group: ActionGroup
    is_local: bool = False
