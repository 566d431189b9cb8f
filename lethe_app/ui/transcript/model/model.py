"""List model of a session: outlines of all messages, pages loaded on demand, and one reply in progress."""

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
    """One row per visible message. Appending, changing and streaming cost the same for any number of messages."""

    reply_grew = Signal()
    """Emitted when the reply in progress has new text; it is not passed, but read by `text_of` when it is painted."""
    reply_finished = Signal(int)
    """Emitted with the row of a reply that is complete."""
    load_failed = Signal(LetheError)
    """Emitted with the error when a page cannot be loaded."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = MessageRows()
        self._days: dict[UUID, date] = {}
        """Local day by message; kept when messages are dropped from memory, so that no day separator appears where there is
        none.
        """
        self._reply: GrowingReply | None = None
        self.marks = MemoryMarks(self)
        self._pages = self._pages_from(_nothing)

    def _pages_from(self, loader: Loader) -> MessagePages:
        return MessagePages(self.marks.beside(loader), self._take_page, self.load_failed.emit)

    def open(self, outlines: Sequence[MessageOutline], loader: Loader) -> None:
        """Show another session; `loader` loads its messages when they come into view."""
        self.beginResetModel()
        self._pages.close()
        self._pages = self._pages_from(loader)
        self._rows, self._reply = MessageRows(outlines, self._rows.show_hidden), None
        self._days.clear()
        self.marks.clear()
        self.endResetModel()

    def close(self) -> None:
        """Show no messages and stop loading."""
        self.open([], _nothing)

    @property
    def show_hidden(self) -> bool:
        return self._rows.show_hidden

    def set_show_hidden(self, shown: bool) -> None:
        """Set whether hidden messages, such as notes and recalled memories, have rows."""
        if shown != self._rows.show_hidden:
            self.beginResetModel()
            self._rows = MessageRows(self._rows.all, shown)
            self.endResetModel()

    # Content

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
        """Return the row of a message; None if it has none."""
        return self._rows.find(message_id)

    def message(self, row: int) -> Message | None:
        """Return the message of a row; None if it is not loaded."""
        outline = self.outline(row)
        if self._reply is not None and self._reply.message.id == outline.id:
            return self._reply.message
        return self._pages.get(outline.id)

    def is_growing(self, row: int) -> bool:
        """Return whether the reply in progress is in this row."""
        return self._reply is not None and self._rows.find(self._reply.message.id) == row

    @property
    def growing_row(self) -> int | None:
        """Return the row of the reply in progress; None if there is none."""
        return None if self._reply is None else self._rows.find(self._reply.message.id)

    @property
    def waiting_words(self) -> str:
        """Return the text beside the dots of the awaited reply."""
        return "" if self._reply is None else self._reply.words

    def text_of(self, row: int) -> tuple[str, str]:
        """Return text and thinking of a row; both empty while the message is not loaded."""
        if self._reply is not None and self.is_growing(row):
            return self._reply.said.text, self._reply.thought.text
        message = self.message(row)
        return (message.content, message.thinking) if message else ("", "")

    def day_begun(self, row: int) -> date | None:
        """Return the day for the separator above a row; None if the row above is of the same day or its day is not known."""
        day = self._days.get(self.outline(row).id)
        before = self._days.get(self.outline(row - 1).id) if row else None
        return day if day != before and (before is not None or row == 0) else None

    def is_last_reply(self, row: int) -> bool:
        """Return whether this is the last row and a reply of a persona."""
        return row == len(self._rows) - 1 and self.outline(row).role is Role.ASSISTANT

    def spoken(self, row: int) -> str:
        """Return the row for screen readers: speaker, time, and the text without formatting."""
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
            told = self.tr("swipe {number} of {count}")
            states.append(told.format(number=message.shown + 1, count=len(message.alternatives)))
        if self.is_growing(row):
            states.append(self.tr("being written"))
        elif not message.current.complete:
            states.append(self.tr("stopped"))
        return ", ".join(states)

    # Loading

    def want(self, first: int, last: int) -> None:
        """Load the missing messages of these rows and of the row above, which is needed for the day separator."""
        rows = range(max(0, first - 1), min(last + 1, len(self._rows)))
        missing = [self._rows.position(row) for row in rows if self.message(row) is None]
        if missing:
            self._pages.want(missing)

    def retry(self) -> None:
        """Allow failed pages to be loaded again."""
        self._pages.retry()

    def _take_page(self, messages: list[Message]) -> None:
        for message in messages:
            self._days[message.id] = local_day(message.time)
        rows = [row for message in messages if (row := self._rows.find(message.id)) is not None]
        if rows:
            self._tell_changed(min(rows), max(rows))

    def _tell_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first), self.index(last))

    # Changes

    def append(self, message: Message) -> None:
        """Append a message."""
        self._remember(message)
        self._append_outline(outline_of(message))

    def insert_above(self, message: Message, above: UUID) -> None:
        """Insert a message right above another one; without effect if that is missing or the message is there already."""
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
        """Show a changed message: edited, with another alternative, or in place of the awaited one `instead_of`."""
        row = self._rows.find(instead_of or message.id)
        if row is None:
            return
        self._remember(message)
        if instead_of is not None and instead_of != message.id:
            self._pages.drop(instead_of)
        self._rows.replace(row, outline_of(message))
        self._tell_changed(row, row)

    def remove(self, *message_ids: UUID) -> None:
        """Remove messages, hidden ones included."""
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
        """Update to the session's current messages. The model is reset only if messages were reordered or inserted before
        others; otherwise the scroll position is kept.
        """
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

    # Reply in progress

    def await_reply(self, speaker: str, speaker_name: str, session_id: UUID) -> None:
        """Add a stand-in for a reply that has no message yet."""
        awaited = Message(session_id=session_id, role=Role.ASSISTANT, speaker=speaker, speaker_name=speaker_name)
        awaited.current.complete = False
        self._reply = GrowingReply(awaited, awaited=True)
        self.append(awaited)

    def say_waiting(self, words: str) -> None:
        """Set the text beside the dots of the awaited reply."""
        if self._reply is not None:
            self._reply.words = words
            self.reply_grew.emit()

    def stop_waiting(self) -> None:
        """Remove the stand-in if the reply did not begin."""
        if self._reply is not None and self._reply.awaited:
            awaited, self._reply = self._reply, None
            self.remove(awaited.message.id)

    def begin_reply(self, message: Message) -> None:
        """Start a reply: a new message, another alternative of one, or the continuation of one. It replaces the stand-in."""
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
        """Append to the text of the reply in progress."""
        if self._reply is not None:
            self._reply.said.append(text)
            self.reply_grew.emit()

    def append_thought(self, text: str) -> None:
        """Append to the thinking of the reply in progress."""
        if self._reply is not None:
            self._reply.thought.append(text)
            self.reply_grew.emit()

    def finish(self, message: Message) -> None:
        """Replace the reply in progress by the stored `message`."""
        if self._rows.find(message.id) is None:
            self.begin_reply(message)
        self._reply = None
        self.replace(message)
        if (row := self._rows.find(message.id)) is not None:
            self.reply_finished.emit(row)
