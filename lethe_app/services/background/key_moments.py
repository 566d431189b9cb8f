"""Key moments: what mattered in a day, kept as memories of the persona without a limit of time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date

from lethe_app.brain.facts.updates import FactReplacement, find_replacement, list_replacements
from lethe_app.brain.llm_schemas.archive import MomentsAnswer
from lethe_app.brain.summary.digest import KeyMoment, find_key_moments
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.domain.clock import now
from lethe_app.errors import FileError, ModelError
from lethe_app.prompt.task_prompts import TaskKind
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.library import Library
from lethe_app.services.memory.key_moment_store import KeyMomentStore
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority
from lethe_app.storage.chats.days import DayStore
from lethe_app.storage.key_value import KEY_MOMENT_DAYS, AppState

CHECK_INTERVAL = 3600.0
DAYS_PER_SAVE = 20
"""Days after which the progress is stored; as many are looked through again if the program ends in between."""
MAX_PER_DAY = 3
MAX_CANDIDATES = 12
"""Notes of a day among which a model chooses."""


class KeyMoments:
    """Background service that looks through every day that is over, once, and again if messages were added or deleted since."""

    def __init__(
        self,
        days: DayStore,
        store: KeyMomentStore,
        library: Library,
        app_state: AppState,
        structured_output: StructuredOutput,
        qualification: Qualification,
        preferences: Preferences,
        priority: BackgroundPriority,
    ) -> None:
        self._days, self._store, self._library, self._app_state = days, store, library, app_state
        self._structured_output, self._qualification = structured_output, qualification
        self._preferences, self._priority = preferences, priority
        self.background = BackgroundLoop(self.look_through_days, CHECK_INTERVAL)

    async def look_through_days(self) -> None:
        """Find the key moments of all days before today."""
        for persona in await self._library.personas():
            await self.look_through_days_of(persona.unique_name)

    async def look_through_days_of(self, persona_id: str, today: date | None = None) -> None:
        """Find the key moments of one persona's days before `today`, by default the present day. Raise StorageError."""
        settings, today = self._preferences.current, today or now().astimezone().date()
        if not (settings.key_moments and settings.memory_enabled):
            return
        # By day, the number of its messages, and of facts replaced within it, when it was looked through.
        stored = await self._app_state.get(KEY_MOMENT_DAYS, persona_id)
        seen = dict(stored) if isinstance(stored, dict) else {}
        replaced = await self._days.facts_replaced_within_a_day(persona_id)
        # A fact may be replaced after the day was looked through, because conversations end later.
        counts = {
            day.isoformat(): f"{count}, {len(replaced[day])}" if day in replaced else count
            for day, count in (await self._days.count_messages(persona_id)).items()
        }
        changed = [day for day, count in counts.items() if seen.get(day) != count and date.fromisoformat(day) < today]
        for number, day in enumerate(changed, 1):
            await self._priority.wait_for_turn_end()
            facts = replaced.get(date.fromisoformat(day), ())
            await self._renew_day(persona_id, date.fromisoformat(day), list_replacements(facts))
            seen[day] = counts[day]
            if number == len(changed) or not number % DAYS_PER_SAVE:  # years of imported days are no reason to write each time
                still_there = {day: count for day, count in seen.items() if day in counts}
                await self._app_state.set(KEY_MOMENT_DAYS, persona_id, still_there)

    async def _renew_day(self, persona_id: str, day: date, replacements: Sequence[FactReplacement]) -> None:
        """Store the key moments of a day in place of those found before, unless the user edited these.

        `replacements` are the facts that no longer held at the end of the day.
        """
        lines = to_utterances(await self._days.messages_of(persona_id, day))
        moments = await self._store.without_forgotten(persona_id, await asyncio.to_thread(find_key_moments, lines))
        candidates = [moment for moment in moments if find_replacement(moment.text, moment.sources, replacements) is None]
        await self._store.replace_day(persona_id, day, await self._choose(candidates[:MAX_CANDIDATES]))

    async def _choose(self, candidates: Sequence[KeyMoment]) -> list[KeyMoment]:
        """Return at most `MAX_PER_DAY` of the candidates: those that a qualified model chooses, else the most salient ones."""
        if self._qualification.may_write_summaries and len(candidates) > 1:
            notes = "\n".join(f"{number}. {moment.text}" for number, moment in enumerate(candidates, 1))
            try:
                answer = await self._structured_output.ask(TaskKind.MOMENTS, MomentsAnswer, notes=notes)
                return [candidates[index] for index in answer.indices(len(candidates))][:MAX_PER_DAY]
            except (ModelError, FileError):
                pass  # the most salient ones, as without a model
        return list(candidates[:MAX_PER_DAY])
