"""Enrichment in the background of what a tool saved: the memory is stored at once, and labelled and expanded afterwards.

Each persona's memories are one run, shown with other background work; undoing it restores them as they were saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lethe_app.agents.task import TaskResult
from lethe_app.brain.dreams.enrichment import (
    ENRICHMENT_KEY,
    PENDING,
    MemoryEntry,
    enrich_by_answer,
    enrich_by_rules,
    is_pending,
    without_mark,
)
from lethe_app.brain.llm_schemas.memories import EnrichmentAnswer
from lethe_app.brain.notebooks.subjects import SubjectStems
from lethe_app.brain.summary.digest import build_digest
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import Role
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import NO_MODEL_ERRORS, FileError, LetheError, ModelError
from lethe_app.services.background.activity_log import ENRICHMENT, ActivityEntry, ActivityLog
from lethe_app.services.background.task_api import TaskApi, TaskServices
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority

CHECK_INTERVAL = 600.0
MAX_CATEGORIES = 30
"""Number of existing categories that are named to the model."""


class MemoryEnrichment:
    """Background service that enriches memories that carry the mark of `brain/dreams/enrichment`.

    A model is asked if it is qualified to write facts and the persona has budget left; without one, category, tags and
    keywords are found by rules.
    """

    def __init__(
        self,
        services: TaskServices,
        participants: ParticipantService,
        qualification: Qualification,
        subjects: SubjectStems,
        activity_log: ActivityLog,
        priority: BackgroundPriority,
    ) -> None:
        self._services, self._participants, self._qualification = services, participants, qualification
        self._subjects, self._activity_log, self._priority = subjects, activity_log, priority
        services.stored.memory.changed.add(lambda _persona_id: self.background.wake())
        self.background = BackgroundLoop(self.enrich_all, CHECK_INTERVAL)
        """Memories that are still marked when it is closed are enriched after the next start."""

    async def enrich_all(self) -> None:
        """Enrich all marked memories, persona by persona."""
        if not self._services.stored.preferences.current.memory_enabled:
            return
        marked = await self._services.stored.memory.memories_with_metadata(ENRICHMENT_KEY, PENDING)
        by_persona: dict[str, list[MemoryUnit]] = {}
        for persona_id, memory in marked:
            if is_pending(memory):
                by_persona.setdefault(persona_id, []).append(memory)
        for persona_id, pending in by_persona.items():
            await self._priority.wait_for_turn_end()
            try:
                participants = await self._participants.load_for_persona(persona_id)
                action = partial(self._enrich, participants, pending)
                entry = self._activity_log.create_entry(ENRICHMENT, (persona_id, participants.persona.name))
                await self._activity_log.run_entry(entry, action)
            except FileError:
                continue  # the persona cannot be read; that is shown where the persona is shown
            except LetheError:
                break  # the disk or the model; the next round tries again

    async def _enrich(self, participants: Participants, pending: Sequence[MemoryUnit], entry: ActivityEntry) -> TaskResult:
        api = TaskApi(self._services, participants, None, entry)
        names = (participants.persona.name, participants.user.name)
        filed, added = 0, 0
        for memory in pending:
            await self._priority.wait_for_turn_end()
            entry.report_progress("Filing what was saved")
            entries = await self._ask(api, memory, names)
            plain = await self._remove_mark(participants.persona.unique_name, memory)
            if plain is None:
                continue
            by_answer = enrich_by_answer(plain, entries, names) if entries else [self._apply_rules(plain, names)]
            if by_answer == [plain]:
                continue
            await api.edit_memory(by_answer[0])
            for one in by_answer[1:]:
                await api.memorize(one)
            filed, added = filed + 1, added + len(by_answer) - 1
        return _build_result(filed, added)

    async def _remove_mark(self, persona_id: str, memory: MemoryUnit) -> MemoryUnit | None:
        """Remove the mark and return the memory as it is now; None if it was deleted or edited meanwhile. This is not part of
        what undo reverts, or the memory would be enriched again.
        """
        stored = {one.guid: one for one in await self._services.stored.memory.memories(persona_id)}
        current = stored.get(memory.guid)
        if current is None or not is_pending(current) or current.content != memory.content:
            return None
        plain = without_mark(current)
        await self._services.stored.memory.edit(plain, plain.made_by)
        return plain

    async def _ask(self, api: TaskApi, memory: MemoryUnit, names: tuple[str, str]) -> Sequence[MemoryEntry]:
        """Return the entries that a model makes of a memory; none if no model may be asked or it has no usable answer."""
        is_qualified = not memory.is_from_web and self._qualification.may_write_facts
        if not is_qualified or not await self._activity_log.has_budget_left(api.persona.unique_name):
            return ()
        values = {"note": memory.content, "categories": await self._list_categories(api), "name": names[0], "user": names[1]}
        try:
            return (await api.ask("enrich", EnrichmentAnswer, **values)).to_entries()
        except NO_MODEL_ERRORS:
            raise
        except ModelError:
            return ()  # rules always have an answer

    def _apply_rules(self, memory: MemoryUnit, names: tuple[str, str]) -> MemoryUnit:
        topics = build_digest([Utterance(memory.guid, Role.USER, "", memory.content, memory.added)]).keywords
        return enrich_by_rules(memory, topics, self._subjects.subjects_in, names)

    async def _list_categories(self, api: TaskApi) -> str:
        categories = dict.fromkeys(memory.filed_under for memory in await api.list_memories() if memory.filed_under)
        return ", ".join(list(categories)[:MAX_CATEGORIES]) or "(none yet)"


def _build_result(filed: int, added: int) -> TaskResult:
    if not filed:
        return TaskResult("There was nothing to file.", outcome=RunOutcome.NOTHING)
    memories = "one memory" if filed == 1 else f"{filed} memories"
    entries = "" if not added else ", with one more entry" if added == 1 else f", with {added} more entries"
    return TaskResult(f"Filed {memories}{entries}.")
