"""Mapping between the messages of a session and the rows of the visible ones."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lethe_app.domain.chat import Message, MessageOutline


def outline_of(message: Message) -> MessageOutline:
    """Return the outline of a message."""
    return MessageOutline(id=message.id, role=message.role, hidden=message.hidden, length=len(message.content))


class MessageRows:
    """Outlines of all messages by position in the session, and the rows of the visible ones."""

    def __init__(self, outlines: Sequence[MessageOutline] = (), show_hidden: bool = False) -> None:
        self.all = list(outlines)
        self.show_hidden = show_hidden
        self._shown: list[int] = []
        self._row_of: dict[UUID, int] = {}
        self.recount()

    def recount(self) -> None:
        """Compute the rows of all messages again."""
        self._shown = [position for position, outline in enumerate(self.all) if self.is_shown(outline)]
        self._row_of = {self.all[position].id: row for row, position in enumerate(self._shown)}

    def is_shown(self, outline: MessageOutline) -> bool:
        return self.show_hidden or not outline.hidden

    def __len__(self) -> int:
        return len(self._shown)

    def __getitem__(self, row: int) -> MessageOutline:
        return self.all[self._shown[row]]

    def position(self, row: int) -> int:
        """Return the position in the session of the message in a row."""
        return self._shown[row]

    def find(self, message_id: UUID) -> int | None:
        """Return the row of a message; None if it is hidden or missing."""
        return self._row_of.get(message_id)

    def append(self, outline: MessageOutline) -> None:
        if self.is_shown(outline):
            self._row_of[outline.id] = len(self._shown)
            self._shown.append(len(self.all))
        self.all.append(outline)

    def insert(self, outline: MessageOutline, above: UUID) -> None:
        """Insert an outline right above another message, which must exist."""
        position = next(place for place, each in enumerate(self.all) if each.id == above)
        self.all.insert(position, outline)
        self.recount()

    def replace(self, row: int, outline: MessageOutline) -> None:
        """Replace the outline in a row by that of the same message or of its successor."""
        del self._row_of[self[row].id]
        self.all[self._shown[row]] = outline
        self._row_of[outline.id] = row

    def remove(self, row: int) -> None:
        del self.all[self._shown[row]]
        self.recount()

    def forget_hidden(self, gone: set[UUID]) -> None:
        """Remove messages that have no row."""
        self.all = [outline for outline in self.all if outline.id not in gone]
        self.recount()
