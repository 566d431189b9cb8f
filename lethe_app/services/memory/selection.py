"""Selection of what a turn recalls from the candidates of all recallers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from uuid import UUID

from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.recall_context import RecallContext
from lethe_app.services.memory.recallers import LASTING, STAYING, RecallCandidates, Recaller, active_spans, recall_at_opening
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
            one.memory
            for one in self.memory.recalled
            if one.way not in LASTING and one.way is not RecallWay.OPENING and not one.world
        ]


class MemorySelection:
    """Query the recallers in their order, and take each memory once. Nothing is stored."""

    def __init__(self, recallers: Sequence[Recaller], objections: ObjectionService, preferences: Preferences) -> None:
        self._recallers = recallers
        self._objections = objections
        self._preferences = preferences

    async def select(self, context: RecallContext) -> RecallResult:
        """Return what a turn recalls."""
        found: list[RecallCandidates] = []
        for recaller in self._recallers:
            found.append(await recaller.candidates(context, found))
        candidates = deduplicate(chain.from_iterable(one.recollections for one in found), without=context.in_view)
        recalled, unwanted = self._objections.filter_candidates(context, candidates)
        if all(one.way is RecallWay.CONSTANT for one in recalled):
            recalled += await recall_at_opening(
                context, {one.memory for one in recalled} | context.announced, self._preferences
            )
        states = {key: value for one in found for key, value in one.states.items()}
        states[STAYING] = active_spans(context, recalled)
        recalled_ids = {one.memory for one in recalled}
        kept_back = chain(unwanted, *(one.blocked for one in found))
        blocked = islice((one for one in kept_back if one.memory not in recalled_ids), MAX_BLOCKED)
        kept = [one for one in recalled if not any(each.covers(one) for each in found)]
        remark = " ".join(one.remark for one in found if one.remark)
        recalled = [*chain.from_iterable(one.first for one in found), *kept]
        return RecallResult(TurnMemory(recalled=recalled, blocked=list(blocked), remark=remark), states)


def deduplicate(found: Iterable[RecalledMemory], *, without: Collection[UUID]) -> list[RecalledMemory]:
    """Return each memory once, by the first way in which it was recalled.

    Memories that are in the prompt in full are left out, unless their time was asked for.
    """
    chosen: dict[UUID, RecalledMemory] = {}
    for one in found:
        if one.memory not in without or one.way is RecallWay.TIME:
            chosen.setdefault(one.memory, one)
    return list(chosen.values())
