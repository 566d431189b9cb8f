"""Search in messages, summaries, memories, facts and world entries, by words or by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice
from uuid import UUID

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.list_items import HitKind, SearchHit
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.recall import RecallLead, Recollection
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.errors import StorageError
from lethe_app.services.indexing.service import Indexing
from lethe_app.services.library import Library
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.search.query import SearchQuery, excerpt
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.database import Database
from lethe_app.storage.index.full_text import LAST, Keep, Sighting
from lethe_app.storage.index.full_text import FullTextSearch as Texts
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import Memories

MOST = 400
"""Maximum number of hits of one search by words."""
NEAREST = 24
"""Maximum number of hits by meaning, for each persona."""
KINDS = {
    "message": HitKind.MESSAGE,
    "fact": HitKind.FACT,
    "summary": HitKind.SUMMARY,
    "sentence": HitKind.SUMMARY,
    "memory": HitKind.MEMORY,
}
"""Kind of hit by kind of passage."""


class SearchService:
    """Search all stored texts. Nothing is changed, except that `reveal` selects the branch of a message."""

    def __init__(
        self,
        database: Database,
        chats: Chats,
        facts: FactStore,
        memories: Memories,
        lookup: MemoryLookup,
        indexing: Indexing,
        chronicle: SessionEditing,
        library: Library,
    ) -> None:
        self._texts = Texts(database)
        self._chats, self._facts, self._memories = chats, facts, memories
        self._lookup, self._indexing, self._chronicle = lookup, indexing, chronicle
        self._library = library

    async def by_words(
        self, text: str, persona_id: str | None = None, session: UUID | None = None
    ) -> AsyncIterator[list[SearchHit]]:
        """Yield the hits in pieces, the newest first within each source: of one persona, of all personas, or of one session.

        A piece is read in a few milliseconds. The order is: the word index, greetings, memories outside the index,
        superseded facts, and worlds, which belong to no persona and are only searched without `persona_id`. It ends after
        `MOST` hits.
        """
        wanted = SearchQuery.parse(text)
        if not wanted.terms:
            return
        seen: set[tuple[str, str, str]] = set()

        def is_meant(one: Sighting) -> bool:
            key = (one.kind, one.origin, one.text if one.kind != PassageKind.MESSAGE else "")
            if key in seen or not wanted.marks(_body(one)):
                return False
            seen.add(key)
            return True

        if session is not None:
            found = await self._texts.in_session(session, is_meant)
            yield await _hits(found[:MOST], wanted)
            return
        await self._indexing.index_pending()  # what was just said is found too
        below, count = LAST, 0
        while below and count < MOST:
            found, below = await self._texts.passages(wanted.match, persona_id, below, is_meant)
            yield await _hits(found[: MOST - count], wanted)
            count += len(found)
        async for found, is_over in self._outside(persona_id, is_meant):
            if count >= MOST:
                return
            hits = await _hits(found[: MOST - count], wanted)  # of thousands no more is made ready than is shown
            yield [replace(hit, is_over=is_over) for hit in hits]
            count += len(hits)
        if persona_id is None and count < MOST:
            yield await asyncio.to_thread(_in_worlds, await self._library.worlds(), wanted, MOST - count)

    async def _outside(self, persona_id: str | None, keep: Keep) -> AsyncIterator[tuple[list[Sighting], bool]]:
        """Yield texts that the word index omits, in pieces, and whether they are superseded."""
        yield await self._texts.openings(persona_id, keep), False
        for read, is_over in ((self._texts.not_indexed, False), (self._texts.superseded, True)):
            below = LAST
            while below:
                found, below = await read(persona_id, below, keep)
                yield found, is_over

    async def by_meaning(self, text: str, persona_ids: Sequence[str]) -> list[SearchHit]:
        """Return the memories, facts and session passages nearest in meaning to a text, best first within each persona."""
        # The space marks the last word as complete: a sentence to compare is not being typed, so no word in it is a prefix.
        wanted = SearchQuery.parse(f"{text} ")
        found: list[SearchHit] = []
        for persona_id in persona_ids:
            for recollection in await self._lookup.search(persona_id, text, NEAREST):
                if not recollection.world:
                    found += await self._recalled(persona_id, recollection, wanted)
        return found

    async def reveal(self, session: UUID, message: UUID) -> bool:
        """Select the branch that contains a message; return True if another branch was shown before."""
        if any(entry.id == message for entry in await self._chats.outline(session)):
            return False
        await self._chats.set_leaf(session, await self._texts.end_of_branch(message))
        await self._chronicle.retold([session])
        return True

    async def place_of_fact(self, guid: UUID) -> tuple[UUID, UUID] | None:
        """Return session and message of a fact's first source message that still exists; None if there is none."""
        with suppress(StorageError):
            for message_id in (await self._facts.get(guid)).source_messages:
                with suppress(StorageError):
                    message = await self._chats.message(message_id)
                    return (await self._chats.session(message.session_id)).guid, message.id
        return None

    async def _recalled(self, persona_id: str, one: Recollection, wanted: SearchQuery) -> list[SearchHit]:
        if one.category is MemoryType.CHAT_SESSION:
            with suppress(StorageError):
                session = await self._chats.session(one.memory)
                return [await self._lead(session, lead, wanted) for lead in one.leads]
            return []
        kind, when = HitKind.MEMORY, None
        with suppress(StorageError):
            when = (await self._memories.get(one.memory)).added
        if when is None:
            kind = HitKind.FACT
            with suppress(StorageError):
                when = (await self._facts.get(one.memory)).last_seen
        text = f"{one.title}: {one.text}" if one.title and kind is HitKind.MEMORY else one.text
        return [_made(kind, one.memory, persona_id, None, one.title, "", when, text, wanted)] if when else []

    async def _lead(self, session: ChatSession, lead: RecallLead, wanted: SearchQuery) -> SearchHit:
        kind, when, speaker, text = KINDS.get(lead.kind, HitKind.SUMMARY), session.added, "", lead.text
        if kind is HitKind.MESSAGE:
            with suppress(StorageError):
                message = await self._chats.message(lead.origin)
                when, speaker = message.time, message.speaker_name
                text = _said(lead.text, speaker)
        return _made(kind, lead.origin, session.persona_id, session.guid, session.name, speaker, when, text, wanted)


def _body(one: Sighting) -> str:
    """Return the text of a passage without the speaker prefix of a message."""
    return _said(one.text, one.speaker) if one.kind == PassageKind.MESSAGE else one.text


def _said(text: str, speaker: str) -> str:
    before = f'{speaker} said, "'
    return text[len(before) : -1] if speaker and text.startswith(before) and text.endswith('"') else text


def _hit(one: Sighting, wanted: SearchQuery) -> SearchHit:
    kind = KINDS[one.kind]
    session = UUID(one.source) if one.category == MemoryType.CHAT_SESSION else None
    owner = one.owner.removeprefix("waiting:")
    return _made(kind, UUID(one.origin), owner, session, one.title, one.speaker, one.moment, _body(one), wanted)


async def _hits(found: Sequence[Sighting], wanted: SearchQuery) -> list[SearchHit]:
    """Convert passages to hits, in a thread: marking the words in a few dozen texts takes as long as a key press may."""
    return await asyncio.to_thread(lambda: [_hit(one, wanted) for one in found])


def _in_worlds(worlds: Mapping[str, World], wanted: SearchQuery, most: int) -> list[SearchHit]:
    """Return up to `most` hits in world entries, in the order of the worlds."""
    told = ((stem, world, entry) for stem, world in worlds.items() for entry in world.entries if wanted.marks(_told(entry)))
    return [_lore(stem, world, entry, wanted) for stem, world, entry in islice(told, most)]


def _told(entry: WorldEntry) -> str:
    return f"{entry.name}: {entry.content}" if entry.name else entry.content


def _lore(stem: str, world: World, entry: WorldEntry, wanted: SearchQuery) -> SearchHit:
    hit = _made(HitKind.WORLD, entry.guid, "", None, world.name, "", entry.added, _told(entry), wanted)
    return replace(hit, world=stem)


def _made(
    kind: HitKind,
    guid: UUID,
    persona_id: str,
    session: UUID | None,
    title: str,
    speaker: str,
    when: datetime,
    text: str,
    wanted: SearchQuery,
) -> SearchHit:
    line = " ".join(text.split())
    shown, marks = excerpt(line, wanted.marks(line))
    return SearchHit(kind, guid, persona_id, session, title, speaker, when.astimezone(), shown, marks)
