"""Evaluation of one turn: which entries are activated, in recursion rounds, and the resulting state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from lethe_app.brain.lore.compiled import CompiledEntry, LoreIndex
from lethe_app.brain.lore.evaluation import (
    ActivatedEntry,
    ActivationCause,
    BlockedEntry,
    Evaluation,
    EvaluationTurn,
    LoreLimits,
)
from lethe_app.brain.lore.groups_and_budget import EntryCandidate, LoreBudget, select_group_winners
from lethe_app.brain.lore.keyword_logic import KeywordVerdict, draw_random, evaluate_keywords
from lethe_app.brain.lore.matches import NearestMatch, ScannedText, can_activate_entries
from lethe_app.brain.lore.state import EntryState, LoreState, build_entry_state, content_hash
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.memory import WordLink
from lethe_app.domain.recall import BlockReason, Parameter
from lethe_app.domain.worldinfo import World, WorldEntry

Obstacle = tuple[BlockReason, Mapping[str, Parameter]]
"""Rule that blocks an entry, with its numbers."""


def evaluate(
    lore: LoreIndex, window: ScanWindow, state: LoreState, turn: EvaluationTurn, limits: LoreLimits | None = None
) -> Evaluation:
    """Return the activated and the blocked entries of a turn and the next state, without side effects and deterministically.

    The rules apply in this order: enabled, due, still active (which skips the rules up to the groups), cooldown, delay,
    recursion delay, secondary keywords, chance, inclusion groups, token budget. Groups come before the budget, so that an
    entry that loses its group costs no tokens.
    """
    return _EvaluationRun(lore, window, state, turn, limits or LoreLimits()).run()


class _EvaluationRun:
    """One evaluation in progress."""

    def __init__(self, lore: LoreIndex, window: ScanWindow, state: LoreState, turn: EvaluationTurn, limits: LoreLimits) -> None:
        self._lore = lore
        self._turn = turn
        self._limits = limits
        self._scanned = ScannedText(lore, window)
        self._greeting = turn.greeting if turn.greeting is not None else state.greeting
        self._budget = LoreBudget(limits)
        current = {guid: record for guid, record in state.entries.items() if record.is_relevant_in(turn.number)}
        self._states = _unedited_states_by_index(lore, current)
        self._unloaded_states = {guid: record for guid, record in current.items() if lore.index_of(guid) is None}
        self._activated: dict[int, ActivatedEntry] = {}
        self._blocked: dict[int, BlockedEntry] = {}
        self._delayed: set[int] = set()
        self._group_winners: dict[str, EntryCandidate] = {}

    def run(self) -> Evaluation:
        active = {index for index, record in self._states.items() if record.is_active(self._turn.number)}
        self._run_rounds(
            active.union(
                self._lore.always_considered, *(self._lore.entries_for_key(key) for key in self._scanned.message_matches)
            )
        )
        for world in self._lore.worlds:
            self._extend_scan_depth(world)
        return self._build_evaluation()

    def _extend_scan_depth(self, world: World) -> None:
        """Increase the scan depth of a world by one message at a time until enough of its entries are active."""
        deepest = min(world.max_depth, self._scanned.max_distance)
        depth = world.scan_depth
        while (
            depth < deepest and sum(activated.world is world for activated in self._activated.values()) < world.min_activations
        ):
            depth += 1
            self._run_rounds(self._entries_for_keys(self._scanned.extend_depth(world, depth)))

    def _run_rounds(self, indexes: set[int]) -> None:
        """Consider these entries, then, in recursion rounds, those activated by the texts of newly activated ones."""
        for round_number in range(self._limits.max_rounds + 1):
            # A delayed entry may be due in a later round even if no text activated anything in this one.
            if not indexes and not self._delayed:
                return
            new = self._run_round(indexes, round_number)
            indexes = self._scan_activated(new)
        self._block_beyond_limit(indexes)

    def _run_round(self, indexes: Iterable[int], round_number: int) -> list[int]:
        """Consider these entries and those whose recursion delay has passed; return the indices of the newly activated ones."""
        due = {
            index for index in self._delayed if self._lore.compiled_entries[index].entry.delay_until_recursion <= round_number
        }
        self._delayed -= due
        considered = (self._evaluate_entry(index, round_number) for index in sorted({*indexes, *due} - self._activated.keys()))
        return self._activate_winners([candidate for candidate in considered if candidate is not None])

    def _activate_winners(self, candidates: list[EntryCandidate]) -> list[int]:
        """Activate the candidates that win their groups and fit the budget; if a winner does not fit, its rivals are tried."""
        new: list[int] = []
        while candidates:
            winners = select_group_winners(candidates, self._group_winners, self._turn)
            affordable = self._budget.select_affordable(winners.selected)
            self._blocked.update((each.index, blocked) for each, blocked in (*winners.excluded, *affordable.excluded))
            for candidate in affordable.selected:
                self._activated[candidate.index] = candidate.activated
                self._group_winners.update(dict.fromkeys(candidate.compiled.groups, candidate))
                new.append(candidate.index)
            # Losers compete again as long as winners are tried: a winner that was too long leaves its group to them.
            candidates = [each for each, _blocked in winners.excluded] if winners.selected else []
        return new

    def _scan_activated(self, new: list[int]) -> set[int]:
        """Return the indices of the entries to consider because of the texts of the newly activated ones."""
        compiled = self._lore.compiled_entries
        sources = [
            (index, self._turn.expand(compiled[index].entry.content)) for index in new if can_activate_entries(compiled[index])
        ]
        return self._entries_for_keys(self._scanned.scan_entry_texts(sources) if sources else set())

    def _entries_for_keys(self, keys: set[int]) -> set[int]:
        """Return the indices of the entries that these newly found keywords may activate."""
        if not keys:
            return set()
        missing_secondary = {index for index, blocked in self._blocked.items() if blocked.reason is BlockReason.SECONDARY}
        found = missing_secondary.union(*(self._lore.entries_for_key(key) for key in keys))
        return found - self._activated.keys()

    def _evaluate_entry(self, index: int, round_number: int) -> EntryCandidate | None:
        """Return the entry as a candidate if its own rules allow it, otherwise None; record it as blocked if its keywords
        matched.
        """
        compiled = self._lore.compiled_entries[index]
        matches = self._scanned.matches_for(compiled)
        verdict = evaluate_keywords(compiled.main, compiled.secondary, compiled.entry.word_link, matches)
        active = index in self._states and self._states[index].is_active(self._turn.number)
        if not active and not compiled.entry.sticky and verdict is KeywordVerdict.NO_MATCH:
            return None
        key, nearest = _find_nearest(compiled, matches)
        obstacle = self._find_obstacle(index, round_number, verdict, active=active)
        if obstacle is not None:
            self._blocked[index] = self._build_blocked(compiled, *obstacle, key=key, nearest=nearest)
            return None
        cause = _activation_cause(compiled, verdict, nearest, active=active)
        return EntryCandidate(
            index, compiled, self._build_activated(index, cause, key, nearest), match_count=_count_matches(compiled, matches)
        )

    def _find_obstacle(self, index: int, round_number: int, verdict: KeywordVerdict, *, active: bool) -> Obstacle | None:
        """Return the first rule that blocks the entry, with its details; None if there is none."""
        compiled = self._lore.compiled_entries[index]
        # Checked for active entries too: what the user has disabled goes at once.
        unavailable = _check_availability(compiled.entry, self._turn.moment)
        if unavailable is not None or active:
            return unavailable
        too_early = self._check_timing(index, round_number) or self._check_decorators(compiled)
        if too_early is not None:
            return too_early
        if verdict is KeywordVerdict.CONDITION_UNMET and not compiled.entry.sticky:
            return BlockReason.SECONDARY, {"condition": compiled.entry.word_link.value}
        return self._check_chance(compiled)

    def _check_timing(self, index: int, round_number: int) -> Obstacle | None:
        compiled, turn = self._lore.compiled_entries[index], self._turn
        entry, record = compiled.entry, self._states.get(index)
        if record is not None and record.is_cooling_down(turn.number):
            return BlockReason.COOLDOWN, {"until": record.cooldown_until, "turn": turn.number}
        if turn.message_count < entry.delay:
            return BlockReason.DELAY, {"needed": entry.delay, "messages": turn.message_count}
        if round_number < entry.delay_until_recursion:
            if compiled.world.recursive:
                self._delayed.add(index)
            return BlockReason.RECURSION, {"round": entry.delay_until_recursion}
        return None

    def _check_decorators(self, compiled: CompiledEntry) -> Obstacle | None:
        """Return the decorator whose condition is not met."""
        conditions, replies = compiled.decorators, self._turn.reply_count
        unmet = {
            "activate_only_after": replies < conditions.after,
            "activate_only_every": conditions.every > 0 and replies % conditions.every != 0,
            "is_greeting": conditions.greeting is not None and conditions.greeting != self._greeting,
        }
        if compiled.required or compiled.excluded:
            matches = self._scanned.matches_for(compiled)
            unmet["additional_keys"] = any(not any(key in matches for key in keys) for keys in compiled.required)
            unmet["exclude_keys"] = any(key in matches for key in compiled.excluded)
        name = next((name for name, is_unmet in unmet.items() if is_unmet), None)
        return (BlockReason.DECORATOR, {"name": name}) if name is not None else None

    def _check_chance(self, compiled: CompiledEntry) -> Obstacle | None:
        chance = compiled.entry.trigger_chance
        if chance >= 1:
            return None
        # Drawn from the turn and the entry, not from a sequence: a regenerated reply and another order of worlds draw alike.
        drawn = draw_random(self._turn.seed, self._turn.id, compiled.entry.guid)
        return None if drawn < chance else (BlockReason.CHANCE, {"drawn": round(drawn, 4), "chance": chance})

    def _build_activated(
        self, index: int, cause: ActivationCause, key: int | None, nearest: NearestMatch | None
    ) -> ActivatedEntry:
        compiled = self._lore.compiled_entries[index]
        in_message = nearest is not None and not nearest.in_entry
        record = (
            self._states[index] if cause is ActivationCause.ACTIVE else build_entry_state(compiled.entry, self._turn.number)
        )
        return ActivatedEntry(
            entry=compiled.entry,
            world=compiled.world,
            cause=cause,
            tokens=self._limits.count_tokens(self._turn.expand(compiled.entry.content)),
            key="" if key is None else self._lore.keys[key].text,
            message_index=nearest.distance if nearest and in_message else None,
            message_id=self._scanned.line_of(nearest).message_id if nearest and in_message else None,
            activated_by=self._lore.compiled_entries[nearest.source].entry.name if nearest and nearest.in_entry else "",
            active_until=record.active_until if record else self._turn.number,
        )

    def _build_blocked(
        self,
        compiled: CompiledEntry,
        reason: BlockReason,
        values: Mapping[str, Parameter],
        *,
        key: int | None,
        nearest: NearestMatch | None,
    ) -> BlockedEntry:
        in_message = nearest is not None and not nearest.in_entry
        text = "" if key is None else self._lore.keys[key].text
        return BlockedEntry(
            compiled.entry, compiled.world, reason, values, text, nearest.distance if nearest and in_message else None
        )

    def _block_beyond_limit(self, indexes: Iterable[int]) -> None:
        """Record as blocked what a further recursion round would activate, unless another rule has blocked it."""
        # The secondary condition may be met by a text of the next round, so such an entry is evaluated once more.
        otherwise_blocked = {index for index, blocked in self._blocked.items() if blocked.reason is not BlockReason.SECONDARY}
        for index in sorted({*indexes} - otherwise_blocked - self._activated.keys()):
            candidate = self._evaluate_entry(index, self._limits.max_rounds + 1)
            if candidate is not None:
                self._blocked[index] = candidate.to_blocked(BlockReason.RECURSION, {"rounds": self._limits.max_rounds})

    def _build_evaluation(self) -> Evaluation:
        # States of entries whose world is not loaded in this turn are kept, so that durations and cooldowns survive until it
        # is back.
        entries = {
            **self._unloaded_states,
            **{self._lore.compiled_entries[index].entry.guid: record for index, record in self._states.items()},
        }
        for activated in self._activated.values():
            record = (
                None if activated.cause is ActivationCause.ACTIVE else build_entry_state(activated.entry, self._turn.number)
            )
            if record is not None:
                entries[activated.entry.guid] = record
        activated_in_order = sorted(self._activated.values(), key=_insertion_order)
        blocked = [blocked for index, blocked in sorted(self._blocked.items()) if index not in self._activated]
        return Evaluation(
            activated_in_order,
            blocked,
            LoreState(entries=entries, greeting=self._greeting),
            sum(activated.tokens for activated in activated_in_order),
        )


def _unedited_states_by_index(lore: LoreIndex, records: dict[UUID, EntryState]) -> dict[int, EntryState]:
    """Return the states by entry index, without those of entries that were edited since."""
    valid = {}
    for guid, record in records.items():
        index = lore.index_of(guid)
        if index is not None and record.content_hash == content_hash(lore.compiled_entries[index].entry):
            valid[index] = record
    return valid


def _check_availability(entry: WorldEntry, moment: datetime) -> Obstacle | None:
    """Return why the entry is disabled or not due; None if it is available."""
    if not entry.enabled:
        return BlockReason.DISABLED, {}
    if entry.added > moment:
        return BlockReason.NOT_DUE, {"begins": f"{entry.added:%Y-%m-%d %H:%M}"}
    if not entry.is_due(moment):
        return BlockReason.NOT_DUE, {"ended": f"{entry.end_time:%Y-%m-%d %H:%M}"}
    return None


def _find_nearest(compiled: CompiledEntry, matches: dict[int, NearestMatch]) -> tuple[int | None, NearestMatch | None]:
    """Return the keyword found in the newest message, preferring main keywords, with its match."""
    main = [key for key in compiled.main if key in matches]
    keys = main or [key for key in compiled.secondary if key in matches]
    if not keys:
        return None, None
    key = min(keys, key=lambda each: matches[each].distance)
    return key, matches[key]


def _count_matches(compiled: CompiledEntry, matches: dict[int, NearestMatch]) -> int:
    """Return the number of matching keywords, including secondary ones unless their absence is the condition."""
    needs_absence = compiled.entry.word_link in {WordLink.NOT, WordLink.NOT_ALL}
    return len({key for key in (*compiled.main, *(() if needs_absence else compiled.secondary)) if key in matches})


def _activation_cause(
    compiled: CompiledEntry, verdict: KeywordVerdict, nearest: NearestMatch | None, *, active: bool
) -> ActivationCause:
    if active:
        return ActivationCause.ACTIVE
    if compiled.entry.sticky:
        return ActivationCause.CONSTANT
    if nearest is None:
        return ActivationCause.ABSENCE
    return ActivationCause.RECURSION if nearest.in_entry else ActivationCause.KEY


def _insertion_order(activated: ActivatedEntry) -> tuple[object, ...]:
    entry = activated.entry
    return (entry.order, entry.priority, entry.name, entry.guid)
