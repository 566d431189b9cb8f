"""Evaluation of one turn: which entries are activated, in recursion rounds, and the resulting state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from lethe_app.brain.lore.compiled import CompiledEntry, Lore
from lethe_app.brain.lore.evaluation import ActivationCause, Blocked, Evaluation, EvaluationTurn, Fired, LoreLimits
from lethe_app.brain.lore.groups_and_budget import Candidate, Purse, one_of_each_group
from lethe_app.brain.lore.keyword_logic import KeywordVerdict, draw, judge
from lethe_app.brain.lore.matches import NearestMatch, ScannedText, wakes_entries
from lethe_app.brain.lore.state import EntryState, LoreState, content_hash, woken
from lethe_app.brain.text.scan_window import ScanWindow
from lethe_app.domain.memory import WordLink
from lethe_app.domain.recall import BlockReason, Parameter
from lethe_app.domain.worldinfo import World, WorldEntry

Obstacle = tuple[BlockReason, Mapping[str, Parameter]]
"""Rule that blocks an entry, with its numbers."""


def evaluate(
    lore: Lore, window: ScanWindow, state: LoreState, turn: EvaluationTurn, limits: LoreLimits | None = None
) -> Evaluation:
    """Return the activated and the blocked entries of a turn and the next state, without side effects and deterministically.

    The rules apply in this order: enabled, due, still active (which skips the rules up to the groups), cooldown, delay,
    recursion delay, secondary keywords, chance, inclusion groups, token budget.
    """
    return _Play(lore, window, state, turn, limits or LoreLimits()).run()


class _Play:
    """One evaluation in progress."""

    def __init__(self, lore: Lore, window: ScanWindow, state: LoreState, turn: EvaluationTurn, limits: LoreLimits) -> None:
        self._lore = lore
        self._turn = turn
        self._limits = limits
        self._hearing = ScannedText(lore, window)
        self._purse = Purse(limits)
        timely = {guid: record for guid, record in state.entries.items() if record.counts_in(turn.number)}
        self._records = _unedited(lore, timely)
        self._absent = {guid: record for guid, record in timely.items() if lore.place_of(guid) is None}
        self._fired: dict[int, Fired] = {}
        self._blocked: dict[int, Blocked] = {}
        self._waiting: set[int] = set()
        self._groups_taken: dict[str, Candidate] = {}

    def run(self) -> Evaluation:
        active = {place for place, record in self._records.items() if record.is_active(self._turn.number)}
        self._play(active.union(self._lore.always, *(self._lore.woken_by(key) for key in self._hearing.said)))
        for world in self._lore.worlds:
            self._look_farther_back(world)
        return self._outcome()

    def _look_farther_back(self, world: World) -> None:
        """Increase the scan depth of a world by one message at a time until enough of its entries are active."""
        last = min(world.deepest_scan, self._hearing.farthest)
        depth = world.scan_depth
        while depth < last and sum(fired.world is world for fired in self._fired.values()) < world.least_awake:
            depth += 1
            self._play(self._reconsidered(self._hearing.deepen(world, depth)))

    def _play(self, places: set[int]) -> None:
        """Consider these entries, then, in recursion rounds, those activated by the texts of newly activated ones."""
        for round_number in range(self._limits.rounds + 1):
            if not places and not self._waiting:
                return
            new = self._play_round(places, round_number)
            places = self._next(new)
        self._stop_at_limit(places)

    def _play_round(self, places: Iterable[int], round_number: int) -> list[int]:
        """Consider these entries and those whose recursion delay has passed; return the indices of the newly activated ones."""
        due = {place for place in self._waiting if self._lore.placed[place].entry.delay_until_recursion <= round_number}
        self._waiting -= due
        considered = (self._consider(place, round_number) for place in sorted({*places, *due} - self._fired.keys()))
        return self._choose([candidate for candidate in considered if candidate is not None])

    def _choose(self, candidates: list[Candidate]) -> list[int]:
        """Activate the candidates that win their groups and fit the budget; if a winner does not fit, its rivals are tried."""
        new: list[int] = []
        while candidates:
            chosen = one_of_each_group(candidates, self._groups_taken, self._turn)
            paid = self._purse.pay(chosen.coming)
            self._blocked.update((each.place, blocked) for each, blocked in (*chosen.left_out, *paid.left_out))
            for candidate in paid.coming:
                self._fired[candidate.place] = candidate.fired
                self._groups_taken.update(dict.fromkeys(candidate.placed.groups, candidate))
                new.append(candidate.place)
            candidates = [each for each, _blocked in chosen.left_out] if chosen.coming else []
        return new

    def _next(self, new: list[int]) -> set[int]:
        """Return the indices of the entries to consider because of the texts of the newly activated ones."""
        placed = self._lore.placed
        sources = [(place, self._turn.expand(placed[place].entry.content)) for place in new if wakes_entries(placed[place])]
        return self._reconsidered(self._hearing.read(sources) if sources else set())

    def _reconsidered(self, keys: set[int]) -> set[int]:
        """Return the indices of the entries that these newly found keywords may activate."""
        if not keys:
            return set()
        held_back = {place for place, blocked in self._blocked.items() if blocked.why is BlockReason.SECONDARY}
        found = held_back.union(*(self._lore.woken_by(key) for key in keys))
        return found - self._fired.keys()

    def _consider(self, place: int, round_number: int) -> Candidate | None:
        """Return the entry as a candidate if its own rules allow it, otherwise None; record it as blocked if its keywords
        matched.
        """
        placed = self._lore.placed[place]
        heard = self._hearing.text_for(placed)
        verdict = judge(placed.main, placed.secondary, placed.entry.word_link, heard)
        active = place in self._records and self._records[place].is_active(self._turn.number)
        if not active and not placed.entry.sticky and verdict is KeywordVerdict.ASLEEP:
            return None
        key, where = _nearest(placed, heard)
        obstacle = self._obstacle(place, round_number, verdict, active=active)
        if obstacle is not None:
            self._blocked[place] = self._block(placed, *obstacle, key=key, where=where)
            return None
        cause = _cause(placed, verdict, where, active=active)
        return Candidate(place, placed, self._fire(place, cause, key, where), said=_count(placed, heard))

    def _obstacle(self, place: int, round_number: int, verdict: KeywordVerdict, *, active: bool) -> Obstacle | None:
        """Return the first rule that blocks the entry, with its details; None if there is none."""
        placed = self._lore.placed[place]
        closed = _closed(placed.entry, self._turn.moment)
        if closed is not None or active:
            return closed
        too_early = self._too_early(place, round_number)
        if too_early is not None:
            return too_early
        if verdict is KeywordVerdict.HELD_BACK and not placed.entry.sticky:
            return BlockReason.SECONDARY, {"condition": placed.entry.word_link.value}
        return self._misfortune(placed)

    def _too_early(self, place: int, round_number: int) -> Obstacle | None:
        placed, turn = self._lore.placed[place], self._turn
        entry, record = placed.entry, self._records.get(place)
        if record is not None and record.is_resting(turn.number):
            return BlockReason.COOLDOWN, {"until": record.cooldown_until, "turn": turn.number}
        if turn.spoken < entry.delay:
            return BlockReason.DELAY, {"needed": entry.delay, "messages": turn.spoken}
        if round_number < entry.delay_until_recursion:
            if placed.world.recursive:
                self._waiting.add(place)
            return BlockReason.RECURSION, {"round": entry.delay_until_recursion}
        return None

    def _misfortune(self, placed: CompiledEntry) -> Obstacle | None:
        chance = placed.entry.trigger_chance
        if chance >= 1:
            return None
        drawn = draw(self._turn.seed, self._turn.id, placed.entry.guid)
        return None if drawn < chance else (BlockReason.CHANCE, {"drawn": round(drawn, 4), "chance": chance})

    def _fire(self, place: int, cause: ActivationCause, key: int | None, where: NearestMatch | None) -> Fired:
        placed = self._lore.placed[place]
        in_message = where is not None and not where.in_entry
        record = self._records[place] if cause is ActivationCause.ACTIVE else woken(placed.entry, self._turn.number)
        return Fired(
            entry=placed.entry,
            world=placed.world,
            reason=cause,
            tokens=self._limits.count(self._turn.expand(placed.entry.content)),
            key="" if key is None else self._lore.keys[key].text,
            message_index=where.distance if where and in_message else None,
            message_id=self._hearing.line(where).message_id if where and in_message else None,
            woken_by=self._lore.placed[where.source].entry.name if where and where.in_entry else "",
            active_until=record.active_until if record else self._turn.number,
        )

    def _block(
        self,
        placed: CompiledEntry,
        why: BlockReason,
        values: Mapping[str, Parameter],
        *,
        key: int | None,
        where: NearestMatch | None,
    ) -> Blocked:
        said = where is not None and not where.in_entry
        text = "" if key is None else self._lore.keys[key].text
        return Blocked(placed.entry, placed.world, why, values, text, where.distance if where and said else None)

    def _stop_at_limit(self, places: Iterable[int]) -> None:
        """Record as blocked what a further recursion round would activate, unless another rule has blocked it."""
        # The secondary condition may be met by a text of the next round, so such an entry is evaluated once more.
        settled = {place for place, blocked in self._blocked.items() if blocked.why is not BlockReason.SECONDARY}
        for place in sorted({*places} - settled - self._fired.keys()):
            candidate = self._consider(place, self._limits.rounds + 1)
            if candidate is not None:
                self._blocked[place] = candidate.blocked(BlockReason.RECURSION, {"rounds": self._limits.rounds})

    def _outcome(self) -> Evaluation:
        # States of entries whose world is not loaded in this turn are kept, so that durations and cooldowns survive until it
        # is back.
        entries = {**self._absent, **{self._lore.placed[place].entry.guid: record for place, record in self._records.items()}}
        for fired in self._fired.values():
            record = None if fired.reason is ActivationCause.ACTIVE else woken(fired.entry, self._turn.number)
            if record is not None:
                entries[fired.entry.guid] = record
        fired_in_order = sorted(self._fired.values(), key=_standing)
        blocked = [blocked for place, blocked in sorted(self._blocked.items()) if place not in self._fired]
        return Evaluation(fired_in_order, blocked, LoreState(entries=entries), sum(fired.tokens for fired in fired_in_order))


def _unedited(lore: Lore, records: dict[UUID, EntryState]) -> dict[int, EntryState]:
    """Return the states by entry index, without those of entries that were edited since."""
    valid = {}
    for guid, record in records.items():
        place = lore.place_of(guid)
        if place is not None and record.content_hash == content_hash(lore.placed[place].entry):
            valid[place] = record
    return valid


def _closed(entry: WorldEntry, moment: datetime) -> Obstacle | None:
    """Return why the entry is disabled or not due; None if it is available."""
    if not entry.enabled:
        return BlockReason.DISABLED, {}
    if entry.added > moment:
        return BlockReason.NOT_DUE, {"begins": f"{entry.added:%Y-%m-%d %H:%M}"}
    if not entry.is_due(moment):
        return BlockReason.NOT_DUE, {"ended": f"{entry.end_time:%Y-%m-%d %H:%M}"}
    return None


def _nearest(placed: CompiledEntry, heard: dict[int, NearestMatch]) -> tuple[int | None, NearestMatch | None]:
    """Return the keyword found in the newest message, preferring main keywords, with its match."""
    main = [key for key in placed.main if key in heard]
    keys = main or [key for key in placed.secondary if key in heard]
    if not keys:
        return None, None
    key = min(keys, key=lambda each: heard[each].distance)
    return key, heard[key]


def _count(placed: CompiledEntry, heard: dict[int, NearestMatch]) -> int:
    """Return the number of matching keywords, including secondary ones unless their absence is the condition."""
    is_held_back = placed.entry.word_link in {WordLink.NOT, WordLink.NOT_ALL}
    return len({key for key in (*placed.main, *(() if is_held_back else placed.secondary)) if key in heard})


def _cause(placed: CompiledEntry, verdict: KeywordVerdict, where: NearestMatch | None, *, active: bool) -> ActivationCause:
    if active:
        return ActivationCause.ACTIVE
    if placed.entry.sticky:
        return ActivationCause.CONSTANT
    if where is None:
        return ActivationCause.ABSENCE
    return ActivationCause.RECURSION if where.in_entry else ActivationCause.KEY


def _standing(fired: Fired) -> tuple[object, ...]:
    entry = fired.entry
    return (entry.order, entry.priority, entry.name, entry.guid)
