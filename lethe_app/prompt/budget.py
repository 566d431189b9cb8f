"""Token budget: which parts of a prompt are kept, computed from token counts alone, so that it is fast and deterministic.

Every optional part has a cap, a fraction of the context, so that none can crowd out the conversation. If the rest is still
too large, parts are shrunk in this order, each to nothing before the next, as long as the history has less than its floor:

    retrieved memories → previous sessions → examples → core facts → world info → oldest history

Above its floor the history is cut first: at a message boundary, in one block down to a target well below the available
space. The cut then stays where it is for many turns, so that the prefix in the KV cache remains valid.

The contents of the system prompt are chosen as if the history had only its floor and the new message its expected share,
independent of this turn: otherwise a longer message would change the start of the prompt, and the next shorter one would
change it back. Retrieved memories may use what is then left over.

Persona, system prompt, scenario and the new message are never shortened: if they alone do not fit, the prompt is refused
with the size of each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lethe_app.domain.prompt import PromptPart

CAPS: dict[PromptPart, float] = {
    PromptPart.MEMORIES: 0.20,
    PromptPart.SUMMARIES: 0.15,
    PromptPart.STYLE: 0.10,
    PromptPart.FACTS: 0.08,
    PromptPart.WORLD: 0.20,
}
"""Maximum share of the context per part; in the order in which the parts are shrunk."""
HISTORY_FLOOR = 0.25
"""Share of the context that the history keeps while any optional part is left."""
HISTORY_TARGET = 0.65
"""Share of the available history space that is kept when the history is cut."""
REREAD_TARGET = 0.4
"""Upper limit of that share if the kept history must be evaluated again after a cut: the wait is shorter and comes less
often.
"""
PROTECTED_MESSAGES = 3
"""Number of newest messages that a cut leaves if there is room for as much again, the new message included. With less room the
next turn would cut again, and every turn would evaluate the history anew.
"""
MESSAGE_SHARE = 1 / 12
"""Share of the context that the new message is expected to need; only a longer one takes space from the system prompt."""
_MIN_USED_SHARE = 0.5
"""A cut is recomputed if less than this share of the target is in use, for example after a change to a larger context."""


@dataclass(frozen=True)
class TokenDemand:
    """Token counts of everything that could be in the prompt."""

    limit: int
    """Maximum tokens of the prompt: the context minus the reply reserve."""
    context: int
    fixed: int
    """Tokens that are never cut, including those of the template, without the new message."""
    items: Mapping[PromptPart, Sequence[int]]
    """Tokens of the pieces of each optional part, the most important first."""
    history: Sequence[int]
    """Tokens of the messages that may be cut, oldest first, without the new message."""
    previous_cut: int = 0
    """Number of oldest messages that were cut in the previous prompt."""
    history_target: float = HISTORY_TARGET
    message: int = 0
    """Tokens of the new message, which is never cut either, and of everything else that belongs to this turn only."""
    uncapped: Mapping[PromptPart, Collection[int]] = field(default_factory=dict)
    """Indices of the pieces that only the space that is free limits, and not the cap of their part."""


@dataclass(frozen=True)
class BudgetPlan:
    """Result of the budget: what is kept."""

    kept: dict[PromptPart, tuple[int, ...]] = field(default_factory=dict)
    """Indices of the kept pieces of every optional part."""
    capped: dict[PromptPart, int] = field(default_factory=dict)
    """Number of pieces dropped because of the part's cap; other dropped pieces had no space."""
    cut: int = 0
    """Number of oldest messages that are cut; pass it as `previous_cut` next time."""


def plan_budget(demand: TokenDemand) -> BudgetPlan:
    """Return the largest prompt that fits the limit. If the fixed part alone does not fit, everything else is dropped."""
    caps = {part: int(cap * demand.context) for part, cap in CAPS.items()}
    floor = int(HISTORY_FLOOR * demand.context)
    # A constant share instead of this turn's real size, so that the system prompt does not change with every message.
    expected = max(demand.message, int(MESSAGE_SHARE * demand.context))
    room = demand.limit - demand.fixed - expected - floor
    kept = {part: _select_fitting(demand, part, max(room, cap), cap) for part, cap in caps.items()}
    within_cap = {part: {*kept[part], *demand.uncapped.get(part, ())} for part in CAPS}
    over_cap = {part: set(range(len(demand.items.get(part, ())))) - within_cap[part] for part in CAPS}
    stable_parts = [part for part in CAPS if part is not PromptPart.MEMORIES]
    for part in stable_parts:
        others = _count_used(demand, kept, (other for other in stable_parts if other is not part))
        kept[part] = _select_fitting(demand, part, room - others, caps[part])
    free = demand.limit - demand.fixed - demand.message - _count_used(demand, kept, stable_parts)
    # Memories change with every turn anyway, so they may use the space that is really left.
    memories_limit = free - min(sum(demand.history), floor)
    kept[PromptPart.MEMORIES] = _select_fitting(demand, PromptPart.MEMORIES, memories_limit, caps[PromptPart.MEMORIES])
    available = free - _count_used(demand, kept, [PromptPart.MEMORIES])
    capped = {part: len(indices.difference(kept[part])) for part, indices in over_cap.items()}
    return BudgetPlan(kept, capped, cut_history(demand.history, available, demand.previous_cut, demand.history_target))


def cut_history(history: Sequence[int], available: int, previous_cut: int, target_share: float = HISTORY_TARGET) -> int:
    """Return how many of the oldest messages are cut so that the others fit into `available` tokens.

    The previous cut is kept as long as possible: until the history overflows, or so much space is free that messages can
    return.
    """
    cut = min(max(previous_cut, 0), len(history))
    kept = sum(history[cut:])
    # Far below the limit: cutting one message a turn would change the prompt near its start in every turn.
    target = int(max(available, 0) * target_share)
    if kept > available or (cut > 0 and kept < target * _MIN_USED_SHARE):
        protected = history[-(PROTECTED_MESSAGES - 1) :]
        most = len(history) - len(protected) if 2 * sum(protected) <= available else len(history)
        return min(_find_cut(history, target), most)
    return cut


def _find_cut(history: Sequence[int], target: int) -> int:
    """Return the start of the longest tail that fits."""
    kept = 0
    for index in range(len(history) - 1, -1, -1):
        kept += history[index]
        if kept > target:
            return index + 1
    return 0


def _select_fitting(demand: TokenDemand, part: PromptPart, available: int, cap: int) -> tuple[int, ...]:
    """Return the indices of the pieces of a part that fit into the available space and its cap, tried in order of importance; a
    piece that is too large does not block smaller ones.
    """
    indices: list[int] = []
    uncapped = demand.uncapped.get(part, ())
    for index, tokens in enumerate(demand.items.get(part, ())):
        if tokens <= available and (index in uncapped or tokens <= cap):
            indices.append(index)
            available -= tokens
            cap -= 0 if index in uncapped else tokens
    return tuple(indices)


def _count_used(demand: TokenDemand, kept: Mapping[PromptPart, Sequence[int]], parts: Iterable[PromptPart]) -> int:
    return sum(demand.items[part][index] for part in parts if part in demand.items for index in kept[part])
