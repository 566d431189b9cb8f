"""Facts of one ended session, learnt by rules or by a model that is qualified for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from lethe_app.brain.dialogue.dialogue_acts import read_parts
from lethe_app.brain.fact_rules.extractor import extract_statements
from lethe_app.brain.fact_rules.statements import SpeakerStatement
from lethe_app.brain.facts.updates import withdraw_facts
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import ChatSession, PartState, Role, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import ModelError
from lethe_app.retrieval.fact_relation import FactRelation
from lethe_app.services.extraction.llm_facts import LlmFactExtraction, SupportedFact
from lethe_app.services.memory.facts import FactService, Judge
from lethe_app.services.preferences import Preferences
from lethe_app.storage.chats.archive_jobs import ArchiveJobs


class SessionFacts:
    """Learn the facts of sessions. Nothing is learnt while the user has switched learning off."""

    def __init__(
        self, archive_jobs: ArchiveJobs, facts: FactService, extraction: LlmFactExtraction, preferences: Preferences
    ) -> None:
        self._archive_jobs, self._facts, self._extraction, self._preferences = archive_jobs, facts, extraction, preferences

    async def learn_by_rules(self, session: ChatSession, lines: Sequence[Utterance]) -> None:
        """Learn the facts that rules find in the session."""
        if self._preferences.current.fact_retrieval:
            await self._extract(session, lines)

    async def learn_by_model(self, session: ChatSession, lines: Sequence[Utterance]) -> None:
        """Learn the facts that the model finds in the session. Raise ModelError."""
        if self._preferences.current.fact_retrieval:
            await self._extract(session, lines, is_by_model=True)
            await self._learn(session, lines)

    async def sort_by_roleplay(self, session: ChatSession, lines: Sequence[Utterance]) -> None:
        """Learn the facts of a session again, as plain or in-story ones, after its roleplay mark changed."""
        record = (await self._archive_jobs.parts_of(session.guid)).get(SessionPart.FACTS)
        if record is not None and self._preferences.current.fact_retrieval:
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
        moved = await self._facts.withdraw(
            session.persona_id, lambda known: withdraw_facts(known, session.guid, ids, produced, story)
        )
        read = {
            message
            for fact in await self._facts.facts_of(session.persona_id)
            if fact.made_by is MadeBy.MODEL and session.guid in fact.source_memories
            for message in fact.source_messages
        }
        new = [] if is_by_model else [fact for fact in produced if read.isdisjoint(fact.source_messages)]
        await self._facts.learn(session.persona_id, [*moved, *new], ends=ends)

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
        record = (await self._archive_jobs.parts_of(session.guid)).get(SessionPart.ROLEPLAY)
        if session.is_roleplay and record is not None and record.made_by is MadeBy.USER:
            return {line.id for line in lines}
        meant = await asyncio.to_thread(read_parts, lines)
        return {line.id for line, parts in zip(lines, meant, strict=True) if parts.in_character and not parts.plain}

    async def _learn(self, session: ChatSession, lines: Sequence[Utterance]) -> None:
        """Learn new and changed facts that the model extracts about the user, and by setting also about the persona."""
        told = [said for said in lines if said.role is Role.USER or self._preferences.current.persona_facts]
        about = {said.name for said in told if said.name}
        if not about:
            return
        held = [fact for fact in await self._facts.facts_of(session.persona_id) if not fact.superseded and not fact.in_story]
        noted = await self._extraction.facts(lines, about, held)
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
        await self._facts.learn(session.persona_id, self._wanted(lines, found), judge)

    async def _judge(self, old: str, new: str) -> FactRelation | None:
        try:
            return FactRelation(await self._extraction.compare_facts(old, new))
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
