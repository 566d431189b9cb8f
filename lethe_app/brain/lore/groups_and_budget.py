"""Who comes when not all can: one entry of a group, and as many as the token budget has room for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lethe_app.brain.lore.compiled import CompiledEntry
from lethe_app.brain.lore.evaluation import ActivationCause, Blocked, EvaluationTurn, Fired, LoreLimits, Why
from lethe_app.brain.lore.keyword_logic import draw, pick


@dataclass(frozen=True)
class Candidate:
    """An entry that fires unless another takes its place."""

    place: int
    """Its number in the lore."""
    placed: CompiledEntry
    fired: Fired
    said: int = 0
    """How many of its keywords were said."""

    @property
    def name(self) -> str:
        return self.placed.entry.name

    @property
    def rank(self) -> tuple[object, ...]:
        """Lower comes first: constant ones, then by priority, then by order."""
        entry = self.placed.entry
        return (not entry.sticky, -entry.priority, -entry.order, entry.guid)

    def blocked(self, why: Why, detail: str) -> Blocked:
        """Why it does not come after all."""
        fired = self.fired
        return Blocked(fired.entry, fired.world, why, detail, fired.key, fired.message_index)


@dataclass(frozen=True)
class EntrySelection:
    """Who may come, and who may not and why."""

    coming: list[Candidate]
    left_out: list[tuple[Candidate, Blocked]]


def one_of_each_group(candidates: Sequence[Candidate], taken: Mapping[str, Candidate], turn: EvaluationTurn) -> EntrySelection:
    """`taken` says who already came for a group.

    An entry still active wins. Of the others those that score are out where more keywords of a rival were said; then those
    with override win by their order, else chance by weight. Whoever lost in one of its groups is out of the others.
    """
    lost: dict[int, tuple[Candidate, Blocked]] = {}
    members: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates, key=lambda each: each.placed.entry.guid):
        for group in sorted(candidate.placed.groups):
            members[group].append(candidate)
            if group in taken:
                lost.setdefault(candidate.place, _beaten(candidate, group, taken[group]))
    for group, rivals in sorted(members.items()):
        left = [rival for rival in rivals if rival.place not in lost]
        if left:
            winner = _winner(group, left, turn)
            lost.update((rival.place, _beaten(rival, group, winner)) for rival in left if rival is not winner)
    return EntrySelection([candidate for candidate in candidates if candidate.place not in lost], list(lost.values()))


def _beaten(candidate: Candidate, group: str, winner: Candidate) -> tuple[Candidate, Blocked]:
    detail = f"“{winner.name}” stands for the group “{group}”"
    if candidate.placed.scores and candidate.said < winner.said:
        detail += f": {winner.said} of its keys were said, {candidate.said} of this"
    return candidate, candidate.blocked(Why.GROUP, detail)


def _winner(group: str, rivals: Sequence[Candidate], turn: EvaluationTurn) -> Candidate:
    def importance(rival: Candidate) -> tuple[int, int]:
        return rival.placed.entry.order, rival.placed.entry.priority

    active = [rival for rival in rivals if rival.fired.reason is ActivationCause.ACTIVE]
    most = max(rival.said for rival in rivals)
    rivals = [rival for rival in rivals if rival.said == most or not rival.placed.scores]
    preferred = active or [rival for rival in rivals if rival.placed.entry.group_override]
    if preferred:
        return max(preferred, key=importance)
    weights = [rival.placed.entry.group_weight for rival in rivals]
    return rivals[pick(weights, draw(turn.seed, turn.id, "group", group))]


class Purse:
    """The tokens of one turn, and of each world that has a budget of its own."""

    def __init__(self, limits: LoreLimits) -> None:
        self._limit = limits.tokens
        self._spent = 0
        self._spent_by_world: Counter[int] = Counter()

    def pay(self, candidates: Iterable[Candidate]) -> EntrySelection:
        """As many as there is room for, the most important first; one too big does not keep smaller ones out."""
        selection = EntrySelection([], [])
        for candidate in sorted(candidates, key=lambda each: each.rank):
            left = self._left(candidate)
            cost = candidate.fired.tokens
            if candidate.placed.entry.ignore_budget or left is None or cost <= left:
                selection.coming.append(candidate)
                self._charge(candidate)
            else:
                selection.left_out.append((candidate, candidate.blocked(Why.BUDGET, f"{cost} tokens, {left} left")))
        return selection

    def _left(self, candidate: Candidate) -> int | None:
        world = candidate.placed.world
        own = None if world.token_budget is None else world.token_budget - self._spent_by_world[id(world)]
        common = None if self._limit is None else self._limit - self._spent
        return min((left for left in (own, common) if left is not None), default=None)

    def _charge(self, candidate: Candidate) -> None:
        if not candidate.placed.entry.ignore_budget:
            self._spent += candidate.fired.tokens
            self._spent_by_world[id(candidate.placed.world)] += candidate.fired.tokens
