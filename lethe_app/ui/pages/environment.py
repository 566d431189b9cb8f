"""What the pages of a window are created from, and their creation."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from lethe_app.composition.creation import create_from
from lethe_app.ui.core.routes import PAGES
from lethe_app.ui.pages.choice_lists import ChoiceLists
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.personas.deletion import PersonaDeletion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.bundle import BundleScope
    from lethe_app.services.library import Library
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.speech.output import SpeechOutput
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.core.routes import Route
    from lethe_app.ui.pages.context import PageContext
    from lethe_app.ui.pages.page import Page
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.chat_view import ChatView


Created = TypeVar("Created")


@dataclass(frozen=True)
class PageEnvironment:
    """What the pages of one window are created from."""

    context: PageContext
    services: AppServices
    window: MainWindow
    chat_view: ChatView
    export_persona: Callable[[str, BundleScope], Awaitable[None]]
    file_transfers: FileTransfers
    """Reading and writing of files in progress, for the activity list."""
    speech_output: SpeechOutput
    """Voices, and the speaking of samples."""

    def create(self, factory: Callable[..., Created], **others: object) -> Created:
        """Call a class or function with what its parameters are named after: one of the `others`, a field of this environment,
        something of its own as `PARTS` says, or else a service.
        """
        own = {"environment": self, **others}

        def find(name: str) -> object:
            if name in own:
                return own[name]
            if name in PARTS:
                return self.create(PARTS[name])
            return getattr(self, name) if hasattr(self, name) else getattr(self.services, name)

        return create_from(factory, find)

    def create_page(self, route: Route) -> Page:
        """Create the page of a route: the class of pages in its module, or what the function `create_page` in it returns. The
        module is imported when the page is first opened, so that none delays the start.
        """
        module = import_module(f"lethe_app.ui.pages.{PAGES[type(route)].module}")
        own = [kind for name, kind in vars(module).items() if name.endswith("Page") and kind.__module__ == module.__name__]
        page: Page = self.create(getattr(module, "create_page", None) or own[0], route=route)
        return page


def create_owner_selector(context: PageContext, library: Library, preferences: Preferences) -> PersonaSelector:
    """Create the choice of the persona or world of a page."""
    return PersonaSelector(context, library, preferences, with_worlds=True)


PARTS: dict[str, Callable[..., object]] = {
    "persona_selector": PersonaSelector,
    "owner_selector": create_owner_selector,
    "choice_lists": ChoiceLists,
    "persona_deletion": PersonaDeletion,
}
"""What each page gets one of its own, by the name of the parameter."""
