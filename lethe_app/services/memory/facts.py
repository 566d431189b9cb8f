"""Facts of a persona: learnt from sessions, merged with known facts, and edited by the user."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from uuid import UUID

from lethe_app.brain.facts import merge as facts_merge
from lethe_app.brain.facts.comparison import (
    are_comparable,
    find_duplicates,
    is_name_in_only_one,
    is_paraphrase,
    restates,
    reword_fact,
)
from lethe_app.brain.facts.same_meaning import is_said_by
from lethe_app.brain.facts.superseding import VALID, find_contained, supersede
from lethe_app.brain.facts.updates import FactWithdrawal, replace_outdated
from lethe_app.brain.notebooks.outdated_lines import FactHistory
from lethe_app.brain.text.fingerprint import compute_fingerprint, fingerprint_digest
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy, SupersededBecause, Tombstone, find_current_fact
from lethe_app.domain.passage import PassageKind
from lethe_app.errors import LetheError
from lethe_app.retrieval.fact_relation import FactRelation, classify_relation
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.memory.key_moment_store import KeyMomentStore
from lethe_app.storage.memory.facts import FactStore

NEAREST = 6
"""Number of nearest known facts that a new fact is compared with."""

Judge = Callable[[str, str], Awaitable[FactRelation | None]]
"""Function that returns the relation of a new fact (second argument) to a known one (first); None if undecided."""


@lru_cache(50_000)
def _digest(text: str) -> str:
    return fingerprint_digest(text)


@dataclass
class FactWorkingSet:
    """Facts of a persona as they were read at the start of learning, with the changes made since."""

    change_count: int = -1
    """Value of the persona's counter of user changes when this was read."""
    known: dict[UUID, ExtractedFact] = field(default_factory=dict)
    unindexed: dict[UUID, str] = field(default_factory=dict)
    """Texts of facts stored since the start of learning, which the vector index does not contain yet."""
    tombstones: list[Tombstone] = field(default_factory=list)
    decided_by_user: list[ExtractedFact] = field(default_factory=list)
    """Facts that the user has forgotten or worded. Paraphrases of them from the same messages are not learnt again."""


class FactService:
    """Facts of all personas. `changed` emits the persona."""

    def __init__(
        self,
        fact_store: FactStore,
        key_moments: KeyMomentStore,
        memory_index: MemoryIndex,
        indexing: IndexingService,
        calibration: Calibration,
        renewed: Listeners[str],
    ) -> None:
        self.changed: Listeners[str] = Listeners()
        self._fact_store, self._key_moments = fact_store, key_moments
        self._memory_index = memory_index
        self._indexing = indexing
        self._calibration = calibration
        self._renewed = renewed
        self._renamings: set[asyncio.Task[None]] = set()
        self._learning = asyncio.Lock()
        """Serialises learning: two sessions with the same fact, learnt at once, would store it twice."""
        self._writing = asyncio.Lock()
        self._changes: Counter[str] = Counter()
        """Number of changes by the user, per persona."""
        self.former_wordings: defaultdict[str, dict[str, UUID]] = defaultdict(dict)
        """Facts that the user reworded since the start of the program, by persona and by the digests of their former texts."""
        self.facts_of = self._fact_store.facts_of
        """Return the persona's facts, superseded ones included, newest first."""

    async def learn(
        self,
        persona_id: str,
        new_facts: Sequence[ExtractedFact],
        judge: Judge | None = None,
        ends: Mapping[UUID, Sequence[str]] | None = None,
    ) -> int:
        """Merge new facts from a session with the known ones; return the number of changed records. Facts that the user has
        forgotten are not stored again.

        `ends` maps the guid of a new fact to sentences that no longer hold because of it.
        """
        async with self._learning:
            working_set = FactWorkingSet()
            await self._memory_index.prepare_texts([fact.fact for fact in new_facts])
            changes = [
                await self._merge_fact(persona_id, fact, judge, working_set, (ends or {}).get(fact.guid, ()))
                for fact in new_facts
            ]
            if any(changes):
                await self._indexing.index_changes(sum(changes))
        if any(changes):
            self.changed.notify(persona_id)
        return sum(changes)

    async def withdraw(
        self, persona_id: str, decide: Callable[[Sequence[ExtractedFact]], FactWithdrawal]
    ) -> Sequence[ExtractedFact]:
        """Remove or change the facts that `decide` selects from all known ones; return the facts to be learnt instead. Dormant
        ones stay, because notebooks follow them and undo brings them back.
        """
        async with self._learning, self._writing:
            withdrawal = decide(await self._fact_store.facts_of(persona_id))
            if withdrawal.changed:
                await self._fact_store.save_facts(persona_id, *withdrawal.changed)
            if withdrawal.removed:
                await self._fact_store.erase_facts(persona_id, withdrawal.removed)
        if withdrawal.removed:
            await self.renew(persona_id)  # prompts may still tell it
        return withdrawal.moved

    async def add(self, persona_id: str, text: str, *, pinned: bool = False) -> ExtractedFact:
        """Add a fact worded by the user; a known fact with the same words becomes the user's instead."""
        fact = ExtractedFact(fact=require_text(text), made_by=MadeBy.USER, pinned=pinned)
        async with self._user_change(persona_id):
            duplicate = next(iter(find_duplicates(fact, await self._fact_store.undeleted_facts_of(persona_id))), None)
            if duplicate is not None:
                values = {"fact": fact.fact, "made_by": MadeBy.USER, "pinned": pinned or duplicate.pinned, "last_seen": now()}
                fact = duplicate.model_copy(update={**values, **VALID})
            await self._save_without_duplicates(persona_id, fact)
        return fact

    async def edit(self, guid: UUID, text: str) -> ExtractedFact:
        """Change the text of a fact, which becomes the user's own; the old text is not learnt from the same messages again."""
        new_text, persona_id = require_text(text), await self._fact_store.owner_of(guid)
        async with self._user_change(persona_id):
            old = await self._fact_store.get(guid)
            known = await self._fact_store.undeleted_facts_of(persona_id)
            fact = reword_fact(old, new_text, known).model_copy(update={"made_by": MadeBy.USER, "last_seen": now()})
            self._record_wordings(persona_id, [old], [fact])
            # A tombstone for the old text, without moving the fact to the trash.
            if fingerprint_digest(old.fact) != fingerprint_digest(new_text) and old.source_messages:
                await self._fact_store.forget_facts(persona_id, [], [facts_merge.build_tombstone(old)])
                await self._key_moments.delete_stating(persona_id, old)
            await self._save_without_duplicates(persona_id, fact)
        return fact

    def start_renaming(self, names: tuple[str, str]) -> None:
        """Change the user's name in the facts, which are about the same person as before, from the first of `names` to the
        second, in the background.
        """

        async def rename() -> None:
            for persona_id in await self._fact_store.rename_subject(*names):
                await self.renew(persona_id)

        task = asyncio.get_running_loop().create_task(rename())
        self._renamings.add(task)
        task.add_done_callback(self._renamings.discard)

    async def close(self) -> None:
        """Wait for the changes of the user's name that have begun."""
        if self._renamings:
            await asyncio.wait(self._renamings)

    async def pin(self, guid: UUID, *, pinned: bool) -> ExtractedFact:
        """Set whether the fact is among the core facts regardless of its ranking."""
        persona_id = await self._fact_store.owner_of(guid)
        async with self._user_change(persona_id):
            fact = (await self._fact_store.get(guid)).model_copy(update={"pinned": pinned})
            await self._fact_store.save_facts(persona_id, fact)
        return fact

    async def restore(self, guid: UUID, *, replaces_successor: bool = False) -> None:
        """Restore a superseded fact, beside its successor or with `replaces_successor` in its place; or a forgotten fact.

        Raise LetheError, with nothing changed, if all sessions it was learnt from are in the trash, because it would not be
        listed.
        """
        persona_id = await self._fact_store.owner_of(guid)
        async with self._user_change(persona_id):
            deleted_fact = next(
                (fact for fact in await self._fact_store.facts_of(persona_id, deleted=True) if fact.guid == guid), None
            )
            if deleted_fact is not None:
                await self._fact_store.restore_fact(persona_id, guid, fingerprint_digest(deleted_fact.fact))
            all_facts = await self._fact_store.facts_of(persona_id)
            fact = next((fact for fact in all_facts if fact.guid == guid), None)
            if fact is None:
                if deleted_fact is not None:
                    await self._fact_store.forget_facts(persona_id, [guid], [facts_merge.build_tombstone(deleted_fact)])
                raise LetheError(
                    "The conversation this fact was learnt from is in the Trash.", "Restore that conversation first."
                )
            records = (
                facts_merge.restore_fact(fact, all_facts, supersede_successor=replaces_successor)
                if deleted_fact is None
                else [fact]
            )
            for record in records[1:]:
                await self._fact_store.save_facts(persona_id, record)
            if records:
                await self._save_without_duplicates(persona_id, records[0])
            await self._key_moments.restore_stating(persona_id, [deleted_fact] if deleted_fact is not None else [])

    async def forget_fact(self, guid: UUID) -> None:
        """Move the fact to the trash with those of which it says the same or more, and prevent them from being learnt from the
        same messages again.
        """
        persona_id = await self._fact_store.owner_of(guid)
        async with self._user_change(persona_id):
            await self._fact_store.get(guid)
            facts = find_contained(guid, await self._fact_store.undeleted_facts_of(persona_id))
            await self._forget(persona_id, facts)

    async def forget_facts(self, persona_id: str, facts: Sequence[ExtractedFact]) -> None:
        """Do the same for these facts of a persona alone, which may be dormant."""
        async with self._user_change(persona_id):
            await self._forget(persona_id, facts)

    async def find_similar(self, persona_id: str, text: str) -> list[ExtractedFact]:
        """Return the facts that are near enough to a text for a closer look, nearest first; none without an embedding model."""
        limit = (await self._calibration.thresholds()).update
        nearest = await self._memory_index.nearest_origins(persona_id, text, PassageKind.FACT, NEAREST)
        known = {fact.guid: fact for fact in await self._fact_store.facts_of(persona_id)}
        return [known[guid] for guid, distance in nearest if distance <= limit and guid in known]

    async def _forget(self, persona_id: str, facts: Sequence[ExtractedFact]) -> None:
        tombstones = [facts_merge.build_tombstone(fact) for fact in facts]
        await self._fact_store.forget_facts(persona_id, [fact.guid for fact in facts], tombstones)
        for fact in facts:
            await self._key_moments.delete_stating(persona_id, fact)

    async def merge(self, guids: Sequence[UUID], text: str) -> ExtractedFact:
        """Replace several facts by one in the user's words, with the earliest first mention, and the counts and sources of
        all. Raise LetheError if they are not of one persona.
        """
        merged_text, persona_id = require_text(text), await self._fact_store.owner_of(guids[0])
        async with self._user_change(persona_id):
            facts = sorted(
                [await self._fact_store.get(guid) for guid in dict.fromkeys(guids)], key=lambda fact: fact.first_seen
            )
            if len(facts) < 2 or {await self._fact_store.owner_of(fact.guid) for fact in facts} != {persona_id}:
                raise LetheError("Only facts of the same persona can be merged.")
            merged = facts_merge.combine_facts(facts, merged_text)
            parts = [supersede(fact, merged, SupersededBecause.MERGED)[0] for fact in facts]
            await self._fact_store.save_facts(persona_id, merged, *parts)
        return await self._fact_store.get(merged.guid)

    async def restore_facts(self, facts: Sequence[ExtractedFact], deleted: Sequence[UUID] = ()) -> None:
        """Undo a user's change: store these facts as they were before it, and move the facts in `deleted` to the trash.

        Tombstones that prevent their texts from being learnt again are removed.
        """
        owners = {
            guid: await self._fact_store.owner_of(guid) for guid in dict.fromkeys([*(fact.guid for fact in facts), *deleted])
        }
        for persona_id in dict.fromkeys(owners.values()):
            persona_facts = [fact for fact in facts if owners[fact.guid] == persona_id]
            async with self._user_change(persona_id):
                guids = {fact.guid for fact in persona_facts}
                deleted_facts = [
                    fact for fact in await self._fact_store.facts_of(persona_id, deleted=True) if fact.guid in guids
                ]
                self._record_wordings(persona_id, await self._fact_store.undeleted_facts_of(persona_id), persona_facts)
                restored, tombstones = (*persona_facts, *deleted_facts), await self._fact_store.tombstones_of(persona_id)
                rejected = [
                    fact for fact in restored if facts_merge.is_text_forgotten(fact.fact, fact.source_messages, tombstones)
                ]
                for fact in restored:
                    await self._fact_store.restore_fact(persona_id, fact.guid, fingerprint_digest(fact.fact))
                await self._key_moments.restore_stating(persona_id, rejected)
                await self._fact_store.save_facts(persona_id, *persona_facts)
                await self._fact_store.forget_facts(persona_id, [guid for guid in deleted if owners[guid] == persona_id], [])

    async def load_history(self, persona_id: str) -> FactHistory:
        """Return what is known of facts that hold and of those that no longer do."""
        return FactHistory(
            await self._fact_store.facts_of(persona_id),
            await self._fact_store.facts_of(persona_id, deleted=True),
            await self._fact_store.dormant_facts_of(persona_id),
            await self._fact_store.tombstones_of(persona_id),
            dict(self.former_wordings[persona_id]),
        )

    async def renew(self, persona_id: str) -> None:
        """Apply a change by the user at once: update the index, and have the persona's prompts made again."""
        self._renewed.notify(persona_id)
        await self._indexing.index_changes()
        self.changed.notify(persona_id)

    async def _merge_fact(
        self, persona_id: str, fact: ExtractedFact, judge: Judge | None, working_set: FactWorkingSet, ends: Sequence[str]
    ) -> int:
        """Merge one fact with the known ones and store the result; repeat if the user changed a fact meanwhile."""
        while True:
            change_count = self._changes[persona_id]
            if working_set.change_count != change_count:
                await self._load_working_set(persona_id, working_set)
                working_set.change_count = change_count
            if facts_merge.is_forgotten(fact, working_set.tombstones) or is_paraphrase(fact, working_set.decided_by_user):
                return 0
            peers = {guid: known for guid, known in working_set.known.items() if are_comparable(known, fact)}
            merged_records = await self._find_changed_records(persona_id, fact, peers, judge, working_set.unindexed)
            records = replace_outdated(merged_records, fact, peers.values(), ends)
            async with self._writing:
                # The write lock is not held while a model judges, so the user may have changed a fact meanwhile; that change
                # wins.
                if self._changes[persona_id] != change_count:
                    continue
                if records:
                    await self._fact_store.save_facts(persona_id, *records)
            if records:
                working_set.known |= {record.guid: record for record in records}
                working_set.unindexed |= {record.guid: record.fact for record in records}  # the next one may say the same
            return len(records)

    async def _load_working_set(self, persona_id: str, working_set: FactWorkingSet) -> None:
        working_set.known = {fact.guid: fact for fact in await self._fact_store.facts_for_learning(persona_id)}
        working_set.tombstones = await self._fact_store.tombstones_of(persona_id)
        user_facts = [fact for fact in working_set.known.values() if fact.made_by is MadeBy.USER]
        working_set.decided_by_user = [*await self._fact_store.facts_of(persona_id, deleted=True), *user_facts]

    async def _find_changed_records(
        self,
        persona_id: str,
        fact: ExtractedFact,
        known: dict[UUID, ExtractedFact],
        judge: Judge | None,
        unindexed: Mapping[UUID, str],
    ) -> list[ExtractedFact]:
        """Return the records that change because of this fact."""
        digest, fingerprint = fingerprint_digest(fact.fact), compute_fingerprint(fact.fact)
        same_words = [other for other in known.values() if _digest(other.fact) == digest]  # in any order
        nearest_facts = [(other, 0.0) for other in same_words if compute_fingerprint(other.fact) == fingerprint]
        for guid, distance in await self._memory_index.nearest_origins(
            persona_id, fact.fact, PassageKind.FACT, NEAREST, unindexed
        ):
            if guid in known and guid not in {other.guid for other, _distance in nearest_facts}:
                nearest_facts.append((known[guid], distance))
        for other, _distance in tuple(nearest_facts):  # what superseded the same words may be worded quite differently
            current = find_current_fact(other, known)
            if current is not None and current.guid not in {each.guid for each, _distance in nearest_facts}:
                nearest_facts.append((current, 1.0))
        thresholds = await self._calibration.thresholds()
        valid = [other for other in known.values() if not other.superseded]
        restated = next((other for other in valid if restates(fact, other) or is_said_by(fact, other)), None)
        if restated is not None and not any(distance == 0.0 for _other, distance in nearest_facts):
            shorter = fact.model_copy(update={"made_by": restated.made_by})  # whoever says less does not word it
            return facts_merge.join_wordings(restated, shorter, SupersededBecause.EXTENDED)
        nearest = facts_merge.find_nearest_current(nearest_facts)
        relation = FactRelation.NEW
        if nearest is not None and 0 < nearest[1] <= thresholds.update and not is_name_in_only_one(nearest[0], fact):
            judged = await judge(nearest[0].fact, fact.fact) if judge is not None else None
            relation = judged or classify_relation(nearest[0].fact, fact.fact, nearest[1], thresholds)
        return facts_merge.merge_fact(fact, nearest_facts, relation)

    @asynccontextmanager
    async def _user_change(self, persona_id: str) -> AsyncIterator[None]:
        """Hold the write lock for a change by the user, count it, so that a concurrent merge of learnt facts starts again, and
        apply it at once.
        """
        async with self._writing:
            self._changes[persona_id] += 1
            yield
        await self.renew(persona_id)

    async def _save_without_duplicates(self, persona_id: str, fact: ExtractedFact) -> None:
        """Store the fact; if it holds, facts with the same words are superseded by it, and it takes over their sources and
        counts.
        """
        duplicates = find_duplicates(fact, await self._fact_store.undeleted_facts_of(persona_id)) if not fact.superseded else []
        superseded_facts: list[ExtractedFact] = []
        for duplicate in duplicates:
            if not duplicate.superseded:
                superseded, fact = supersede(duplicate, fact, SupersededBecause.REPEATED)
                superseded_facts.append(superseded)
        await self._fact_store.save_facts(persona_id, *superseded_facts, fact)

    def _record_wordings(self, persona_id: str, old: Sequence[ExtractedFact], new: Sequence[ExtractedFact]) -> None:
        texts = {fact.guid: fact.fact for fact in new}
        reworded = [fact for fact in old if texts.get(fact.guid, fact.fact) != fact.fact]
        self.former_wordings[persona_id].update({_digest(fact.fact): fact.guid for fact in reworded})


def require_text(text: str) -> str:
    """Return the text without surrounding whitespace. Raise LetheError if it is empty."""
    if not text.strip():
        raise LetheError("A fact needs text.", "Forget it instead.")
    return text.strip()
