"""Page “Conversations”: the sessions of a persona, their summaries and messages, and all edits of them."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from lethe_app.domain.chat import SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.errors import StorageError
from lethe_app.ui.core.formatting import counted, messages_in_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.pages.sessions.commands import SessionEdits
from lethe_app.ui.pages.sessions.detail import SessionDetail
from lethe_app.ui.pages.sessions.labels import shortened, title_of
from lethe_app.ui.pages.sessions.message_actions import SessionMessageActions
from lethe_app.ui.pages.sessions.table_model import DISPENSABLE, TITLE_WIDTH, WIDTHS, MarkChips, keeper, rows_of
from lethe_app.ui.widgets.card_column import side_by_side
from lethe_app.ui.widgets.table import SearchField, Table

CHANGED_MS = 250
"""Delay in milliseconds after which the list is reloaded; further changes within it restart it."""
TOO_SHORT = 2
"""Messages up to which a session is skipped when facts are extracted from several."""
AT_FIRST = 100
"""Sessions shown before all of them are loaded."""


class SessionPage(Page):
    """Page with the list of sessions on the left and the selected session on the right."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("SessionPage", "Conversations"))
        self._place, self._services = place, place.services
        self._wanted: UUID | None = None
        self._is_whole = False
        """True once all sessions of the persona are listed."""
        self._said_of: UUID | None = None
        """Session whose transcript is loaded."""
        self.rows = rows_of(place.theme)
        self.edits = SessionEdits(self, place, self._put, self._did)
        self._build()
        self._connect()
        self.whose.announce_first()

    def _build(self) -> None:
        self.merge_button = self.add_button(self.tr("Merge conversations"), self.merge)
        self.merge_button.setToolTip(self.tr("Select two or more conversations to merge them in chronological order"))
        self.whose = Whose(self._place)
        self.whose.setAccessibleName(self.tr("Persona"))
        self.whose.setToolTip(self.tr("Persona"))
        self.search = SearchField(self.theme, self.tr("Search titles and summaries"))
        self.chips = MarkChips()
        empty = self.tr("No conversations yet. They are listed here after the first message.")
        self.table: Table[SessionLine] = Table(self.rows, self.theme, self.tr("Conversations"), empty)
        self.detail = SessionDetail(self._place, self)
        self.search.below = self.table
        self._lay_out()

    def _lay_out(self) -> None:
        line, above = QHBoxLayout(), QWidget()
        line.setSpacing(SPACE_2)
        line.addWidget(self.whose)
        line.addWidget(self.search, 1)
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addLayout(line)
        head.addWidget(self.chips)
        split = side_by_side(self.table, self.detail)
        self.body.addWidget(above)
        self.body.addWidget(split, 1)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        services, detail = self._services, self.detail
        self._stop = [services.sessions.changed.add(self._changed_behind), services.archiving.changed.add(detail.show_progress)]
        self.whose.chosen.connect(self._show_persona)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.chips.changed.connect(self._filter)
        self.table.current_changed.connect(self._show_current)
        self.table.opened.connect(lambda _line: detail.focus_first_field())
        self.table.delete_wanted.connect(self.delete)
        self.table.menu_wanted.connect(self._show_menu)
        self.table.viewport().installEventFilter(self)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._follow_selection())
        detail.form.changed.connect(self._edited)
        detail.again_wanted.connect(self._again)
        detail.go_wanted.connect(self.go_on)
        detail.merge_wanted.connect(self.merge_with_next)
        detail.extraction_wanted.connect(lambda: self.extract_again(self._shown()))
        detail.delete_wanted.connect(lambda: self.delete(self._shown()))
        self.wishes = SessionMessageActions(
            self._place, self.edits, detail, lambda: self.whose.persona_name, lambda: title_of(self._shown()[0])
        )
        detail.tabs.currentChanged.connect(lambda _tab: self._read_transcript())

    def first_focus(self) -> QWidget:
        return self.search

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, TITLE_WIDTH)
        return False

    async def may_leave(self) -> bool:
        try:
            await self.edits.save()
            await self.detail.notes.save()
        except StorageError as error:
            self._place.window.notifier.report(error)
        return True

    def close_page(self) -> None:
        self.whose.close_field()
        self.detail.transcript.clear()
        for stop in self._stop:
            stop()
        self.edits.close()
        for lane in ("list", "detail", "transcript", "dialog"):
            self._place.bridge.cancel(f"session {lane}")
        self._place.bridge.spawn(self.edits.save())
        self._place.bridge.spawn(self.detail.notes.save())

    # the list

    def _show_persona(self, _persona: str) -> None:
        self.rows.fill([])
        self._is_whole = False
        self._read_soon()

    def _changed_behind(self, persona: str) -> None:
        if persona == self.whose.persona:
            self._soon.start()

    def _did(self, wanted: UUID | None) -> None:
        """Reload the list and the transcript after sessions or messages were added, removed or changed."""
        self._wanted, self._said_of = wanted or self._wanted, None
        self._read_soon()

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(self.whose.persona), lane="session list")

    async def _read(self, persona: str) -> None:
        is_first = not self._is_whole
        if is_first:
            self.rows.fill(await self._services.chronicle.lines(persona, AT_FIRST))  # all of them take a while
        self.rows.fill(await self._services.chronicle.lines(persona))
        self._is_whole = True
        self._tell_count()
        current = self._place.session() if is_first and self.table.current is None else None
        begin = current.guid if current is not None and self.detail.session is None else None
        wanted, self._wanted = self._wanted or begin, None
        if wanted is not None and not self.table.go_to(str(wanted)) and wanted != begin:
            self._show_all()
            self.table.go_to(str(wanted))
        line = self.table.current
        if line is not None and not self.edits.is_unsaved(UUID(line.guid)):
            await self._load(UUID(line.guid))

    def _filter(self) -> None:
        self.rows.filter(self.search.text(), keeper(self.chips.marks))
        self._tell_count()

    def _show_all(self) -> None:
        self.chips.turn_off()
        self.search.clear()

    def _tell_count(self) -> None:
        total, shown = self.rows.total, len(self.rows.shown)
        words = counted(total, self.tr("{n} conversation"), self.tr("{n} conversations"))
        few = self.tr("{shown} of {all}").format(shown=QLocale().toString(shown), all=words)
        self.subtitle.set_full(words if shown == total else few)
        self._follow_selection()

    def _follow_selection(self) -> None:
        self.merge_button.setEnabled(len(self.table.selected) > 1)

    # The selected session.

    def _show_current(self, line: SessionLine | None) -> None:
        if line is None:
            self._said_of = None
            self.detail.clear()
        elif self.detail.session is None or str(self.detail.session.guid) != line.guid:
            self._place.bridge.spawn(self._load(UUID(line.guid)), lane="session detail")

    async def _load(self, guid: UUID) -> None:
        await self.edits.save()
        try:
            session = await self._services.sessions.open(guid)
        except StorageError:
            return  # deleted meanwhile; the list is about to say so
        records = await self._services.archiving.parts(guid)
        line = self.table.current
        if line is not None and line.guid == str(guid) and not self.edits.is_unsaved(guid):
            self.detail.show_session(session, records, line.messages)
            self.detail.merge.setEnabled(self._next_of(line) is not None)
            self._read_transcript()

    def _read_transcript(self) -> None:
        session = self.detail.session
        if session is not None and self.detail.tabs.currentIndex() == 1 and self._said_of != session.guid:
            self._said_of = session.guid
            self._place.bridge.spawn(self.detail.load_transcript(session.guid), lane="session transcript")

    def _edited(self, name: str, value: object) -> None:
        if self.detail.session is not None:
            self.edits.change(self.detail.session, name, value)

    def _put(self, guid: UUID, name: str, value: object) -> None:
        if self.detail.session is not None and self.detail.session.guid == guid:
            self.detail.set_field(name, value)

    def _shown(self) -> list[SessionLine]:
        return [self.table.current] if self.table.current is not None else []

    # what the buttons do

    def _again(self, part: SessionPart) -> None:
        if self.detail.session is not None:
            self.edits.again(self.detail.session.guid, part)

    def go_on(self) -> None:
        """Open the session in the chat, at its end."""
        if self.detail.session is not None:
            self._place.go_to(self.detail.session.guid, None)

    def merge(self) -> None:
        """Merge the selected sessions."""
        if len(self.table.selected) > 1:
            self.edits.merge(self.table.selected)

    def merge_with_next(self) -> None:
        """Merge the selected session with the one that started after it."""
        line = self.table.current
        following = self._next_of(line) if line is not None else None
        if line is not None and following is not None:
            self.edits.merge([line, following])

    def _next_of(self, line: SessionLine) -> SessionLine | None:
        later = [other for other in self.rows.everything if other.began > line.began and other.guid != line.guid]
        return min(later, key=lambda other: other.began, default=None)

    def extract_again(self, lines: list[SessionLine]) -> None:
        """Extract the facts of these sessions again."""
        if lines:
            self._place.bridge.spawn(self._extract_again(self.whose.persona, lines))

    async def _extract_again(self, persona: str, lines: list[SessionLine]) -> None:
        await self.edits.save()
        long = [line for line in lines if line.messages > TOO_SHORT] or lines  # of several, none is too short to be asked for
        facts = [await self._services.fact_extraction.extract_session(persona, UUID(line.guid)) for line in long]
        told = counted(sum(facts), self.tr("{n} fact was extracted."), self.tr("{n} facts were extracted."))
        self._place.window.notifier.tell(told)

    def delete(self, lines: list[SessionLine]) -> None:
        """Move sessions to the trash after confirmation."""
        if lines:
            self._place.bridge.spawn(self._delete(lines), lane="session dialog")

    async def _delete(self, lines: list[SessionLine]) -> None:
        title, count = shortened(title_of(lines[0])), messages_in_words(sum(line.messages for line in lines))
        one = len(lines) == 1
        what = f"‘{title}’" if one else self.tr("{n} conversations").format(n=len(lines))
        question = ConfirmDialog(
            self._place.window,
            self.tr("Delete this conversation?") if one else self.tr("Delete {what}?").format(what=what),
            self.tr("Everything learnt only there will no longer be remembered. You can restore all of it from the Trash."),
            self.tr("Delete {what} ({count})").format(what=what, count=count),
        )
        if await answered(question):
            self.edits.delete(lines)

    def _show_menu(self, place: QPoint) -> None:
        lines = self.table.selected
        if not lines:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries: list[tuple[str, Callable[[], object], bool]] = [
            (self.tr("Continue conversation"), self.go_on, len(lines) == 1),
            (self.tr("Extract facts again"), lambda: self.extract_again(lines), True),
            (self.tr("Merge with next"), self.merge_with_next, len(lines) == 1 and self._next_of(lines[0]) is not None),
            (self.tr("Merge conversations"), self.merge, len(lines) > 1),
            (self.tr("Delete…"), lambda: self.delete(lines), True),
        ]
        for words, slot, can in entries:
            menu.addAction(words, slot).setEnabled(can)
        menu.popup(place)
