"""Page “Dreams”: pending and past memory changes, and the user's feedback on replies."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from uuid import UUID

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QButtonGroup, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import ChangeState, RecordedChange
from lethe_app.domain.changes import Records
from lethe_app.errors import LetheError
from lethe_app.services.background.dreams import TASK
from lethe_app.services.background.feedback import FeedbackEntry
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.pages.activity.labels import clock_in_words, day_in_words, what_came
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.dreams.detail import DreamDetail
from lethe_app.ui.pages.dreams.labels import state_in_words, title_of, tr, verdict_in_words, what_in_words
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.card_column import side_by_side
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

CHANGED_MS = 150
WIDTHS = {0: 104, 2: 130, 3: 96}
DISPENSABLE = (0, 3, 2)
THOUGHT_WIDTHS = {1: 260, 2: 96}
THOUGHTS_DISPENSABLE = (2, 1)
LEAST = 180
OPEN, LOG, SAID = range(3)
"""Lists of the page, as button ids: pending changes, history of changes, feedback."""


class DreamPage(Page):
    """Page with the pending changes, the history or the feedback on the left and the selected item on the right."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, tr("Dreams"))
        self._place, self._services = place, place.services
        self._dreams, self._away = place.services.dreams, place.services.away
        self._last = ""
        self._all: list[RecordedChange] = []
        self.deeds = CommandRunner(self.undo, place.bridge, self._read_soon)
        self.rows, self.thoughts = self._made_rows(), self._made_thoughts()
        self._build()
        self._connect()
        self.whose.announce_first()

    def _made_rows(self) -> FilteredTableModel[RecordedChange]:
        def ink(change: RecordedChange) -> str:
            is_over = change.state in {ChangeState.DECLINED, ChangeState.REVERTED}
            return self.theme.palette.muted if is_over else ""

        columns = [
            Column[RecordedChange](tr("Action"), lambda one: what_in_words(one.what), width=WIDTHS[0]),
            Column[RecordedChange](tr("Memory"), title_of, width=0, colour=ink),
            Column[RecordedChange](tr("Status"), lambda one: state_in_words(one.state), width=WIDTHS[2]),
            Column[RecordedChange](tr("Date"), lambda one: day_in_words(one.at), attrgetter("at"), WIDTHS[3]),
        ]
        return FilteredTableModel(columns, key=attrgetter("id"), searched=title_of)

    def _made_thoughts(self) -> FilteredTableModel[FeedbackEntry]:
        columns = [
            Column[FeedbackEntry](
                tr("Reply"), lambda one: " ".join(one.text.split()) or tr("This reply was deleted."), width=0
            ),
            Column[FeedbackEntry](tr("Your feedback"), lambda one: verdict_in_words(one.feedback), width=THOUGHT_WIDTHS[1]),
            Column[FeedbackEntry](
                tr("Date"), lambda one: day_in_words(one.feedback.at), attrgetter("feedback.at"), THOUGHT_WIDTHS[2]
            ),
        ]
        return FilteredTableModel(
            columns, key=lambda one: (one.feedback.message_id, one.feedback.position), searched=attrgetter("text")
        )

    def _build(self) -> None:
        self.now_button = self.add_button(tr("Dream now"), self.dream_now, "moon", primary=True)
        self.all_button = self.add_button(tr("Accept all"), self.accept_all, "check")
        self.stop_button = self.add_button(tr("Stop"), self._away.stop, "stop")
        self.whose = Whose(self._place)
        self.chips = [self._chip(words) for words in (tr("Pending"), tr("History"), tr("Your feedback"))]
        self.hint = explanation("")
        empty = tr("Nothing to review. Dreams look for duplicate memories and for the way you like to be talked to.")
        self.table: Table[RecordedChange] = Table(self.rows, self.theme, tr("Dreams"), empty)
        silent = tr("No feedback yet. Reply ratings and requests like “don't do that” are collected here.")
        self.said: Table[FeedbackEntry] = Table(self.thoughts, self.theme, tr("Your feedback"), silent)
        for table in (self.table, self.said):
            table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.detail = DreamDetail(self)
        self._lay_out()

    def _chip(self, words: str) -> QPushButton:
        chip = QPushButton(words)
        chip.setProperty("chip", True)
        chip.setCheckable(True)
        return chip

    def _lay_out(self) -> None:
        line, above = QWidget(), QWidget()
        flow = Flow(line, spacing=SPACE_2)
        self._group = QButtonGroup(self)
        flow.addWidget(self.whose)
        for number, chip in enumerate(self.chips):
            self._group.addButton(chip, number)
            flow.addWidget(chip)
        self.chips[OPEN].setChecked(True)
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addWidget(line)
        head.addWidget(self.hint)
        self._lists = QStackedWidget()
        self._lists.addWidget(self.table)
        self._lists.addWidget(self.said)
        split = side_by_side(self._lists, self.detail)
        self.body.addWidget(above)
        self.body.addWidget(split, 1)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        services = self._services
        self._stop: list[Callable[[], None]] = [
            self._dreams.changed.add(lambda _persona: self._soon.start()),
            services.feedback.changed.add(lambda _persona: self._soon.start()),
            self._away.changed.add(lambda _none: self._changed_behind()),
        ]
        self.whose.chosen.connect(lambda _persona: self._read_soon())
        self._group.idClicked.connect(lambda _number: self._filter())
        for table in (self.table, self.said):
            table.viewport().installEventFilter(self)
        self.table.current_changed.connect(lambda _change: self._show_current())
        self.said.current_changed.connect(lambda _thought: self._show_current())
        self.detail.accepted.connect(self.accept)
        self.detail.declined.connect(self.decline)
        self.detail.taken_back.connect(self.revert_change)
        self.detail.asked_again.connect(self.ask_again)
        self.detail.go_wanted.connect(lambda message: self._place.bridge.spawn(self._go(UUID(message))))

    def first_focus(self) -> QWidget:
        return self.table if self.rows.total else self.now_button

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            if watched is self.table.viewport():
                fit(self.table, WIDTHS, DISPENSABLE, LEAST)
            elif watched is self.said.viewport():
                fit(self.said, THOUGHT_WIDTHS, THOUGHTS_DISPENSABLE, LEAST)
        return False

    def close_page(self) -> None:
        self.whose.close_field()
        self._soon.stop()
        self._place.bridge.cancel("dreams")
        for stop in self._stop:
            stop()

    # the lists

    @property
    def shows(self) -> int:
        """Id of the list on display."""
        return self._group.checkedId()

    def _changed_behind(self) -> None:
        self._tell_now()
        self._soon.start()

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(self.whose.persona), lane="dreams")

    async def _read(self, persona: str) -> None:
        self._all = await self._dreams.changes_of(persona)
        self.thoughts.fill(await self._services.feedback.list_feedback(persona))
        runs = [run for run in await self._away.runs() if run.task == TASK and run.persona_id == persona and run.ended]
        when = f"{day_in_words(runs[0].began)}, {clock_in_words(runs[0].began)}" if runs else ""
        self._last = tr("Last dream: {when}. {what}").format(when=when, what=what_came(runs[0])) if runs else ""
        self.rows.fill(self._all)
        self._filter()

    def _filter(self) -> None:
        is_open = self.shows == OPEN
        self.rows.filter("", lambda one: (one.state is ChangeState.PROPOSED) is is_open)
        self._lists.setCurrentWidget(self.said if self.shows == SAID else self.table)
        if self.said.current is None and self.thoughts.shown:
            self.said.go_to(self.thoughts.key_of(self.thoughts.shown[0]))
        if self.table.current is None and self.rows.shown:
            self.table.go_to(self.rows.shown[0].id)
        waiting = sum(one.state is ChangeState.PROPOSED for one in self._all)
        self.all_button.setEnabled(waiting > 0)
        self.chips[OPEN].setText(tr("Pending ({n})").format(n=waiting) if waiting else tr("Pending"))
        self._show_current()
        self._tell_now()

    def _show_current(self) -> None:
        if self.shows == SAID:
            self.detail.show_thought(self.said.current)
        elif (change := self.table.current) is not None:
            self.detail.show_change(change)
        else:
            self.detail.clear()

    def _tell_now(self) -> None:
        underway = self._away.underway
        is_dreaming = underway is not None and underway.run.task == TASK
        self.stop_button.setVisible(is_dreaming)
        self.now_button.setEnabled(not is_dreaming)
        self.subtitle.set_full(tr("Dreaming… {words}").format(words=underway.words) if underway and is_dreaming else "")
        broken = " ".join(
            f"{error.message} {tr('The built-in version is used until this is fixed.')}"
            for error in self._dreams.broken_directives
        )
        self.hint.setText("  ".join(filter(None, (self._last, broken))))
        self.hint.setVisible(bool(self.hint.text()))

    # Actions of the user.

    def dream_now(self) -> None:
        """Start the dream task for the persona now; a refusal is reported in the window."""
        try:
            self._away.ask(self.whose.persona, TASK)
        except LetheError as error:
            self._place.window.notifier.report(error)

    def accept(self, change: RecordedChange, words: str) -> None:
        """Apply a change, with the edited text if `words` differs from the proposed text. Can be undone."""
        is_edited = bool(words.strip()) and " ".join(words.split()) != title_of_whole(change)

        async def forth() -> None:
            if is_edited:
                await self._dreams.edit(change.id, words)
            await self._dreams.accept(change.id)

        self.deeds.do(tr("accepting a change"), forth, lambda: self._as_it_was(change))

    def accept_all(self) -> None:
        """Apply all pending changes of the persona; those that are no longer possible are declined. Can be undone."""
        persona, waiting = self.whose.persona, [one for one in self._all if one.state is ChangeState.PROPOSED]

        async def forth() -> None:
            count = await self._dreams.accept_all(persona)
            self._place.window.notifier.tell(counted(count, tr("{n} change was applied."), tr("{n} changes were applied.")))

        async def back() -> None:
            for change in waiting:
                await self._as_it_was(change)

        self.deeds.do(tr("accepting all changes"), forth, back)

    async def _as_it_was(self, change: RecordedChange) -> None:
        await self._dreams.revert_change(change.id)
        await self._dreams.put_as(change)

    def decline(self, change: RecordedChange) -> None:
        """Decline a change, so that it is not proposed again. Can be undone."""
        step, back = self._dreams.decline, self._dreams.ask_again
        self.deeds.do(tr("declining a change"), lambda: step(change.id), lambda: back(change.id))

    def ask_again(self, change: RecordedChange) -> None:
        """Make a declined change pending again. Can be undone."""
        step, back = self._dreams.ask_again, self._dreams.decline
        self.deeds.do(tr("proposing it again"), lambda: step(change.id), lambda: back(change.id))

    def revert_change(self, change: RecordedChange) -> None:
        """Restore the records as they were before a change. Can be undone."""

        async def again() -> None:
            await self._dreams.put_as(change.model_copy(update={"state": ChangeState.PROPOSED}))
            await self._dreams.accept(change.id)

        self.deeds.do(tr("reverting a change"), lambda: self._dreams.revert_change(change.id), again)

    async def _go(self, message: UUID) -> None:
        self._place.go_to(await self._services.feedback.session_of(message), message)


def title_of_whole(change: RecordedChange) -> str:
    """Return the whole text of the records after a change, in one line."""
    return " ".join(Records.after(change).text.split())
