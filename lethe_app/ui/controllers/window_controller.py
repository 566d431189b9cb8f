"""Create the controllers that connect the window with the services, and close them in order."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtGui import QDesktopServices

from lethe_app.domain.bundle import BundleScope
from lethe_app.domain.chat import Role
from lethe_app.services.events import NoModel
from lethe_app.ui.controllers.appearance import AppearanceController
from lethe_app.ui.controllers.background_activity import BackgroundActivityController
from lethe_app.ui.controllers.bundles import BundleController, export_persona
from lethe_app.ui.controllers.conversation.feedback import FeedbackController
from lethe_app.ui.controllers.conversation.message_deletion import MessageDeletion
from lethe_app.ui.controllers.conversation.message_edits import MessageEdits
from lethe_app.ui.controllers.conversation.replies import ReplyController
from lethe_app.ui.controllers.conversation.session_end import SessionEnd
from lethe_app.ui.controllers.conversation.session_follower import SessionFollower
from lethe_app.ui.controllers.conversation.unanswered import UnansweredController
from lethe_app.ui.controllers.desktop_notifications import DesktopNotifications
from lethe_app.ui.controllers.first_start import FirstStart
from lethe_app.ui.controllers.gear_menu import GearMenu
from lethe_app.ui.controllers.group import GroupController
from lethe_app.ui.controllers.index_rebuild import IndexRebuild
from lethe_app.ui.controllers.memory_panel import MemoryPanelController
from lethe_app.ui.controllers.model import ModelController
from lethe_app.ui.controllers.participants import ParticipantsController
from lethe_app.ui.controllers.preferred_model import PreferredModelController
from lethe_app.ui.controllers.sessions import SessionController
from lethe_app.ui.controllers.tool_permissions import ToolPermissionController
from lethe_app.ui.controllers.user_activity import UserActivity
from lethe_app.ui.controllers.web_status import WebStatusController
from lethe_app.ui.core.page_preload import PagePreload
from lethe_app.ui.core.routes import ACTION_ROUTES, PersonaRoute, Route
from lethe_app.ui.core.tasks import TaskRunner
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.navigator import PageNavigator
from lethe_app.ui.pages.registry import PageRegistry
from lethe_app.ui.shell.command_palette import CommandPalette
from lethe_app.ui.transcript.model.annotations import AnnotationQueries
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.view import ChatView

if TYPE_CHECKING:
    from collections.abc import Callable

    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.pages.page import Page
    from lethe_app.ui.shell.main_window import MainWindow

IDLE_BEFORE_PRELOAD = timedelta(seconds=2)
"""Time without input after which the next page module may be imported."""


class WindowController(QObject):
    """Owner of all objects that exist only while the services are open."""

    def __init__(self, window: MainWindow, services: AppServices) -> None:
        super().__init__(window)
        self._window, self._services = window, services
        self.tasks = TaskRunner(window.notifier.report_error)
        queries = AnnotationQueries(services.reply_sources.recalled_counts, services.feedback.ratings_of)
        self.messages = ChatModel(queries, self)
        self.view = ChatView(self.messages)
        self.models = ModelController(window, services, self.tasks)
        self.background = BackgroundActivityController(window, services, self.tasks)
        self.web_status = WebStatusController(window, services)
        self.participants = ParticipantsController(window, services)
        self.replies = ReplyController(window, services, self.messages, self.models, self.participants, self.tasks)
        self.sessions = SessionController(window, services, self.replies, self.participants, self.tasks)
        self.appearance = AppearanceController(window, self.view, self.messages, services.preferences, self.tasks)
        self.gear_menu = GearMenu(window, services, self.appearance, self.tasks)
        self.desktop_notifications = DesktopNotifications(window, services)
        self.replies.reply_completed.connect(self.desktop_notifications.notify_reply)
        self.navigator = PageNavigator(window.pages, window.panes, window.focus_composer, self._create_page, self.tasks)
        self.page_context = PageContext(
            window,
            services,
            self.tasks,
            self.navigator,
            lambda: self.sessions.current_session,
            self._go_to,
            self.background.file_transfers,
        )
        self.pages = PageRegistry(self.page_context)
        self.navigator.route_changed.connect(self._update_persona_action)
        for name, route in ACTION_ROUTES.items():
            window.actions_.connect(**{name: partial(self.navigator.open, route)})
        window.actions_.connect(persona_editor=self._edit_current_persona)
        window.actions_.return_to_session = self._return_to_session
        window.sidebar.edit_wanted.connect(lambda persona_id: self.navigator.open(PersonaRoute(persona_id)))
        window.sidebar.duplicate_wanted.connect(self._duplicate_persona)
        window.sidebar.export_wanted.connect(self._export_persona)
        window.sidebar.new_persona_button.clicked.connect(window.actions_["new_persona"].trigger)
        self.command_palette = CommandPalette(window.theme, window.actions_, window)
        window.actions_.connect(palette=self.command_palette.open_palette)
        self.session_follower = SessionFollower(services, self.sessions, self.replies, self.messages, self.tasks)
        self.message_edits = MessageEdits(window, services, self.view, self.messages, self.replies, self.tasks)
        self.message_deletion = MessageDeletion(window, services, self.view, self.replies, self.tasks)
        self.group = GroupController(self.page_context, self.participants, self.replies)
        self.memory_panel = MemoryPanelController(self.page_context, self.view, self.messages)
        self.index_rebuild = IndexRebuild(window, services, self.tasks)
        self.unanswered = UnansweredController(window.chat, self.replies, self.messages)
        self.session_end = SessionEnd(window, services, self.view, self.replies, self.tasks)
        self.tool_permissions = ToolPermissionController(window.chat, self.replies)
        self.feedback = FeedbackController(self.page_context, self.view, self.messages)
        self.user_activity = UserActivity(window.windowHandle(), window.chat.composer, services.idleness, self)
        self.bundles = BundleController(self.page_context)
        self.page_preload = PagePreload(self.is_idle, self)
        self.preferred_model = PreferredModelController(self.page_context, self.models)
        self.sessions.session_opened.connect(self.preferred_model.set_persona)
        self._connect_view()

    def _create_page(self, route: Route) -> Page:
        return self.pages.create_page(route)

    def _edit_current_persona(self) -> None:
        session = self.page_context.current_session()
        self.navigator.open(PersonaRoute(session.persona_id if session is not None else ""))

    def _update_persona_action(self) -> None:
        """Disable the action on a persona editor, because there must not be two drafts of one persona."""
        is_editing = isinstance(self.navigator.current_route, PersonaRoute)
        self._window.actions_["persona_editor"].setEnabled(not is_editing)

    def _duplicate_persona(self, persona_id: str) -> None:
        self.tasks.start_task(self._duplicate_and_edit(persona_id))

    async def _duplicate_and_edit(self, persona_id: str) -> None:
        persona = await self._services.library.persona(persona_id)
        copy = await self._services.library.duplicate_persona(persona_id, self.tr("{name} (copy)").format(name=persona.name))
        self.navigator.open(PersonaRoute(copy.unique_name, copy.is_user))

    def _go_to(self, session_id: UUID, message_id: UUID | None) -> None:
        """Leave the pages for a session and, if given, for a message in it."""
        self.tasks.start_task(self._open_session_at(session_id, message_id), key="find")

    async def _open_session_at(self, session_id: UUID, message_id: UUID | None) -> None:
        if await self.navigator.leave_all_pages():
            await self.sessions.go_to_session(session_id)
            if message_id is not None:
                self.view.go_to_message(message_id)

    def is_idle(self) -> bool:
        """Return whether the user has been idle for `IDLE_BEFORE_PRELOAD` and no reply is in progress."""
        idle_time = self._services.idleness.idle_time
        return idle_time is not None and idle_time >= IDLE_BEFORE_PRELOAD and not self.replies.is_replying

    def _return_to_session(self, callback: Callable[[], object]) -> None:
        """Run `callback` in the conversation; open pages are left first, and `callback` is dropped if one of them objects."""
        if self.navigator.current_page is None:
            callback()
        else:
            self.tasks.start_task(self._leave_pages_and_run(callback), key="leave")

    async def _leave_pages_and_run(self, callback: Callable[[], object]) -> None:
        if await self.navigator.leave_all_pages():
            callback()

    def _connect_view(self) -> None:
        view, replies = self.view, self.replies
        view.regenerate_requested.connect(replies.regenerate)
        view.continue_requested.connect(replies.continue_reply)
        view.alternative_requested.connect(replies.show_alternative)
        view.link_activated.connect(QDesktopServices.openUrl)
        view.text_typed.connect(self._window.chat.composer.insert_text)
        view.set_avatars(self.sessions.render_speaker_avatar)
        self.sessions.avatars_changed.connect(lambda: view.set_avatars(self.sessions.render_speaker_avatar))
        self.participants.changed.connect(self._update_empty_text)  # not before: what is still being read is not empty
        self.messages.load_failed.connect(self._window.notifier.report_error)
        self._window.chat.composer.edit_last_wanted.connect(self._edit_last_message)
        self._window.set_transcript(view)

    def open(self) -> None:
        """Show the welcome screen at the first start; otherwise open the last session while the model is loaded."""
        if self._services.preferences.current.welcomed:
            self._window.close_welcome_pages()
            self.tasks.start_task(self.sessions.open_initial_session())
            if isinstance(self._services.models.state, NoModel):
                self.models.load_model()
        else:
            first = FirstStart(self._window, self._services, self.sessions, self.models, self.tasks)
            self.tasks.start_task(first.show_welcome())

    @property
    def is_replying(self) -> bool:
        """Return whether a reply is in progress in any session."""
        return self.replies.is_replying

    async def close(self) -> None:
        """Close pages and controllers: running replies are stopped and stored first, then all tasks are cancelled, then the
        controllers disconnect from the services.
        """
        self.page_preload.close()
        self.navigator.close_all_pages()
        self.bundles.close()
        await self.replies.stop_all_replies()
        await self.tasks.close()
        self.session_follower.close()
        self.user_activity.close()
        self.session_end.close()
        self.feedback.close()
        self.preferred_model.close()
        for part in (
            self.memory_panel,
            self.desktop_notifications,
            self.sessions,
            self.models,
            self.background,
            self.appearance,
            self.messages,
        ):
            part.close()
        self.web_status.close()

    def _export_persona(self, persona_id: str) -> None:
        self.tasks.start_task(export_persona(self.page_context, persona_id, BundleScope.PERSONA), key="give")

    def _update_empty_text(self) -> None:
        """Set the text that is shown in a session without messages."""
        participants = self.participants
        speaker = participants.chosen_speaker or (participants.participants[0] if not participants.is_group else None)
        words = self.tr("Write the first message, or press Send to let {name} begin.")
        words = words.format(name=speaker.name if speaker is not None else self.tr("one of them"))
        self.view.set_empty_texts(self.tr("No messages yet."), words)

    def _edit_last_message(self) -> None:
        """Open the editor on the user's newest message."""
        for row in range(self.messages.rowCount() - 1, -1, -1):
            outline = self.messages.outline(row)
            if outline.role is Role.USER:
                self.view.edit_message(outline.id)
                return
