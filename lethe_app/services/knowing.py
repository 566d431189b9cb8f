"""What a persona knows, as single facts: learnt from conversations, kept in order, and in the user's hands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from lethe_app.brain import ledger
from lethe_app.brain.gist import digest
from lethe_app.brain.ledger import Nearness, Relation
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.passage import PassageKind
from lethe_app.errors import LetheError
from lethe_app.retrieval import relation as wording
from lethe_app.retrieval.recall import Recall
from lethe_app.services.calibration import Calibration
from lethe_app.services.events import Listeners
from lethe_app.services.frames import Frames
from lethe_app.services.indexing import Indexing
from lethe_app.storage.facts import Facts

NEAREST = 6
"""Known facts a new one is compared with."""

AS_JUDGED = {judged: Relation(judged.value) for judged in wording.Relation}
"""What words and distance say, in the terms of the ledger."""

Judge = Callable[[str, str], Awaitable[Relation | None]]
"""What a new fact (second) is to a known one (first); None where nobody can tell."""


class Knowing:
    """All facts of all personas. `changed` names the persona."""

    def __init__(self, facts: Facts, recall: Recall, indexing: Indexing, calibration: Calibration, frames: Frames) -> None:
        self.changed: Listeners[str] = Listeners()
        self._facts = facts
        self._recall = recall
        self._indexing = indexing
        self._calibration = calibration
        self._frames = frames

    async def all(self, persona_id: str) -> list[ExtractedFact]:
        """Those that hold and those that were superseded, newest first."""
        return await self._facts.of(persona_id)

    async def learn(self, persona_id: str, new: Sequence[ExtractedFact], judge: Judge | None = None) -> int:
        """Take in facts from a conversation; returns how many records changed. What the user had forgotten stays forgotten."""
        stones = await self._facts.tombstones(persona_id)
        known = {fact.guid: fact for fact in await self._facts.of(persona_id)}
        changes = 0
        for fact in new:
            if ledger.is_forgotten(fact, stones):
                continue
            records = await self._settled(persona_id, fact, known, judge)
            if records:
                await self._facts.put(persona_id, *records)
                await self._indexing.follow()  # the next one may say the same
                known |= {record.guid: record for record in records}
                changes += len(records)
        if changes:
            self._tell(persona_id)
        return changes

    async def add(self, persona_id: str, text: str, *, pinned: bool = False) -> ExtractedFact:
        """A fact in the user's own words."""
        if not text.strip():
            raise LetheError("A fact needs words.")
        fact = ExtractedFact(fact=text.strip(), made_by=MadeBy.USER, pinned=pinned)
        await self._facts.put(persona_id, fact)
        await self._renewed(persona_id)
        return fact

    async def edit(self, guid: UUID, text: str) -> ExtractedFact:
        """Say it in other words; from then on it is the user's own."""
        if not text.strip():
            raise LetheError("A fact needs words.", "Forget it instead.")
        return await self._change(guid, fact=text.strip(), made_by=MadeBy.USER)

    async def pin(self, guid: UUID, *, pinned: bool) -> ExtractedFact:
        """Keep it among the core facts, whatever comes."""
        return await self._change(guid, pinned=pinned)

    async def restore(self, guid: UUID, *, instead: bool = False) -> None:
        """Let a superseded fact hold again, beside what took its place or `instead` of it; or bring back a forgotten one."""
        persona_id = await self._facts.owner(guid)
        gone = {fact.guid: fact for fact in await self._facts.of(persona_id, deleted=True)}
        if guid in gone:
            await self._facts.restore(persona_id, guid, digest(gone[guid].fact))
        else:
            everything = await self._facts.of(persona_id)
            fact = next(fact for fact in everything if fact.guid == guid)
            await self._facts.put(persona_id, *ledger.restore(fact, everything, instead=instead))
        await self._renewed(persona_id)

    async def forget(self, guid: UUID) -> None:
        """Know it no more, and do not learn it again from the same talk."""
        persona_id, fact = await self._facts.owner(guid), await self._facts.get(guid)
        await self._facts.forget(persona_id, [guid], [ledger.tombstone(fact)])
        await self._renewed(persona_id)

    async def _settled(
        self, persona_id: str, fact: ExtractedFact, known: dict[UUID, ExtractedFact], judge: Judge | None
    ) -> list[ExtractedFact]:
        """The records that change because of this fact."""
        gist = digest(fact.fact)
        near = [(other, 0.0) for other in known.values() if digest(other.fact) == gist]
        for guid, distance in await self._recall.nearest(persona_id, fact.fact, PassageKind.FACT, NEAREST):
            if guid in known and guid not in {other.guid for other, _distance in near}:
                near.append((known[guid], distance))
        limits = await self._calibration.thresholds()
        found = ledger.rival(near)
        relation = None
        if found is not None and 0 < found[1] <= limits.update:
            relation = await judge(found[0].fact, fact.fact) if judge is not None else None
            relation = relation or AS_JUDGED[wording.relation(found[0].fact, fact.fact, found[1], limits)]
        return ledger.settle(fact, near, relation, Nearness(limits.duplicate, limits.update))

    async def _change(self, guid: UUID, **values: object) -> ExtractedFact:
        persona_id = await self._facts.owner(guid)
        fact = (await self._facts.get(guid)).model_copy(update={**values, "last_seen": now()})
        await self._facts.put(persona_id, fact)
        await self._renewed(persona_id)
        return fact

    async def _renewed(self, persona_id: str) -> None:
        """The user changed something: it is true at once, in the index and in every prompt."""
        await self._indexing.follow()
        await self._frames.renew(persona_id)
        self._tell(persona_id)

    def _tell(self, persona_id: str) -> None:
        self.changed.tell(persona_id)
