"""Lists and details for the memory page: memories, facts with their sources, core facts, and the timeline."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from lethe_app.brain.facts import core_facts
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import split_sentences
from lethe_app.domain.chat import Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.list_items import MemoryFiling, MemoryLine
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.prompt import PromptPart
from lethe_app.errors import StorageError
from lethe_app.prompt.budget import CAPS
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.indexing.service import IndexingService, owner_of_waiting
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import PER_PIECE, PastSessions
from lethe_app.services.prompting.turn_context import USUAL_CONTEXT
from lethe_app.services.search.timeline import Timeline, build_timeline
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.memory_list import LAST, MemoryListRows

LONG_MESSAGE = 160
"""Maximum characters of a message that is shown whole as the source of a fact; a longer one is shown from the relevant
sentence on.
"""
FIRST, PIECE = 200, 1_000
"""Memories per read: few at first, so that rows appear at once, then as many as take a few milliseconds."""
MOST_DISTANCES = 50
"""Maximum number of memories for which a distance to a text is returned."""


def weight_of(fact: ExtractedFact) -> float:
    """Return the fact's current rank, from its kind, the number of times it was stated and its age."""
    return core_facts.calculate_rank(fact, now())


@dataclass(frozen=True)
class FactSource:
    """Message or session from which a fact was learnt; `message` is None if only the session is known."""

    session: UUID
    title: str
    """Title of the session; empty if it has none."""
    when: datetime
    message: UUID | None = None
    speaker: str = ""
    by_user: bool = False
    text: str = ""


@dataclass(frozen=True)
class CoreFacts:
    """Core facts of a persona, which are in every prompt, and their size in tokens."""

    facts: frozenset[UUID]
    tokens: int
    budget: int
    """Maximum tokens of core facts."""


class MemoryLists:
    """Read memories and facts for lists and pages. Changes count as the user's."""

    def __init__(
        self,
        database: Database,
        memories: MemoryStore,
        memory_cache: MemoryCache,
        chats: SessionStore,
        facts: FactStore,
        recall: MemoryIndex,
        indexing: IndexingService,
        participant_service: ParticipantService,
        preferences: Preferences,
        counting: TokenCountService,
        loaded: Callable[[], LoadedModel | None],
    ) -> None:
        """Set up the reader. `loaded` returns the loaded model, whose context size limits the core facts."""
        self._database = database
        self._listing = MemoryListRows(database)
        self._memories = memories
        self._memory_cache = memory_cache
        self._chats = chats
        self._facts = facts
        self._recall = recall
        self._indexing = indexing
        self._participant_service = participant_service
        self._preferences = preferences
        self._counting = counting
        self._past_sessions = PastSessions(chats, facts, preferences, counting)
        self._loaded = loaded

    # Memories

    async def list_memories(self, persona_id: str) -> AsyncIterator[list[MemoryLine]]:
        """Yield all memories of a persona, sessions included, in pieces, last stored first."""
        position, limit = LAST, FIRST
        while True:
            lines, position = await self._listing.page_of_memories(persona_id, limit, position)
            if lines:
                yield lines
            if len(lines) < limit:
                return
            limit = PIECE

    async def load_memory(self, guid: UUID) -> MemoryUnit:
        """Return a memory, or the record of a session. Raise StorageError if it is not stored any more."""
        try:
            return await self._memories.get(guid)
        except StorageError as gone:
            with suppress(StorageError):
                return await self._chats.session(guid)
            raise gone from None

    async def forget_memories(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Move memories to the trash and remove their passages from the index."""
        await self._memory_cache.delete(persona_id, guids)
        await self._indexing.follow()

    async def restore_memories(self, persona_id: str, guids: Sequence[UUID]) -> int:
        """Restore memories from the trash and index them again; return how many were restored."""
        restored = await self._memory_cache.restore(persona_id, guids)
        await self._indexing.follow()
        return restored

    async def list_filed(self, persona_id: str) -> list[MemoryFiling]:
        """Return category and tags of each memory that has any."""
        return await self._memories.filings_of(persona_id)

    async def measure_distances(self, persona_id: str, text: str) -> dict[str, float]:
        """Return the cosine distances of the memories and sessions nearest to a text, by guid, nearest first.

        Empty without an embedding model. Disabled memories, images, files and memories that are only inserted at the user's
        return have no embedding and are left out.
        """
        if not text.strip():
            return {}
        await self._indexing.settle_all()
        by_guid: dict[str, float] = {}
        for owner, kind in (
            (persona_id, PassageKind.MEMORY),
            (owner_of_waiting(persona_id), PassageKind.MEMORY),
            (persona_id, PassageKind.SUMMARY),
        ):
            nearest = await self._recall.nearest_origins(owner, text, kind, MOST_DISTANCES)
            by_guid |= {str(guid): distance for guid, distance in nearest}
        return dict(sorted(by_guid.items(), key=lambda each: each[1])[:MOST_DISTANCES])

    # Facts

    async def list_sources(self, fact: ExtractedFact) -> list[FactSource]:
        """Return the messages that state a fact, and the sessions it was learnt from where no message is left, oldest first."""
        source_list: list[FactSource] = []
        for id_ in fact.source_messages:
            try:
                message = await self._chats.message(id_)
                session = await self._chats.session(message.session_id)
            except StorageError:
                continue
            by_user, text = message.role is Role.USER, find_relevant_part(message.content, fact.fact)
            source_list.append(
                FactSource(session.guid, session.name, message.time, message.id, message.speaker_name, by_user, text)
            )
        known_sessions = {source.session for source in source_list}
        for guid in fact.source_memories:
            if guid not in known_sessions:
                try:
                    session = await self._chats.session(guid)
                except StorageError:
                    continue
                source_list.append(FactSource(session.guid, session.name, session.added))
        return sorted(source_list, key=lambda source: source.when)

    async def load_core_facts(self, persona_id: str) -> CoreFacts:
        """Return the core facts in the persona's current prompts, their size and their token budget."""
        model = self._loaded()
        token_limit = int((model.context if model is not None else USUAL_CONTEXT) * CAPS[PromptPart.FACTS])
        facts = await self._past_sessions.core(await self._participant_service.of_persona(persona_id), token_limit)
        tokens = sum(await self._counting.count([one.text for one in facts])) + PER_PIECE * len(facts)
        budget = min(self._preferences.current.core_facts_tokens, token_limit)
        return CoreFacts(frozenset(one.guid for one in facts), tokens, budget)

    # Timeline

    async def load_timeline(self, persona_id: str) -> Timeline:
        """Return every valid fact about the real world (no story facts) with the session in which it was first stated."""
        participants = await self._participant_service.of_persona(persona_id)
        facts = await self._facts.facts_of(persona_id)
        sessions = {session.guid: session for session in await self._chats.sessions(persona_id)}
        return build_timeline(
            [fact for fact in facts if not fact.in_story], sessions, participants.persona.name, participants.user.name
        )

    async def save_text(self, path: Path, text: str) -> None:
        """Write a text atomically to a file chosen by the user. Raise StorageError."""
        await self._database.run_outside_transaction(lambda: write_atomically(path, text.encode()))


def find_relevant_part(message: str, fact: str) -> str:
    """Return a message on one line; a long one from the sentence on that shares most words with the fact."""
    one_line = " ".join(message.split())
    if len(one_line) <= LONG_MESSAGE:
        return one_line
    fact_words, sentences = content_words(fact), list(split_sentences(one_line))
    shared_counts = [len(fact_words & content_words(sentence)) for sentence in sentences]
    first = shared_counts.index(max(shared_counts))
    return one_line if first == 0 else f"… {' '.join(sentences[first:])}"
