"""Keep the memory panel in step with the newest reply or the one that the user chose, and connect it with the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from lethe_app.domain.chat import Message, Role
from lethe_app.errors import FileError
from lethe_app.services.chat.reply_sources import ReplySources, Whence
from lethe_app.ui.chat.memory_card import Around
from lethe_app.ui.chat.memory_card_parts import CardButton
from lethe_app.ui.controllers.memory_panel_actions import MemoryPanelActions
from lethe_app.ui.shell.actions import hint
from lethe_app.ui.transcript.dates import clock_words, day_words, local_day

if TYPE_CHECKING:
    from lethe_app.ui.pages.context import PageContext
    from lethe_app.ui.transcript.model.model import ChatModel
    from lethe_app.ui.transcript.view import ChatView


class MemoryPanelController(QObject):
    """Controller of the memory panel, once per window. `reply` is the reply of both the panel and the prompt inspector."""

    def __init__(self, place: PageContext, view: ChatView, messages: ChatModel) -> None:
        super().__init__(place.window)
        self._place, self._window, self._view, self._messages = place, place.window, view, messages
        self._sources, self._bridge = place.services.reply_sources, place.bridge
        self.panel = place.window.memory
        self._chosen: UUID | None = None
        self.behind: ReplySources | None = None
        """Recall that the panel shows; None before the first reply of a session."""
        self._followed: tuple[UUID | None, bool] = (None, False)
        # One update for all signals of the model in the same turn of the event loop.
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._follow)
        self._deeds = MemoryPanelActions(place, self.panel, lambda: self.behind, self._changed)
        messages.marks.count = self._sources.recalled_counts
        self._forget = [
            place.services.brain.changed.add(lambda _persona: self._renew()),
            place.services.knowing.changed.add(lambda _persona: self._renew()),
            place.services.sessions.changed.add(lambda _persona: self._show_soon()),
            place.services.mind.moods.changed.add(lambda _persona: self._show_soon()),
            place.services.preferences.changed.add(lambda _settings: self._show_soon()),
            place.services.library.changed.add(lambda _none: self._show_soon()),
        ]
        self._connect()
        self._add_links()
        self._dress_button()

    def close(self) -> None:
        """Disconnect from the services."""
        self._soon.stop()
        for forget in self._forget:
            forget()

    def _connect(self) -> None:
        messages, view, panel, panes = self._messages, self._view, self.panel, self._window.panes
        for signal in (messages.modelReset, messages.rowsInserted, messages.rowsRemoved, messages.dataChanged):
            signal.connect(lambda *_rows: self._soon.start())
        messages.modelReset.connect(self._let_go)
        view.memories_requested.connect(self.choose)
        view.prompt_requested.connect(self._look_at_prompt)
        view.message_pressed.connect(lambda message: self._choose(message) if panes.is_panel_open else None)
        view.selectionModel().currentChanged.connect(lambda index, _old: self._walk(index.row()))
        panes.panel_shown.connect(self._shown)
        panel.close_wanted.connect(panes.close_panel)
        panel.left.connect(self._leave)
        panel.newest_wanted.connect(self._to_newest)
        panel.prompt_wanted.connect(lambda: self._look_at_prompt(self.reply))
        panel.go_wanted.connect(self._go)
        self._window.actions_.connect(memory_panel=self._toggle)

    def _add_links(self) -> None:
        """Add buttons to the registered pages."""
        words = {
            "facts": self.tr("Facts"),
            "memories": self.tr("Memories"),
            "worlds": self.tr("Worlds"),
            "conversations": self.tr("Conversations"),
            "timeline": self.tr("Timeline"),
            "mind": self.tr("Mind"),
        }
        for name, title in words.items():
            if name in self._window.actions_:
                self.panel.add_link(title, self._window.actions_[name])
        if "mind" in self._window.actions_:
            self.panel.mood.lead_to(self._window.actions_["mind"])

    def _dress_button(self) -> None:
        """Add the button that toggles the panel at the right end of the header."""
        self.button = CardButton(self._window.theme, "panel", hint("memory_panel"), self._window.panes.toggle_panel)
        self.button.setCheckable(True)
        self.button.setChecked(self._window.panes.is_panel_open)
        self.button.dress()
        header = self._window.chat.header.layout()
        if header is not None:
            header.addWidget(self.button)

    def _toggle(self) -> None:
        """Toggle the panel, unless a page covers the conversation."""
        if self._window.pages.currentWidget() is self._window.panes:
            self._window.panes.toggle_panel()

    # Selected reply

    @property
    def reply(self) -> UUID | None:
        """Return the id of the reply that the user chose, or of the newest one; None if there is no reply."""
        if self._chosen is not None and self._messages.row_of(self._chosen) is not None:
            return self._chosen
        return self._newest

    @property
    def _newest(self) -> UUID | None:
        for row in range(self._messages.rowCount() - 1, -1, -1):
            if self._messages.outline(row).role is Role.ASSISTANT:
                return self._messages.outline(row).id
        return None

    def choose(self, reply: UUID) -> None:
        """Open the panel on a reply. If the transcript has the focus on a message, the focus moves to the panel."""
        self._choose(reply)
        self._window.panes.open_panel()
        if QApplication.focusWidget() is self._view and self._view.focused_row is not None:
            self.panel.first_focus().setFocus()

    def _choose(self, reply: UUID | None) -> None:
        row = self._messages.row_of(reply) if reply is not None else None
        if row is not None and self._messages.outline(row).role is not Role.ASSISTANT:
            return
        self._chosen = reply if reply != self._newest else None
        self.panel.reply = self.reply
        self._soon.start()

    def _walk(self, row: int) -> None:
        """Follow the message that has the focus in the transcript."""
        if 0 <= row < self._messages.rowCount() and self._window.panes.is_panel_open:
            self._choose(self._messages.outline(row).id)

    def _to_newest(self) -> None:
        self._choose(None)
        self._view.go_to_end()

    def _let_go(self) -> None:
        """Reset the selection, because another session is on display."""
        self._chosen, self._followed, self.behind = None, (None, False), None

    def _follow(self) -> None:
        """Update the panel if the selected reply is another one, or has started or stopped growing. The number of memories
        is queried when a reply begins and when it ends.
        """
        reply = self.panel.reply = self.reply
        row = self._messages.row_of(reply) if reply is not None else None
        state = (reply, row is not None and self._messages.is_growing(row))
        if state == self._followed:
            return
        begun, self._followed = state[1] or self._followed[1], state
        asked = self._messages.marks.asked(row) if row is not None else None
        if begun and asked is not None:
            self._bridge.spawn(self._messages.marks.renew([asked]))
        self._show_soon()

    # Content

    def _shown(self, is_open: bool) -> None:
        self.button.setChecked(is_open)
        self.button.dress()
        self._show_soon()

    def _show_soon(self) -> None:
        self._view.mark_chosen(self.reply if self._window.panes.is_panel_open else None)
        if self._window.panes.is_panel_open:
            self._bridge.spawn(self._show(), lane="memory panel")

    def _renew(self) -> None:
        """Query the numbers of memories again and update the panel, after memories or facts have changed."""
        self._bridge.spawn(self._messages.marks.renew(), lane="memory marks")
        self._show_soon()

    async def _changed(self) -> None:
        """Update the panel and the message's number of memories after an action of the user in the panel."""
        asked = self.behind.asked if self.behind is not None else None
        self._renew()
        if asked is not None:
            await self._messages.marks.renew([asked.id])

    async def _show(self) -> None:
        reply = self.reply
        row = self._messages.row_of(reply) if reply is not None else None
        if reply is None or row is None:
            self._say_what_will_be()
            return
        asked = self._messages.marks.asked(row)
        behind = await self._sources.sources_of(asked if asked is not None else reply)
        row = self._messages.row_of(reply)
        if behind is None or row is None:
            return
        self.behind = behind if asked is not None else ReplySources(behind.persona_id, None)
        self.panel.show_reply(self._which(row), is_newest=reply == self._newest)
        said = behind.asked.content if behind.asked is not None else ""
        message, is_newest = self._messages.message(row), reply == self._newest
        self.panel.show_behind(self.behind, Around(said, await self._name(row, behind), self._window.clock()))
        # Rows may have changed during the await above, so `row` is not valid from here on.
        self.panel.mood.say(await self._mood(behind.persona_id, message) if message is not None and is_newest else "")

    def _which(self, row: int) -> str:
        """Return speaker and time of a reply in words."""
        message = self._messages.message(row)
        if message is None or self._messages.is_growing(row):
            return self.tr("being written")
        day, today = local_day(message.time), local_day(self._window.clock())
        clock = clock_words(message.time)
        when = clock if day == today else self.tr("{day}, {clock}").format(day=day_words(day, today), clock=clock)
        return self.tr("{name}, {when}").format(name=message.speaker_name, when=when)

    async def _mood(self, persona_id: str, message: Message) -> str:
        """Return the persona's current mood as the prompt words it; moods of older replies are not stored."""
        try:
            persona = await self._place.services.library.persona(persona_id)
        except FileError:  # her file was spoilt or taken away meanwhile; what was remembered is told all the same
            return ""
        return await self._place.services.mind.moods.in_words(persona, message.session_id)

    async def _name(self, row: int, behind: ReplySources) -> str:
        message = self._messages.message(row)
        if message is not None and message.speaker_name:
            return message.speaker_name
        return (await self._place.services.library.persona(behind.persona_id)).name

    def _say_what_will_be(self) -> None:
        self.panel.mood.say("")
        self.panel.show_reply("", is_newest=True)
        self.panel.show_words(
            self.tr("Memories used"),
            self.tr(
                "When your message recalls an earlier conversation, a fact or a world entry, it appears here with the reason"
                " and the source."
            ),
        )

    def _leave(self) -> None:
        """Return the focus to the transcript; a panel that covers the conversation is closed."""
        if self._window.panes.is_panel_over:
            self._window.panes.close_panel()
        self._view.setFocus()

    # Requests

    def _look_at_prompt(self, reply: UUID | None) -> None:
        if reply is not None:
            self._choose(reply)
        if "inspector" in self._window.actions_:
            self._window.actions_["inspector"].trigger()

    def _go(self, whence: Whence) -> None:
        self._place.go_to(whence.session, whence.message)
