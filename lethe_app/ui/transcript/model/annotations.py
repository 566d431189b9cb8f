"""Annotations of messages: recalled memories, web sources, tool calls and ratings. They are queried with the page of their
messages, so that the layout does not change later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from uuid import UUID

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.chat import Message, Role
from lethe_app.domain.recall import RecallCounts
from lethe_app.domain.tools import ToolResult
from lethe_app.services.prompting.tool_messages import parse_calls, parse_result
from lethe_app.services.web.chat_lookup import WebLookup, parse_note
from lethe_app.ui.core.formatting import format_recall_counts, format_source_count, format_tool_results
from lethe_app.ui.transcript.model.message_pages import Loader

NOTHING_RECALLED = RecallCounts()
RATING_ICONS = {ReplyRating.GOOD: "thumb-up", ReplyRating.BAD: "thumb-down"}
"""Icon of each rating."""
Value = TypeVar("Value")
Query = Callable[[Sequence[UUID]], Awaitable[dict[UUID, Value]]]
"""Return the values of several messages, as far as they have one, with one query."""


@dataclass(frozen=True, slots=True)
class AnnotationQueries:
    """Queries for the annotations that are not read from messages; by default there are none."""

    memory_counts: Query[RecallCounts] | None = None
    """What was recalled for user messages."""
    ratings: Query[dict[int, ReplyRating]] | None = None
    """Ratings of replies by alternative."""


@dataclass(frozen=True, slots=True)
class ReplyAnnotations:
    """Annotations of one message, as they are laid out."""

    recalled: RecallCounts = NOTHING_RECALLED
    """Numbers of what was recalled for the reply."""
    web_lookup: WebLookup | None = None
    """Web look-up for the reply; None if there was none."""
    tool_results: tuple[ToolResult, ...] = ()
    """Results of the reply's tool calls, in order of the calls."""
    rating: ReplyRating | None = None
    """The user's rating of the alternative on display."""

    def accessible_texts(self) -> list[str]:
        """Return the annotations for screen readers."""
        texts = [format_recall_counts(self.recalled)] if self.recalled.total else []
        if self.tool_results:
            texts.append(format_tool_results(self.tool_results))
        if self.web_lookup is not None:
            texts.append(format_source_count(len(self.web_lookup.sources)))
        return [*texts, format_rating(self.rating)] if self.rating is not None else texts


def format_rating(rating: ReplyRating) -> str:
    """Return the text of a rating for screen readers."""
    tr = QCoreApplication.translate
    return tr("ReplyRatings", "rated good") if rating is ReplyRating.GOOD else tr("ReplyRatings", "rated bad")


class QueriedValues(Generic[Value]):
    """Values by message that are queried with the page of their messages."""

    def __init__(self, query: Query[Value] | None, on_changed: Callable[[Collection[UUID]], None]) -> None:
        """Start without values. `on_changed` is called with the messages whose values differ from before."""
        self._query, self._on_changed = query, on_changed
        self._values: dict[UUID, Value | None] = {}

    def clear(self) -> None:
        """Remove all values, because another session is on display."""
        self._values.clear()

    def value_of(self, message_id: UUID | None) -> Value | None:
        """Return the value of a message; None if it has none, or was not queried."""
        return self._values.get(message_id) if message_id is not None else None

    async def load(self, messages: Iterable[UUID]) -> None:
        """Query the values of messages."""
        message_ids = list(messages)
        values = await self._query(message_ids) if message_ids and self._query is not None else {}
        changed = [one for one in message_ids if self.value_of(one) != values.get(one)]
        self._values |= {one: values.get(one) for one in message_ids}
        self._on_changed(changed)

    async def refresh(self) -> None:
        """Query all values again."""
        await self.load(list(self._values))


class HiddenMessages:
    """Web look-ups and results of tools, which are stored in hidden messages. That of a message with a look-up is right above
    the user message; those of tools are found by following the messages upwards from a reply, as long as they belong to tools.
    """

    def __init__(self) -> None:
        self._lookups: dict[UUID, WebLookup] = {}
        self._results: dict[UUID, ToolResult | None] = {}
        """Result by hidden message; None for a message with tool calls."""
        self._parent_ids: dict[UUID, UUID] = {}
        """Message above each user message, reply and hidden message of a tool."""

    def clear(self) -> None:
        """Remove all entries, because another session is on display."""
        for entries in (self._lookups, self._results, self._parent_ids):
            entries.clear()

    def add_messages(self, messages: Iterable[Message]) -> None:
        """Record loaded messages."""
        for message in messages:
            result = parse_result(message)
            if (lookup := parse_note(message)) is not None:
                self._lookups[message.id] = _keep_web_addresses(lookup)
            elif result is not None or parse_calls(message):
                self._results[message.id] = result
            elif message.role not in {Role.USER, Role.ASSISTANT}:
                continue
            if message.parent_id is not None:
                self._parent_ids[message.id] = message.parent_id

    def add_inserted_message(self, message: Message, next_message_id: UUID) -> None:
        """Record a message that was just inserted above another one."""
        self.add_messages([message])
        if message.id in self._lookups or message.id in self._results:
            self._parent_ids[next_message_id] = message.id

    def remove_messages(self, message_ids: Iterable[UUID]) -> None:
        """Remove hidden messages that were deleted."""
        for message_id in message_ids:
            self._lookups.pop(message_id, None)

    def find_lookup(self, user_message_id: UUID | None) -> WebLookup | None:
        """Return the look-up for a user message; None if there was none."""
        lookup_message_id = self._parent_ids.get(user_message_id) if user_message_id is not None else None
        return self._lookups.get(lookup_message_id) if lookup_message_id is not None else None

    def results_of(self, reply_id: UUID) -> tuple[ToolResult, ...]:
        """Return the tool results of a reply, in order of the calls."""
        results: list[ToolResult] = []
        message_id = self._parent_ids.get(reply_id)
        while message_id is not None and message_id in self._results:
            if (result := self._results[message_id]) is not None:
                results.append(result)
            message_id = self._parent_ids.get(message_id)
        return tuple(results[::-1])


def _keep_web_addresses(lookup: WebLookup) -> WebLookup:
    """Return a look-up with http and https addresses only, because stored addresses are not trusted."""
    sources = tuple(one for one in lookup.sources if one.address.lower().startswith(("http://", "https://")))
    return replace(lookup, sources=sources)


class MessageAnnotations:
    """All annotations of the session on display."""

    def __init__(self, queries: AnnotationQueries, on_changed: Callable[[Collection[UUID]], None]) -> None:
        """Start without annotations. `on_changed` is called with the messages whose annotations were queried and differ from
        before; the number of memories is that of a user message, but it is shown below the reply.
        """
        self.memory_counts = QueriedValues(queries.memory_counts, on_changed)
        self.ratings = QueriedValues(queries.ratings, on_changed)
        self.hidden_messages = HiddenMessages()

    def clear(self) -> None:
        """Remove all annotations, because another session is on display."""
        self.memory_counts.clear()
        self.ratings.clear()
        self.hidden_messages.clear()

    def wrap_loader(self, loader: Loader) -> Loader:
        """Return a loader that also loads the annotations of its messages."""

        async def load(start: int, count: int) -> list[Message]:
            messages = await loader(start, count)
            self.hidden_messages.add_messages(messages)
            await self.memory_counts.load(message.id for message in messages if message.role is Role.USER)
            await self.ratings.load(message.id for message in messages if message.role is Role.ASSISTANT)
            return messages

        return load

    def of_message(self, message: Message, user_message_id: UUID | None) -> ReplyAnnotations:
        """Return the annotations of a message; `user_message_id` is the user message that it answers, if it is a reply."""
        return ReplyAnnotations(
            recalled=self.memory_counts.value_of(user_message_id) or NOTHING_RECALLED,
            web_lookup=self.hidden_messages.find_lookup(user_message_id),
            tool_results=self.hidden_messages.results_of(message.id),
            rating=(self.ratings.value_of(message.id) or {}).get(message.shown),
        )
