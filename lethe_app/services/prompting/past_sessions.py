"""Earlier sessions and core facts in the prompt: which sessions fit in full, summaries of the others, and known facts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from lethe_app.brain.facts import core_facts
from lethe_app.brain.recall.memory_text import format_memory, one_line
from lethe_app.brain.summary import digest
from lethe_app.brain.text.reported_speech import shorten
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.clock import is_later, now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.errors import StorageError
from lethe_app.searchable_text import WORD
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.memory.facts import FactStore

MAX_EARLIER = 16
"""Maximum number of sessions in full; each is read with every prompt."""
MAX_FACTS_PER_KIND = 40
"""Number of facts of each kind whose tokens are counted."""
IN_STORY = "In this story: {fact}"
MIN_CONTENT_TOKENS = 24
"""Minimum tokens of a session summary."""
PER_PIECE = 2
"""Tokens that a piece of a section costs besides its text, as `prompt/builder.py` counts."""
MAX_SUMMARIES = 64
"""Number of newest sessions whose summaries are candidates; sticky sessions are candidates in addition."""
RECENT = timedelta(hours=24)
"""Time before a session of which everything is told at its beginning, however briefly."""
RECENT_SHARE = 0.6
"""Share of the tokens for summaries that the sessions of that time may take together, the newest one not counted."""
TOO_SHORT = 2
"""Number of messages up to which a session is not summarised."""


class FrozenSection(BaseModel):
    """Text of a prompt section, with the id of the record it was made from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    guid: UUID
    text: str


@dataclass(frozen=True)
class NotebookSections:
    """Notebook parts of the stable prefix: the open notebook, and the recent subjects."""

    notebook: str = ""
    lately: str = ""
    tokens: int = 0
    says: Callable[[str], bool] = lambda _text: False
    """Predicate: True if the notebook contains the text."""


@dataclass(frozen=True)
class PastSessions:
    """Read earlier sessions and facts for the stable prefix. Nothing is changed."""

    session_store: SessionStore
    fact_store: FactStore
    preferences: Preferences
    token_counts: TokenCountService

    async def before(self, session: ChatSession) -> list[SessionSummary]:
        """Return the persona's sessions that began before this one and in which the user said something, newest first.

        The number is limited to what can be in a prompt; sticky sessions are always included.
        """
        earlier = await self.session_store.sessions_before(session, MAX_EARLIER + MAX_SUMMARIES)
        earlier = [summary for summary in earlier if not is_later(summary.started, session.added) and summary.first_words]
        return sorted(earlier, key=lambda summary: summary.started, reverse=True)

    async def fitting(self, before: Sequence[SessionSummary], token_limit: int) -> list[UUID]:
        """Return the newest sessions that fit in full and without a gap into `token_limit` tokens, oldest first."""
        chosen: list[UUID] = []
        for summary in before[:MAX_EARLIER]:
            if summary.messages > token_limit // 4:
                break
            messages = await self.session_store.page(summary.guid, 0, token_limit // 4)
            token_limit -= sum(await self.token_counts.count([message.content for message in messages])) + 8 * len(messages)
            if token_limit < 0:
                break
            chosen.append(summary.guid)
        return chosen[::-1]

    async def summaries(
        self, sessions: Sequence[SessionSummary], participants: Participants, token_limit: int, began: datetime
    ) -> list[FrozenSection]:
        """Return the summaries of as many sessions as fit into `token_limit` tokens, newest first, for one that began at
        `began`.

        The newest session is always included, if necessary shortened to half of the room, because the current one continues
        it. The others of the last 24 hours follow, each shortened to its share of `RECENT_SHARE` of the room, then sticky
        sessions, then the rest. One of these that is too long is skipped, and shorter ones are still added.
        """
        settings = self.preferences.current
        if not settings.session_memory_system:
            return []
        remaining_tokens = min(settings.session_reserved_tokens, token_limit)
        sections: list[FrozenSection] = []
        order = {summary.guid: index for index, summary in enumerate(sessions)}
        eligible = [summary for index, summary in enumerate(sessions) if index < MAX_SUMMARIES or summary.sticky]
        recent = {summary.guid for summary in eligible[1:] if summary.last_activity >= began - RECENT}
        share = int(RECENT_SHARE * remaining_tokens / len(recent)) if recent else 0
        for summary in sorted(
            eligible, key=lambda one: (order[one.guid] > 0, one.guid not in recent, not one.sticky, order[one.guid])
        ):
            if remaining_tokens < MIN_CONTENT_TOKENS:
                break
            record = await self._load_summarised(summary)
            if record is None:
                continue
            text, tokens = await self._format_summary(record, summary.last_activity, participants)
            room = min(share, remaining_tokens) if summary.guid in recent else remaining_tokens
            if tokens > room and (order[summary.guid] == 0 or summary.guid in recent):
                limit = max(room // 2 if order[summary.guid] == 0 else room, MIN_CONTENT_TOKENS)
                text, tokens = await self._shorten_summary(record, summary.last_activity, participants, limit, tokens)
            if tokens <= remaining_tokens:
                remaining_tokens -= tokens
                sections.append(FrozenSection(guid=summary.guid, text=text))
        return sorted(sections, key=lambda frozen: order[frozen.guid])

    async def core(self, participants: Participants, token_limit: int, session: UUID | None = None) -> list[FrozenSection]:
        """Return the core facts in at most `token_limit` tokens. Facts about the persona itself are left out unless pinned,
        because the card describes the persona.

        In-story facts are only in the session in which they were stated (`session`), with a mark.
        """
        settings = self.preferences.current
        if not settings.fact_retrieval:
            return []
        persona_words = WORD.findall(participants.persona.name)
        facts = [
            fact
            for fact in await self.fact_store.facts_of(participants.persona.unique_name)
            if (session in fact.source_memories if fact.in_story else True)
            and (fact.pinned or WORD.findall(fact.fact)[: len(persona_words)] != persona_words)
        ]
        facts = core_facts.select_candidates(facts, now(), MAX_FACTS_PER_KIND)
        budget = min(settings.core_facts_tokens, token_limit)
        counts = await self.token_counts.count([format_fact(fact) for fact in facts])
        tokens = {fact.guid: count + PER_PIECE for fact, count in zip(facts, counts, strict=True)}
        chosen = core_facts.select_core_facts(facts, now(), budget, tokens)
        return [FrozenSection(guid=fact.guid, text=format_fact(fact)) for fact in chosen]

    async def _format_summary(self, record: ChatSession, until: datetime, participants: Participants) -> tuple[str, int]:
        """Return the summary of the session as it is in the prompt, and its tokens."""
        text = summarised(record, until, dated=participants.persona.dates_in_session_summaries)
        return text, (await self.token_counts.count([text]))[0] + PER_PIECE

    async def _shorten_summary(
        self, record: ChatSession, until: datetime, participants: Participants, token_limit: int, tokens: int
    ) -> tuple[str, int]:
        """Return the summary cut to `token_limit` tokens, and its tokens; `tokens` is its present size, which is too large."""
        text, longest = "", len(record.content)
        while tokens > token_limit and longest > 0:
            longest = min(longest - 1, longest * token_limit // tokens)
            shorter = record.model_copy(update={"content": shorten(record.content, longest)})
            text, tokens = await self._format_summary(shorter, until, participants)
        return text, tokens

    async def _load_summarised(self, session_summary: SessionSummary) -> ChatSession | None:
        """Return the session with its summary, made by rules if it was never archived; None if there is nothing to
        summarise.
        """
        try:
            record = await self.session_store.session(session_summary.guid)
            if not record.content.strip() and session_summary.messages > TOO_SHORT:
                lines = to_utterances(await self.session_store.page(session_summary.guid, 0, session_summary.messages))
                summary = await asyncio.to_thread(digest.build_summary, lines)
                record = record.model_copy(update={"content": summary})
        except StorageError:
            return None  # deleted meanwhile
        return record if record.content.strip() else None


def format_fact(fact: ExtractedFact) -> str:
    """Return a fact as it is among the core facts."""
    text = one_line(fact.fact)
    return IN_STORY.format(fact=text) if fact.in_story else text


def summarised(session: ChatSession, until: datetime, *, dated: bool) -> str:
    """Return the summary of a session as it is in the prompt."""
    return format_memory(session, dates=dated, has_heading=True, ended_at=until)
