"""What every page is handed: the window, the services, and the ways to other pages and to the conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.chat import ChatSession
    from lethe_app.ui.controllers.file_transfers import FileTransfers
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.core.theme import Theme
    from lethe_app.ui.pages.navigator import PageNavigator
    from lethe_app.ui.shell.main_window import MainWindow


@dataclass(frozen=True)
class PageContext:
    """Handed on from page to page; there is one for each window."""

    window: MainWindow
    services: AppServices
    bridge: Bridge
    desk: PageNavigator
    session: Callable[[], ChatSession | None]
    """The conversation that is open."""
    go_to: Callable[[UUID, UUID | None], None]
    """Leave the pages for that conversation, and for that message in it."""
    luggage: FileTransfers
    """Files that are being packed or unpacked."""

    @property
    def theme(self) -> Theme:
        return self.window.theme
