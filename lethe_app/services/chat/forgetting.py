"""What the user asks in a message to forget: facts, lines and memories are withdrawn at once, and brought back by undo."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID, uuid4

from lethe_app.brain.facts.comparison import has_value_of
from lethe_app.brain.facts.superseding import find_contained
from lethe_app.brain.languages.forget_requests import MIN_COMMON_LETTERS, ForgetKind, ForgetRequest
from lethe_app.brain.reading.dialogue_acts import read_requests
from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.withdrawals import split_statement
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import split_sentences
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.brain.text.withdrawn import digests_of, remove_withdrawn
from lethe_app.domain.chat import Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import SAID_AGAIN, ExtractedFact, SupersededBecause
from lethe_app.errors import StorageError
from lethe_app.retrieval.query_terms import parse_query
from lethe_app.searchable_text import SPACELESS, WORD, fold
from lethe_app.services.events import Listeners
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.recall import SESSION_NOTES, parse_notes
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.chats.withdrawn_lines import WithdrawnLines
from lethe_app.storage.database import Database
from lethe_app.storage.index.full_text import MAX_PASSAGE_NUMBER, FullTextSearch, TextHit
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.facts import FactStore

_QUOTATION = re.compile(r"(?:Asked “([^”]*)”, )?[^:“]{1,60} said(?: on [^:“]+)?: “(.+)”")
"""Fact in the user's own words, with the question that they answer."""
MAX_LINES_READ = 100
"""Messages before a request of which the facts are read that they state together, as a question and its answer."""
MAX_LINES = 400
"""Messages before a request in which the line that it points at, and lines that say the same, are looked for."""


@dataclass(frozen=True)
class MemoriesForgotten:
    """What a message of the user let be forgotten, which can be brought back."""

    request: UUID
    """The message."""
    session: UUID
    personas: Collection[str]
    requests: Sequence[ForgetRequest]
    lines: set[UUID] = field(default_factory=set)
    """Other messages of which something was withdrawn."""
    facts: list[ExtractedFact] = field(default_factory=list)
    candidates: list[ExtractedFact] = field(default_factory=list)
    """Facts that may be meant, of which the user chooses."""
    meant: set[UUID] = field(default_factory=set)
    """These facts, with those that they supersede and that may be meant as well."""
    memories: list[UUID] = field(default_factory=list)
    notes: dict[UUID, dict[str, str]] = field(default_factory=dict)
    """Session notes before, by session."""

    @property
    def what(self) -> str:
        """Return the statement or subject to be forgotten, in the user's words; it may be empty."""
        return self.requests[0].what

    @property
    def has_found(self) -> bool:
        """Return whether anything was forgotten but for the message itself."""
        return bool(self.lines or self.facts or self.memories)


class Forgetting:
    """Forget what the user asks for in a message. It is not learnt again from the messages that said it, only from new ones.
    What lies in the trash for it comes back from there, too.
    """

    def __init__(
        self,
        database: Database,
        session_store: SessionStore,
        facts: FactService,
        memory_cache: MemoryCache,
        session_editing: SessionEditing,
        stable_prefixes: StablePrefixes,
        cache_state: CacheState,
        notebooks: NotebookService,
    ) -> None:
        self.changed: Listeners[MemoriesForgotten] = Listeners()
        self._session_store, self._facts, self._memory_cache = session_store, facts, memory_cache
        self._notebooks, self._session_editing = notebooks, session_editing
        self._stable_prefixes, self._cache_state = stable_prefixes, cache_state
        self._lines, self._search, self._fact_store = WithdrawnLines(database), FullTextSearch(database), FactStore(database)
        self._states, self._receipts, self._scrub = SessionState(database), Receipts(database), database.scrub
        self.forgotten: dict[UUID, MemoriesForgotten] = {}
        """What was forgotten since the start of the program, by the message that asked for it."""

    async def follow_request(self, message: Message) -> bool:
        """Forget what a message of the user asks for, which was just stored or edited; return whether it asks for anything. Of
        an incognito session only what was stored before is forgotten, because nothing is learnt from it.
        """
        earlier = await self._session_store.newest_messages(message.session_id, MAX_LINES, before=message.id)
        lines = to_utterances([*earlier, message])
        requests, parts = await asyncio.to_thread(read_requests, lines)
        if not requests or lines[-1].id != message.id:
            return False
        session = await self._session_store.session(message.session_id)
        forgotten = MemoriesForgotten(message.id, session.guid, {session.persona_id, *session.guests}, requests)
        self.forgotten[message.id] = forgotten
        await self._withdraw(forgotten, parts, lambda line: parts[line.id])
        stated = await asyncio.to_thread(_read_facts, lines[-MAX_LINES_READ:-1])
        for persona_id in forgotten.personas:
            known = [*await self._fact_store.undeleted_facts_of(persona_id), *stated]
            chosen, vague = await asyncio.to_thread(_choose_facts, known, requests, parts, message.speaker_name)
            if requests[0].kind is ForgetKind.STATEMENT and not (chosen or vague or forgotten.lines):
                vague = await self._facts.find_similar(persona_id, requests[0].what)
            candidates = [fact for fact in vague if not fact.superseded and fact not in stated]
            forgotten.candidates.extend(candidates)
            forgotten.meant.update(fact.guid for fact in vague)
            clear = [one for one in requests if not (candidates and one.is_unclear)]
            await self._forget(forgotten, persona_id, chosen, clear)
        self.changed.notify(forgotten)
        return True

    async def follow_reply(self, forgotten: MemoriesForgotten, reply: Message) -> None:
        """Withdraw the sentences of a reply to a request that name what was forgotten, as “I'll forget that you …” does."""
        named = [one for one in split_sentences(reply.content) if any(each.is_named_in(one) for each in forgotten.requests)]
        await self._withdraw(forgotten, [reply.id], lambda _reply: named)

    async def forget_chosen(self, forgotten: MemoriesForgotten, guids: Collection[UUID]) -> None:
        """Forget those of the candidates that the user has chosen; with all of them, also all else that the request means."""
        is_all = all(fact.guid in guids for fact in forgotten.candidates)
        for persona_id in forgotten.personas:
            known = await self._fact_store.undeleted_facts_of(persona_id)
            chosen = _add_wordings(known, guids, forgotten.meant, forgotten.requests)
            await self._forget(forgotten, persona_id, chosen, forgotten.requests if is_all else ())
        forgotten.candidates.clear()
        self.changed.notify(forgotten)

    async def undo(self, forgotten: MemoriesForgotten) -> None:
        """Bring back all that was forgotten by a message and still exists."""
        sessions, guids = await self._lines.restore(forgotten.request), {fact.guid for fact in forgotten.facts}
        for persona_id in forgotten.personas:
            deleted = await self._fact_store.facts_of(persona_id, deleted=True)
            await self._facts.restore_facts([fact for fact in deleted if fact.guid in guids])
            await self._memory_cache.restore(persona_id, forgotten.memories)
        for session_id, notes in forgotten.notes.items():
            await self._states.set(session_id, SESSION_NOTES, notes)
        await self._follow(forgotten, sessions)

    async def erase(self, forgotten: MemoriesForgotten) -> None:
        """Erase all that was forgotten by a message for good, with the words of the message itself."""
        for persona_id in forgotten.personas:  # while it is known what the facts said
            await self._notebooks.revise_lines(persona_id, await self._facts.load_history(persona_id))
        facts = [fact.guid for fact in forgotten.facts]
        sessions = await self._lines.erase(forgotten.request, facts, forgotten.memories, remove_withdrawn)
        await self._follow(forgotten, sessions)
        for session_id in sessions:
            await self._session_editing.stop_replies([session_id])
            await self._session_editing.invalidate([session_id], edited_messages=[*forgotten.lines, forgotten.request])
        await self._cache_state.clear()
        await self._scrub()

    async def _forget(
        self, forgotten: MemoriesForgotten, persona_id: str, chosen: Sequence[ExtractedFact], requests: Sequence[ForgetRequest]
    ) -> None:
        """Move facts to the trash with the memories that say the same, and withdraw the lines of any session that do."""
        known = await self._fact_store.undeleted_facts_of(persona_id)
        names = {fact.subject for fact in known}
        # The messages of a merged fact state its parts, which are chosen themselves if they are meant.
        merged = {fact.superseded_by for fact in known if fact.superseded_because is SupersededBecause.MERGED}
        stated = [fact for fact in chosen if fact.guid not in merged]
        lines = {id_ for fact in stated for id_ in fact.source_messages} | await self._find_lines(persona_id, requests)
        await self._withdraw(forgotten, lines, partial(_find_parts, requests, stated))
        made = [memory for memory in await self._memory_cache.memories_of(persona_id) if memory.made_by]
        memories = await asyncio.to_thread(
            lambda: [one.guid for one in made if any(each.is_said_by(_as_speaker(one.content, names)) for each in requests)]
        )
        await self._memory_cache.delete(persona_id, memories)
        facts = [fact for fact in known if fact in chosen]  # what this conversation states is not stored yet
        await self._facts.forget_facts(persona_id, facts)
        forgotten.facts.extend(facts)
        forgotten.memories.extend(memories)

    async def _find_lines(self, persona_id: str, requests: Sequence[ForgetRequest]) -> set[UUID]:
        """Return the messages to a persona which say what is to be forgotten."""
        found: set[UUID] = set()
        for request in requests:
            query = _format_query(request.what)
            below = MAX_PASSAGE_NUMBER if query else 0
            while below:
                hits, below = await self._search.search_passages(query, persona_id, below, partial(_is_line, request))
                found |= {UUID(hit.origin) for hit in hits}
        return found

    async def _withdraw(
        self, forgotten: MemoriesForgotten, lines: Iterable[UUID], find_parts: Callable[[Message], Sequence[str]]
    ) -> None:
        """Withdraw the parts of messages that `find_parts` finds, with the notes on their sessions and all that was made of
        these.
        """
        digests, withdrawn = dict[UUID, list[str]](), list[str]()
        for message_id in lines:
            with suppress(StorageError):  # it is in the trash
                message = await self._session_store.message(message_id)
                parts = await asyncio.to_thread(find_parts, message)
                digests[message_id] = digests_of(message.content, parts)
                withdrawn += parts
        changed = await self._lines.withdraw(forgotten.request, digests)
        forgotten.lines.update(changed.keys() - {forgotten.request})
        words = content_words(" ".join(withdrawn))
        for session_id in set(changed.values()):
            notes = parse_notes(await self._states.get(session_id, SESSION_NOTES))
            kept = {key: value for key, value in notes.items() if not content_words(value) <= words}
            if kept != notes:
                forgotten.notes.setdefault(session_id, notes)
                await self._states.set(session_id, SESSION_NOTES, kept)
        await self._follow(forgotten, set(changed.values()))

    async def _follow(self, forgotten: MemoriesForgotten, sessions: Collection[UUID]) -> None:
        """Have everything made again that contains lines of sessions: prompts, summaries and saved states."""
        owners = set(forgotten.personas)
        for session_id in sessions:
            owners.add((await self._session_store.session(session_id)).persona_id)
            await self._stable_prefixes.drop(session_id)
            await self._session_editing.follow_changed_lines(session_id)
        for persona_id in owners:
            await self._receipts.delete_prompts(persona_id)
            await self._facts.renew(persona_id)


def _read_facts(lines: Sequence[Utterance]) -> list[ExtractedFact]:
    """Return the facts that lines state, also as the answer to a question."""
    return [
        ExtractedFact(fact=one.text, subject=one.subject, key=one.key, kind=one.kind, source_messages=list(one.message_ids))
        for one in extract_statements(lines)
    ]


def _choose_facts(
    known: Sequence[ExtractedFact], requests: Sequence[ForgetRequest], parts: Mapping[UUID, Sequence[str]], user: str
) -> tuple[list[ExtractedFact], list[ExtractedFact]]:
    """Return the facts that say what is to be forgotten, and those among which the user has to choose."""
    chosen, vague = set[UUID](), set[UUID]()
    for request in requests:
        is_anywhere = request.kind is not ForgetKind.OWN_LINE  # which concerns that line alone
        asked = _read_facts([Utterance(uuid4(), Role.USER, user, request.what, now())] if is_anywhere else [])
        found = [
            fact
            for fact in known
            if request.is_about(fact)
            or request.is_said_by(_as_speaker(fact.fact, (fact.subject, user)))
            or any(part in parts and _is_stated(fact, parts[part]) for part in fact.source_messages)
            or any(has_value_of(one, fact) for one in asked)
        ]
        is_one = request.kind is not ForgetKind.EVERYTHING and len({fact.fact for fact in found if not fact.superseded}) < 2
        (chosen if is_one or not request.is_unclear else vague).update(fact.guid for fact in found)
        vague.update(fact.guid for fact in known if not found and request.may_mean(fact.fact))
    return _add_wordings(known, chosen, chosen, requests), [fact for fact in known if fact.guid in vague - chosen]


def _add_wordings(
    known: Sequence[ExtractedFact], guids: Collection[UUID], meant: Collection[UUID], requests: Sequence[ForgetRequest]
) -> list[ExtractedFact]:
    """Return facts with those that they supersede and that say the same, or what the requests mean. What they only extend
    remains.
    """
    same = [
        fact
        for fact in known
        if fact.guid in meant
        or fact.superseded_because in SAID_AGAIN
        or any(_is_stated(fact, [request.what]) for request in requests)
    ]
    return list({part.guid: part for guid in guids for part in find_contained(guid, same)}.values())


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


def _format_query(what: str) -> str:
    """Return a full-text query for texts that may say a statement: with the beginning of its longest word, which may be
    inflected, or with any pair of characters in a script without spaces; empty if it has no words.
    """
    if SPACELESS.search(what):
        return " OR ".join(f'"{pair}"' for pair in parse_query(what).lookups)
    word = max(WORD.findall(fold(what)), key=len, default="")
    return f'"{word[: max(MIN_COMMON_LETTERS, len(word) - 2)]}"*' if word else ""


def _is_line(request: ForgetRequest, hit: TextHit) -> bool:
    return hit.kind == "message" and any(map(request.is_said_by, split_sentences(hit.text)))


def _find_parts(requests: Sequence[ForgetRequest], facts: Sequence[ExtractedFact], line: Message) -> list[str]:
    """Return the parts of a message that say what is to be forgotten; of one from which facts were taken that say it in other
    words, the sentence that is most like them.
    """
    sentences = list(split_sentences(line.content))
    said = {sentence: one for sentence in sentences for one in requests if one.is_said_by(sentence)}
    parts = [split_statement(sentence, one)[0] for sentence, one in said.items()]
    for fact in facts:
        if line.id in fact.source_messages and sentences and not any(_is_stated(fact, [part]) for part in parts):
            words = content_words(fact.fact)
            parts.append(max(sentences, key=lambda sentence: len(words & content_words(sentence))))
    return list(dict.fromkeys(parts))
