"""Knows for which replies tools were used, and what came of it: read from the hidden messages that stand above them."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from lethe_app.domain.chat import Message, Role
from lethe_app.domain.tools import ToolResult
from lethe_app.services.tool_log import calls_in, result_in


class ToolMarks:
    """Follows every reply upwards, from one hidden message to the next, as long as they are of tools."""

    def __init__(self) -> None:
        self._results: dict[UUID, ToolResult | None] = {}
        """By the hidden message; those that hold calls have no result."""
        self._above: dict[UUID, UUID] = {}

    def __bool__(self) -> bool:
        return bool(self._results)

    def clear(self) -> None:
        self._results.clear()
        self._above.clear()

    def learn(self, messages: Iterable[Message]) -> None:
        """Take note of messages that were read."""
        for message in messages:
            result = result_in(message)
            if result is not None or calls_in(message):
                self._results[message.id] = result
            elif message.role is not Role.ASSISTANT:
                continue
            if message.parent_id is not None:
                self._above[message.id] = message.parent_id

    def note(self, line: Message, above: UUID) -> None:
        """A line was just put above a message."""
        self.learn([line])
        if line.id in self._results:
            self._above[above] = line.id

    def of(self, reply: UUID) -> tuple[ToolResult, ...]:
        """What tools did for a reply, in order."""
        found: list[ToolResult] = []
        place = self._above.get(reply)
        while place is not None and place in self._results:
            if (result := self._results[place]) is not None:
                found.append(result)
            place = self._above.get(place)
        return tuple(found[::-1])
