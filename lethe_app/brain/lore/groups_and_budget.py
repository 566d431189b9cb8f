"""Selection among candidates: one entry per inclusion group, and as many entries as the token budget allows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lethe_app.brain.lore.compiled import CompiledEntry
from lethe_app.brain.lore.evaluation import ActivationCause, Blocked, EvaluationTurn, Fired, LoreLimits
from lethe_app.brain.lore.keyword_logic import draw, pick
from lethe_app.domain.recall import BlockReason, Parameter


@dataclass(frozen=True)
class Candidate:
    """Entry to be activated unless its group or the budget excludes it."""

    place: int
    """Index of the entry in the lore."""
    placed: CompiledEntry
    fired: Fired
    said: int = 0
    """Number of its matching keywords."""

    @property
    def name(self) -> str:
        return self.placed.entry.name

    @property
    def rank(self) -> tuple[object, ...]:
        """Return the sort key for the budget, best first: constant entries, then by priority, then by order."""
        entry = self.placed.entry
        return (not entry.sticky, -entry.priority, -entry.order, entry.guid)

    def blocked(self, why: BlockReason, values: Mapping[str, Parameter]) -> Blocked:
        """Return the candidate as blocked by a rule."""
        fired = self.fired
        return Blocked(fired.entry, fired.world, why, values, fired.key, fired.message_index)


@dataclass(frozen=True)
class EntrySelection:
    """Selected candidates, and the others with the rule that blocked them."""

    coming: list[Candidate]
    left_out: list[tuple[Candidate, Blocked]]


def one_of_each_group(candidates: Sequence[Candidate], taken: Mapping[str, Candidate], turn: EvaluationTurn) -> EntrySelection:
    """Select one candidate per inclusion group; `taken` maps groups to candidates already activated.

    An entry that is still active wins. Otherwise entries with scoring lose to rivals with more matching keywords; of the
    rest those with override win by order, else one is drawn by weight. A candidate that loses one of its groups is out of
    all of them.
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
    values: dict[str, Parameter] = {"winner": winner.name, "group": group}
    if candidate.placed.scores and candidate.said < winner.said:
        values |= {"more": winner.said, "fewer": candidate.said}
    return candidate, candidate.blocked(BlockReason.GROUP, values)


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
    """Token budget of one turn, and of each world with a budget of its own."""

    def __init__(self, limits: LoreLimits) -> None:
        self._limit = limits.tokens
        self._spent = 0
        # By id(world): a World is a mutable pydantic model and not hashable.
        self._spent_by_world: Counter[int] = Counter()

    def pay(self, candidates: Iterable[Candidate]) -> EntrySelection:
        """Select the candidates that fit the budget, the most important first; one that does not fit does not exclude
        smaller ones.
        """
        selection = EntrySelection([], [])
        for candidate in sorted(candidates, key=lambda each: each.rank):
            left = self._left(candidate)
            cost = candidate.fired.tokens
            if candidate.placed.entry.ignore_budget or left is None or cost <= left:
                selection.coming.append(candidate)
                self._charge(candidate)
            else:
                selection.left_out.append((candidate, candidate.blocked(BlockReason.BUDGET, {"cost": cost, "left": left})))
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
