"""Everything a persona remembers as lists to look through: read in pieces, compared with a sentence, changed many at once."""

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
from lethe_app.services.memory.recall import USUAL_CONTEXT
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import PER_PIECE, PastSessions
from lethe_app.services.search.timeline import Timeline, facts_about
from lethe_app.services.token_counts import Counting
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import Memories
from lethe_app.storage.memory.memory_list import LAST, Listing

LONG_MESSAGE = 160
"""Characters of a message from which only its part that says a fact is shown."""
FIRST, PIECE = 200, 1_000
"""Lines read at once: few at first, so that something can be seen; then as many as take a few milliseconds."""
NEAREST = 50
"""Memories whose distance to a sentence is measured."""


def weight_of(fact: ExtractedFact) -> float:
    """Return how much a fact counts now: by its kind, how often it was said, and how long ago that is."""
    return core_facts.rank_of(fact, now())


@dataclass(frozen=True)
class Source:
    """Where a fact was said."""

    session: UUID
    title: str
    """Of the conversation; empty where it has none yet."""
    when: datetime
    message: UUID | None = None
    speaker: str = ""
    by_user: bool = False
    words: str = ""


@dataclass(frozen=True)
class Core:
    """What is known at the beginning of every prompt."""

    facts: frozenset[UUID]
    tokens: int
    budget: int
    """Tokens there is room for."""


class Browsing:
    """Reads for lists and pages. What it changes, it changes as the user."""

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
        """`loaded` is the model that answers now; core facts are measured by its context."""
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
        """All that a persona remembers, conversations included, in pieces: what was stored last comes first."""
        below, most = LAST, FIRST
        while True:
            lines, below = await self._listing.memories(persona_id, most, below)
            if lines:
                yield lines
            if len(lines) < most:
                return
            most = PIECE

    async def memory(self, guid: UUID) -> MemoryUnit:
        """One of them whole; of a conversation its record. Raises StorageError where it is gone."""
        try:
            return await self._memories.get(guid)
        except StorageError as gone:
            with suppress(StorageError):
                return await self._chats.session(guid)
            raise gone from None

    async def forget_memories(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Move memories to the trash, all at once."""
        await self._holdings.delete(persona_id, guids)
        await self._indexing.follow()

    async def restore(self, persona_id: str, guids: Sequence[UUID]) -> int:
        """Take them out again; returns how many were still there."""
        restored = await self._holdings.restore(persona_id, guids)
        await self._indexing.follow()
        return restored

    async def filed(self, persona_id: str) -> list[FiledLine]:
        """Categories and tags of the memories that have any."""
        return await self._memories.filed(persona_id)

    async def distances(self, persona_id: str, text: str) -> dict[str, float]:
        """The memories and conversations whose meaning is nearest to a text, with their cosine distances, nearest first.

        None without an embedder. What is switched off, pictures and files, and what is only told on return is not compared.
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
        """The messages that say it, or else the conversations it was taken from, oldest first; what was deleted is left out."""
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
        """The facts that stand in every prompt of hers now, what they cost, and what they may."""
        model = self._loaded()
        room = int((model.context if model is not None else USUAL_CONTEXT) * CAPS[PromptPart.FACTS])
        chosen = await self._hindsight.core(await self._casting.of_persona(persona_id), room)
        tokens = sum(await self._counting.count([one.text for one in chosen])) + PER_PIECE * len(chosen)
        budget = min(self._preferences.current.core_facts_tokens, room)
        return Core(frozenset(one.guid for one in chosen), tokens, budget)

    # What she knows about the user

    async def timeline(self, persona_id: str) -> Timeline:
        """Every fact that holds, with the conversation in which it was first said."""
        cast = await self._casting.of_persona(persona_id)
        facts = await self._facts.facts_of(persona_id)
        sessions = {one.guid: one for one in await self._chats.sessions(persona_id)}
        return facts_about([fact for fact in facts if not fact.in_story], sessions, cast.persona.name, cast.user.name)

    async def save_text(self, path: Path, text: str) -> None:
        """Write a text to a file of the user's choice, whole or not at all. Raises StorageError."""
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
