"""List model of a session: outlines of all messages, pages loaded on demand, and one reply in progress."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from lethe_app.domain.chat import Message, MessageOutline, Role
from lethe_app.errors import LetheError
from lethe_app.ui.core.labels.dates import format_time, local_day
from lethe_app.ui.core.labels.messages import displayed_text
from lethe_app.ui.transcript.markdown.blocks import strip_formatting
from lethe_app.ui.transcript.model.annotations import AnnotationQueries, MessageAnnotations, ReplyAnnotations
from lethe_app.ui.transcript.model.message_pages import Loader, MessagePages
from lethe_app.ui.transcript.model.message_rows import MAX_ROWS_ABOVE, MessageRows, outline_of

Index = QModelIndex | QPersistentModelIndex
_INVALID_INDEX = QModelIndex()


async def _load_nothing(_start: int, _count: int) -> list[Message]:
    return []


class GrowingText:
    """Text that is appended to often and read seldom."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text]

    def append(self, piece: str) -> None:
        """Append a piece without copying the text."""
        self._pieces.append(piece)

    @property
    def text(self) -> str:
        """Return the text, joining the pieces."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class GrowingReply:
    """Reply in progress, from the request until it is stored."""

    def __init__(self, message: Message, is_placeholder: bool = False) -> None:
        self.message = message
        self.is_placeholder = is_placeholder
        """True if `message` is a stand-in, because the reply has not begun."""
        self.waiting_text = ""
        """Text beside the dots, such as the progress of the prefill."""
        self.content, self.thinking = GrowingText(message.content), GrowingText(message.thinking)


class ChatModel(QAbstractListModel):
    """One row per visible message. Appending, changing and streaming cost the same for any number of messages."""

    reply_grew = Signal()
    """Emitted when the reply in progress has new text; it is not passed, but read by `text_of` when it is painted."""
    reply_finished = Signal(int)
    """Emitted with the row of a reply that is complete."""
    load_failed = Signal(LetheError)
    """Emitted with the error when a page cannot be loaded."""

    def __init__(self, queries: AnnotationQueries | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = MessageRows()
        self._days: dict[UUID, date] = {}
        """Local day by message; kept when messages are dropped from memory, so that no day separator appears where there is
        none.
        """
        self._reply: GrowingReply | None = None
        self.annotations = MessageAnnotations(queries or AnnotationQueries(), self._on_annotations_changed)
        self._pages = self._create_pages(_load_nothing)

    def _create_pages(self, loader: Loader) -> MessagePages:
        return MessagePages(self.annotations.wrap_loader(loader), self._on_page_loaded, self.load_failed.emit)

    def show_session(self, outlines: Sequence[MessageOutline], loader: Loader) -> None:
        """Show another session; `loader` loads its messages when they come into view."""
        self.beginResetModel()
        self._pages.close()
        self._pages = self._create_pages(loader)
        self._rows, self._reply = MessageRows(outlines, self._rows.show_hidden), None
        self._days.clear()
        self.annotations.clear()
        self.endResetModel()

    def close(self) -> None:
        """Show no messages and stop loading."""
        self.show_session([], _load_nothing)

    @property
    def show_hidden(self) -> bool:
        return self._rows.show_hidden

    def set_show_hidden(self, show_hidden: bool) -> None:
        """Set whether hidden messages, such as notes and recalled memories, have rows."""
        if show_hidden != self._rows.show_hidden:
            self.beginResetModel()
            self._rows = MessageRows(self._rows.all_outlines, show_hidden)
            self.endResetModel()

    # Content

    def rowCount(self, parent: Index = _INVALID_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own signature
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text_of(index.row())[0]
            case Qt.ItemDataRole.AccessibleTextRole:
                return self.accessible_text(index.row())
            case Qt.ItemDataRole.AccessibleDescriptionRole:
                return self._accessible_state(index.row())
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that rows cannot be selected, which screen readers would say of each: “not selected”."""
        return Qt.ItemFlag.ItemIsEnabled if index.isValid() else Qt.ItemFlag.NoItemFlags

    def outline(self, row: int) -> MessageOutline:
        return self._rows[row]

    def row_of(self, message_id: UUID) -> int | None:
        """Return the row of a message; None if it has none."""
        return self._rows.find_row(message_id)

    def find_last(self, role: Role) -> int | None:
        """Return the row of the newest message of a role; None if there is none."""
        rows = range(self.rowCount() - 1, -1, -1)
        return next((row for row in rows if self.outline(row).role is role), None)

    def message(self, row: int) -> Message | None:
        """Return the message of a row; None if it is not loaded."""
        outline = self.outline(row)
        if self._reply is not None and self._reply.message.id == outline.id:
            return self._reply.message
        return self._pages.find_message(outline.id)

    def is_growing(self, row: int) -> bool:
        """Return whether the reply in progress is in this row."""
        return self._reply is not None and self._rows.find_row(self._reply.message.id) == row

    @property
    def growing_row(self) -> int | None:
        """Return the row of the reply in progress; None if there is none."""
        return None if self._reply is None else self._rows.find_row(self._reply.message.id)

    @property
    def waiting_text(self) -> str:
        """Return the text beside the dots of the awaited reply."""
        return "" if self._reply is None else self._reply.waiting_text

    def text_of(self, row: int) -> tuple[str, str]:
        """Return text and thinking of a row; both empty while the message is not loaded."""
        if self._reply is not None and self.is_growing(row):
            return self._reply.content.text, self._reply.thinking.text
        message = self.message(row)
        return (displayed_text(message), message.thinking) if message else ("", "")

    def separator_day(self, row: int) -> date | None:
        """Return the day for the separator above a row; None if the row above is of the same day or its day is not known."""
        day = self._days.get(self.outline(row).id)
        previous_day = self._days.get(self.outline(row - 1).id) if row else None
        return day if day != previous_day and (previous_day is not None or row == 0) else None

    def find_user_message(self, row: int) -> UUID | None:
        """Return the id of the user message that a reply answers; None for a greeting or if the row is no reply."""
        return self._rows.find_user_message(row)

    def annotations_of(self, row: int) -> ReplyAnnotations:
        """Return the annotations of a row; none while its message is not loaded."""
        message = self.message(row)
        if message is None:
            return ReplyAnnotations()
        return self.annotations.of_message(message, self._rows.find_user_message(row))

    def is_last_reply(self, row: int) -> bool:
        """Return whether this is the last row and a reply of a persona."""
        return row == len(self._rows) - 1 and self.outline(row).role is Role.ASSISTANT

    def accessible_text(self, row: int) -> str:
        """Return the row for screen readers: speaker, time, and the text without formatting."""
        message = self.message(row)
        if message is None:
            return self.tr("Message {number}, not loaded yet").format(number=row + 1)
        return f"{self.speaker_name(row)}, {format_time(message.time)}: {strip_formatting(self.text_of(row)[0])}"

    def speaker_name(self, row: int) -> str:
        """Return the name of the speaker of a row; empty while the message is not loaded."""
        message = self.message(row)
        return (message.speaker_name or self.tr("Note")) if message is not None else ""

    def _accessible_state(self, row: int) -> str:
        message = self.message(row)
        if message is None:
            return ""
        states = self.annotations_of(row).accessible_texts()
        if len(message.alternatives) > 1:
            template = self.tr("swipe {number} of {count}")
            states.append(template.format(number=message.shown + 1, count=len(message.alternatives)))
        if self.is_growing(row):
            states.append(self.tr("being written"))
        elif interruption := self.interruption_of(message):
            states.append(interruption)
        return ", ".join(states)

    def interruption_of(self, message: Message) -> str:
        """Return, for screen readers, why a reply ends before its end; empty if it is whole."""
        if not message.current.complete:
            return self.tr("stopped")
        return self.tr("cut off at the maximum length") if message.current.is_cut else ""

    # Loading

    def request_rows(self, first: int, last: int) -> None:
        """Load the missing messages of these rows and of the row above, which is needed for the day separator."""
        rows = range(max(0, first - 1), min(last + 1, len(self._rows)))
        missing = [self._rows.position_of(row) for row in rows if self.message(row) is None]
        if missing:
            self._pages.request_pages(missing)

    def _on_page_loaded(self, messages: list[Message]) -> None:
        for message in messages:
            self._days[message.id] = local_day(message.time)
        rows = [row for message in messages if (row := self._rows.find_row(message.id)) is not None]
        if rows:
            self._emit_data_changed(min(rows), max(rows))

    def _on_annotations_changed(self, message_ids: Collection[UUID]) -> None:
        rows = [row for message_id in message_ids if (row := self._rows.find_row(message_id)) is not None]
        if rows:  # the number of memories of a user message is shown below the replies to it
            self._emit_data_changed(min(rows), min(max(rows) + MAX_ROWS_ABOVE, len(self._rows) - 1))

    def _emit_data_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first), self.index(last))

    # Changes

    def append_message(self, message: Message) -> None:
        """Append a message."""
        self._keep_message(message)
        self._insert_outline(outline_of(message), len(self._rows))

    def insert_above(self, message: Message, next_message_id: UUID) -> None:
        """Insert a message right above another one; without effect if that is missing or the message is there already."""
        self.annotations.hidden_messages.add_inserted_message(message, next_message_id)
        outline, row = outline_of(message), self._rows.find_row(next_message_id)
        if row is None or any(each.id == message.id for each in self._rows.all_outlines):
            return
        self._keep_message(message)
        self._insert_outline(outline, row, next_message_id)

    def _insert_outline(self, outline: MessageOutline, row: int, next_message_id: UUID | None = None) -> None:
        """Insert an outline above another message, which is in `row`, or at the end; it has a row only if it is shown."""
        if self._rows.is_shown(outline):
            self.beginInsertRows(QModelIndex(), row, row)
            self._rows.insert(outline, next_message_id)
            self.endInsertRows()
        else:
            self._rows.insert(outline, next_message_id)

    def _keep_message(self, message: Message) -> None:
        self._pages.add_message(message)
        self._days[message.id] = local_day(message.time)

    def replace_message(self, message: Message, placeholder_id: UUID | None = None) -> None:
        """Show a changed message: edited, with another alternative, or in place of the awaited one `placeholder_id`."""
        row = self._rows.find_row(placeholder_id or message.id)
        if row is None:
            return
        self._keep_message(message)
        if placeholder_id is not None and placeholder_id != message.id:
            self._pages.remove_message(placeholder_id)
        self._rows.replace(row, outline_of(message))
        self._emit_data_changed(row, row)

    def remove_messages(self, *message_ids: UUID) -> None:
        """Remove messages, hidden ones included."""
        ids = set(message_ids)
        if not ids:
            return
        found = (self._rows.find_row(message_id) for message_id in ids)
        for row in sorted((row for row in found if row is not None), reverse=True):
            self.beginRemoveRows(QModelIndex(), row, row)
            self._rows.remove(row)
            self.endRemoveRows()
        self._rows.remove_hidden(ids)
        self.annotations.hidden_messages.remove_messages(ids)
        for message_id in ids:
            self._pages.remove_message(message_id)

    def refresh_outlines(self, outlines: Iterable[MessageOutline]) -> None:
        """Update to the session's current messages. The model is reset only if messages were reordered or inserted before
        others; otherwise the scroll position is kept.
        """
        new_outlines = list(outlines)
        ids = {outline.id for outline in new_outlines}
        self.remove_messages(*(outline.id for outline in self._rows.all_outlines if outline.id not in ids))
        known_count = len(self._rows.all_outlines)
        if [outline.id for outline in new_outlines[:known_count]] != [outline.id for outline in self._rows.all_outlines]:
            self.beginResetModel()
            self._rows = MessageRows(new_outlines, self._rows.show_hidden)
            self.endResetModel()
            return
        for outline in new_outlines[known_count:]:
            self._insert_outline(outline, len(self._rows))

    # Reply in progress

    def add_placeholder(self, speaker: str, speaker_name: str, session_id: UUID) -> None:
        """Add a stand-in for a reply that has no message yet."""
        placeholder = Message(session_id=session_id, role=Role.ASSISTANT, speaker=speaker, speaker_name=speaker_name)
        placeholder.current.complete = False
        self._reply = GrowingReply(placeholder, is_placeholder=True)
        self.append_message(placeholder)

    def set_waiting_text(self, text: str) -> None:
        """Set the text beside the dots of the awaited reply."""
        if self._reply is not None:
            self._reply.waiting_text = text
            self.reply_grew.emit()

    def remove_placeholder(self) -> None:
        """Remove the stand-in if the reply did not begin."""
        if self._reply is not None and self._reply.is_placeholder:
            placeholder, self._reply = self._reply, None
            self.remove_messages(placeholder.message.id)

    def start_reply(self, message: Message) -> None:
        """Start a reply: a new message, another alternative of one, or the continuation of one. It replaces the stand-in."""
        placeholder_id = self._reply.message.id if self._reply is not None and self._reply.is_placeholder else None
        self._reply = GrowingReply(message)
        if self._rows.find_row(message.id) is not None:
            if placeholder_id is not None:
                self.remove_messages(placeholder_id)
            self.replace_message(message)
        elif placeholder_id is not None:
            self.replace_message(message, placeholder_id=placeholder_id)
        else:
            self.append_message(message)

    def append_content(self, text: str) -> None:
        """Append to the text of the reply in progress."""
        if self._reply is not None:
            self._reply.content.append(text)
            self.reply_grew.emit()

    def append_thinking(self, text: str) -> None:
        """Append to the thinking of the reply in progress."""
        if self._reply is not None:
            self._reply.thinking.append(text)
            self.reply_grew.emit()

    def finish_reply(self, message: Message) -> None:
        """Replace the reply in progress by the stored `message`."""
        if self._rows.find_row(message.id) is None:
            self.start_reply(message)
        self._reply = None
        self.replace_message(message)
        if (row := self._rows.find_row(message.id)) is not None:
            self.reply_finished.emit(row)
