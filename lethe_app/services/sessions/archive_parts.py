"""Archive of a session, part by part: by rules, or by a model that is qualified for the part."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID

from lethe_app.brain.facts.updates import withdraw_facts
from lethe_app.brain.reading.dialogue_acts import drop_withdrawn, read_parts
from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.statements import SpeakerStatement
from lethe_app.brain.summary.digest import build_digest
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.domain.chat import ChatSession, PartState, Role, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import ModelError
from lethe_app.retrieval.fact_relation import FactRelation
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import LlmFactExtraction, SupportedFact
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.memory.facts import FactService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.sessions import SessionStore


class SessionFacts:
    """Learn the facts of sessions. Nothing is learnt while the user has switched learning off."""

    def __init__(
        self, archive_jobs: ArchiveJobs, facts: FactService, extraction: LlmFactExtraction, preferences: Preferences
    ) -> None:
        self._archive_jobs, self._facts, self._extraction, self._preferences = archive_jobs, facts, extraction, preferences

    async def learn(self, session: ChatSession, lines: Sequence[Utterance], *, is_by_model: bool = False) -> None:
        """Learn the facts that rules find in the session, or the model does. Raise ModelError."""
        if self._preferences.current.fact_retrieval:
            await self._extract(session, lines, is_by_model=is_by_model)
            if is_by_model:
                await self._learn_by_model(session, lines)

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

    async def _learn_by_model(self, session: ChatSession, lines: Sequence[Utterance]) -> None:
        """Learn new and changed facts that the model extracts about the user, and by setting also about the persona."""
        fact_lines = [line for line in lines if line.role is Role.USER or self._preferences.current.persona_facts]
        about = {line.name for line in fact_lines if line.name}
        if not about:
            return
        current_facts = [
            fact for fact in await self._facts.facts_of(session.persona_id) if not fact.superseded and not fact.in_story
        ]
        supported_facts = await self._extraction.facts(lines, about, current_facts)
        statements = await asyncio.to_thread(extract_statements, lines)
        story = await self._find_story_messages(session, lines)
        facts = [_build_model_fact(session, each, lines, statements, story) for each in supported_facts]
        changed = {(each.changes.fact, each.fact) for each in supported_facts if each.changes is not None}

        async def judge(old: str, new: str) -> FactRelation | None:
            if (old, new) in changed:
                return FactRelation.UPDATE
            try:
                return FactRelation(await self._extraction.compare_facts(old, new))
            except ModelError:
                return None

        await self._facts.learn(session.persona_id, self._filter_by_settings(lines, facts), judge)


def _find_key(fact: SupportedFact, statements: Sequence[SpeakerStatement]) -> str:
    """Return the attribute of a fact by a model: that of the fact it changes, or of the statement that rules find there."""
    if fact.changes is not None and fact.changes.key:
        return fact.changes.key
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


def _build_model_fact(
    session: ChatSession,
    supported_fact: SupportedFact,
    lines: Sequence[Utterance],
    statements: Sequence[SpeakerStatement],
    story: set[UUID],
) -> ExtractedFact:
    """Return the fact by a model with its source message; a persona's statement about the user also gets the user's next
    message, last, which confirms it. One from messages of `story` becomes an in-story fact.
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
        key=_find_key(supported_fact, statements),
        subject=sources[-1].name,
        in_story=supported_fact.in_story or story.issuperset(line.id for line in sources),
    )


MAX_SUMMARY_CHARACTERS = 2000
"""Maximum length of a summary by rules, in characters."""

MIN_WORDS = 3
"""Words of a message of the user that make a session with less than three messages worth archiving: “I hate peanuts.” is worth
remembering even if its reply was stopped, “Hello.” is not.
"""


PART_FIELDS = {
    SessionPart.SUMMARY: ("content", "summary"),
    SessionPart.TITLE: ("name", "title"),
    SessionPart.KEYWORDS: ("keywords_main", "keywords"),
    SessionPart.GOALS: ("future_goals", "goals"),
    SessionPart.RELEVANCE: ("relevance", "relevance"),
    SessionPart.ROLEPLAY: ("is_roleplay", "is_roleplay"),
}
"""Field of the session in which a part is stored, and field of the digest that rules make of the messages. Facts, which have a
table of their own, are learnt by `SessionFacts`.
"""
ORDER = (*PART_FIELDS, SessionPart.FACTS)
"""Order in which parts are made; those after the summary may read it instead of a session too long for the context."""


class SessionArchiver:
    """Make the parts of archived sessions. `ArchiveQueue` decides the order and handles failures."""

    def __init__(
        self,
        session_store: SessionStore,
        facts: FactService,
        session_facts: SessionFacts,
        extraction: ConversationExtraction,
        qualification: Qualification,
        cache_state: CacheState,
    ) -> None:
        """The revision of `cache_state` changes when anything is deleted or edited."""
        self._session_store, self._session_facts = session_store, session_facts
        self._extraction, self._qualification = extraction, qualification
        self._cache_state = cache_state
        self._lines: dict[tuple[UUID, int], list[Utterance]] = {}
        """Utterances of the session that was read last, of which several parts are made one after the other, by session and
        revision.
        """
        self.renew = facts.renew
        """Have the persona's facts indexed and prompts made again, because a session was deleted, restored or summarised
        differently.
        """

    def may_write(self, part: SessionPart) -> bool:
        """Return whether the loaded model is qualified for the part."""
        qualification = self._qualification
        return qualification.may_write_facts if part is SessionPart.FACTS else qualification.may_write_summaries

    @property
    def model(self) -> str:
        """Name of the qualified model; empty if there is none."""
        return self._qualification.verdict.model if self._qualification.verdict is not None else ""

    async def load_utterances(self, session_id: UUID) -> list[Utterance]:
        """Return all utterances of the session, without hidden messages and without what the user wants forgotten. They are
        read again after a deletion or an edit.
        """
        key = (session_id, self._cache_state.revision)
        lines = self._lines.get(key)
        if lines is None:
            count = len(await self._session_store.outline(session_id))
            lines = to_utterances(await self._session_store.page(session_id, 0, count))
            lines = await asyncio.to_thread(drop_withdrawn, lines)
            self._lines = {key: lines}
        return lines

    def forget_lines(self) -> None:
        """Read the next session anew, because messages may have been added, or no more parts are made."""
        self._lines = {}

    async def make_by_rules(self, session_id: UUID, parts: Collection[SessionPart]) -> dict[SessionPart, dict[str, object]]:
        """Return the session fields of these parts as computed by rules from the messages. Facts are learnt at once."""
        session, lines = await self._session_store.session(session_id), await self.load_utterances(session_id)
        if SessionPart.FACTS in parts:
            await self._session_facts.learn(session, lines)
        if PART_FIELDS.keys().isdisjoint(parts):
            return {}
        digest = await asyncio.to_thread(build_digest, lines, max_length=MAX_SUMMARY_CHARACTERS)
        return {part: {field: getattr(digest, name)} for part, (field, name) in PART_FIELDS.items() if part in parts}

    async def make_by_model(self, session_id: UUID, part: SessionPart) -> dict[str, object]:
        """Return the session field of one part by the model; none for facts, which are learnt at once. Raise ModelError."""
        session, lines = await self._session_store.session(session_id), await self.load_utterances(session_id)
        if part is SessionPart.FACTS:
            await self._session_facts.learn(session, lines, is_by_model=True)
            return {}
        return {PART_FIELDS[part][0]: await self._extraction.make_part(part, lines, session.content)}

    async def relearn_facts(self, session_id: UUID) -> None:
        """Learn the facts of a session again, as plain or in-story ones, after its roleplay mark changed."""
        session, lines = await self._session_store.session(session_id), await self.load_utterances(session_id)
        await self._session_facts.relearn_by_roleplay(session, lines)


def is_worth_archiving(lines: Sequence[Utterance]) -> bool:
    """Return whether a session has more than two messages, one of them by the user, or a whole sentence of the user. Shorter
    ones are neither summarised nor deleted.
    """
    said = [utterance.text for utterance in lines if utterance.role is Role.USER]
    return (len(lines) > 2 and bool(said)) or any(len(text.split()) >= MIN_WORDS for text in said)
