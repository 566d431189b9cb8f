"""Selection among candidates: one entry per inclusion group, and as many entries as the token budget allows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lethe_app.brain.lore.compiled import CompiledEntry
from lethe_app.brain.lore.evaluation import ActivatedEntry, ActivationCause, BlockedEntry, EvaluationTurn, LoreLimits
from lethe_app.brain.lore.keyword_logic import draw_random, pick_weighted
from lethe_app.domain.recall import BlockReason, Parameter


@dataclass(frozen=True)
class EntryCandidate:
    """Entry to be activated unless its group or the budget excludes it."""

    index: int
    """Index of the entry in the lore."""
    compiled: CompiledEntry
    activated: ActivatedEntry
    match_count: int = 0
    """Number of its matching keywords."""

    @property
    def name(self) -> str:
        return self.compiled.entry.name

    @property
    def rank(self) -> tuple[object, ...]:
        """Return the sort key for the budget, best first: constant entries, then by priority, then by order."""
        entry = self.compiled.entry
        return (not entry.sticky, -entry.priority, -entry.order, entry.guid)

    def to_blocked(self, reason: BlockReason, values: Mapping[str, Parameter]) -> BlockedEntry:
        """Return the candidate as blocked by a rule."""
        activated = self.activated
        return BlockedEntry(activated.entry, activated.world, reason, values, activated.key, activated.message_index)


@dataclass(frozen=True)
class EntrySelection:
    """Selected candidates, and the others with the rule that blocked them."""

    selected: list[EntryCandidate]
    excluded: list[tuple[EntryCandidate, BlockedEntry]]


def select_group_winners(
    candidates: Sequence[EntryCandidate], group_winners: Mapping[str, EntryCandidate], turn: EvaluationTurn
) -> EntrySelection:
    """Select one candidate per inclusion group; `group_winners` maps groups to candidates already activated.

    An entry that is still active wins. Otherwise entries with scoring lose to rivals with more matching keywords; of the
    rest those with override win by order, else one is drawn by weight. A candidate that loses one of its groups is out of
    all of them.
    """
    losers: dict[int, tuple[EntryCandidate, BlockedEntry]] = {}
    members: defaultdict[str, list[EntryCandidate]] = defaultdict(list)
    # By guid, so that the draw by weight does not depend on the order in which worlds were loaded.
    for candidate in sorted(candidates, key=lambda each: each.compiled.entry.guid):
        for group in sorted(candidate.compiled.groups):
            members[group].append(candidate)
            if group in group_winners:
                losers.setdefault(candidate.index, _block_loser(candidate, group, group_winners[group]))
    for group, rivals in sorted(members.items()):
        remaining = [rival for rival in rivals if rival.index not in losers]
        if remaining:
            winner = _choose_winner(group, remaining, turn)
            losers.update((rival.index, _block_loser(rival, group, winner)) for rival in remaining if rival is not winner)
    return EntrySelection([candidate for candidate in candidates if candidate.index not in losers], list(losers.values()))


def _block_loser(candidate: EntryCandidate, group: str, winner: EntryCandidate) -> tuple[EntryCandidate, BlockedEntry]:
    values: dict[str, Parameter] = {"winner": winner.name, "group": group}
    if candidate.compiled.uses_group_scoring and candidate.match_count < winner.match_count:
        values |= {"more": winner.match_count, "fewer": candidate.match_count}
    return candidate, candidate.to_blocked(BlockReason.GROUP, values)


def _choose_winner(group: str, rivals: Sequence[EntryCandidate], turn: EvaluationTurn) -> EntryCandidate:
    def importance(rival: EntryCandidate) -> tuple[int, int]:
        return rival.compiled.entry.order, rival.compiled.entry.priority

    active = [rival for rival in rivals if rival.activated.cause is ActivationCause.ACTIVE]
    # Over all rivals: one without scoring may hold the highest count, and scoring ones with fewer still lose to it.
    max_matches = max(rival.match_count for rival in rivals)
    rivals = [rival for rival in rivals if rival.match_count == max_matches or not rival.compiled.uses_group_scoring]
    preferred = active or [rival for rival in rivals if rival.compiled.entry.group_override]
    if preferred:
        return max(preferred, key=importance)
    weights = [rival.compiled.entry.group_weight for rival in rivals]
    return rivals[pick_weighted(weights, draw_random(turn.seed, turn.id, "group", group))]


class LoreBudget:
    """Token budget of one turn, and of each world with a budget of its own."""

    def __init__(self, limits: LoreLimits) -> None:
        self._limit = limits.token_budget
        self._spent = 0
        # By id(world): a World is a mutable pydantic model and not hashable.
        self._spent_by_world: Counter[int] = Counter()

    def select_affordable(self, candidates: Iterable[EntryCandidate]) -> EntrySelection:
        """Select the candidates that fit the budget, the most important first; one that does not fit does not exclude
        smaller ones.
        """
        selection = EntrySelection([], [])
        for candidate in sorted(candidates, key=lambda each: each.rank):
            remaining = self._remaining_tokens(candidate)
            cost = candidate.activated.tokens
            if candidate.compiled.entry.ignore_budget or remaining is None or cost <= remaining:
                selection.selected.append(candidate)
                self._charge(candidate)
            else:
                selection.excluded.append(
                    (candidate, candidate.to_blocked(BlockReason.BUDGET, {"cost": cost, "left": remaining}))
                )
        return selection

    def _remaining_tokens(self, candidate: EntryCandidate) -> int | None:
        world = candidate.compiled.world
        in_world = None if world.token_budget is None else world.token_budget - self._spent_by_world[id(world)]
        in_total = None if self._limit is None else self._limit - self._spent
        return min((left for left in (in_world, in_total) if left is not None), default=None)

    def _charge(self, candidate: EntryCandidate) -> None:
        if not candidate.compiled.entry.ignore_budget:
            self._spent += candidate.activated.tokens
            self._spent_by_world[id(candidate.compiled.world)] += candidate.activated.tokens
