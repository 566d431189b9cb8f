"""Context that every page receives: tasks, notifications, and navigation to other pages and to the conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from PySide6.QtWidgets import QWidget

    from lethe_app.domain.chat import ChatSession
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.core.theme import Theme
    from lethe_app.ui.pages.navigator import PageNavigator
    from lethe_app.ui.shell.notifier import Notifier


@dataclass(frozen=True)
class PageContext:
    """Context of the pages, one per window."""

    dialog_parent: QWidget
    """Parent of the dialogs that a page opens."""
    tasks: TaskRunner
    notifier: Notifier
    theme: Theme
    navigator: PageNavigator
    current_session: Callable[[], ChatSession | None]
    """Return the session on display; None if there is none."""
    open_session: Callable[[UUID, UUID | None], None]
    """Leave the pages for a session and, if given, for a message in it."""
    run_action: Callable[[str], None]
    """Run an action of the window by name; the pages are left first for one that needs the conversation."""
