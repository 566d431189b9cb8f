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
from lethe_app.domain.list_items import FiledLine, MemoryLine
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.prompt import PromptPart
from lethe_app.errors import StorageError
from lethe_app.prompt.budget import CAPS
from lethe_app.retrieval.memory_index import Recall
from lethe_app.services.indexing.service import Indexing, owner_of_waiting
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import PER_PIECE, PastSessions
from lethe_app.services.prompting.turn_context import USUAL_CONTEXT
from lethe_app.services.search.timeline import Timeline, facts_about
from lethe_app.services.token_counts import Counting
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import Memories
from lethe_app.storage.memory.memory_list import LAST, Listing

LONG_MESSAGE = 160
"""Maximum characters of a message that is shown whole as the source of a fact; a longer one is shown from the relevant
sentence on.
"""
FIRST, PIECE = 200, 1_000
"""Memories per read: few at first, so that rows appear at once, then as many as take a few milliseconds."""
NEAREST = 50
"""Maximum number of memories for which a distance to a text is returned."""


def weight_of(fact: ExtractedFact) -> float:
    """Return the fact's current rank, from its kind, the number of times it was stated and its age."""
    return core_facts.calculate_rank(fact, now())


@dataclass(frozen=True)
class Source:
    """Message or session from which a fact was learnt; `message` is None if only the session is known."""

    session: UUID
    title: str
    """Title of the session; empty if it has none."""
    when: datetime
    message: UUID | None = None
    speaker: str = ""
    by_user: bool = False
    words: str = ""


@dataclass(frozen=True)
class Core:
    """Core facts of a persona, which are in every prompt, and their size in tokens."""

    facts: frozenset[UUID]
    tokens: int
    budget: int
    """Maximum tokens of core facts."""


class Browsing:
    """Read memories and facts for lists and pages. Changes count as the user's."""

    def __init__(
        self,
        database: Database,
        memories: Memories,
        holdings: MemoryCache,
        chats: Chats,
        facts: FactStore,
        recall: Recall,
        indexing: Indexing,
        casting: ParticipantService,
        preferences: Preferences,
        counting: Counting,
        loaded: Callable[[], LoadedModel | None],
    ) -> None:
        """Set up the reader. `loaded` returns the loaded model, whose context size limits the core facts."""
        self._database = database
        self._listing = Listing(database)
        self._memories = memories
        self._holdings = holdings
        self._chats = chats
        self._facts = facts
        self._recall = recall
        self._indexing = indexing
        self._casting = casting
        self._preferences = preferences
        self._counting = counting
        self._hindsight = PastSessions(chats, facts, preferences, counting)
        self._loaded = loaded

    # Memories

    async def lines(self, persona_id: str) -> AsyncIterator[list[MemoryLine]]:
        """Yield all memories of a persona, sessions included, in pieces, last stored first."""
        below, most = LAST, FIRST
        while True:
            lines, below = await self._listing.memories(persona_id, most, below)
            if lines:
                yield lines
            if len(lines) < most:
                return
            most = PIECE

    async def memory(self, guid: UUID) -> MemoryUnit:
        """Return a memory, or the record of a session. Raise StorageError if it is not stored any more."""
        try:
            return await self._memories.get(guid)
        except StorageError as gone:
            with suppress(StorageError):
                return await self._chats.session(guid)
            raise gone from None

    async def forget_memories(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Move memories to the trash and remove their passages from the index."""
        await self._holdings.delete(persona_id, guids)
        await self._indexing.follow()

    async def restore(self, persona_id: str, guids: Sequence[UUID]) -> int:
        """Restore memories from the trash and index them again; return how many were restored."""
        restored = await self._holdings.restore(persona_id, guids)
        await self._indexing.follow()
        return restored

    async def filed(self, persona_id: str) -> list[FiledLine]:
        """Return category and tags of each memory that has any."""
        return await self._memories.filed(persona_id)

    async def distances(self, persona_id: str, text: str) -> dict[str, float]:
        """Return the cosine distances of the memories and sessions nearest to a text, by guid, nearest first.

        Empty without an embedding model. Disabled memories, images, files and memories that are only inserted at the user's
        return have no embedding and are left out.
        """
        if not text.strip():
            return {}
        await self._indexing.settle_all()
        found: dict[str, float] = {}
        for owner, kind in (
            (persona_id, PassageKind.MEMORY),
            (owner_of_waiting(persona_id), PassageKind.MEMORY),
            (persona_id, PassageKind.SUMMARY),
        ):
            near = await self._recall.nearest(owner, text, kind, NEAREST)
            found |= {str(guid): distance for guid, distance in near}
        return dict(sorted(found.items(), key=lambda each: each[1])[:NEAREST])

    # Facts

    async def sources(self, fact: ExtractedFact) -> list[Source]:
        """Return the messages that state a fact, and the sessions it was learnt from where no message is left, oldest first."""
        found: list[Source] = []
        for id_ in fact.source_messages:
            try:
                message = await self._chats.message(id_)
                session = await self._chats.session(message.session_id)
            except StorageError:
                continue
            by_user, words = message.role is Role.USER, telling_part(message.content, fact.fact)
            found.append(Source(session.guid, session.name, message.time, message.id, message.speaker_name, by_user, words))
        named = {source.session for source in found}
        for guid in fact.source_memories:
            if guid not in named:
                try:
                    session = await self._chats.session(guid)
                except StorageError:
                    continue
                found.append(Source(session.guid, session.name, session.added))
        return sorted(found, key=lambda source: source.when)

    async def core(self, persona_id: str) -> Core:
        """Return the core facts in the persona's current prompts, their size and their token budget."""
        model = self._loaded()
        room = int((model.context if model is not None else USUAL_CONTEXT) * CAPS[PromptPart.FACTS])
        chosen = await self._hindsight.core(await self._casting.of_persona(persona_id), room)
        tokens = sum(await self._counting.count([one.text for one in chosen])) + PER_PIECE * len(chosen)
        budget = min(self._preferences.current.core_facts_tokens, room)
        return Core(frozenset(one.guid for one in chosen), tokens, budget)

    # Timeline

    async def timeline(self, persona_id: str) -> Timeline:
        """Return every valid fact about the real world (no story facts) with the session in which it was first stated."""
        cast = await self._casting.of_persona(persona_id)
        facts = await self._facts.facts_of(persona_id)
        sessions = {one.guid: one for one in await self._chats.sessions(persona_id)}
        return facts_about([fact for fact in facts if not fact.in_story], sessions, cast.persona.name, cast.user.name)

    async def save_text(self, path: Path, text: str) -> None:
        """Write a text atomically to a file chosen by the user. Raise StorageError."""
        await self._database.aside(lambda: write_atomically(path, text.encode()))


def telling_part(message: str, fact: str) -> str:
    """Return a message on one line; a long one from the sentence on that shares most words with the fact."""
    words = " ".join(message.split())
    if len(words) <= LONG_MESSAGE:
        return words
    wanted, said = content_words(fact), list(split_sentences(words))
    shared = [len(wanted & content_words(sentence)) for sentence in said]
    first = shared.index(max(shared))
    return words if first == 0 else f"… {' '.join(said[first:])}"
