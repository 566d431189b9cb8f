"""Decides what goes into a prompt that must fit: pure arithmetic on token counts, so that it is quick and always the same.

Every optional part has a cap, a fraction of the context, so that none can crowd out the talk. When the rest is still too much,
parts shrink in this order, each to nothing before the next is touched, as long as the history has less than its floor:

    retrieved memories → previous sessions → examples → core facts → world info → oldest history

Above its floor the history gives way first: it is cut at a message boundary, in one block down to a target well below its
room, and the cut then stays where it is for many turns, so that what the model has already read stays at the front.

What stands in the system prompt is chosen as if the history had its floor already and the new message its share, whatever is
said in this turn: else a longer message would change the beginning of the prompt, and the next shorter one change it back.
Retrieved memories may have what is then left over.
The persona, the system prompt, the scenario and the new message are never shortened: where even these do not fit, the prompt is
refused with the size of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lethe_app.domain.prompt import PromptPart

CAPS: dict[PromptPart, float] = {
    PromptPart.MEMORIES: 0.20,
    PromptPart.SUMMARIES: 0.15,
    PromptPart.STYLE: 0.10,
    PromptPart.FACTS: 0.08,
    PromptPart.WORLD: 0.20,
}
"""The most a part may have, as a fraction of the context; in the order in which they shrink."""
HISTORY_FLOOR = 0.25
"""Fraction of the context that the history keeps while anything optional is left."""
HISTORY_TARGET = 0.65
"""Fraction of the history's room that is kept when it has to be cut."""
REREAD_TARGET = 0.4
"""The most of it that is kept where all that is kept has to be read again: a shorter wait, and more rarely."""
MESSAGE_SHARE = 1 / 12
"""Fraction of the context that the new message is expected to need; only a longer one takes room from the system prompt."""
_TAKE_BACK = 0.5
"""A cut moves back when less than this much of the target is in use, as after a change to a larger context."""


@dataclass(frozen=True)
class Demand:
    """What wants to be in the prompt, in tokens."""

    limit: int
    """Tokens of the prompt, at most: the context without the room for the reply."""
    context: int
    fixed: int
    """What is never shortened, the format's own tokens included, without the new message."""
    items: Mapping[PromptPart, Sequence[int]]
    """Optional parts: their pieces, the most important first."""
    history: Sequence[int]
    """Messages that may be cut, oldest first; the new message is not among them."""
    previous_cut: int = 0
    """Messages cut off the front the last time."""
    history_target: float = HISTORY_TARGET
    message: int = 0
    """The new message, which is never shortened either, and whatever else is of this turn alone."""


@dataclass(frozen=True)
class BudgetPlan:
    """What is kept."""

    kept: dict[PromptPart, tuple[int, ...]] = field(default_factory=dict)
    """Places of the pieces that stay, for every optional part."""
    capped: dict[PromptPart, int] = field(default_factory=dict)
    """Pieces that were left out because of the part's cap; whatever else is left out had no room."""
    cut: int = 0
    """Messages cut off the front of the history; to be given back as `previous_cut` the next time."""


def plan(demand: Demand) -> BudgetPlan:
    """The largest prompt that fits the demand's limit. When even the fixed part does not, everything else is left out."""
    caps = {part: int(cap * demand.context) for part, cap in CAPS.items()}
    kept = {part: _within(demand.items.get(part, ()), cap) for part, cap in caps.items()}
    over = {part: set(range(len(demand.items.get(part, ())))) - set(kept[part]) for part in CAPS}
    floor = int(HISTORY_FLOOR * demand.context)
    expected = max(demand.message, int(MESSAGE_SHARE * demand.context))
    head = [part for part in CAPS if part is not PromptPart.MEMORIES]
    for part in head:
        others = _used(demand, kept, (other for other in head if other is not part))
        room = demand.limit - demand.fixed - expected - floor - others
        kept[part] = _within(demand.items.get(part, ()), min(room, caps[part]))
    free = demand.limit - demand.fixed - demand.message - _used(demand, kept, head)
    told = min(free - min(sum(demand.history), floor), caps[PromptPart.MEMORIES])
    kept[PromptPart.MEMORIES] = _within(demand.items.get(PromptPart.MEMORIES, ()), told)
    room = free - _used(demand, kept, [PromptPart.MEMORIES])
    capped = {part: len(places.difference(kept[part])) for part, places in over.items()}
    return BudgetPlan(kept, capped, cut_history(demand.history, room, demand.previous_cut, demand.history_target))


def cut_history(history: Sequence[int], room: int, previous_cut: int, part: float = HISTORY_TARGET) -> int:
    """How many of the oldest messages are left out so that the others fit into `room`.

    The previous cut stays as long as it can: until the history overflows, or so much room is free that messages can return.
    """
    cut = min(max(previous_cut, 0), len(history))
    kept = sum(history[cut:])
    target = int(max(room, 0) * part)
    if kept > room or (cut > 0 and kept < target * _TAKE_BACK):
        return _cut_to(history, target)
    return cut


def _cut_to(history: Sequence[int], target: int) -> int:
    """The front of the longest tail that fits."""
    kept = 0
    for place in range(len(history) - 1, -1, -1):
        kept += history[place]
        if kept > target:
            return place + 1
    return 0


def _within(pieces: Sequence[int], room: int) -> tuple[int, ...]:
    """Places of the pieces that fit, tried in order of importance; one that is too big does not block smaller ones."""
    places: list[int] = []
    for place, tokens in enumerate(pieces):
        if tokens <= room:
            places.append(place)
            room -= tokens
    return tuple(places)


def _used(demand: Demand, kept: Mapping[PromptPart, Sequence[int]], parts: Iterable[PromptPart]) -> int:
    return sum(demand.items[part][place] for part in parts if part in demand.items for place in kept[part])
