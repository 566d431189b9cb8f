"""Extracts the facts of conversations again when the user asks for it, and tells why a persona knows none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from lethe_app.domain.chat import SessionPart
from lethe_app.errors import LetheError, StorageError
from lethe_app.services.memory.facts import FactService
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.archive_queue import Archiving
from lethe_app.services.sessions.editing import SessionEditing


class NoFacts(StrEnum):
    """Why a persona knows no facts."""

    LEARNING_OFF = "learning_off"
    NOTHING_ARCHIVED = "nothing_archived"
    NOTHING_LASTING = "nothing_lasting"


@dataclass(frozen=True)
class FactAbsence:
    """Why a persona knows no facts, with the numbers that explain it."""

    reason: NoFacts
    minutes: int
    """Silence after which a conversation ends; 0 means it ends with a new one only."""
    archived: int
    """Conversations that have ended, and that facts were looked for in."""
    conversations: int
    """All there are."""


class FactExtraction:
    """Goes through conversations one by one; what a model has made of one is left to a model."""

    def __init__(self, chronicle: SessionEditing, archiving: Archiving, knowing: FactService, preferences: Preferences) -> None:
        self._chronicle, self._archiving = chronicle, archiving
        self._knowing, self._preferences = knowing, preferences

    async def extract_session(self, persona_id: str, session: UUID) -> int:
        """Extract the facts of one conversation again; returns how many facts that hold come from it.

        Raises LetheError for one too short to tell of, and where facts are not learnt at all.
        """
        self._require_learning()
        if not await self._archiving.update(session, [SessionPart.FACTS]):
            raise LetheError("This conversation is too short to take facts from.")
        known = await self._knowing.all(persona_id)
        return sum(session in fact.source_memories and not fact.superseded for fact in known)

    async def extract_all(self, persona_id: str, report: Callable[[int, int], bool]) -> bool:
        """Extract the facts of all conversations of a persona again, oldest first.

        `report` is told how many are done of how many before each, and once at the end; where it returns False nothing further
        is extracted. Returns whether all were. Raises LetheError where facts are not learnt at all.
        """
        self._require_learning()
        lines = sorted(await self._chronicle.lines(persona_id), key=lambda line: line.began)
        for place, line in enumerate(lines):
            if not report(place, len(lines)):
                return False
            try:
                await self._archiving.update(UUID(line.guid), [SessionPart.FACTS])
            except StorageError:
                continue  # deleted meanwhile
        report(len(lines), len(lines))
        return True

    async def explain_absence(self, persona_id: str) -> FactAbsence:
        """Return why a persona knows no facts."""
        settings = self._preferences.current
        lines = await self._chronicle.lines(persona_id)
        archived = sum(line.archived for line in lines)
        reason = NoFacts.NOTHING_LASTING if archived else NoFacts.NOTHING_ARCHIVED
        if not settings.fact_retrieval:
            reason = NoFacts.LEARNING_OFF
        return FactAbsence(reason, settings.rotation_minutes, archived, len(lines))

    def _require_learning(self) -> None:
        if not self._preferences.current.fact_retrieval:
            raise LetheError("Fact learning is switched off.", "Switch on “Facts” in the settings under Memory.")
