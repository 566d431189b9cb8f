"""What the pages of a window are created from, and their creation."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, TypeVar

from lethe_app.ui.core.routes import PAGES
from lethe_app.ui.pages.choice_lists import ChoiceLists
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

    def create_persona_selector(self) -> PersonaSelector:
        """Create the choice of the persona of a page."""
        return PersonaSelector(self.context, self.services.library, self.services.preferences)

    def create_owner_selector(self) -> PersonaSelector:
        """Create the choice of the persona or world of a page."""
        return PersonaSelector(self.context, self.services.library, self.services.preferences, with_worlds=True)

    def create_choice_lists(self) -> ChoiceLists:
        """Create the lists of choices of form fields."""
        return self.create(ChoiceLists)

    def create_persona_deletion(self) -> PersonaDeletion:
        """Create the deletion of personas, which opens another session in place of one of a deleted persona."""
        return self.create(PersonaDeletion)

    def create(self, factory: Callable[..., Created], **others: object) -> Created:
        """Call a class or function with what its parameters are named after: one of the `others`, a field of this environment,
        a widget that it has a method `create_…` for, or else a service.
        """
        # That of the class itself would be Qt's.
        function = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc]  # it is a class
        names = list(signature(function).parameters)
        given = {"environment": self, **others}
        for name in names[int(isinstance(factory, type)) :]:  # without `self`
            if name not in given:
                build = getattr(self, f"create_{name}", None)
                given[name] = build() if build is not None else getattr(self, name, None) or getattr(self.services, name)
        return factory(**{name: given[name] for name in names if name in given})

    def create_page(self, route: Route) -> Page:
        """Create the page of a route: the class of pages in its module, or what the function `create_page` in it returns. The
        module is imported when the page is first opened, so that none delays the start.
        """
        module = import_module(f"lethe_app.ui.pages.{PAGES[type(route)].module}")
        own = [kind for name, kind in vars(module).items() if name.endswith("Page") and kind.__module__ == module.__name__]
        page: Page = self.create(getattr(module, "create_page", None) or own[0], route=route, _route=route)
        return page
