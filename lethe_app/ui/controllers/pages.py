"""Open pages by actions and from the sidebar, and leave them for the conversation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut

from lethe_app.domain.bundle import BundleScope
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.actions import SESSION_ONLY
from lethe_app.ui.core.routes import ACTION_ROUTES, PersonaRoute, Route, SettingsRoute
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.navigator import PageNavigator
from lethe_app.ui.pages.personas.deletion import PersonaDeletion

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from uuid import UUID

    from lethe_app.composition.app_services import AppServices
    from lethe_app.services.speech.output import SpeechOutput
    from lethe_app.ui.controllers.conversation.sessions import SessionController
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.pages.page import Page
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.chat_view import ChatView


class PageController(Controller):
    """Owner of the pages' navigator; it creates the pages."""

    def __init__(
        self,
        window: MainWindow,
        services: AppServices,
        view: ChatView,
        session_controller: SessionController,
        file_transfers: FileTransfers,
        export_persona: Callable[[str, BundleScope], Coroutine[Any, Any, None]],
        speech_output: SpeechOutput,
    ) -> None:
        super().__init__(window)
        self._library, self._view, self._session_controller = services.library, view, session_controller
        self.navigator = PageNavigator(
            window.pages, window.panes, window.chat.focus_composer, self._create_page, self._tasks, window.notifier.undo_last
        )
        context = PageContext(
            window,
            self._tasks,
            window.notifier,
            window.theme,
            self.navigator,
            lambda: session_controller.shown.session,
            self.open_session,
            self.run_action,
        )
        self._environment = PageEnvironment(context, services, window, view, export_persona, file_transfers, speech_output)
        self.navigator.route_changed.connect(self._on_route_changed)
        self.navigator.route_changed.connect(window.notifier.hurry_errors)
        for name, route in ACTION_ROUTES.items():
            self._actions.connect(**{name: partial(self.navigator.open, route)})
        self._actions.connect(undo=self.navigator.undo_last, redo=self.navigator.redo_last)
        session_controller.add_persona_commands(
            persona_editor=lambda persona_id: self.navigator.open(PersonaRoute(persona_id)),
            duplicate_persona=self._tasks.create_slot(self._duplicate_persona),
            delete_persona=self._tasks.create_slot(self._delete_persona, key="delete persona"),
            export=lambda persona_id: self._tasks.start_task(export_persona(persona_id, BundleScope.PERSONA), key="export"),
        )
        self._connect_session_actions()
        settings_action = window.chat.header.speech.settings_action
        settings_action.triggered.connect(lambda _checked=False: self.navigator.open(SettingsRoute("speech_voice")))
        window.sidebar.new_persona_button.clicked.connect(self._actions["new_persona"].trigger)

    def _create_page(self, route: Route) -> Page:
        page = self._environment.create_page(route)
        page.name_changed.connect(self._on_route_changed)
        # The change of an earlier notification is kept no longer when another one was made since.
        page.undo_stack.indexChanged.connect(lambda index: self._notifier.drop_undoable() if index else None)
        return page

    # Personas

    async def _delete_persona(self, persona_id: str) -> None:
        """Move a persona to the trash after a confirmation."""
        persona, deletion = await self._library.persona(persona_id), self._environment.create(PersonaDeletion)
        if await deletion.confirm_deletion(persona):
            await deletion.delete_persona(persona)

    def _on_route_changed(self) -> None:
        # There must not be two drafts of one persona.
        self._actions["persona_editor"].setEnabled(not isinstance(self.navigator.current_route, PersonaRoute))
        page = self.navigator.current_page
        self._window.set_page_title(page.accessibleName() if page is not None else "")

    async def _duplicate_persona(self, persona_id: str) -> None:
        persona = await self._library.persona(persona_id)
        copy = await self._library.duplicate_persona(persona_id, self.tr("{name} (copy)").format(name=persona.name))
        self.navigator.open(PersonaRoute(copy.unique_name, copy.is_user))

    async def leave_persona(self, persona_id: str) -> None:
        """Open a session of another persona if one of a removed persona is on display."""
        current = self._session_controller.shown.session
        if current is not None and current.persona_id == persona_id:
            await self._environment.create(PersonaDeletion).open_other_session(persona_id)

    def run_action(self, name: str) -> None:
        """Run an action of the window by name; the pages are left first for one that needs the conversation."""
        action = self._actions[name]
        if name in SESSION_ONLY:
            self._return_to_session(action.trigger)
        else:
            action.trigger()

    # Conversation

    def open_session(self, session_id: UUID, message_id: UUID | None) -> None:
        """Leave the pages for a session and, if given, for a message in it."""
        self._tasks.start_task(self.go_to_session(session_id, message_id), key="find")

    async def go_to_session(self, session_id: UUID, message_id: UUID | None = None) -> None:
        """Leave the pages for a session and wait until it is on display, unless a page objects."""
        if await self.navigator.leave_all_pages():
            await self._session_controller.go_to_session(session_id)
            if message_id is not None:
                self._view.go_to_message(message_id)

    def _connect_session_actions(self) -> None:
        """Connect the actions that return from a page to the session first."""
        window = self._window
        slots: dict[str, Callable[[], object]] = {
            "new": lambda: self._session_controller.start_session(""),
            "incognito": lambda: self._session_controller.start_incognito(""),
            "rename": self._rename_current_session,
            "find_conversation": window.go_to_search,
            "focus_sidebar": window.go_to_sidebar,
            "focus_chat": partial(self._view.setFocus, Qt.FocusReason.ShortcutFocusReason),
            "focus_composer": window.chat.composer.draft_field.setFocus,
        }
        self._actions.connect(**{name: partial(self._return_to_session, slot) for name, slot in slots.items()})

        # The message box has the focus after a click on a conversation; the sidebar and the pages have an F2 of their own.
        rename = QShortcut(QKeySequence(Qt.Key.Key_F2), window.chat, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        rename.activated.connect(self._actions["rename"].trigger)

    def _rename_current_session(self) -> None:
        session = self._session_controller.shown.session
        if session is not None:
            self._window.go_to_sidebar()
            self._window.sidebar.rename_session(str(session.guid))

    def _return_to_session(self, callback: Callable[[], object]) -> None:
        """Run `callback` in the conversation; open pages are left first, and `callback` is dropped if one of them objects."""

        async def leave_pages() -> None:
            if await self.navigator.leave_all_pages():
                callback()

        if self.navigator.current_page is None:
            callback()
        else:
            self._tasks.start_task(leave_pages(), key="leave")
