"""Conclusions of a finished session: the facts known from it, and those a qualified model extracts from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lethe_app.brain.dates.arithmetic import elapsed
from lethe_app.brain.dialogue.confirmation import is_confirmed
from lethe_app.brain.dialogue.dialogue_acts import read_parts
from lethe_app.brain.dialogue.dialogue_pieces import MessageParts
from lethe_app.brain.fact_guard.claims import Claim
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.notebooks import ConclusionAnswer, ConclusionsAnswer
from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.brain.text.fingerprint import fingerprint_digest
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from lethe_app.errors import EngineUnreachable, ModelError, ModelMissing
from lethe_app.services.extraction.llm_facts import LlmFactExtraction, with_dates
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.memory.facts import FactService
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.storage.memory.facts import FactStore

STILL_ASKED = timedelta(days=7)
"""Maximum age of a session for which a model is asked; for older ones the stored facts are enough. This matters when many
old sessions are processed at once.
"""
LINES_AT_ONCE = 30
NOT_NOW = (ModelMissing, EngineUnreachable)
Foretold = Callable[[Sequence[ExtractedFact]], Awaitable[None]]
"""Callback that receives facts before they are stored, so that they can be undone whatever happens in between."""


async def _nobody(_facts: Sequence[ExtractedFact]) -> None:
    return


@dataclass(frozen=True)
class FinishedConversation:
    """Session that has ended."""

    session: ChatSession
    cast: Participants
    lines: Sequence[Utterance]


@dataclass(frozen=True)
class SessionConclusions:
    """Conclusions of a session."""

    conclusions: Sequence[Conclusion] = ()
    subject: str = ""
    """Common subject of the conclusions, if a model named one."""
    foretold: Sequence[ExtractedFact] = ()
    """Facts that were about to be stored."""
    learnt: Sequence[ExtractedFact] = ()
    """Those of them that were new."""


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
        self._facts, self._fact_store, self._structured_output, self._qualification, self._preferences = (
            facts,
            fact_store,
            structured_output,
            qualification,
            preferences,
        )
        self._extraction = LlmFactExtraction(structured_output)

    def asks(self, ended: datetime) -> bool:
        """Return whether a model would be asked about a session that ended at that moment."""
        verdict = self._qualification.verdict
        may_write = verdict is not None and verdict.may_write_facts and self._preferences.current.fact_retrieval
        return may_write and elapsed(ended, now()) <= STILL_ASKED

    async def came_to(self, reading: FinishedConversation, tell: Foretold = _nobody) -> SessionConclusions:
        """Return the conclusions of a session. `tell` receives new facts before they are stored. Raise ModelMissing or
        EngineUnreachable if a model would be asked but is not available.
        """
        persona_id, subject = reading.session.persona_id, ""
        facts, foretold, learnt = list[ExtractedFact](), list[ExtractedFact](), list[ExtractedFact]()
        if self.asks(reading.lines[-1].time) and not reading.session.is_roleplay:
            try:
                facts, subject = await self._asked(reading)
                foretold = facts
                await tell(foretold)
                learnt = await self._learn(persona_id, facts)
            except NOT_NOW:
                raise
            except ModelError:
                pass  # it could not say; what is known already is enough
        if not facts:
            known = await self._facts.facts_of(persona_id)
            held = [one for one in known if not one.superseded and not one.in_story]
            facts = [one for one in held if reading.session.guid in one.source_memories]
            facts.sort(key=lambda one: one.first_seen)
        forgotten = {stone.digest for stone in await self._fact_store.tombstones_of(persona_id)}
        found = [Conclusion(one.fact, one.first_seen.astimezone().date()) for one in facts]
        return SessionConclusions(
            [one for one in found if fingerprint_digest(one.text) not in forgotten], subject, foretold, learnt
        )

    async def _learn(self, persona_id: str, facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
        """Store facts and return those that were not known before in any wording."""
        before = {one.guid for one in await self._facts.facts_of(persona_id)}
        await self._facts.learn(persona_id, facts)
        return [one for one in await self._facts.facts_of(persona_id) if one.guid not in before]

    async def _asked(self, reading: FinishedConversation) -> tuple[list[ExtractedFact], str]:
        names = {"name": reading.cast.persona.name, "user": reading.cast.user.name}
        meant = dict(zip((said.id for said in reading.lines), read_parts(reading.lines), strict=True))
        found: list[ExtractedFact] = []
        subject = ""
        for part in await self._structured_output.split_to_fit(
            "conclusions", ConclusionsAnswer, reading.lines, LINES_AT_ONCE, 0, 0, **names
        ):
            text = format_lines(part, numbered=True, dated=True)
            answer = await self._structured_output.ask("conclusions", ConclusionsAnswer, conversation=text, **names)
            subject = subject or answer.subject
            said = [meant[line.id] for line in part]
            found += [fact for one in answer.conclusions if (fact := await self._checked(reading.session, one, part, said))]
        return found, subject

    async def _checked(
        self, session: ChatSession, one: ConclusionAnswer, lines: Sequence[Utterance], parts: Sequence[MessageParts]
    ) -> ExtractedFact | None:
        """Return a conclusion as a fact if the messages support it and the user stated or confirmed it."""
        quotation = await self._extraction.supports(Claim(one.line - 1, one.quote, one.conclusion), lines, parts)
        if quotation is None or not is_confirmed(quotation.message_index, lines):
            return None
        source = lines[quotation.message_index]
        return _fact(session, with_dates(one.conclusion, source.time.date(), FactKind.EVENT), source)


def _fact(session: ChatSession, text: str, said: Utterance) -> ExtractedFact:
    return ExtractedFact(
        fact=text,
        first_seen=said.time,
        last_seen=said.time,
        source_memories=[session.guid],
        source_messages=[said.id],
        made_by=MadeBy.MODEL,
    )
