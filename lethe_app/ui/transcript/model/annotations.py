"""Annotations of replies: recalled memories, web sources and tool calls. They are queried with the page of their messages,
so that the layout does not change later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from lethe_app.domain.chat import Message, Role
from lethe_app.domain.tools import ToolResult
from lethe_app.services.prompting.tool_messages import calls_in, result_in
from lethe_app.services.web.chat_lookup import LookedUp, looked_up
from lethe_app.ui.core.formatting import recalled_in_words, sources_in_words
from lethe_app.ui.transcript.model.feedback import Thumbs
from lethe_app.ui.transcript.painting.tool_list import in_words


class ToolMarks:
    """Tool results by reply. They are found by following the hidden messages upwards from a reply, as long as they belong to
    tools.
    """

    def __init__(self) -> None:
        self._results: dict[UUID, ToolResult | None] = {}
        """Result by hidden message; None for a message with tool calls."""
        self._above: dict[UUID, UUID] = {}
        """Message above each reply and hidden message."""

    def __bool__(self) -> bool:
        return bool(self._results)

    def clear(self) -> None:
        """Remove all entries, because another session is on display."""
        self._results.clear()
        self._above.clear()

    def learn(self, messages: Iterable[Message]) -> None:
        """Record loaded messages."""
        for message in messages:
            result = result_in(message)
            if result is not None or calls_in(message):
                self._results[message.id] = result
            elif message.role is not Role.ASSISTANT:
                continue
            if message.parent_id is not None:
                self._above[message.id] = message.parent_id

    def note(self, line: Message, above: UUID) -> None:
        """Record a message that was just inserted above another one."""
        self.learn([line])
        if line.id in self._results:
            self._above[above] = line.id

    def results_of(self, reply: UUID) -> tuple[ToolResult, ...]:
        """Return the tool results of a reply, in order of the calls."""
        found: list[ToolResult] = []
        place = self._above.get(reply)
        while place is not None and place in self._results:
            if (result := self._results[place]) is not None:
                found.append(result)
            place = self._above.get(place)
        return tuple(found[::-1])


class SourceMarks:
    """Web sources by user message, read from the hidden message right above it."""

    def __init__(self) -> None:
        self._lines: dict[UUID, LookedUp] = {}
        self._above: dict[UUID, UUID] = {}
        """Message above each user message."""

    def __bool__(self) -> bool:
        return bool(self._lines)

    def clear(self) -> None:
        """Remove all entries, because another session is on display."""
        self._lines.clear()
        self._above.clear()

    def learn(self, messages: Iterable[Message]) -> None:
        """Record loaded messages."""
        for message in messages:
            if (told := looked_up(message)) is not None:
                self._lines[message.id] = _openable(told)
            elif message.role is Role.USER and message.parent_id is not None:
                self._above[message.id] = message.parent_id

    def note(self, line: Message, above: UUID) -> None:
        """Record a message that was just inserted above another one."""
        self.learn([line])
        self._above[above] = line.id

    def remove_lines(self, lines: Iterable[UUID]) -> None:
        """Remove hidden messages that were deleted."""
        for line in lines:
            self._lines.pop(line, None)

    def sources_of(self, asked: UUID | None) -> LookedUp | None:
        """Return the look-up for a user message; None if there was none."""
        line = self._above.get(asked) if asked is not None else None
        return self._lines.get(line) if line is not None else None


def _openable(told: LookedUp) -> LookedUp:
    """Return a look-up with http and https addresses only, because stored addresses are not trusted."""
    kept = tuple(one for one in told.sources if one.address.lower().startswith(("http://", "https://")))
    return replace(told, sources=kept)


if TYPE_CHECKING:
    from lethe_app.ui.transcript.model.model import ChatModel
    from lethe_app.ui.transcript.model.paging import Loader

Count = Callable[[Sequence[UUID]], Awaitable[dict[UUID, int]]]
"""Return the numbers of recalled memories of several user messages, with one query."""

LOOK_BACK = 8
"""Rows above a reply that are searched for the message it answers."""


async def _none(_messages: Sequence[UUID]) -> dict[UUID, int]:
    return {}


class MemoryMarks:
    """Number of memories per reply, which is that of the user message it answers; also owner of the other annotations."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._counts: dict[UUID, int] = {}
        """Number of memories by user message; messages without memories are missing."""
        self.count: Count = _none
        """Query for the numbers; set by the controller of the memory panel."""
        self.sources = SourceMarks()
        self.tools = ToolMarks()
        self.thumbs = Thumbs(model)

    def clear(self) -> None:
        """Remove all entries, because another session is on display."""
        self._counts.clear()
        self.sources.clear()
        self.tools.clear()
        self.thumbs.clear()

    def beside(self, loader: Loader) -> Loader:
        """Return a loader that also loads the annotations of its messages."""

        async def load(start: int, count: int) -> list[Message]:
            messages = await loader(start, count)
            self.sources.learn(messages)
            self.tools.learn(messages)
            await self._ask(message.id for message in messages if message.role is Role.USER)
            await self.thumbs.learn(message.id for message in messages if message.role is Role.ASSISTANT)
            return messages

        return load

    def asked(self, row: int) -> UUID | None:
        """Return the id of the user message that a reply answers; None for a greeting or if the row is no reply."""
        model = self._model
        if model.outline(row).role is not Role.ASSISTANT:
            return None
        for above in range(row - 1, max(-1, row - 1 - LOOK_BACK), -1):
            outline = model.outline(above)
            if outline.role is Role.USER and not outline.hidden:
                return outline.id
        return None

    def count_of(self, row: int) -> int:
        """Return the number of memories recalled for a reply."""
        asked = self.asked(row) if self._counts else None
        return self._counts.get(asked, 0) if asked is not None else 0

    def looked_up(self, row: int) -> LookedUp | None:
        """Return the web look-up for a reply; None if there was none."""
        return self.sources.sources_of(self.asked(row)) if self.sources else None

    def spoken(self, row: int) -> list[str]:
        """Return the texts of all annotations for screen readers."""
        count, told = self.count_of(row), self.looked_up(row)
        words = [recalled_in_words(count)] if count else []
        done = self.tools.results_of(self._model.outline(row).id) if self.tools else ()
        words += [in_words(done)] if done else []
        return [*words, *([sources_in_words(len(told.sources))] if told else []), *self.thumbs.spoken(row)]

    async def renew(self, messages: Sequence[UUID] | None = None) -> None:
        """Query the numbers of these messages again; without `messages` those of all messages with memories."""
        await self._ask(self._counts if messages is None else messages)

    async def _ask(self, messages: Iterable[UUID]) -> None:
        wanted = list(messages)
        if not wanted:
            return
        found = await self.count(wanted)
        changed = {one for one in wanted if self._counts.get(one, 0) != found.get(one, 0)}
        for one in changed:
            self._counts.pop(one, None)
            if one in found:
                self._counts[one] = found[one]
        self._tell(changed)

    def _tell(self, messages: set[UUID]) -> None:
        """Emit `dataChanged` for the replies below these messages."""
        model = self._model
        rows = [row for one in messages if (row := model.row_of(one)) is not None]
        if rows:
            last = min(max(rows) + LOOK_BACK, model.rowCount() - 1)
            model.dataChanged.emit(model.index(min(rows)), model.index(last))
