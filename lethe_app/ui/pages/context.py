"""Context that every page receives: window, services, and navigation to other pages and to the conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.bundle import BundleScope
    from lethe_app.domain.chat import ChatSession
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.core.theme import Theme
    from lethe_app.ui.pages.navigator import PageNavigator
    from lethe_app.ui.shell.main_window import MainWindow


@dataclass(frozen=True)
class PageContext:
    """Context of the pages, one per window."""

    window: MainWindow
    services: AppServices
    tasks: TaskRunner
    navigator: PageNavigator
    current_session: Callable[[], ChatSession | None]
    """Return the session on display; None if there is none."""
    open_session: Callable[[UUID, UUID | None], None]
    """Leave the pages for a session and, if given, for a message in it."""
    export_persona: Callable[[str, BundleScope], Awaitable[None]]
    """Ask for scope and target file, and export the persona of that id."""

    @property
    def theme(self) -> Theme:
        return self.window.theme
