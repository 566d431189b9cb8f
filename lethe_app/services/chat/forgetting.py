"""What the user asks in a message to forget: facts, lines and memories are withdrawn at once, and brought back by undo."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from uuid import UUID, uuid4

from lethe_app.brain.facts.superseding import find_contained
from lethe_app.brain.languages.forget_requests import ForgetKind, ForgetRequest
from lethe_app.brain.reading.dialogue_acts import read_requests
from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.statements import SpeakerStatement
from lethe_app.brain.reading.withdrawals import split_statement
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import split_sentences
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.brain.text.withdrawn import digests_of, remove_withdrawn
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.errors import StorageError
from lethe_app.retrieval.query_terms import WORD, fold
from lethe_app.services.events import MemoriesForgotten
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.recall import SESSION_NOTES, parse_notes
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.chats.withdrawn_lines import WithdrawnLines
from lethe_app.storage.database import Database
from lethe_app.storage.index.full_text import MAX_PASSAGE_NUMBER, FullTextSearch, TextHit
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.facts import FactStore

_QUOTATION = re.compile(r"(?:Asked “(?P<asked>[^”]*)”, )?[^:“]{1,60} said(?: on [^:“]+)?: “(?P<said>.+)”")
"""Fact in the user's own words, with the question that they answer."""
SAID_ANYWHERE = frozenset({ForgetKind.STATEMENT, ForgetKind.LINE_BEFORE})
"""Kinds of requests that are about all conversations; one about its own line concerns that line alone."""
MAX_LINES_READ = 100
"""Messages before a request of which the facts are read that they state together, as a question and its answer."""
MAX_LINES = 400
"""Messages before a request in which the line that it points at, and lines that say the same, are looked for."""


class Forgetting:
    """Forget what the user asks for in a message. It is not learnt again from the messages that said it, only from new ones."""

    def __init__(
        self,
        database: Database,
        session_store: SessionStore,
        facts: FactService,
        memory_cache: MemoryCache,
        archive_queue: ArchiveQueue,
        stable_prefixes: StablePrefixes,
        cache_state: CacheState,
        notebooks: NotebookService,
    ) -> None:
        self._session_store, self._facts, self._memory_cache = session_store, facts, memory_cache
        self._notebooks = notebooks
        self._archive_queue, self._stable_prefixes, self._cache_state = archive_queue, stable_prefixes, cache_state
        self._lines, self._search, self._fact_store = WithdrawnLines(database), FullTextSearch(database), FactStore(database)
        self._states, self._receipts, self._scrub = SessionState(database), Receipts(database), database.scrub
        self.requests: dict[UUID, tuple[MemoriesForgotten, Sequence[ForgetRequest]]] = {}
        """What was forgotten since the start of the program, by the message that asked for it."""

    async def follow_request(
        self, session: ChatSession, personas: Collection[str], message: Message
    ) -> MemoriesForgotten | None:
        """Forget what a message that was just stored asks for, for all these personas; None if it asks for nothing. Of an
        incognito session only what was stored before is forgotten, because nothing is learnt from it.
        """
        lines = to_utterances(await self._session_store.newest_messages(session.guid, MAX_LINES))
        requests, parts = await asyncio.to_thread(read_requests, lines)
        if not requests or lines[-1].id != message.id:
            return None
        forgotten = MemoriesForgotten(message.id, session.guid, requests[0].what)
        self.requests[message.id] = (forgotten, requests)
        await self._withdraw(forgotten, {} if session.is_incognito else parts)
        stated = await asyncio.to_thread(_read_facts, lines[-MAX_LINES_READ:-1]) if not session.is_incognito else []
        for persona_id in personas:
            known = [*await self._fact_store.undeleted_facts_of(persona_id), *stated]
            chosen, vague = await asyncio.to_thread(_choose_facts, known, requests, parts, message.speaker_name)
            forgotten.candidates[persona_id] = [fact for fact in vague if not fact.superseded and fact not in stated]
            is_chosen_later = any(forgotten.candidates.values())
            asked = requests if not is_chosen_later else [one for one in requests if not one.is_unclear]
            said = [one for one in asked if one.kind in SAID_ANYWHERE or _has_lines(one)]
            if not chosen and not vague and requests[0].kind is ForgetKind.STATEMENT:
                similar = await self._facts.find_similar(persona_id, requests[0].what)
                forgotten.candidates[persona_id] = [fact for fact in similar if not fact.superseded and fact not in stated]
            await self._forget(forgotten, persona_id, chosen, said)
        return forgotten

    async def follow_reply(self, request: UUID, reply: Message) -> None:
        """Withdraw the sentences of a reply to a request that name what was forgotten, as “I'll forget that you …” does."""
        forgotten, requests = self.requests[request]
        named = [sentence for sentence in split_sentences(reply.content) if any(one.is_named_in(sentence) for one in requests)]
        parts = named if requests[0].kind is not ForgetKind.EVERYTHING else []
        if parts and not (await self._session_store.session(reply.session_id)).is_incognito:
            await self._withdraw(forgotten, {reply.id: parts})

    async def forget_chosen(self, forgotten: MemoriesForgotten, guids: Collection[UUID]) -> None:
        """Forget those of the candidates that the user has chosen, with the lines that name their subject; with all of them,
        also all that the request may mean.
        """
        is_all = all(fact.guid in guids for facts in forgotten.candidates.values() for fact in facts)
        requests = self.requests[forgotten.request][1]
        said = [one for one in requests if _has_lines(one) or (is_all and one.kind is ForgetKind.STATEMENT)]
        for persona_id, candidates in forgotten.candidates.items():
            await self._forget(forgotten, persona_id, [fact for fact in candidates if fact.guid in guids], said)

    async def undo(self, forgotten: MemoriesForgotten) -> None:
        """Bring back all that was forgotten by a message and still exists."""
        sessions = await self._lines.restore(forgotten.request)
        for persona_id, facts in forgotten.facts.items():  # but for those that were erased since
            deleted = await self._fact_store.facts_of(persona_id, deleted=True)
            left = {fact.guid for fact in (*deleted, *await self._fact_store.undeleted_facts_of(persona_id))}
            await self._facts.restore_facts([fact for fact in facts if fact.guid in left])
        for persona_id, guids in forgotten.memories.items():
            await self._memory_cache.restore(persona_id, guids)
        for session_id, notes in forgotten.notes.items():
            await self._states.set(session_id, SESSION_NOTES, notes)
        await self._follow(sessions, forgotten.facts)

    async def erase(self, forgotten: MemoriesForgotten) -> None:
        """Erase all that was forgotten by a message for good, with the words of the message itself."""
        for persona_id in forgotten.facts:  # while it is known what the facts said
            await self._notebooks.revise_lines(persona_id, await self._facts.load_history(persona_id))
        facts = [fact.guid for facts in forgotten.facts.values() for fact in facts]
        memories = [guid for guids in forgotten.memories.values() for guid in guids]
        sessions = await self._lines.erase(forgotten.request, facts, memories, remove_withdrawn)
        await self._follow(sessions, forgotten.facts)
        await self._cache_state.clear()
        await self._scrub()

    async def _forget(
        self, forgotten: MemoriesForgotten, persona_id: str, chosen: Sequence[ExtractedFact], requests: Sequence[ForgetRequest]
    ) -> None:
        """Move facts to the trash with the memories that say the same, and withdraw the lines of any session that do."""
        known = await self._fact_store.undeleted_facts_of(persona_id)
        names = {fact.subject for fact in known}
        facts = list({part.guid: part for fact in chosen for part in find_contained(fact.guid, known)}.values())
        said = [*facts, *(fact for fact in chosen if fact not in known)]  # what this conversation states is not stored yet
        lines: dict[UUID, list[str]] = {}
        for message_id in {id_ for fact in said for id_ in fact.source_messages} | await self._find_lines(persona_id, requests):
            with suppress(StorageError):  # it is in the trash
                text = (await self._session_store.message(message_id)).content
                stated = [fact for fact in said if message_id in fact.source_messages]
                if parts := await asyncio.to_thread(_find_parts, text, requests, stated):
                    lines[message_id] = parts
        await self._withdraw(forgotten, lines)
        made = [memory for memory in await self._memory_cache.memories_of(persona_id) if memory.made_by]
        memories = await asyncio.to_thread(
            lambda: [one.guid for one in made if any(each.is_said_by(_as_speaker(one.content, names)) for each in requests)]
        )
        await self._memory_cache.delete(persona_id, memories)
        if facts:
            await self._facts.forget_facts(persona_id, facts)
        forgotten.facts.setdefault(persona_id, []).extend(facts)
        forgotten.memories.setdefault(persona_id, []).extend(memories)

    async def _find_lines(self, persona_id: str, requests: Sequence[ForgetRequest]) -> set[UUID]:
        """Return the messages to a persona which say what is to be forgotten."""
        found: set[UUID] = set()
        for request in requests:

            def is_said(hit: TextHit, request: ForgetRequest = request) -> bool:
                return hit.kind == "message" and any(map(request.is_said_by, split_sentences(hit.text)))

            word = max(WORD.findall(fold(request.what)), key=len, default="")
            below = MAX_PASSAGE_NUMBER if word else 0
            while below:
                hits, below = await self._search.search_passages(f'"{word}"', persona_id, below, is_said)
                found |= {UUID(hit.origin) for hit in hits}
        return found

    async def _withdraw(self, forgotten: MemoriesForgotten, lines: Mapping[UUID, Sequence[str]]) -> None:
        """Withdraw parts of messages, with the notes on their sessions and all that was made of these."""
        digests = {}
        for message_id, parts in lines.items():
            text = (await self._session_store.message(message_id)).content
            digests[message_id] = digests_of(text, parts)
        sessions = await self._lines.withdraw(forgotten.request, digests)
        forgotten.lines.update(digests.keys() - {forgotten.request})
        words = content_words(" ".join(part for parts in lines.values() for part in parts))
        for session_id in sessions:
            notes = parse_notes(await self._states.get(session_id, SESSION_NOTES))
            kept = {key: value for key, value in notes.items() if not content_words(value) <= words}
            if kept != notes:
                forgotten.notes.setdefault(session_id, notes)
                await self._states.set(session_id, SESSION_NOTES, kept)
        await self._follow(sessions)

    async def _follow(self, sessions: Collection[UUID], personas: Iterable[str] = ()) -> None:
        """Have everything made again that contains lines of sessions: prompts, summaries and saved states."""
        owners = set(personas)
        for session_id in sessions:
            owners.add((await self._session_store.session(session_id)).persona_id)
            await self._stable_prefixes.drop(session_id)
            await self._archive_queue.follow_changed_lines(session_id)
        for persona_id in owners:
            self._cache_state.forget_persona(persona_id)
            await self._receipts.delete_prompts(persona_id)
            await self._facts.renew(persona_id)


def _read_facts(lines: Sequence[Utterance]) -> list[ExtractedFact]:
    """Return the facts that lines state, also as the answer to a question."""
    return [
        ExtractedFact(fact=one.text, subject=one.subject, key=one.key, kind=one.kind, source_messages=list(one.message_ids))
        for one in extract_statements(lines)
    ]


def _has_lines(request: ForgetRequest) -> bool:
    """Return whether the lines that name a subject are forgotten with the facts about it: any but the user."""
    return request.kind is ForgetKind.EVERYTHING and not request.is_about_user


def _choose_facts(
    known: Sequence[ExtractedFact], requests: Sequence[ForgetRequest], parts: Mapping[UUID, Sequence[str]], user: str
) -> tuple[list[ExtractedFact], list[ExtractedFact]]:
    """Return the facts that say what is to be forgotten, and those among which the user has to choose."""
    chosen: dict[UUID, ExtractedFact] = {}
    vague: dict[UUID, ExtractedFact] = {}
    for request in requests:
        statements = extract_statements([Utterance(uuid4(), Role.USER, "I", request.what, now())])
        found = [
            fact
            for fact in known
            if (request.key and fact.key == request.key)
            or (request.kind is not ForgetKind.OWN_LINE and request.is_said_by(_as_speaker(fact.fact, (fact.subject, user))))
            or any(part in parts and _is_stated(fact, parts[part]) for part in fact.source_messages)
            or (request.kind in SAID_ANYWHERE and any(_is_value(fact, statement) for statement in statements))
        ]
        if request.kind is ForgetKind.EVERYTHING:
            topic = [fact for fact in known if request.is_about_user or fact.kind is request.fact_kind]
            vague |= {fact.guid: fact for fact in (*found, *topic)}
        elif request.is_unclear and len({fact.fact for fact in found if not fact.superseded}) > 1:
            vague |= {fact.guid: fact for fact in found}
        else:
            chosen |= {fact.guid: fact for fact in found}
    return list(chosen.values()), [fact for guid, fact in vague.items() if guid not in chosen]


def _as_speaker(text: str, names: Iterable[str]) -> str:
    """Return a statement about the user as the user says it, so that it differs from one about somebody else."""
    if quotation := _QUOTATION.match(text):
        return " ".join(filter(None, quotation.groups()))
    name = next((name for name in names if name and text.startswith(f"{name} ")), "")
    return f"I{text.removeprefix(name)}" if name else text


def _is_stated(fact: ExtractedFact, parts: Iterable[str]) -> bool:
    """Return whether withdrawn parts of a message have most of the words of a fact, without the name with which it begins."""
    words = content_words(fact.fact) - content_words(fact.fact.split(" ", 1)[0])
    return bool(words) and 2 * len(words & content_words(" ".join(parts))) > len(words)


def _is_value(fact: ExtractedFact, statement: SpeakerStatement) -> bool:
    """Return whether a fact gives an attribute the value that a statement gives it, in whatever words."""
    if not fact.key or fact.key != statement.key:
        return False
    value = content_words(statement.text) - content_words(fact.key) - content_words("I live work am have name called")
    return bool(value) and value <= content_words(fact.fact)


def _find_parts(text: str, requests: Sequence[ForgetRequest], facts: Sequence[ExtractedFact]) -> list[str]:
    """Return the parts of a message that say what is to be forgotten; of one from which facts were taken that say it in other
    words, the sentence that is most like them.
    """
    sentences = list(split_sentences(text))
    said = {sentence: one for sentence in sentences for one in requests if one.is_said_by(sentence)}
    parts = [split_statement(sentence, one)[0] for sentence, one in said.items()]
    for fact in facts:
        words = content_words(fact.fact)
        if sentences and not any(_is_stated(fact, [part]) for part in parts):
            parts.append(max(sentences, key=lambda sentence: len(words & content_words(sentence))))
    return list(dict.fromkeys(parts))
