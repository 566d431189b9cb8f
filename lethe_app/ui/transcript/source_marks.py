"""Knows which replies were written after something was looked up, and where it was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from lethe_app.domain.chat import Message, Role
from lethe_app.services.looking_up import LookedUp, looked_up


class SourceMarks:
    """Reads the hidden lines among the messages that pass by: each belongs to the user's message right below it."""

    def __init__(self) -> None:
        self._lines: dict[UUID, LookedUp] = {}
        self._above: dict[UUID, UUID] = {}
        """The message above each of the user's."""

    def __bool__(self) -> bool:
        return bool(self._lines)

    def clear(self) -> None:
        self._lines.clear()
        self._above.clear()

    def learn(self, messages: Iterable[Message]) -> None:
        """Take note of messages that were read."""
        for message in messages:
            if (told := looked_up(message)) is not None:
                self._lines[message.id] = _openable(told)
            elif message.role is Role.USER and message.parent_id is not None:
                self._above[message.id] = message.parent_id

    def note(self, line: Message, above: UUID) -> None:
        """A line was just put above a message."""
        self.learn([line])
        self._above[above] = line.id

    def forget(self, lines: Iterable[UUID]) -> None:
        """These lines stand there no more."""
        for line in lines:
            self._lines.pop(line, None)

    def of(self, asked: UUID | None) -> LookedUp | None:
        """What was looked up for a message of the user's."""
        line = self._above.get(asked) if asked is not None else None
        return self._lines.get(line) if line is not None else None


def _openable(told: LookedUp) -> LookedUp:
    """Only with addresses that a browser opens: a stranger could have written another one."""
    kept = tuple(one for one in told.sources if one.address.lower().startswith(("http://", "https://")))
    return replace(told, sources=kept)
