"""Create the controllers that connect the window with the services, and close them in order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QDesktopServices

from lethe_app.composition.creation import create_from
from lethe_app.domain.chat import Role
from lethe_app.errors import LetheError
from lethe_app.services.events import NoModel
from lethe_app.services.models.recommendation import DownloadAssessment
from lethe_app.services.speech.output import SpeechOutput
from lethe_app.ui.controllers.appearance import AppearanceController
from lethe_app.ui.controllers.background_activity import BackgroundActivityController
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.controllers.conversation.drafts import DraftErasure, DraftStore
from lethe_app.ui.controllers.conversation.forgetting import ForgettingController
from lethe_app.ui.controllers.conversation.group import GroupController
from lethe_app.ui.controllers.conversation.message_changes import MessageChanges
from lethe_app.ui.controllers.conversation.replies import ReplyController
from lethe_app.ui.controllers.conversation.reply_offers import (
    LongConversationHint,
    ToolPermissionController,
    UnansweredController,
)
from lethe_app.ui.controllers.conversation.session_lines import EarlierSessionsLine, SessionEnd
from lethe_app.ui.controllers.conversation.sessions import SessionCommands, SessionController
from lethe_app.ui.controllers.conversation.shown_session import ShownSession
from lethe_app.ui.controllers.dictation.controller import DictationController
from lethe_app.ui.controllers.erasure import ErasureController
from lethe_app.ui.controllers.first_start import FirstStart
from lethe_app.ui.controllers.gear_menu import GearMenu
from lethe_app.ui.controllers.integrity import IntegrityController
from lethe_app.ui.controllers.memory_panel import MemoryPanelController
from lethe_app.ui.controllers.model import ModelController
from lethe_app.ui.controllers.model_downloads import ModelDownloadController
from lethe_app.ui.controllers.notifications import DesktopNotifications
from lethe_app.ui.controllers.pages import PageController
from lethe_app.ui.controllers.persona_directory import PersonaDirectory
from lethe_app.ui.controllers.sidebar import SidebarController
from lethe_app.ui.controllers.speech import SpeechController
from lethe_app.ui.controllers.transfers import BundleExporter, FileImporter
from lethe_app.ui.core.file_transfers import FileTransfers
from lethe_app.ui.core.input_watch import InputWatch
from lethe_app.ui.core.page_preload import PagePreload
from lethe_app.ui.shell.command_palette import CommandPalette
from lethe_app.ui.speech.sound_process import create_engines
from lethe_app.ui.transcript.chat_view import ChatView
from lethe_app.ui.transcript.model.annotations import AnnotationQueries
from lethe_app.ui.transcript.model.chat_model import ChatModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.core.routes import Route
    from lethe_app.ui.shell.main_window import MainWindow

Created = TypeVar("Created")
IDLE_BEFORE_PRELOAD = timedelta(seconds=2)
"""Time without input after which the next page module may be imported."""


class WindowController(QObject):
    """Owner of all objects that exist only while the services are open."""

    def __init__(self, window: MainWindow, services: AppServices, speech_output: SpeechOutput | None = None) -> None:
        """Create all controllers; `speech_output` replaces the voices of the system and of Piper."""
        super().__init__(window)
        self.window, self.services = window, services
        preferences = services.preferences
        self.speech_output = speech_output or SpeechOutput(create_engines(preferences), preferences)
        self.file_transfers = FileTransfers()
        self.directory = PersonaDirectory(services.library, window.theme, window)
        queries = AnnotationQueries(services.reply_sources.recalled_counts, services.feedback.ratings_of)
        self.messages = ChatModel(queries, self)
        self.view = ChatView(self.messages)
        self._create_status_controllers()
        self._create_session_controllers()
        self._create_page_controllers()
        self._create_message_controllers()
        self._connect_view()
        self._report_activity()

    def _create(self, kind: Callable[..., Created], **given: object) -> Created:
        """Create a controller with what its parameters are named after: an attribute of this object, or else a service."""
        return create_from(kind, lambda name: getattr(self if name in vars(self) else self.services, name), **given)

    def _create_status_controllers(self) -> None:
        """Create the controllers of the model, the status line and the settings of the window."""
        window, preferences = self.window, self.services.preferences
        self.model_controller = self._create(ModelController)
        self._create(BackgroundActivityController)
        self._create(IntegrityController)
        self.appearance = self._create(AppearanceController)
        self.gear_menu = self._create(GearMenu)
        self.page_preload = PagePreload(self.is_idle, self)
        recent = preferences.current.recent_commands
        self.command_palette = CommandPalette(window.theme, window.window_actions, self._open_route, recent, window)
        self.command_palette.command_run.connect(
            lambda names: window.tasks.start_task(preferences.set(recent_commands=names), key="recent commands")
        )
        window.window_actions.connect(palette=self.command_palette.open_palette)

    def _create_session_controllers(self) -> None:
        """Create the controllers of the sidebar and of the session on display with its replies."""
        model = self.window.sidebar.model
        self.shown_session = self._create(ShownSession)
        self.replies = self._create(ReplyController)
        self.session_controller = self._create(SessionController)
        self.sidebar = self._create(SidebarController)
        self._create(SessionCommands, get_card_export=lambda: self.services.card_export)
        self.drafts = DraftStore(self.services.paths.window, self.window.chat.composer)
        self._create(DraftErasure)
        self._create(LongConversationHint)
        self.desktop_notifications = self._create(DesktopNotifications)
        self.replies.replying_sessions_changed.connect(lambda ids: model.set_replying_sessions(frozenset(map(str, ids))))
        self.shown_session.session_changed.connect(
            lambda *_sessions: self.model_controller.set_persona(self.shown_session.participants[0])
        )
        self.dictation_controller = self._create(DictationController, open_page=self._open_route)
        self.model_downloads = self._create(ModelDownloadController)
        self.model_controller.download_requested.connect(self.model_downloads.start_download)

    def _create_page_controllers(self) -> None:
        """Create the controller of the pages, and those that import and export personas."""
        tasks = self.window.tasks
        self.bundle_exporter = self._create(BundleExporter, get_card_export=lambda: self.services.card_export)
        self.pages = self._create(PageController, export_persona=self.bundle_exporter.export_persona)
        self.file_importer = importer = self._create(FileImporter, get_imports=lambda: self.services.imports)
        importer.imported.connect(lambda persona_id: tasks.start_task(self._go_to_persona(persona_id), key="find"))
        importer.reverted.connect(lambda persona_id: tasks.start_task(self.pages.leave_persona(persona_id)))

    def _create_message_controllers(self) -> None:
        """Create the controllers of the messages of the session on display and of its participants."""
        self._create(ErasureController)
        self.message_changes = self._create(MessageChanges)
        self.group_controller = self._create(GroupController)
        self.unanswered = self._create(UnansweredController)
        self.forgetting_card = self._create(ForgettingController)
        self.session_end = self._create(SessionEnd)
        self.tool_permissions = self._create(ToolPermissionController)
        self.speech = self._create(SpeechController)
        self.dictation_controller.speech_started.connect(self.speech.stop_speaking)
        self.dictation_controller.is_output_playing = lambda: self.speech.is_speaking
        self.memory_panel = self._create(MemoryPanelController, open_session=self.pages.open_session)
        self.earlier_sessions = self._create(EarlierSessionsLine, open_route=self._open_route)

    def is_idle(self) -> bool:
        """Return whether the user has been idle for `IDLE_BEFORE_PRELOAD` and no reply is in progress."""
        idle_time = self.services.idleness.idle_time
        return idle_time is not None and idle_time >= IDLE_BEFORE_PRELOAD and not self.replies.is_replying

    def _report_activity(self) -> None:
        """Report input and unsent drafts to the services that wait until the user is idle."""
        self.input_watch = InputWatch(self)
        self.input_watch.active.connect(self.services.idleness.record_action)
        self.window.chat.composer.draft_field.textChanged.connect(self._report_draft)
        self.services.idleness.start_watching()
        self._report_draft()

    def _report_draft(self) -> None:
        self.services.idleness.set_composing(has_text=not self.window.chat.composer.draft_field.document().isEmpty())

    def _connect_view(self) -> None:
        view, replies = self.view, self.replies
        view.regenerate_requested.connect(replies.regenerate)
        view.continue_requested.connect(replies.continue_reply)
        view.alternative_requested.connect(replies.show_alternative)
        view.link_activated.connect(QDesktopServices.openUrl)
        view.text_typed.connect(self.window.chat.composer.insert_text)
        view.set_avatars(self.directory.render_speaker_avatar)
        self.sidebar.avatars_changed.connect(lambda: view.set_avatars(self.directory.render_speaker_avatar))
        self.shown_session.changed.connect(self._update_empty_text)  # not before: what is still being read is not empty
        self.messages.load_failed.connect(self.window.notifier.report_error)
        self.window.chat.composer.edit_last_requested.connect(self._edit_last_message)
        self.window.window_actions.connect(edit_last=self._edit_last_message, copy_reply=self._copy_last_reply)
        self.window.set_transcript(view)

    def open(self) -> None:
        """Show the welcome screen at the first start; otherwise open the last session while the model is loaded."""
        services = self.services
        if services.preferences.current.welcomed:
            self.window.close_welcome_pages()
            self.window.tasks.start_task(self._open_initial_session())
            self.window.tasks.start_task(self.model_downloads.offer_to_resume())
            if isinstance(services.models.state, NoModel):
                self.model_controller.load_model()
        else:
            first_start = self._create(FirstStart, open_session=self._open_initial_session)
            first_start.model_chosen.connect(self._load_first_model)
            self.window.tasks.start_task(first_start.show_welcome())

    def _load_first_model(self, choice: Path | DownloadAssessment | None) -> None:
        if choice is None:
            self.window.tasks.start_task(self.model_controller.show_no_model_state())
        elif isinstance(choice, DownloadAssessment):
            self.model_downloads.start_download(choice)
            self.model_controller.load_model()  # to chat with until the download is complete
        else:
            self.model_controller.load_model(choice)

    async def _open_initial_session(self) -> None:
        """Fill the sidebar, open the session of the last time, and report problems of the library."""
        await self.sidebar.refresh_personas()
        await self.session_controller.open_last_session()
        for notice in self.services.notices:
            self.window.notifier.notify(notice.message, notice.remedy, is_lasting=True)
        problems = await self.services.library.errors()
        if len(problems) == 1:
            self.window.notifier.report_error(problems[0])
        elif problems:  # one notice: more would push each other out
            text = self.tr("{count} files cannot be read: {names}.")
            names = ", ".join(f"{problem.path.parent.name}/{problem.path.name}" for problem in problems)
            advice = self.tr("Lethe goes on without them. “lethe doctor” says where each is wrong.")
            self.window.notifier.report_error(LetheError(text.format(count=len(problems), names=names), advice))

    @property
    def is_replying(self) -> bool:
        """Return whether a reply is in progress in any session."""
        return self.replies.is_replying

    async def close(self) -> None:
        """Close pages and controllers, then stop and store running replies, then cancel all tasks."""
        self.page_preload.close()
        self.pages.navigator.close_all_pages()
        self.input_watch.close()
        self.window.chat.composer.draft_field.textChanged.disconnect(self._report_draft)
        self.services.idleness.stop_watching()
        for controller in self.window.findChildren(Controller, options=Qt.FindChildOption.FindDirectChildrenOnly):
            controller.close()
        await self.replies.stop_all_replies()
        await self.window.tasks.close()
        await self.speech_output.close()
        self.drafts.close()
        self.messages.close()

    def _open_route(self, route: Route) -> None:
        self.pages.navigator.open(route)

    async def _go_to_persona(self, persona_id: str) -> None:
        """Leave the pages for the newest session of a persona."""
        await self.pages.go_to_session((await self.services.sessions.resume(persona_id)).guid)

    def _update_empty_text(self) -> None:
        """Set the text that is shown in a session without messages."""
        shown = self.shown_session
        speaker = shown.chosen_speaker or (shown.participants[0] if not shown.is_group else None)
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
            self.window.notifier.notify(self.tr("The last reply was copied."))
