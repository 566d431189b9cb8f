"""Rolling summaries by a qualified model of the messages that have left the history, for use by the next cut instead of
those by rules.
"""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from lethe_app.config.options import HistoryOverflow
from lethe_app.errors import LetheError
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority


class RollingSummary:
    """Summarise sessions whose history was cut, one at a time, in the background.

    The prompt keeps its prefix until the next cut changes it anyway. If a summary fails or is interrupted, the next one
    covers the messages of both cuts.
    """

    def __init__(
        self,
        stable_prefixes: StablePrefixes,
        extraction: ConversationExtraction,
        qualification: Qualification,
        priority: BackgroundPriority,
        preferences: Preferences,
    ) -> None:
        self._stable_prefixes = stable_prefixes
        self._extraction = extraction
        self._qualification = qualification
        self._priority = priority
        self._preferences = preferences
        self._waiting: dict[UUID, None] = {}
        self.background = BackgroundLoop(self.finish)
        """A summary under way is discarded when it is closed."""
        stable_prefixes.cuts.add(self._on_cut)

    async def finish(self) -> None:
        """Summarise all waiting sessions, and wait for it."""
        while self._waiting:
            session_id = next(iter(self._waiting))
            del self._waiting[session_id]
            with suppress(LetheError):  # the rule-based summary is kept
                await self._summarise(session_id)

    async def _summarise(self, session_id: UUID) -> None:
        """Summarise the messages before the first one of the history; earlier ones are represented by their previous
        summary.
        """
        await self._priority.wait_for_turn_end()
        prefix = await self._stable_prefixes.load(session_id)
        if prefix is None or prefix.first is None or not self._qualification.may_write_summaries:
            return
        settings = self._preferences.current
        if prefix.recapped == prefix.first or settings.history_overflow is HistoryOverflow.TRUNCATE:
            return
        lines = await self._stable_prefixes.read_utterances(session_id, prefix.recapped, prefix.first)
        if lines:
            text = await self._extraction.recap(prefix.recap if prefix.recapped else "", lines, settings.summary_instructions)
            await self._stable_prefixes.set_recap(session_id, prefix.first, text)

    def _on_cut(self, session_id: UUID) -> None:
        self._waiting[session_id] = None
        self.background.wake()
