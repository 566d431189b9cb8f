"""Create the controllers that connect the window with the services, and close them in order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtGui import QDesktopServices

from lethe_app.domain.bundle import BundleScope
from lethe_app.domain.chat import Role
from lethe_app.services.events import NoModel
from lethe_app.ui.controllers.appearance import Look
from lethe_app.ui.controllers.background_activity import BackgroundActivityController
from lethe_app.ui.controllers.bundles import BundleController, give
from lethe_app.ui.controllers.conversation.feedback import FeedbackController
from lethe_app.ui.controllers.conversation.message_deletion import MessageDeletion
from lethe_app.ui.controllers.conversation.message_edits import MessageEdits
from lethe_app.ui.controllers.conversation.replies import Turns
from lethe_app.ui.controllers.conversation.session_end import SessionEnd
from lethe_app.ui.controllers.conversation.session_follower import Follower
from lethe_app.ui.controllers.conversation.unanswered import Unanswered
from lethe_app.ui.controllers.desktop_notifications import DesktopNotifications
from lethe_app.ui.controllers.first_start import FirstStart
from lethe_app.ui.controllers.group import GroupController
from lethe_app.ui.controllers.index_rebuild import IndexRebuild
from lethe_app.ui.controllers.memory_panel import MemoryPanelController
from lethe_app.ui.controllers.model import ModelController
from lethe_app.ui.controllers.participants import ParticipantsController
from lethe_app.ui.controllers.preferred_model import PreferredModelController
from lethe_app.ui.controllers.sessions import Conversations
from lethe_app.ui.controllers.tool_permissions import ToolPermissionController
from lethe_app.ui.controllers.web_status import WebStatusController
from lethe_app.ui.core.page_preload import Ahead
from lethe_app.ui.core.tasks import Bridge
from lethe_app.ui.core.user_activity import Presence
from lethe_app.ui.pages import registry
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.navigator import PageNavigator
from lethe_app.ui.shell.command_palette import CommandPalette
from lethe_app.ui.shell.gear_menu import GearMenu
from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.view import ChatView

if TYPE_CHECKING:
    from collections.abc import Callable

    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.shell.main_window import MainWindow

REST = timedelta(seconds=2)
"""Time without input after which the next page module may be imported."""


class Host(QObject):
    """Owner of all objects that exist only while the services are open."""

    def __init__(self, window: MainWindow, services: AppServices) -> None:
        super().__init__(window)
        self._window, self._services = window, services
        self.bridge = Bridge(window.notifier.report)
        self.messages = ChatModel(self)
        self.view = ChatView(self.messages)
        self.desk = ModelController(window, services, self.bridge)
        self.background = BackgroundActivityController(window, services, self.bridge)
        self.outgoing = WebStatusController(window, services)
        self.company = ParticipantsController(window, services)
        self.turns = Turns(window, services, self.messages, self.desk, self.company, self.bridge)
        self.conversations = Conversations(window, services, self.turns, self.company, self.bridge)
        self.look = Look(window, self.view, self.messages, services.preferences, self.bridge)
        self.gear = GearMenu(window, services, self.look, self.bridge)
        self.herald = DesktopNotifications(window, services)
        self.turns.replied.connect(self.herald.replied)
        self.workshop = PageNavigator(window, self.bridge)
        self.place = PageContext(
            window,
            services,
            self.bridge,
            self.workshop,
            lambda: self.conversations.current,
            self._go_to,
            self.background.luggage,
        )
        registry.connect(self.place)
        window.actions_.lead_back = self._lead_back
        window.sidebar.edit_wanted.connect(lambda persona_id: registry.edit_persona(self.place, persona_id))
        window.sidebar.duplicate_wanted.connect(lambda persona_id: registry.duplicate_persona(self.place, persona_id))
        window.sidebar.give_wanted.connect(self._give)
        window.sidebar.add.clicked.connect(window.actions_["new_persona"].trigger)
        self.palette = CommandPalette(window.theme, window.actions_, window)
        window.actions_.connect(palette=self.palette.open)
        self.follower = Follower(services, self.conversations, self.turns, self.messages, self.bridge)
        self.edits = MessageEdits(window, services, self.view, self.messages, self.turns, self.bridge)
        self.deletion = MessageDeletion(window, services, self.view, self.turns, self.bridge)
        self.group = GroupController(self.place, self.company, self.turns)
        self.memory = MemoryPanelController(self.place, self.view, self.messages)
        self.rebuild = IndexRebuild(window, services, self.bridge)
        self.unanswered = Unanswered(window.chat, self.turns, self.messages)
        self.session_end = SessionEnd(window, services, self.view, self.turns, self.bridge)
        self.tools = ToolPermissionController(window.chat, self.turns)
        self.feedback = FeedbackController(self.place, self.view, self.messages)
        self.presence = Presence(window.windowHandle(), window.chat.composer, services.idleness, self)
        self.bundles = BundleController(self.place)
        self.ahead = Ahead(self.nobody_waits, self)
        self.voice = PreferredModelController(self.place, self.desk)
        self.conversations.opened.connect(self.voice.meet)
        self._connect_view()

    def _go_to(self, session: UUID, message: UUID | None) -> None:
        """Leave the pages for a session and, if given, for a message in it."""
        self.bridge.spawn(self._find(session, message), lane="find")

    async def _find(self, session: UUID, message: UUID | None) -> None:
        if await self.workshop.clear():
            await self.conversations.go_to(session)
            if message is not None:
                self.view.go_to_message(message)

    def nobody_waits(self) -> bool:
        """Return whether the user has been idle for `REST` and no reply is in progress."""
        idle = self._services.idleness.idle
        return idle is not None and idle >= REST and not self.turns.is_replying

    def _lead_back(self, do: Callable[[], object]) -> None:
        """Run `do` in the conversation; open pages are left first, and `do` is dropped if one of them objects."""
        if self.workshop.page is None:
            do()
        else:
            self.bridge.spawn(self._leave_and(do), lane="leave")

    async def _leave_and(self, do: Callable[[], object]) -> None:
        if await self.workshop.clear():
            do()

    def _connect_view(self) -> None:
        view, turns = self.view, self.turns
        view.regenerate_requested.connect(turns.regenerate)
        view.continue_requested.connect(turns.proceed)
        view.alternative_requested.connect(turns.show_alternative)
        view.link_activated.connect(QDesktopServices.openUrl)
        view.written.connect(self._window.chat.composer.write_on)
        view.set_avatars(self.conversations.face)
        self.conversations.faces_changed.connect(lambda: view.set_avatars(self.conversations.face))
        self.company.changed.connect(self._invite)  # not before: what is still being read is not empty
        self.messages.load_failed.connect(self._window.notifier.report)
        self._window.chat.composer.edit_last_wanted.connect(self._edit_last)
        self._window.chat.put_view(view)

    def open(self) -> None:
        """Show the welcome screen at the first start; otherwise open the last session while the model is loaded."""
        if self._services.preferences.current.welcomed:
            self._window.show_conversation()
            self.bridge.spawn(self.conversations.start())
            if isinstance(self._services.models.state, NoModel):
                self.desk.load()
        else:
            first = FirstStart(self._window, self._services, self.conversations, self.desk, self.bridge)
            self.bridge.spawn(first.run())

    async def close(self) -> None:
        """Close pages and controllers: running replies are stopped and stored first, then all tasks are cancelled, then the
        controllers disconnect from the services.
        """
        self.ahead.close()
        self.workshop.close()
        self.bundles.close()
        await self.turns.stop_all()
        await self.bridge.close()
        self.follower.close()
        self.presence.close()
        self.session_end.close()
        self.feedback.close()
        self.voice.close()
        for part in (self.memory, self.herald, self.conversations, self.desk, self.background, self.look, self.messages):
            part.close()
        self.outgoing.close()

    def _give(self, persona_id: str) -> None:
        self.bridge.spawn(give(self.place, persona_id, BundleScope.PERSONA), lane="give")

    def _invite(self) -> None:
        """Set the text that is shown in a session without messages."""
        company = self.company
        named = company.chosen or (company.people[0] if not company.is_group else None)
        words = self.tr("Write the first message, or press Send to let {name} begin.")
        words = words.format(name=named.name if named is not None else self.tr("one of them"))
        self.view.set_empty_words(self.tr("No messages yet."), words)

    def _edit_last(self) -> None:
        """Open the editor on the user's newest message."""
        for row in range(self.messages.rowCount() - 1, -1, -1):
            outline = self.messages.outline(row)
            if outline.role is Role.USER:
                self.view.edit_message(outline.id)
                return
