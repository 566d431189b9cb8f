"""Conclusions of a finished session: the facts known from it, and those a qualified model extracts from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lethe_app.brain.fact_guard.claims import Claim
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.notebooks import ConclusionAnswer, ConclusionsAnswer
from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.brain.reading.corrections import is_confirmed
from lethe_app.brain.reading.dialogue_acts import read_parts
from lethe_app.brain.reading.pieces import MessageParts
from lethe_app.brain.text.fingerprint import fingerprint_digest
from lethe_app.brain.text.utterance import Utterance
from lethe_app.dates.arithmetic import elapsed
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from lethe_app.errors import NO_MODEL_ERRORS, ModelError
from lethe_app.services.extraction.llm_facts import LlmFactExtraction, resolve_fact_dates
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.memory.facts import FactService
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.storage.memory.facts import FactStore

MAX_SESSION_AGE_FOR_MODEL = timedelta(days=7)
"""Maximum age of a session for which a model is asked; for older ones the stored facts are enough. This matters when many
old sessions are processed at once.
"""
LINES_PER_PORTION = 30
FactsCallback = Callable[[Sequence[ExtractedFact]], Awaitable[None]]
"""Callback that receives facts before they are stored, so that they can be undone whatever happens in between."""


@dataclass(frozen=True)
class FinishedConversation:
    """Session that has ended."""

    session: ChatSession
    participants: Participants
    lines: Sequence[Utterance]


@dataclass(frozen=True)
class SessionConclusions:
    """Conclusions of a session."""

    conclusions: Sequence[Conclusion] = ()
    subject: str = ""
    """Common subject of the conclusions, if a model named one."""
    learnt: Sequence[ExtractedFact] = ()
    """New facts, which a model found."""


class ConclusionService:
    """Collect the conclusions of sessions. A model is asked only if it is qualified for facts, and its answers must be
    supported by the messages.
    """

    def __init__(
        self,
        facts: FactService,
        fact_store: FactStore,
        structured_output: StructuredOutput,
        qualification: Qualification,
        preferences: Preferences,
    ) -> None:
        self._facts, self._fact_store = facts, fact_store
        self._structured_output, self._qualification, self._preferences = structured_output, qualification, preferences
        self._extraction = LlmFactExtraction(structured_output)

    def would_ask_model(self, ended: datetime) -> bool:
        """Return whether a model would be asked about a session that ended at that moment."""
        may_write = self._qualification.may_write_facts and self._preferences.current.fact_retrieval
        return may_write and elapsed(ended, now()) <= MAX_SESSION_AGE_FOR_MODEL

    async def collect_conclusions(
        self, conversation: FinishedConversation, before_store: FactsCallback | None = None
    ) -> SessionConclusions:
        """Return the conclusions of a session. `before_store` receives new facts before they are stored. Raise one of
        `NO_MODEL_ERRORS` if a model would be asked but is not available.
        """
        persona_id, subject = conversation.session.persona_id, ""
        facts = list[ExtractedFact]()
        if self.would_ask_model(conversation.lines[-1].time) and not conversation.session.is_roleplay:
            try:
                facts, subject = await self._ask_model(conversation)
                if before_store is not None:
                    await before_store(facts)
                await self._facts.learn(persona_id, facts)
            except NO_MODEL_ERRORS:
                raise
            except ModelError:
                pass  # the known facts are enough
        new_guids, known = {fact.guid for fact in facts}, await self._facts.facts_of(persona_id)
        learnt = [fact for fact in known if fact.guid in new_guids]
        if not facts:
            current_facts = [fact for fact in known if not fact.superseded and not fact.in_story]
            facts = [fact for fact in current_facts if conversation.session.guid in fact.source_memories]
            facts.sort(key=lambda fact: fact.first_seen)
        forgotten = {tombstone.digest for tombstone in await self._fact_store.tombstones_of(persona_id)}
        conclusions = [Conclusion(fact.fact, fact.first_seen.astimezone().date()) for fact in facts]
        return SessionConclusions(
            [fact for fact in conclusions if fingerprint_digest(fact.text) not in forgotten], subject, learnt
        )

    async def _ask_model(self, conversation: FinishedConversation) -> tuple[list[ExtractedFact], str]:
        names = {"name": conversation.participants.persona.name, "user": conversation.participants.user.name}
        parts_by_line = dict(zip((line.id for line in conversation.lines), read_parts(conversation.lines), strict=True))
        found: list[ExtractedFact] = []
        subject = ""
        for portion in await self._structured_output.split_to_fit(
            "conclusions", ConclusionsAnswer, conversation.lines, LINES_PER_PORTION, 0, 0, **names
        ):
            text = format_lines(portion, numbered=True, dated=True)
            answer = await self._structured_output.ask("conclusions", ConclusionsAnswer, conversation=text, **names)
            subject = subject or answer.subject
            portion_parts = [parts_by_line[line.id] for line in portion]
            found += [
                fact
                for conclusion in answer.conclusions
                if (fact := await self._verify_conclusion(conversation.session, conclusion, portion, portion_parts))
            ]
        return found, subject

    async def _verify_conclusion(
        self, session: ChatSession, answer: ConclusionAnswer, lines: Sequence[Utterance], parts: Sequence[MessageParts]
    ) -> ExtractedFact | None:
        """Return a conclusion as a fact if the messages support it and the user stated or confirmed it."""
        quotation = await self._extraction.supports(Claim(answer.line - 1, answer.quote, answer.conclusion), lines, parts)
        if quotation is None or not is_confirmed(quotation.message_index, lines):
            return None
        source = lines[quotation.message_index]
        return ExtractedFact(
            fact=resolve_fact_dates(answer.conclusion, source.time.date(), FactKind.EVENT),
            first_seen=source.time,
            last_seen=source.time,
            source_memories=[session.guid],
            source_messages=[source.id],
            made_by=MadeBy.MODEL,
        )
