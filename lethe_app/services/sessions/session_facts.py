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

    async def relearn_by_roleplay(self, session: ChatSession, lines: Sequence[Utterance]) -> None:
        """Learn the facts of a session again, as plain or in-story ones, after its roleplay mark changed."""
        record = (await self._archive_jobs.parts_of(session.guid)).get(SessionPart.FACTS)
        if record is not None and self._preferences.current.fact_retrieval:
            is_by_model = record.made_by is MadeBy.MODEL or record.state is PartState.PENDING
            await self._extract(session, lines, is_by_model=is_by_model)

    async def _extract(self, session: ChatSession, lines: Sequence[Utterance], *, is_by_model: bool = False) -> None:
        """Learn the facts that rules find in the session, and withdraw those they found before and no longer find.

        If a model extracts the facts (`is_by_model`), rules add none. From a message whose facts a model has extracted
        already, rules take none, because they would be worded differently.
        """
        story = await self._find_story_messages(session, lines)
        ends: dict[UUID, tuple[str, ...]] = {}
        extracted: list[ExtractedFact] = []
        for statement in await asyncio.to_thread(extract_statements, lines):
            fact = _build_rule_fact(session, statement, in_story=statement.in_story or statement.message_ids[-1] in story)
            ends[fact.guid] = statement.ended_statements
            extracted.append(fact)
        extracted = self._filter_by_settings(lines, extracted)
        ids = [line.id for line in lines]
        # Facts by a model that changed between plain and in-story are removed here and learnt again below.
        moved = await self._facts.withdraw(
            session.persona_id, lambda known: withdraw_facts(known, session.guid, ids, extracted, story)
        )
        processed_messages = {
            message
            for fact in await self._facts.facts_of(session.persona_id)
            if fact.made_by is MadeBy.MODEL and session.guid in fact.source_memories
            for message in fact.source_messages
        }
        new_facts = [] if is_by_model else [fact for fact in extracted if processed_messages.isdisjoint(fact.source_messages)]
        await self._facts.learn(session.persona_id, [*moved, *new_facts], ends=ends)

    def _filter_by_settings(self, lines: Sequence[Utterance], facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
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

    async def _find_story_messages(self, session: ChatSession, lines: Sequence[Utterance]) -> set[UUID]:
        """Return the messages that are entirely in character; all of them if the user marked the session as roleplay."""
        record = (await self._archive_jobs.parts_of(session.guid)).get(SessionPart.ROLEPLAY)
        if session.is_roleplay and record is not None and record.made_by is MadeBy.USER:
            return {line.id for line in lines}
        message_parts = await asyncio.to_thread(read_parts, lines)
        return {line.id for line, parts in zip(lines, message_parts, strict=True) if parts.in_character and not parts.plain}

    async def _learn(self, session: ChatSession, lines: Sequence[Utterance]) -> None:
        """Learn new and changed facts that the model extracts about the user, and by setting also about the persona."""
        fact_lines = [line for line in lines if line.role is Role.USER or self._preferences.current.persona_facts]
        about = {line.name for line in fact_lines if line.name}
        if not about:
            return
        current_facts = [
            fact for fact in await self._facts.facts_of(session.persona_id) if not fact.superseded and not fact.in_story
        ]
        supported_facts = await self._extraction.facts(lines, about, current_facts)
        keys = keys_by_rules(supported_facts, await asyncio.to_thread(extract_statements, lines))
        changed = {(each.changes.fact, each.fact) for each in supported_facts if each.changes is not None}

        async def judge(old: str, new: str) -> FactRelation | None:
            return FactRelation.UPDATE if (old, new) in changed else await self._judge(old, new)

        facts = [
            _build_model_fact(session, each, lines).model_copy(update={"key": key})
            for each, key in zip(supported_facts, keys, strict=True)
        ]
        await self._learn_facts(session, lines, facts, judge)

    async def _learn_facts(
        self, session: ChatSession, lines: Sequence[Utterance], facts: Sequence[ExtractedFact], judge: Judge | None = None
    ) -> None:
        """Learn facts by a model; those from messages in character become in-story facts."""
        story = await self._find_story_messages(session, lines)
        marked_facts = [
            fact.model_copy(update={"in_story": fact.in_story or story.issuperset(fact.source_messages)}) for fact in facts
        ]
        await self._facts.learn(session.persona_id, self._filter_by_settings(lines, marked_facts), judge)

    async def _judge(self, old: str, new: str) -> FactRelation | None:
        try:
            return FactRelation(await self._extraction.compare_facts(old, new))
        except ModelError:
            return None


def keys_by_rules(supported_facts: Sequence[SupportedFact], statements: Sequence[SpeakerStatement]) -> list[str]:
    """Return the attribute of each fact by a model: that of the known fact it changes, or of the statement that rules find
    there.
    """
    return [fact.changes.key if fact.changes and fact.changes.key else _key(fact, statements) for fact in supported_facts]


def _key(fact: SupportedFact, statements: Sequence[SpeakerStatement]) -> str:
    words = content_words(fact.fact)
    same_message = [statement for statement in statements if statement.key and fact.source.id in statement.message_ids]
    return next(
        (statement.key for statement in same_message if 2 * len(words & content_words(statement.text)) > len(words)), ""
    )


def _build_rule_fact(session: ChatSession, statement: SpeakerStatement, *, in_story: bool) -> ExtractedFact:
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


def _build_model_fact(session: ChatSession, supported_fact: SupportedFact, lines: Sequence[Utterance]) -> ExtractedFact:
    """Return the fact by a model with its source message; a persona's statement about the user also gets the user's next
    message, last, which confirms it.
    """
    index = next(index for index, line in enumerate(lines) if line.id == supported_fact.source.id)
    replies = (line for line in lines[index + 1 :] if line.role is Role.USER)
    is_own = supported_fact.source.role is Role.USER or supported_fact.source.name in supported_fact.fact
    confirmation = None if is_own else next(replies, None)
    sources = [supported_fact.source, *filter(None, [confirmation])]
    return ExtractedFact(
        fact=supported_fact.fact,
        first_seen=supported_fact.source.time,
        last_seen=supported_fact.source.time,
        source_memories=[session.guid],
        source_messages=[line.id for line in sources],
        made_by=MadeBy.MODEL,
        kind=supported_fact.kind,
        subject=sources[-1].name,
        in_story=supported_fact.in_story,
    )
