"""Create the controllers that connect the window with the services, and close them in order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QDesktopServices

from lethe_app.domain.chat import Role
from lethe_app.services.events import NoModel
from lethe_app.ui.controllers.appearance import AppearanceController
from lethe_app.ui.controllers.background_activity import (
    ActivityServices,
    BackgroundActivityController,
    WebStatusController,
)
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.controllers.conversation.drafts import DraftStore
from lethe_app.ui.controllers.conversation.earlier_sessions import EarlierSessionsLine
from lethe_app.ui.controllers.conversation.group import GroupController, NextSpeakerController
from lethe_app.ui.controllers.conversation.message_changes import MessageChanges, MessageUndo
from lethe_app.ui.controllers.conversation.participants import ParticipantsController
from lethe_app.ui.controllers.conversation.replies import ReplyController
from lethe_app.ui.controllers.conversation.reply_offers import (
    FeedbackController,
    LongConversationHint,
    ToolPermissionController,
    UnansweredController,
)
from lethe_app.ui.controllers.conversation.session_commands import SessionCommands, SessionEnd, SessionFollower
from lethe_app.ui.controllers.conversation.sessions import SessionController
from lethe_app.ui.controllers.dictation.controller import DictationController
from lethe_app.ui.controllers.erasure import ErasureController
from lethe_app.ui.controllers.first_start import FirstStart
from lethe_app.ui.controllers.gear_menu import GearMenu
from lethe_app.ui.controllers.memory_panel import MemoryPanelController, MemoryPanelServices
from lethe_app.ui.controllers.model import ModelController
from lethe_app.ui.controllers.model_downloads import ModelDownloadController, StarterNotice
from lethe_app.ui.controllers.notifications import DesktopNotifications
from lethe_app.ui.controllers.pages import PageController
from lethe_app.ui.controllers.persona_directory import PersonaDirectory
from lethe_app.ui.controllers.sidebar import SidebarController
from lethe_app.ui.controllers.speech import SpeechController, create_speech_output
from lethe_app.ui.controllers.transfers.exports import BundleExporter, SessionExporter
from lethe_app.ui.controllers.transfers.imports import BundleImporter, FileDropTarget, FileImporter, FileInbox
from lethe_app.ui.controllers.user_activity import UserActivity
from lethe_app.ui.core.file_transfers import FileTransfers
from lethe_app.ui.core.page_preload import PagePreload
from lethe_app.ui.core.tasks import TaskRunner
from lethe_app.ui.shell.command_palette import CommandPalette
from lethe_app.ui.transcript.chat_view import ChatView
from lethe_app.ui.transcript.model.annotations import AnnotationQueries
from lethe_app.ui.transcript.model.chat_model import ChatModel

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.services.speech.output import SpeechOutput
    from lethe_app.ui.core.routes import Route
    from lethe_app.ui.shell.main_window import MainWindow

IDLE_BEFORE_PRELOAD = timedelta(seconds=2)
"""Time without input after which the next page module may be imported."""


class WindowController(QObject):
    """Owner of all objects that exist only while the services are open."""

    def __init__(self, window: MainWindow, services: AppServices, speech_output: SpeechOutput | None = None) -> None:
        """Create all controllers; `speech_output` replaces the voices of the system and of Piper."""
        super().__init__(window)
        self._window, self._services = window, services
        self.speech_output = speech_output or create_speech_output(services.preferences)
        self.tasks = TaskRunner(window.notifier.report_error)
        self.file_transfers = FileTransfers()
        self.directory = PersonaDirectory(services.library, window.theme, window)
        self._create_status_controllers()
        self._create_session_controllers()
        self._create_page_controllers()
        self._create_message_controllers()
        self._connect_view()

    def _create_status_controllers(self) -> None:
        """Create the controllers of the model, the status line and the settings of the window."""
        window, tasks, services = self._window, self.tasks, self._services
        queries = AnnotationQueries(services.reply_sources.recalled_counts, services.feedback.ratings_of)
        self.messages = ChatModel(queries, self)
        self.view = ChatView(self.messages)
        self.models = ModelController(
            window, tasks, services.models, services.downloads, services.qualification, services.token_counts
        )
        activities = ActivityServices(
            services.archive_queue,
            services.archive_budget,
            services.indexing,
            services.models,
            services.downloads,
            services.background_runner,
            services.memory,
        )
        BackgroundActivityController(window, tasks, activities, self.file_transfers)
        WebStatusController(window, tasks, services.web_gate, services.preferences)
        appearance = AppearanceController(window, tasks, self.view, services.preferences)
        self.gear_menu = GearMenu(window, tasks, appearance, self.models, services.paths.home)
        UserActivity(window, tasks, services.idleness)
        self.page_preload = PagePreload(self.is_idle, self)
        recent = services.preferences.current.recent_commands
        self.command_palette = CommandPalette(window.theme, window.window_actions, self._open_route, recent, window)
        self.command_palette.command_run.connect(
            lambda names: tasks.start_task(services.preferences.set(recent_commands=names), key="recent commands")
        )
        window.window_actions.connect(palette=self.command_palette.open_palette)

    def _create_session_controllers(self) -> None:
        """Create the controllers of the sidebar and of the session on display with its replies."""
        window, tasks, services = self._window, self.tasks, self._services
        self.participants = ParticipantsController(window, tasks, services.group)
        self.replies = replies = ReplyController(
            window,
            tasks,
            self.messages,
            services.chat,
            services.sessions,
            services.message_editing,
            self.models,
            self.participants,
        )
        self.sessions = SessionController(
            window, tasks, self.directory, services.sessions, services.preferences, self.participants, replies
        )
        self.sidebar = SidebarController(
            window, tasks, self.directory, services.library, services.sessions, services.session_timeout, self.sessions
        )
        exporter = SessionExporter(window, tasks, lambda: services.card_export)
        SessionCommands(window, tasks, services.sessions, self.sessions, replies, exporter.export_session)
        self.drafts = DraftStore(services.paths.window, window.chat.composer)
        LongConversationHint(window, tasks, replies)
        self.desktop_notifications = DesktopNotifications(
            window, tasks, services.preferences, services.archive_queue, services.reminders, services.memory, replies
        )
        replies.replying_sessions_changed.connect(
            lambda ids: window.sidebar.model.set_replying_sessions(frozenset(map(str, ids)))
        )
        self.sessions.session_opened.connect(self.models.set_persona)
        self.dictation = DictationController(window, tasks, services.dictation, services.preferences, replies, self._open_route)
        self.model_downloads = ModelDownloadController(
            window, tasks, services.downloads, services.models, services.preferences, replies
        )
        self.models.download_requested.connect(self.model_downloads.start_download)
        StarterNotice(window, tasks, services.models, services.preferences, services.downloads, self.model_downloads, replies)

    def _create_message_controllers(self) -> None:
        """Create the controllers of the messages of the session on display and of its participants."""
        window, tasks, services, view, replies = self._window, self.tasks, self._services, self.view, self.replies
        SessionFollower(window, tasks, services.session_editing, services.sessions, self.sessions, replies, self.messages)
        ErasureController(
            window,
            tasks,
            services.erasure,
            services.days,
            services.paths.database,
            self.directory,
            self.sessions,
            replies,
        )
        undo = MessageUndo(window, tasks, replies)
        self.message_changes = MessageChanges(
            window, tasks, view, services.sessions, services.message_editing, services.trash, replies, undo
        )
        GroupController(window, tasks, self.directory, services.sessions, services.group, self.participants, self.messages)
        self.next_speaker = NextSpeakerController(window, tasks, services.preferences, self.participants, replies)
        self.unanswered = UnansweredController(window, tasks, replies, self.messages)
        self.session_end = SessionEnd(
            window,
            tasks,
            view,
            services.sessions,
            services.session_timeout,
            services.preferences,
            services.idleness,
            replies,
        )
        self.tool_permissions = ToolPermissionController(window, tasks, replies)
        FeedbackController(window, tasks, view, services.feedback)
        self.speech = SpeechController(
            window, tasks, view, replies, self.sessions, self.directory, self.speech_output, services.session_speech
        )
        self.dictation.speech_started.connect(self.speech.stop_speaking)
        self.dictation.is_output_playing = lambda: self.speech.is_speaking
        panel_services = MemoryPanelServices(
            services.reply_sources,
            services.reply_actions,
            services.moods,
            services.library,
            [services.memory.changed, services.facts.changed, services.documents.changed, services.objections.changed],
            [services.sessions.changed, services.moods.changed, services.preferences.changed, services.library.changed],
        )
        self.memory_panel = MemoryPanelController(window, tasks, view, panel_services, self.pages.open_session)

    def _create_page_controllers(self) -> None:
        """Create the controller of the pages, and those that import and export personas."""
        window, tasks, services = self._window, self.tasks, self._services
        self.bundle_exporter = BundleExporter(
            window, tasks, self.directory, services.bundles, lambda: services.card_export, self.file_transfers
        )
        self.pages = PageController(
            window,
            tasks,
            services,
            self.view,
            self.sessions,
            self.file_transfers,
            self.bundle_exporter.export_persona,
            self.speech_output,
        )
        self.bundle_importer = BundleImporter(window, tasks, services.bundles, self.file_transfers)
        self.file_importer = FileImporter(window, tasks, lambda: services.imports, self.bundle_importer, self.file_transfers)
        FileDropTarget(window, tasks, self.file_importer)
        FileInbox(window, tasks, self.file_importer, services.paths, services.preferences)
        for importer in (self.bundle_importer, self.file_importer):
            importer.imported.connect(lambda persona_id: tasks.start_task(self._go_to_persona(persona_id), key="find"))
            importer.reverted.connect(lambda persona_id: tasks.start_task(self.pages.leave_persona(persona_id)))

    def is_idle(self) -> bool:
        """Return whether the user has been idle for `IDLE_BEFORE_PRELOAD` and no reply is in progress."""
        idle_time = self._services.idleness.idle_time
        return idle_time is not None and idle_time >= IDLE_BEFORE_PRELOAD and not self.replies.is_replying

    def _connect_view(self) -> None:
        view, replies = self.view, self.replies
        view.regenerate_requested.connect(replies.regenerate)
        view.continue_requested.connect(replies.continue_reply)
        view.alternative_requested.connect(replies.show_alternative)
        view.link_activated.connect(QDesktopServices.openUrl)
        view.text_typed.connect(self._window.chat.composer.insert_text)
        view.set_avatars(self.directory.render_speaker_avatar)
        self.sidebar.avatars_changed.connect(lambda: view.set_avatars(self.directory.render_speaker_avatar))
        self.participants.changed.connect(self._update_empty_text)  # not before: what is still being read is not empty
        self.messages.load_failed.connect(self._window.notifier.report_error)
        self._window.chat.composer.edit_last_requested.connect(self._edit_last_message)
        self._window.window_actions.connect(edit_last=self._edit_last_message, copy_reply=self._copy_last_reply)
        self.earlier_sessions = EarlierSessionsLine(
            self._window, self.tasks, view, self._services, self.directory, self.sessions, replies, self._open_route
        )
        self._window.set_transcript(view)

    def open(self) -> None:
        """Show the welcome screen at the first start; otherwise open the last session while the model is loaded."""
        services = self._services
        if services.preferences.current.welcomed:
            self._window.close_welcome_pages()
            self.tasks.start_task(self._open_initial_session())
            self.tasks.start_task(self.model_downloads.offer_to_resume())
            if isinstance(services.models.state, NoModel):
                self.models.load_model()
        else:
            first_start = FirstStart(
                self._window,
                self.tasks,
                services.library,
                services.models,
                services.downloads,
                services.preferences,
                self.directory,
                self._open_initial_session,
            )
            first_start.download_requested.connect(self.model_downloads.start_download)
            first_start.model_chosen.connect(self.models.load_model)
            first_start.model_declined.connect(lambda: self.tasks.start_task(self.models.show_no_model_state()))
            self.tasks.start_task(first_start.show_welcome())

    async def _open_initial_session(self) -> None:
        """Fill the sidebar, open the session of the last time, and report problems of the library."""
        await self.sidebar.refresh_personas()
        await self.sessions.open_last_session()
        for problem in await self._services.library.errors():
            self._window.notifier.report_error(problem)

    @property
    def is_replying(self) -> bool:
        """Return whether a reply is in progress in any session."""
        return self.replies.is_replying

    async def close(self) -> None:
        """Close pages and controllers, then stop and store running replies, then cancel all tasks."""
        self.page_preload.close()
        self.pages.navigator.close_all_pages()
        for controller in self._window.findChildren(Controller, options=Qt.FindChildOption.FindDirectChildrenOnly):
            controller.close()
        await self.replies.stop_all_replies()
        await self.tasks.close()
        await self.speech_output.close()
        self.drafts.close()
        self.messages.close()

    def _open_route(self, route: Route) -> None:
        self.pages.navigator.open(route)

    async def _go_to_persona(self, persona_id: str) -> None:
        """Leave the pages for the newest session of a persona."""
        await self.pages.go_to_session((await self._services.sessions.resume(persona_id)).guid)

    def _update_empty_text(self) -> None:
        """Set the text that is shown in a session without messages."""
        participants = self.participants
        speaker = participants.chosen_speaker or (participants.participants[0] if not participants.is_group else None)
        words = self.tr("Write the first message, or press Send to let {name} begin.")
        words = words.format(name=speaker.name if speaker is not None else self.tr("one of them"))
        self.view.set_empty_texts(self.tr("No messages yet."), words)

    def _edit_last_message(self) -> None:
        """Open the editor on the user's newest message."""
        row = self.messages.find_last(Role.USER)
        if row is not None:
            self.view.edit_message(self.messages.outline(row).id)

    def _copy_last_reply(self) -> None:
        row = self.messages.find_last(Role.ASSISTANT)
        if row is not None:
            self.view.copy_message(row)
            self._window.notifier.notify(self.tr("The last reply was copied."))
