"""Mapping between the messages of a session and the rows of the visible ones."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lethe_app.domain.chat import Message, MessageOutline, Role

MAX_ROWS_ABOVE = 8
"""Rows above a reply that are searched for the message it answers."""


def outline_of(message: Message) -> MessageOutline:
    """Return the outline of a message."""
    return MessageOutline(id=message.id, role=message.role, hidden=message.hidden, length=len(message.content))


class MessageRows:
    """Outlines of all messages by position in the session, and the rows of the visible ones."""

    def __init__(self, outlines: Sequence[MessageOutline] = (), show_hidden: bool = False) -> None:
        self.all_outlines = list(outlines)
        self.show_hidden = show_hidden
        self._visible_positions: list[int] = []
        self._rows_by_id: dict[UUID, int] = {}
        self.rebuild_rows()

    def rebuild_rows(self) -> None:
        """Compute the rows of all messages again."""
        self._visible_positions = [position for position, outline in enumerate(self.all_outlines) if self.is_shown(outline)]
        self._rows_by_id = {self.all_outlines[position].id: row for row, position in enumerate(self._visible_positions)}

    def is_shown(self, outline: MessageOutline) -> bool:
        return self.show_hidden or not outline.hidden

    def __len__(self) -> int:
        return len(self._visible_positions)

    def __getitem__(self, row: int) -> MessageOutline:
        return self.all_outlines[self._visible_positions[row]]

    def position_of(self, row: int) -> int:
        """Return the position in the session of the message in a row."""
        return self._visible_positions[row]

    def find_row(self, message_id: UUID) -> int | None:
        """Return the row of a message; None if it is hidden or missing."""
        return self._rows_by_id.get(message_id)

    def find_user_message(self, row: int) -> UUID | None:
        """Return the id of the user message that a reply answers; None for a greeting or if the row is no reply."""
        if self[row].role is not Role.ASSISTANT:
            return None
        for above in range(row - 1, max(-1, row - 1 - MAX_ROWS_ABOVE), -1):
            outline = self[above]
            if outline.role is Role.USER and not outline.hidden:
                return outline.id
        return None

    def insert(self, outline: MessageOutline, next_message_id: UUID | None = None) -> None:
        """Insert an outline right above another message, which must exist, or at the end, which needs no rebuilding."""
        if next_message_id is not None:
            position = next(index for index, each in enumerate(self.all_outlines) if each.id == next_message_id)
            self.all_outlines.insert(position, outline)
            self.rebuild_rows()
            return
        if self.is_shown(outline):
            self._rows_by_id[outline.id] = len(self._visible_positions)
            self._visible_positions.append(len(self.all_outlines))
        self.all_outlines.append(outline)

    def replace(self, row: int, outline: MessageOutline) -> None:
        """Replace the outline in a row by that of the same message or of its successor."""
        del self._rows_by_id[self[row].id]
        self.all_outlines[self._visible_positions[row]] = outline
        self._rows_by_id[outline.id] = row

    def remove(self, row: int) -> None:
        del self.all_outlines[self._visible_positions[row]]
        self.rebuild_rows()

    def remove_hidden(self, message_ids: set[UUID]) -> None:
        """Remove messages that have no row."""
        self.all_outlines = [outline for outline in self.all_outlines if outline.id not in message_ids]
        self.rebuild_rows()
