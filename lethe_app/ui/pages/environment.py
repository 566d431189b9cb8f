"""What the pages of a window are created from, and their creation."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from lethe_app.ui.core.routes import PAGES
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.personas.deletion import PersonaDeletion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.bundle import BundleScope
    from lethe_app.services.speech.output import SpeechOutput
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.core.routes import Route
    from lethe_app.ui.pages.context import PageContext
    from lethe_app.ui.pages.page import Page
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.chat_view import ChatView


@dataclass(frozen=True)
class PageEnvironment:
    """What the pages of one window are created from; the function `create_page` of each gives it the services that it calls."""

    context: PageContext
    services: AppServices
    window: MainWindow
    chat_view: ChatView
    export_persona: Callable[[str, BundleScope], Awaitable[None]]
    file_transfers: FileTransfers
    """Reading and writing of files in progress, for the activity list."""
    speech_output: SpeechOutput
    """Voices, and the speaking of samples."""

    def create_persona_selector(self, *, with_worlds: bool = False) -> PersonaSelector:
        """Create the choice of the persona of a page, or of a world."""
        return PersonaSelector(self.context, self.services.library, self.services.preferences, with_worlds=with_worlds)

    def create_persona_deletion(self) -> PersonaDeletion:
        """Create the deletion of personas, which opens another session in place of one of a deleted persona."""
        services = self.services
        return PersonaDeletion(self.context, services.library, services.preferences, services.sessions)

    def create_page(self, route: Route) -> Page:
        """Create the page of a route. Its module is imported when it is first opened, so that none delays the start."""
        page: Page = import_module(f"lethe_app.ui.pages.{PAGES[type(route)].module}").create_page(self, route)
        return page
