"""Repeated extraction of facts at the user's request, and the reason why a persona has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from lethe_app.domain.chat import SessionPart
from lethe_app.errors import LetheError, StorageError
from lethe_app.services.memory.facts import FactService
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.editing import SessionEditing


class NoFactsReason(StrEnum):
    """Reason why a persona has no facts."""

    LEARNING_OFF = "learning_off"
    NOTHING_ARCHIVED = "nothing_archived"
    NOTHING_LASTING = "nothing_lasting"


@dataclass(frozen=True)
class FactAbsence:
    """Reason why a persona has no facts, with the numbers that explain it."""

    reason: NoFactsReason
    minutes: int
    """Minutes without activity after which a session ends; 0 means only a new session ends it."""
    archived: int
    """Number of ended sessions, from which facts were extracted."""
    conversations: int
    """Number of all sessions."""
    keeps_moments: bool = False
    """True if key moments are kept of every day that is over."""


class FactExtraction:
    """Extract the facts of sessions again, one by one; facts by a model are only replaced by a model."""

    def __init__(
        self, session_editing: SessionEditing, archive_queue: ArchiveQueue, facts: FactService, preferences: Preferences
    ) -> None:
        self._session_editing, self._archive_queue = session_editing, archive_queue
        self._facts, self._preferences = facts, preferences

    async def extract_session(self, persona_id: str, session: UUID) -> int:
        """Extract the facts of one session again; return the number of its facts that are not superseded.

        Raise LetheError if the session is too short or learning of facts is disabled.
        """
        self._require_learning()
        if not await self._archive_queue.update(session, [SessionPart.FACTS]):
            raise LetheError("This conversation is too short to extract facts from.")
        known = await self._facts.facts_of(persona_id)
        return sum(session in fact.source_memories and not fact.superseded for fact in known)

    async def extract_all(self, persona_id: str, report: Callable[[int, int], bool]) -> bool:
        """Extract the facts of all sessions of a persona again, oldest first; return whether all were processed.

        `report` is called with the number done and the total, before each session and once at the end; if it returns False,
        extraction stops. Raise LetheError if learning of facts is disabled.
        """
        self._require_learning()
        lines = sorted(await self._session_editing.list_sessions(persona_id), key=lambda line: line.began)
        for index, line in enumerate(lines):
            if not report(index, len(lines)):
                return False
            try:
                await self._archive_queue.update(UUID(line.guid), [SessionPart.FACTS])
            except StorageError:
                continue  # deleted meanwhile
        report(len(lines), len(lines))
        return True

    async def explain_absence(self, persona_id: str) -> FactAbsence:
        """Return why a persona has no facts."""
        settings = self._preferences.current
        lines = await self._session_editing.list_sessions(persona_id)
        archived = sum(line.archived for line in lines)
        reason = NoFactsReason.NOTHING_LASTING if archived else NoFactsReason.NOTHING_ARCHIVED
        if not settings.fact_retrieval:
            reason = NoFactsReason.LEARNING_OFF
        keeps_moments = settings.key_moments and settings.memory_enabled
        return FactAbsence(reason, settings.rotation_minutes, archived, len(lines), keeps_moments)

    def _require_learning(self) -> None:
        if not self._preferences.current.fact_retrieval:
            raise LetheError("Fact learning is switched off.", "Switch on “Learn facts” in Settings → Memory.")
