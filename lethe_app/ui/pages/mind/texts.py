"""Texts of a persona's mind that are typed into fields, each by the name of its field."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from uuid import UUID

from lethe_app.domain.persona import Weekday
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.personas.inner_life import GoalService, InnerLife, Week
from lethe_app.services.search.memory_lists import MemoryLists

THOUGHTS, REQUEST, NOTICE = "thoughts", "request", "notice"
"""Names of the fields for personal thoughts, for what goals are to be about, and for guidelines. A plan has the name of its
day, the text of a memory the name `CONTENT`.
"""
CONTENT = "content"


class MindTexts:
    """Loads the texts of a persona, and stores those of a persona or of a memory."""

    def __init__(
        self, inner_life: InnerLife, week: Week, goals: GoalService, memory: MemoryService, memory_lists: MemoryLists
    ) -> None:
        self._inner_life, self._week, self._goals = inner_life, week, goals
        self._memory, self._memory_lists = memory, memory_lists

    async def load_texts(self, persona_id: str) -> dict[str, str]:
        """Return the texts of a persona by the name of their field."""
        plans, request = await self._week.load_plans(persona_id), await self._goals.load_request(persona_id)
        thoughts = await self._inner_life.load_thoughts(persona_id)
        texts = {THOUGHTS: thoughts, REQUEST: request.request, NOTICE: request.notice}
        return texts | {str(day): plan for day, plan in plans.items()}

    async def store_texts(self, record: Hashable, texts: Mapping[str, object]) -> None:
        """Store texts of the persona with this unique name, or of the memory with this GUID. Raise LetheError."""
        if isinstance(record, UUID):
            # Read again, because other fields of the memory may have been changed in the background.
            current = await self._memory_lists.load_memory(record)
            await self._memory.edit(current.model_copy(update=dict(texts)))
            return
        persona_id = str(record)
        for day in Weekday:
            if day in texts:
                await self._week.save_plan(persona_id, day, str(texts[day]))
        if THOUGHTS in texts:
            await self._inner_life.save_thoughts(persona_id, str(texts[THOUGHTS]))
        if texts.keys() & {REQUEST, NOTICE}:
            stored = await self._goals.load_request(persona_id)
            request, notice = texts.get(REQUEST, stored.request), texts.get(NOTICE, stored.notice)
            await self._goals.save_request(persona_id, str(request), str(notice))
