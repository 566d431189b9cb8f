"""Archiving of one part of a session at a time: by rules, or by a model that is qualified for it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID

from lethe_app.brain.dialogue.dialogue_acts import read_parts
from lethe_app.brain.fact_rules.extractor import extract_statements
from lethe_app.brain.fact_rules.statements import SpeakerStatement
from lethe_app.brain.facts.merge import FactRelation
from lethe_app.brain.facts.updates import withdraw_facts
from lethe_app.brain.summary import digest
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.domain.chat import ChatSession, PartState, Role, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import ModelError
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import SupportedFact
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.memory.facts import FactService, Judge
from lethe_app.services.preferences import Preferences
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.sessions import SessionStore

FIELDS = {
    SessionPart.TITLE: "name",
    SessionPart.SUMMARY: "content",
    SessionPart.KEYWORDS: "keywords_main",
    SessionPart.GOALS: "future_goals",
    SessionPart.RELEVANCE: "relevance",
    SessionPart.ROLEPLAY: "is_roleplay",
}
"""Field of the session in which each part is stored; facts have a table of their own."""
LONGEST_SUMMARY = 2000
"""Maximum length of a summary by rules, in characters."""


class ArchivePartMaker:
    """Compute the parts of archived sessions. `ArchiveQueue` decides the order and handles failures."""

    def __init__(
        self,
        chats: SessionStore,
        parts: ArchiveJobs,
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
        """Return whether the loaded model is qualified for the part."""
        verdict = self._trust.verdict
        if verdict is None:
            return False
        return verdict.may_write_facts if part is SessionPart.FACTS else verdict.may_write_summaries

    @property
    def model(self) -> str:
        """Name of the qualified model; empty if there is none."""
        return self._trust.verdict.model if self._trust.verdict is not None else ""

    async def lines(self, session_id: UUID) -> list[Utterance]:
        """Return all utterances of the session, without hidden messages."""
        count = len(await self._chats.outline(session_id))
        return to_utterances(await self._chats.page(session_id, 0, count))

    async def renew(self, persona_id: str) -> None:
        """Have the persona's facts indexed and prompts made again, because a session was deleted, restored or summarised
        differently.
        """
        await self._knowing.renew(persona_id)

    async def by_rules(self, session_id: UUID, parts: Collection[SessionPart]) -> dict[SessionPart, object]:
        """Return the values of these parts as computed by rules from the messages. Facts are learnt at once and have no
        value.
        """
        session, lines = await self._chats.session(session_id), await self.lines(session_id)
        if SessionPart.FACTS in parts and self._preferences.current.fact_retrieval:
            await self._extract(session, lines)
        if not FIELDS.keys() & set(parts):
            return {}
        made = await asyncio.to_thread(lambda: digest.build_digest(lines, max_length=LONGEST_SUMMARY))
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
        """Return the value of one part by the model, to be stored; facts are learnt at once and give None. Raise ModelError."""
        session, lines = await self._chats.session(session_id), await self.lines(session_id)
        if part is not SessionPart.FACTS:
            return await self._written(session, lines, part)
        if self._preferences.current.fact_retrieval:
            await self._extract(session, lines, is_by_model=True)
            await self._learn(session, lines)
        return None

    async def sort_facts(self, session_id: UUID) -> None:
        """Learn the facts of a session again, as plain or in-story ones, after its roleplay mark changed."""
        record = (await self._parts.parts_of(session_id)).get(SessionPart.FACTS)
        if record is not None and self._preferences.current.fact_retrieval:
            session, lines = await self._chats.session(session_id), await self.lines(session_id)
            left = record.made_by is MadeBy.MODEL or record.state is PartState.PENDING
            await self._extract(session, lines, is_by_model=left)

    async def _extract(self, session: ChatSession, lines: Sequence[Utterance], *, is_by_model: bool = False) -> None:
        """Learn the facts that rules find in the session, and withdraw those they found before and no longer find.

        If a model extracts the facts (`is_by_model`), rules add none. From a message whose facts a model has extracted
        already, rules take none, because they would be worded differently.
        """
        story = await self._story(session, lines)
        ends: dict[UUID, tuple[str, ...]] = {}
        produced: list[ExtractedFact] = []
        for statement in await asyncio.to_thread(extract_statements, lines):
            fact = _fact(session, statement, in_story=statement.in_story or statement.message_ids[-1] in story)
            ends[fact.guid] = statement.ended_statements
            produced.append(fact)
        produced = self._wanted(lines, produced)
        ids = [line.id for line in lines]
        # Facts by a model that changed between plain and in-story are removed here and learnt again below.
        moved = await self._knowing.withdraw(
            session.persona_id, lambda known: withdraw_facts(known, session.guid, ids, produced, story)
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
        """Return the facts that the user stated or confirmed. Statements by a persona about itself are made up by a model
        and only included if the user wants that.

        In-story facts are left out unless the user wants them.
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
        """Return the messages that are entirely in character; all of them if the user marked the session as roleplay."""
        record = (await self._parts.parts_of(session.guid)).get(SessionPart.ROLEPLAY)
        if session.is_roleplay and record is not None and record.made_by is MadeBy.USER:
            return {line.id for line in lines}
        meant = await asyncio.to_thread(read_parts, lines)
        return {line.id for line, parts in zip(lines, meant, strict=True) if parts.in_character and not parts.plain}

    async def _written(self, session: ChatSession, lines: Sequence[Utterance], part: SessionPart) -> object:
        """Return a part by the model. Other parts read the summary if the session is too long for the context, so it is made
        before them.
        """
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
        """Learn new and changed facts that the model extracts about the user, and by setting also about the persona."""
        told = [said for said in lines if said.role is Role.USER or self._preferences.current.persona_facts]
        about = {said.name for said in told if said.name}
        if not about:
            return
        held = [fact for fact in await self._knowing.all(session.persona_id) if not fact.superseded and not fact.in_story]
        noted = await self._minutes.facts(lines, about, held)
        keys = keys_by_rules(noted, await asyncio.to_thread(extract_statements, lines))
        changed = {(each.changes.fact, each.fact) for each in noted if each.changes is not None}

        async def judge(old: str, new: str) -> FactRelation | None:
            return FactRelation.UPDATE if (old, new) in changed else await self._judge(old, new)

        facts = [_noted(session, each, lines).model_copy(update={"key": key}) for each, key in zip(noted, keys, strict=True)]
        await self._take_in(session, lines, facts, judge)

    async def _take_in(
        self, session: ChatSession, lines: Sequence[Utterance], facts: Sequence[ExtractedFact], judge: Judge | None = None
    ) -> None:
        """Learn facts by a model; those from messages in character become in-story facts."""
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


def keys_by_rules(noted: Sequence[SupportedFact], statements: Sequence[SpeakerStatement]) -> list[str]:
    """Return the attribute of each fact by a model: that of the known fact it changes, or of the statement that rules find
    there.
    """
    return [each.changes.key if each.changes and each.changes.key else _key(each, statements) for each in noted]


def _key(noted: SupportedFact, statements: Sequence[SpeakerStatement]) -> str:
    words = content_words(noted.fact)
    same = [each for each in statements if each.key and noted.source.id in each.message_ids]
    return next((each.key for each in same if 2 * len(words & content_words(each.text)) > len(words)), "")


def _fact(session: ChatSession, statement: SpeakerStatement, *, in_story: bool) -> ExtractedFact:
    return ExtractedFact(
        fact=statement.text,
        first_seen=statement.time,
        last_seen=statement.time,
        source_memories=[session.guid],
        source_messages=list(statement.message_ids),
        kind=statement.kind,
        key=statement.key,
        subject=statement.subject,
        in_story=in_story,
    )


def _noted(session: ChatSession, noted: SupportedFact, lines: Sequence[Utterance]) -> ExtractedFact:
    """Return the fact by a model with its source message; a persona's statement about the user also gets the user's next
    message, last, which confirms it.
    """
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
    """Return whether a session has more than two messages, one of them by the user. Shorter ones are neither summarised nor
    deleted.
    """
    return len(lines) > 2 and any(said.role is Role.USER for said in lines)
