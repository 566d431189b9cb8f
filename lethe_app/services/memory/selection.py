"""Selection of what a turn recalls from the candidates of all recallers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from uuid import UUID

from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.recall_context import RecallContext
from lethe_app.services.memory.recallers import (
    ACTIVE_SPANS,
    LASTING,
    RecallCandidates,
    Recaller,
    active_spans,
    recall_at_opening,
)
from lethe_app.services.preferences import Preferences

MAX_BLOCKED = 40
"""Maximum number of kept-back memories that are reported; a large world has thousands."""


@dataclass(frozen=True)
class RecallResult:
    """Recalled and kept-back memories of a turn, and the session state to store."""

    memory: TurnMemory
    states: dict[str, object]

    @property
    def newly_recalled(self) -> list[UUID]:
        """Memories that this message recalled, without those that are only still active and those that open a session."""
        return [
            memory.memory
            for memory in self.memory.recalled
            if memory.way not in LASTING and memory.way is not RecallWay.OPENING and not memory.world
        ]


class MemorySelection:
    """Query the recallers in their order, and take each memory once. Nothing is stored."""

    def __init__(self, recallers: Sequence[Recaller], objections: ObjectionService, preferences: Preferences) -> None:
        self._recallers = recallers
        self._objections = objections
        self._preferences = preferences

    async def select(self, context: RecallContext) -> RecallResult:
        """Return what a turn recalls."""
        all_candidates: list[RecallCandidates] = []
        for recaller in self._recallers:
            all_candidates.append(await recaller.candidates(context, all_candidates))
        candidates = deduplicate(
            chain.from_iterable(candidate_set.recollections for candidate_set in all_candidates), without=context.in_view
        )
        recalled, unwanted = self._objections.filter_candidates(context, candidates)
        if all(recollection.way is RecallWay.CONSTANT for recollection in recalled):
            recalled += await recall_at_opening(
                context, {recollection.memory for recollection in recalled} | context.announced, self._preferences
            )
        states = {key: value for candidate_set in all_candidates for key, value in candidate_set.states.items()}
        has_notebook = any(candidate_set.has_notebook for candidate_set in all_candidates)
        if has_notebook:
            replaced = {guid for candidate_set in all_candidates for guid in candidate_set.accumulated}
            recalled = [one for one in recalled if one.memory not in replaced or one.way is not RecallWay.ACTIVE]
        max_accumulated = self._preferences.current.accumulated_memories
        states[ACTIVE_SPANS] = active_spans(context, recalled, max_accumulated, has_notebook=has_notebook)
        recalled_ids = {recollection.memory for recollection in recalled}
        kept_back = chain(unwanted, *(candidate_set.blocked for candidate_set in all_candidates))
        blocked = islice((memory for memory in kept_back if memory.memory not in recalled_ids), MAX_BLOCKED)
        uncovered = [
            recollection
            for recollection in recalled
            if not any(candidate_set.covers(recollection) for candidate_set in all_candidates)
        ]
        remark = " ".join(candidate_set.remark for candidate_set in all_candidates if candidate_set.remark)
        recalled = [*chain.from_iterable(candidate_set.first for candidate_set in all_candidates), *uncovered]
        return RecallResult(TurnMemory(recalled=recalled, blocked=list(blocked), remark=remark), states)


def deduplicate(recollections: Iterable[RecalledMemory], *, without: Collection[UUID]) -> list[RecalledMemory]:
    """Return each memory once, by the first way in which it was recalled.

    Memories that are in the prompt in full are left out, unless their time was asked for.
    """
    first_recollections: dict[UUID, RecalledMemory] = {}
    for recollection in recollections:
        if recollection.memory not in without or recollection.way is RecallWay.TIME:
            first_recollections.setdefault(recollection.memory, recollection)
    return list(first_recollections.values())
