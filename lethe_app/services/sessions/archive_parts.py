"""Fills one part of an archived session at a time: by rules at once, by a model where one can be trusted with it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID

from lethe_app.brain.dialogue.dialogue_acts import read_parts
from lethe_app.brain.fact_rules.extractor import Statement, extract
from lethe_app.brain.facts.merge import FactRelation
from lethe_app.brain.facts.updates import withdraw
from lethe_app.brain.summary import digest
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.utterance import Utterance, aloud
from lethe_app.domain.chat import ChatSession, PartState, Role, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import ModelError
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import SupportedFact
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.memory.facts import FactService, Judge
from lethe_app.services.preferences import Preferences
from lethe_app.storage.chats.archive_jobs import Parts
from lethe_app.storage.chats.sessions import Chats

FIELDS = {
    SessionPart.TITLE: "name",
    SessionPart.SUMMARY: "content",
    SessionPart.KEYWORDS: "keywords_main",
    SessionPart.GOALS: "future_goals",
    SessionPart.RELEVANCE: "relevance",
    SessionPart.ROLEPLAY: "is_roleplay",
}
"""Where each part is kept; facts are kept by themselves."""
LONGEST_SUMMARY = 2000
"""Characters of a summary made by rules."""


class Archivist:
    """Does the work; which part comes when, and what if it fails, is for `Archiving` to say."""

    def __init__(
        self,
        chats: Chats,
        parts: Parts,
        knowing: FactService,
        minutes: ConversationExtraction,
        trust: Qualification,
        preferences: Preferences,
    ) -> None:
        self._chats = chats
        self._parts = parts
        self._knowing = knowing
        self._minutes = minutes
        self._trust = trust
        self._preferences = preferences

    def may_write(self, part: SessionPart) -> bool:
        """Can the model that is loaded be trusted with it?"""
        verdict = self._trust.verdict
        if verdict is None:
            return False
        return verdict.may_write_facts if part is SessionPart.FACTS else verdict.may_write_summaries

    @property
    def model(self) -> str:
        """The name of that model."""
        return self._trust.verdict.model if self._trust.verdict is not None else ""

    async def lines(self, session_id: UUID) -> list[Utterance]:
        """Everything that was said aloud, all of it."""
        count = len(await self._chats.outline(session_id))
        return aloud(await self._chats.page(session_id, 0, count))

    async def renew(self, persona_id: str) -> None:
        """A conversation was deleted, brought back or told otherwise: the prompts of the others no longer say what it was."""
        await self._knowing.renew(persona_id)

    async def by_rules(self, session_id: UUID, parts: Collection[SessionPart]) -> dict[SessionPart, object]:
        """What these parts come to, told from what was said, word for word or nearly; facts are learnt at once."""
        session, lines = await self._chats.session(session_id), await self.lines(session_id)
        if SessionPart.FACTS in parts and self._preferences.current.fact_retrieval:
            await self._extract(session, lines)
        if not FIELDS.keys() & set(parts):
            return {}
        made = await asyncio.to_thread(lambda: digest.digest(lines, longest=LONGEST_SUMMARY))
        values: dict[SessionPart, object] = {
            SessionPart.TITLE: made.title,
            SessionPart.SUMMARY: made.summary,
            SessionPart.KEYWORDS: list(made.keywords),
            SessionPart.GOALS: list(made.goals),
            SessionPart.RELEVANCE: made.relevance,
            SessionPart.ROLEPLAY: made.is_roleplay,
        }
        return {part: value for part, value in values.items() if part in parts}

    async def by_model(self, session_id: UUID, part: SessionPart) -> object:
        """What the model makes of one part, to be put in its place; facts are learnt at once. Raises ModelError."""
        session, lines = await self._chats.session(session_id), await self.lines(session_id)
        if part is not SessionPart.FACTS:
            return await self._written(session, lines, part)
        if self._preferences.current.fact_retrieval:
            await self._extract(session, lines, is_by_model=True)
            await self._learn(session, lines)
        return None

    async def sort_facts(self, session_id: UUID) -> None:
        """Learn the facts of a conversation as plain or in-story ones, after its roleplay mark changed."""
        record = (await self._parts.parts_of(session_id)).get(SessionPart.FACTS)
        if record is not None and self._preferences.current.fact_retrieval:
            session, lines = await self._chats.session(session_id), await self.lines(session_id)
            left = record.made_by is MadeBy.MODEL or record.state is PartState.PENDING
            await self._extract(session, lines, is_by_model=left)

    async def _extract(self, session: ChatSession, lines: Sequence[Utterance], *, is_by_model: bool = False) -> None:
        """Learn what rules find, and withdraw what they found in this conversation before and find no more.

        Where a model takes the facts (`is_by_model`) rules add none. Of a line that a model has read already, they take nothing
        in other words.
        """
        story = await self._story(session, lines)
        ends: dict[UUID, tuple[str, ...]] = {}
        produced: list[ExtractedFact] = []
        for statement in await asyncio.to_thread(extract, lines):
            fact = _fact(session, statement, in_story=statement.in_story or statement.messages[-1] in story)
            ends[fact.guid] = statement.ends
            produced.append(fact)
        produced = self._wanted(lines, produced)
        ids = [line.id for line in lines]
        moved = await self._knowing.withdraw(
            session.persona_id, lambda known: withdraw(known, session.guid, ids, produced, story)
        )
        read = {
            message
            for fact in await self._knowing.all(session.persona_id)
            if fact.made_by is MadeBy.MODEL and session.guid in fact.source_memories
            for message in fact.source_messages
        }
        new = [] if is_by_model else [fact for fact in produced if read.isdisjoint(fact.source_messages)]
        await self._knowing.learn(session.persona_id, [*moved, *new], ends=ends)

    def _wanted(self, lines: Sequence[Utterance], facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
        """Those the user said or confirmed: what a persona tells of itself a model made up, unless the user wants that too.

        What was said in character is left out where the user does not want it kept.
        """
        settings = self._preferences.current
        by_user = {line.id for line in lines if line.role is Role.USER}
        return [
            fact
            for fact in facts
            if (settings.persona_facts or not by_user.isdisjoint(fact.source_messages[-1:]))
            and (settings.facts_during_roleplay or not fact.in_story)
        ]

    async def _story(self, session: ChatSession, lines: Sequence[Utterance]) -> set[UUID]:
        """Messages in which nothing is said plainly; all of them where the user marked the conversation as roleplay."""
        record = (await self._parts.parts_of(session.guid)).get(SessionPart.ROLEPLAY)
        if session.is_roleplay and record is not None and record.made_by is MadeBy.USER:
            return {line.id for line in lines}
        meant = await asyncio.to_thread(read_parts, lines)
        return {line.id for line, parts in zip(lines, meant, strict=True) if parts.in_character and not parts.plain}

    async def _written(self, session: ChatSession, lines: Sequence[Utterance], part: SessionPart) -> object:
        """Other parts may read the summary where there is too much to read all of it at once; it comes before them."""
        match part:
            case SessionPart.TITLE:
                return await self._minutes.title(lines, session.content)
            case SessionPart.SUMMARY:
                return await self._minutes.summary(lines)
            case SessionPart.KEYWORDS:
                return await self._minutes.keywords(lines, session.content)
            case SessionPart.GOALS:
                return await self._minutes.goals(lines, session.content)
            case SessionPart.RELEVANCE:
                return await self._minutes.relevance(session.content)
            case SessionPart.ROLEPLAY:
                return await self._minutes.is_roleplay(lines)
            case SessionPart.FACTS:
                raise AssertionError("facts are learnt one by one")

    async def _learn(self, session: ChatSession, lines: Sequence[Utterance]) -> None:
        """What the model notes about the user, on wish about the persona too, new or changed since."""
        told = [said for said in lines if said.role is Role.USER or self._preferences.current.persona_facts]
        about = {said.name for said in told if said.name}
        if not about:
            return
        held = [fact for fact in await self._knowing.all(session.persona_id) if not fact.superseded and not fact.in_story]
        noted = await self._minutes.facts(lines, about, held)
        keys = keys_by_rules(noted, await asyncio.to_thread(extract, lines))
        changed = {(each.changes.fact, each.fact) for each in noted if each.changes is not None}

        async def judge(old: str, new: str) -> FactRelation | None:
            return FactRelation.UPDATE if (old, new) in changed else await self._judge(old, new)

        facts = [_noted(session, each, lines).model_copy(update={"key": key}) for each, key in zip(noted, keys, strict=True)]
        await self._take_in(session, lines, facts, judge)

    async def _take_in(
        self, session: ChatSession, lines: Sequence[Utterance], facts: Sequence[ExtractedFact], judge: Judge | None = None
    ) -> None:
        """Learn facts of a model; those from lines in character as facts of the story."""
        story = await self._story(session, lines)
        found = [
            fact.model_copy(update={"in_story": fact.in_story or story.issuperset(fact.source_messages)}) for fact in facts
        ]
        await self._knowing.learn(session.persona_id, self._wanted(lines, found), judge)

    async def _judge(self, old: str, new: str) -> FactRelation | None:
        try:
            return FactRelation(await self._minutes.compare_facts(old, new))
        except ModelError:
            return None


def keys_by_rules(noted: Sequence[SupportedFact], statements: Sequence[Statement]) -> list[str]:
    """Return the attribute that each fact of a model states: that of the known fact it changes, or of what rules read there."""
    return [each.changes.key if each.changes and each.changes.key else _key(each, statements) for each in noted]


def _key(noted: SupportedFact, statements: Sequence[Statement]) -> str:
    words = content_words(noted.fact)
    same = [each for each in statements if each.key and noted.source.id in each.messages]
    return next((each.key for each in same if 2 * len(words & content_words(each.text)) > len(words)), "")


def _fact(session: ChatSession, statement: Statement, *, in_story: bool) -> ExtractedFact:
    return ExtractedFact(
        fact=statement.text,
        first_seen=statement.time,
        last_seen=statement.time,
        source_memories=[session.guid],
        source_messages=list(statement.messages),
        kind=statement.kind,
        key=statement.key,
        subject=statement.subject,
        in_story=in_story,
    )


def _noted(session: ChatSession, noted: SupportedFact, lines: Sequence[Utterance]) -> ExtractedFact:
    """The fact of a model with its message; what the persona said of the user also has the reply that took it up, last."""
    place = next(place for place, line in enumerate(lines) if line.id == noted.source.id)
    replies = (line for line in lines[place + 1 :] if line.role is Role.USER)
    is_own = noted.source.role is Role.USER or noted.source.name in noted.fact
    taken_up = None if is_own else next(replies, None)
    sources = [noted.source, *filter(None, [taken_up])]
    return ExtractedFact(
        fact=noted.fact,
        first_seen=noted.source.time,
        last_seen=noted.source.time,
        source_memories=[session.guid],
        source_messages=[line.id for line in sources],
        made_by=MadeBy.MODEL,
        kind=noted.kind,
        subject=sources[-1].name,
        in_story=noted.in_story,
    )


def is_worth_archiving(lines: Sequence[Utterance]) -> bool:
    """More than a greeting and a word: shorter ones are neither summed up nor deleted."""
    return len(lines) > 2 and any(said.role is Role.USER for said in lines)
