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
from lethe_app.services.web.chat_lookup import WebLookup, parse_note
from lethe_app.ui.core.formatting import format_recalled_count, format_source_count
from lethe_app.ui.transcript.model.feedback import ReplyRatings
from lethe_app.ui.transcript.painting.tool_list import format_tool_results


class ToolAnnotations:
    """Tool results by reply. They are found by following the hidden messages upwards from a reply, as long as they belong to
    tools.
    """

    def __init__(self) -> None:
        self._results: dict[UUID, ToolResult | None] = {}
        """Result by hidden message; None for a message with tool calls."""
        self._parent_ids: dict[UUID, UUID] = {}
        """Message above each reply and hidden message."""

    def __bool__(self) -> bool:
        return bool(self._results)

    def clear(self) -> None:
        """Remove all entries, because another session is on display."""
        self._results.clear()
        self._parent_ids.clear()

    def add_messages(self, messages: Iterable[Message]) -> None:
        """Record loaded messages."""
        for message in messages:
            result = result_in(message)
            if result is not None or calls_in(message):
                self._results[message.id] = result
            elif message.role is not Role.ASSISTANT:
                continue
            if message.parent_id is not None:
                self._parent_ids[message.id] = message.parent_id

    def add_inserted_message(self, message: Message, next_message_id: UUID) -> None:
        """Record a message that was just inserted above another one."""
        self.add_messages([message])
        if message.id in self._results:
            self._parent_ids[next_message_id] = message.id

    def results_of(self, reply_id: UUID) -> tuple[ToolResult, ...]:
        """Return the tool results of a reply, in order of the calls."""
        results: list[ToolResult] = []
        message_id = self._parent_ids.get(reply_id)
        while message_id is not None and message_id in self._results:
            if (result := self._results[message_id]) is not None:
                results.append(result)
            message_id = self._parent_ids.get(message_id)
        return tuple(results[::-1])


class SourceAnnotations:
    """Web sources by user message, read from the hidden message right above it."""

    def __init__(self) -> None:
        self._lookups: dict[UUID, WebLookup] = {}
        self._parent_ids: dict[UUID, UUID] = {}
        """Message above each user message."""

    def __bool__(self) -> bool:
        return bool(self._lookups)

    def clear(self) -> None:
        """Remove all entries, because another session is on display."""
        self._lookups.clear()
        self._parent_ids.clear()

    def add_messages(self, messages: Iterable[Message]) -> None:
        """Record loaded messages."""
        for message in messages:
            if (lookup := parse_note(message)) is not None:
                self._lookups[message.id] = _keep_web_addresses(lookup)
            elif message.role is Role.USER and message.parent_id is not None:
                self._parent_ids[message.id] = message.parent_id

    def add_inserted_message(self, message: Message, next_message_id: UUID) -> None:
        """Record a message that was just inserted above another one."""
        self.add_messages([message])
        self._parent_ids[next_message_id] = message.id

    def remove_messages(self, message_ids: Iterable[UUID]) -> None:
        """Remove hidden messages that were deleted."""
        for message_id in message_ids:
            self._lookups.pop(message_id, None)

    def find_lookup(self, user_message_id: UUID | None) -> WebLookup | None:
        """Return the look-up for a user message; None if there was none."""
        lookup_message_id = self._parent_ids.get(user_message_id) if user_message_id is not None else None
        return self._lookups.get(lookup_message_id) if lookup_message_id is not None else None


def _keep_web_addresses(lookup: WebLookup) -> WebLookup:
    """Return a look-up with http and https addresses only, because stored addresses are not trusted."""
    sources = tuple(one for one in lookup.sources if one.address.lower().startswith(("http://", "https://")))
    return replace(lookup, sources=sources)


if TYPE_CHECKING:
    from lethe_app.ui.transcript.model.model import ChatModel
    from lethe_app.ui.transcript.model.paging import Loader

Count = Callable[[Sequence[UUID]], Awaitable[dict[UUID, int]]]
"""Return the numbers of recalled memories of several user messages, with one query."""

MAX_ROWS_ABOVE = 8
"""Rows above a reply that are searched for the message it answers."""


async def _count_nothing(_messages: Sequence[UUID]) -> dict[UUID, int]:
    return {}


class MemoryAnnotations:
    """Number of memories per reply, which is that of the user message it answers; also owner of the other annotations."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._counts: dict[UUID, int] = {}
        """Number of memories by user message; messages without memories are missing."""
        self.query_counts: Count = _count_nothing
        """Query for the numbers; set by the controller of the memory panel."""
        self.sources = SourceAnnotations()
        self.tools = ToolAnnotations()
        self.ratings = ReplyRatings(model)

    def clear(self) -> None:
        """Remove all entries, because another session is on display."""
        self._counts.clear()
        self.sources.clear()
        self.tools.clear()
        self.ratings.clear()

    def wrap_loader(self, loader: Loader) -> Loader:
        """Return a loader that also loads the annotations of its messages."""

        async def load(start: int, count: int) -> list[Message]:
            messages = await loader(start, count)
            self.sources.add_messages(messages)
            self.tools.add_messages(messages)
            await self._load_counts(message.id for message in messages if message.role is Role.USER)
            await self.ratings.load_ratings(message.id for message in messages if message.role is Role.ASSISTANT)
            return messages

        return load

    def find_user_message(self, row: int) -> UUID | None:
        """Return the id of the user message that a reply answers; None for a greeting or if the row is no reply."""
        model = self._model
        if model.outline(row).role is not Role.ASSISTANT:
            return None
        for above in range(row - 1, max(-1, row - 1 - MAX_ROWS_ABOVE), -1):
            outline = model.outline(above)
            if outline.role is Role.USER and not outline.hidden:
                return outline.id
        return None

    def memory_count_of(self, row: int) -> int:
        """Return the number of memories recalled for a reply."""
        user_message_id = self.find_user_message(row) if self._counts else None
        return self._counts.get(user_message_id, 0) if user_message_id is not None else 0

    def find_web_lookup(self, row: int) -> WebLookup | None:
        """Return the web look-up for a reply; None if there was none."""
        return self.sources.find_lookup(self.find_user_message(row)) if self.sources else None

    def accessible_texts(self, row: int) -> list[str]:
        """Return the texts of all annotations for screen readers."""
        count, lookup = self.memory_count_of(row), self.find_web_lookup(row)
        texts = [format_recalled_count(count)] if count else []
        tool_results = self.tools.results_of(self._model.outline(row).id) if self.tools else ()
        texts += [format_tool_results(tool_results)] if tool_results else []
        return [*texts, *([format_source_count(len(lookup.sources))] if lookup else []), *self.ratings.accessible_texts(row)]

    async def refresh_counts(self, messages: Sequence[UUID] | None = None) -> None:
        """Query the numbers of these messages again; without `messages` those of all messages with memories."""
        await self._load_counts(self._counts if messages is None else messages)

    async def _load_counts(self, messages: Iterable[UUID]) -> None:
        message_ids = list(messages)
        if not message_ids:
            return
        counts = await self.query_counts(message_ids)
        changed = {one for one in message_ids if self._counts.get(one, 0) != counts.get(one, 0)}
        for one in changed:
            self._counts.pop(one, None)
            if one in counts:
                self._counts[one] = counts[one]
        self._emit_data_changed(changed)

    def _emit_data_changed(self, messages: set[UUID]) -> None:
        """Emit `dataChanged` for the replies below these messages."""
        model = self._model
        rows = [row for one in messages if (row := model.row_of(one)) is not None]
        if rows:
            last = min(max(rows) + MAX_ROWS_ABOVE, model.rowCount() - 1)
            model.dataChanged.emit(model.index(min(rows)), model.index(last))
