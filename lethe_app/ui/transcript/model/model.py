"""The messages of a session as Qt sees them and as they are read aloud: outlines first, pages on demand, one reply growing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from lethe_app.domain.chat import Message, MessageOutline, Role
from lethe_app.errors import LetheError
from lethe_app.ui.transcript.dates import clock_words, local_day
from lethe_app.ui.transcript.markdown.blocks import plain
from lethe_app.ui.transcript.model.annotations import MemoryMarks
from lethe_app.ui.transcript.model.growing_reply import GrowingReply
from lethe_app.ui.transcript.model.paging import Loader, MessagePages
from lethe_app.ui.transcript.model.rows import MessageRows, outline_of

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


async def _nothing(_start: int, _count: int) -> list[Message]:
    return []


class ChatModel(QAbstractListModel):
    """One row for each message that is shown. Adding, changing and streaming cost the same however many there are."""

    reply_grew = Signal()
    """The growing reply has new text; ask `text_of` when it is time to draw it."""
    reply_finished = Signal(int)
    load_failed = Signal(LetheError)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = MessageRows()
        self._days: dict[UUID, date] = {}
        self._reply: GrowingReply | None = None
        self.marks = MemoryMarks(self)
        self._pages = self._pages_from(_nothing)

    def _pages_from(self, loader: Loader) -> MessagePages:
        return MessagePages(self.marks.beside(loader), self._take_page, self.load_failed.emit)

    def open(self, outlines: Sequence[MessageOutline], loader: Loader) -> None:
        """Show another session; its messages are fetched with `loader` as they come into view."""
        self.beginResetModel()
        self._pages.close()
        self._pages = self._pages_from(loader)
        self._rows, self._reply = MessageRows(outlines, self._rows.show_hidden), None
        self._days.clear()
        self.marks.clear()
        self.endResetModel()

    def close(self) -> None:
        """Show nothing and fetch nothing more."""
        self.open([], _nothing)

    @property
    def show_hidden(self) -> bool:
        return self._rows.show_hidden

    def set_show_hidden(self, shown: bool) -> None:
        """Whether notes and memory inserts are drawn as well."""
        if shown != self._rows.show_hidden:
            self.beginResetModel()
            self._rows = MessageRows(self._rows.all, shown)
            self.endResetModel()

    # What is there

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own signature
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text_of(index.row())[0]
            case Qt.ItemDataRole.AccessibleTextRole:
                return self.spoken(index.row())
            case Qt.ItemDataRole.AccessibleDescriptionRole:
                return self._spoken_state(index.row())
        return None

    def outline(self, row: int) -> MessageOutline:
        return self._rows[row]

    def row_of(self, message_id: UUID) -> int | None:
        return self._rows.find(message_id)

    def message(self, row: int) -> Message | None:
        """The message of a row, if it is at hand."""
        outline = self.outline(row)
        if self._reply is not None and self._reply.message.id == outline.id:
            return self._reply.message
        return self._pages.get(outline.id)

    def is_growing(self, row: int) -> bool:
        return self._reply is not None and self._rows.find(self._reply.message.id) == row

    @property
    def growing_row(self) -> int | None:
        return None if self._reply is None else self._rows.find(self._reply.message.id)

    @property
    def waiting_words(self) -> str:
        return "" if self._reply is None else self._reply.words

    def text_of(self, row: int) -> tuple[str, str]:
        """What is said and what is thought in a row; empty while it is not at hand."""
        if self._reply is not None and self.is_growing(row):
            return self._reply.said.text, self._reply.thought.text
        message = self.message(row)
        return (message.content, message.thinking) if message else ("", "")

    def day_begun(self, row: int) -> date | None:
        """The day that begins with this row, if one does and it is known."""
        day = self._days.get(self.outline(row).id)
        before = self._days.get(self.outline(row - 1).id) if row else None
        return day if day != before and (before is not None or row == 0) else None

    def is_last_reply(self, row: int) -> bool:
        """Whether nothing was said after this row and a persona said it."""
        return row == len(self._rows) - 1 and self.outline(row).role is Role.ASSISTANT

    def spoken(self, row: int) -> str:
        """The row as it is read aloud: who, when, and the words without formatting."""
        message = self.message(row)
        if message is None:
            return self.tr("Message {number}, not loaded yet").format(number=row + 1)
        name = message.speaker_name or self.tr("Note")
        return f"{name}, {clock_words(message.time)}: {plain(self.text_of(row)[0])}"

    def _spoken_state(self, row: int) -> str:
        message = self.message(row)
        if message is None:
            return ""
        states = self.marks.spoken(row)
        if len(message.alternatives) > 1:
            told = self.tr("alternative {number} of {count}")
            states.append(told.format(number=message.shown + 1, count=len(message.alternatives)))
        if self.is_growing(row):
            states.append(self.tr("being written"))
        elif not message.current.complete:
            states.append(self.tr("stopped"))
        return ", ".join(states)

    # Fetching

    def want(self, first: int, last: int) -> None:
        """Somebody looks at these rows: fetch what is missing of them and of the one before, which decides about the day."""
        rows = range(max(0, first - 1), min(last + 1, len(self._rows)))
        missing = [self._rows.position(row) for row in rows if self.message(row) is None]
        if missing:
            self._pages.want(missing)

    def retry(self) -> None:
        """Try again to fetch what could not be fetched."""
        self._pages.retry()

    def _take_page(self, messages: list[Message]) -> None:
        for message in messages:
            self._days[message.id] = local_day(message.time)
        rows = [row for message in messages if (row := self._rows.find(message.id)) is not None]
        if rows:
            self._tell_changed(min(rows), max(rows))

    def _tell_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first), self.index(last))

    # Changing

    def append(self, message: Message) -> None:
        """Add a message at the end."""
        self._remember(message)
        self._append_outline(outline_of(message))

    def insert_above(self, message: Message, above: UUID) -> None:
        """Put a message right above another one; if that is not there, nothing happens."""
        outline, row = outline_of(message), self._rows.find(above)
        if row is None or any(each.id == message.id for each in self._rows.all):
            return
        self._remember(message)
        if not self._rows.is_shown(outline):
            self._rows.insert(outline, above)
            return
        self.beginInsertRows(QModelIndex(), row, row)
        self._rows.insert(outline, above)
        self.endInsertRows()

    def _append_outline(self, outline: MessageOutline) -> None:
        if not self._rows.is_shown(outline):
            self._rows.append(outline)
            return
        self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows))
        self._rows.append(outline)
        self.endInsertRows()

    def _remember(self, message: Message) -> None:
        self._pages.add_message(message)
        self._days[message.id] = local_day(message.time)

    def replace(self, message: Message, instead_of: UUID | None = None) -> None:
        """Show a message as it is now: edited, another alternative, or begun in the place of an awaited one."""
        row = self._rows.find(instead_of or message.id)
        if row is None:
            return
        self._remember(message)
        if instead_of is not None and instead_of != message.id:
            self._pages.drop(instead_of)
        self._rows.replace(row, outline_of(message))
        self._tell_changed(row, row)

    def remove(self, *message_ids: UUID) -> None:
        """Take messages out; hidden ones may be named too."""
        gone = set(message_ids)
        if not gone:
            return
        found = (self._rows.find(message_id) for message_id in gone)
        for row in sorted((row for row in found if row is not None), reverse=True):
            self.beginRemoveRows(QModelIndex(), row, row)
            self._rows.remove(row)
            self.endRemoveRows()
        self._rows.forget_hidden(gone)
        for message_id in gone:
            self._pages.drop(message_id)

    def refresh(self, outlines: Iterable[MessageOutline]) -> None:
        """Take over what the session consists of now, keeping the reader's place where messages only came or went."""
        fresh = list(outlines)
        ids = {outline.id for outline in fresh}
        self.remove(*(outline.id for outline in self._rows.all if outline.id not in ids))
        known = len(self._rows.all)
        if [outline.id for outline in fresh[:known]] != [outline.id for outline in self._rows.all]:
            self.beginResetModel()
            self._rows = MessageRows(fresh, self._rows.show_hidden)
            self.endResetModel()
            return
        for outline in fresh[known:]:
            self._append_outline(outline)

    # A reply that grows

    def await_reply(self, speaker: str, speaker_name: str, session_id: UUID) -> None:
        """Show that somebody is about to answer, before there is a message."""
        awaited = Message(session_id=session_id, role=Role.ASSISTANT, speaker=speaker, speaker_name=speaker_name)
        awaited.current.complete = False
        self._reply = GrowingReply(awaited, awaited=True)
        self.append(awaited)

    def say_waiting(self, words: str) -> None:
        """Say what the waiting is for."""
        if self._reply is not None:
            self._reply.words = words
            self.reply_grew.emit()

    def stop_waiting(self) -> None:
        """Nobody answered: take the awaited reply away again."""
        if self._reply is not None and self._reply.awaited:
            awaited, self._reply = self._reply, None
            self.remove(awaited.message.id)

    def begin_reply(self, message: Message) -> None:
        """A reply begins: a new message, another alternative of one, or more of one."""
        awaited = self._reply.message.id if self._reply is not None and self._reply.awaited else None
        self._reply = GrowingReply(message)
        if self._rows.find(message.id) is not None:
            if awaited is not None:
                self.remove(awaited)
            self.replace(message)
        elif awaited is not None:
            self.replace(message, instead_of=awaited)
        else:
            self.append(message)

    def append_said(self, text: str) -> None:
        if self._reply is not None:
            self._reply.said.append(text)
            self.reply_grew.emit()

    def append_thought(self, text: str) -> None:
        if self._reply is not None:
            self._reply.thought.append(text)
            self.reply_grew.emit()

    def finish(self, message: Message) -> None:
        """The reply is stored as `message`; it no longer grows."""
        if self._rows.find(message.id) is None:
            self.begin_reply(message)
        self._reply = None
        self.replace(message)
        if (row := self._rows.find(message.id)) is not None:
            self.reply_finished.emit(row)
