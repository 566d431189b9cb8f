"""Lines above and below the messages: which earlier sessions the persona still has in mind, and that the session has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lethe_app.domain.chat import Role, SessionSummary
from lethe_app.errors import LetheError
from lethe_app.services.events import ModelReady
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.formatting import format_minutes, format_session_title, shorten_text
from lethe_app.ui.core.routes import SettingsRoute
from lethe_app.ui.transcript.painting.link_line import LinkLine

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from lethe_app.composition.app_services import AppServices
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.scheduling.loop import Idleness
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.services.sessions.timeout import SessionTimeout
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.sessions import SessionController
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.core.routes import Route
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.chat_view import ChatView

MAX_TITLE_LENGTH = 60
LEAVE_OUT, INCLUDE, SETTING = "leave out", "include", "setting"
"""Addresses of links; any other is the id of a session."""


class EarlierSessionsLine(Controller):
    """Line above the first message with the earlier sessions that the persona has in mind, which can be left out. An archived
    session has none, because nothing is generated in it.
    """

    def __init__(
        self,
        window: MainWindow,
        view: ChatView,
        services: AppServices,
        session_controller: SessionController,
        replies: ReplyController,
        open_route: Callable[[Route], None],
    ) -> None:
        super().__init__(window)
        self._view, self._services, self._shown = view, services, session_controller.shown
        self._session_controller, self._replies, self._open_route = session_controller, replies, open_route
        self.line = LinkLine(view.viewport())
        self.line.linkActivated.connect(self._follow_link)
        self.follow(self._refresh, services.sessions.changed, services.preferences.changed)
        self._shown.session_changed.connect(lambda *_sessions: self._on_session_changed())

    def _on_session_changed(self) -> None:
        self._view.set_heading(None)
        self._refresh()

    def _refresh(self) -> None:
        if self._shown.session is not None:
            self._tasks.start_task(self._show_sessions(self._shown.session.guid), key="earlier sessions")

    async def _show_sessions(self, session_id: UUID) -> None:
        services, state = self._services, self._services.models.state
        try:
            session = await services.sessions.open(session_id)
            is_left_out = await services.stable_prefixes.starts_without_earlier(session_id)
            model = state.model if isinstance(state, ModelReady) else None
            earlier = await services.stable_prefixes.sessions_in_prompt(session, model)
            outline = await services.sessions.outline(session_id)
        except LetheError:
            return  # deleted meanwhile; another one is about to be shown
        if self._shown.session_id != session_id:
            return
        if session.archived or not (earlier or is_left_out):
            self._view.set_heading(None)
            return
        has_begun = any(item.role is Role.USER and not item.hidden for item in outline)
        if is_left_out:
            pieces = self._format_left_out(self._shown.participants[0].name)
        else:
            pieces = self._format(self._shown.participants[0].name, earlier, has_begun=has_begun)
        is_new = self._view.heading is not self.line
        if is_new or "".join(text for text, _address in pieces) != self.line.plain_text:
            self.line.show_pieces(*pieces)
            self._view.set_heading(self.line)
        if is_new and not has_begun:
            self._view.go_to_beginning()  # where the line is, even if the greeting is longer than the window is high

    def _format(self, name: str, earlier: list[SessionSummary], *, has_begun: bool) -> list[tuple[str, str]]:
        newest, is_single = earlier[0], len(earlier) == 1
        text = (
            self.tr("{name} still has {title} in mind")
            if is_single
            else self.tr("{name} still has {title} and earlier conversations in mind")
        )
        before, after = text.split("{title}")
        title = shorten_text(format_session_title(newest.title or newest.first_words), MAX_TITLE_LENGTH)
        if has_begun:
            leave_out = self.tr("Leave it out") if is_single else self.tr("Leave them out")
        else:
            leave_out = self.tr("Start without it") if is_single else self.tr("Start without them")
        return [
            (before.format(name=name), ""),
            (f"“{title}”", str(newest.guid)),
            (f"{after} · ", ""),
            (leave_out, LEAVE_OUT),
            (" · ", ""),
            (self.tr("Setting"), SETTING),
        ]

    def _format_left_out(self, name: str) -> list[tuple[str, str]]:
        text = self.tr("{name} does not have your earlier conversations in mind, only facts and memories").format(name=name)
        return [(text, ""), (" · ", ""), (self.tr("Bring them back"), INCLUDE)]

    def _follow_link(self, address: str) -> None:
        session = self._shown.session
        if address == SETTING:
            self._open_route(SettingsRoute("session_handling"))
        elif address not in {LEAVE_OUT, INCLUDE}:
            self._session_controller.choose_session(address)
        elif session is not None:
            self._tasks.start_task(self._leave_out(session.guid, is_left_out=address == LEAVE_OUT))

    async def _leave_out(self, session_id: UUID, *, is_left_out: bool) -> None:
        await self._services.stable_prefixes.leave_out_earlier(session_id, is_left_out=is_left_out)
        await self._show_sessions(session_id)
        if not self._replies.is_busy:
            self._replies.read_ahead()


class SessionEnd(Controller):
    """Line below the last message of a session that has ended. None times out while a message is being edited."""

    def __init__(
        self,
        window: MainWindow,
        view: ChatView,
        sessions: SessionService,
        session_timeout: SessionTimeout,
        preferences: Preferences,
        idleness: Idleness,
        shown_session: ShownSession,
    ) -> None:
        super().__init__(window)
        self._chat, self._view = window.chat, view
        self._sessions, self._session_timeout, self._preferences = sessions, session_timeout, preferences
        self._shown = shown_session
        self.ended_line = LinkLine(view.viewport())
        self.ended_line.linkActivated.connect(lambda _address: self._continue_session())
        self.follow(self._refresh_state, sessions.changed, preferences.changed)
        self.follow(self._report_input, idleness.user_active)
        shown_session.session_changed.connect(lambda *_sessions: self._on_session_changed())
        view.editor_toggled.connect(self._report_editing)

    def close(self) -> None:
        """Disconnect from the services."""
        super().close()
        self._session_timeout.set_edited_session(None)

    def _on_session_changed(self) -> None:
        self._report_editing()
        self._update_widgets(has_ended=False)
        self._refresh_state()

    def _refresh_state(self) -> None:
        if self._shown.session_id is not None:
            self._tasks.start_task(self._check_ended(self._shown.session_id), key="session end")

    async def _check_ended(self, session_id: UUID) -> None:
        try:
            has_ended = await self._sessions.has_ended(session_id)
        except LetheError:
            return  # deleted meanwhile; another one is about to be shown
        if session_id != self._shown.session_id:
            return
        if has_ended and not self.ended_line.isVisibleTo(self._view):
            minutes = self._preferences.current.rotation_minutes
            text = self.tr("This conversation ended after {time} of inactivity").format(time=format_minutes(minutes))
            self.ended_line.show_pieces((text, ""), (" · ", ""), (self.tr("Continue"), "continue"))
            announce(self.ended_line, self.ended_line.plain_text)
        self._update_widgets(has_ended=has_ended)

    def _update_widgets(self, *, has_ended: bool) -> None:
        self._view.set_footer(self.ended_line if has_ended else None)
        self._chat.composer.set_ended(is_ended=has_ended)

    def _report_input(self) -> None:
        if self._shown.session_id is not None and not self._chat.is_covered:
            self._session_timeout.note_input(self._shown.session_id)

    def _report_editing(self) -> None:
        self._session_timeout.set_edited_session(self._shown.session_id if self._view.editor is not None else None)

    def _continue_session(self) -> None:
        if self._shown.session_id is not None:
            self._chat.focus_composer()
            self._tasks.start_task(self._sessions.reopen(self._shown.session_id))
