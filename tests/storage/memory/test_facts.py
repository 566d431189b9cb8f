"""Facts are read as they were saved, and tombstones of forgotten ones only grow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import pytest

from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy, Tombstone
from lethe_app.errors import StorageError
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore

HOME = {"kind": FactKind.HOME, "key": "home", "subject": "Tomas", "in_story": True}
NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)


@pytest.fixture
def facts(database: Database) -> FactStore:
    return FactStore(database)


def fact(text: str = "Tomas keeps bees.", **fields: object) -> ExtractedFact:
    return ExtractedFact(fact=text, **{"first_seen": NOON, "last_seen": NOON, **fields})


async def test_a_fact_is_replaced_by_its_guid(facts: FactStore):
    one = fact(source_memories=[uuid4()], source_messages=[uuid4(), uuid4()], pinned=True, made_by=MadeBy.USER, **HOME)
    await facts.save_facts("mara", one)
    assert await facts.get(one.guid) == one
    changed = one.model_copy(update={"fact": "Tomas keeps wasps.", "superseded": True, "superseded_by": uuid4()})

    await facts.save_facts("mara", changed)

    assert await facts.facts_of("mara") == [changed]
    assert await facts.facts_of("other") == []
    assert await facts.owner_of(one.guid) == "mara"


async def test_facts_are_newest_first_across_time_zones(facts: FactStore):
    east, west = timezone(timedelta(hours=12)), timezone(timedelta(hours=-11))
    newest, older = (
        fact("b", last_seen=NOON.astimezone(west)),
        fact("a", last_seen=(NOON - timedelta(hours=1)).astimezone(east)),
    )
    await facts.save_facts("mara", newest, older)

    assert [one.fact for one in await facts.facts_of("mara")] == ["b", "a"]


async def test_a_forgotten_fact_is_in_the_trash_until_it_is_restored(facts: FactStore):
    one = fact()
    await facts.save_facts("mara", one)

    await facts.forget_facts("mara", [one.guid], [Tombstone("d", (uuid4(),))])
    with pytest.raises(StorageError):
        await facts.get(one.guid)
    gone = await facts.facts_of("mara", deleted=True), await facts.facts_of("mara")
    await facts.restore_fact("mara", one.guid, "d")

    assert gone == ([one], [])
    assert await facts.facts_of("mara") == [one]
    assert await facts.tombstones_of("mara") == []


async def test_tombstones_of_the_same_text_are_united(facts: FactStore):
    first, second = uuid4(), uuid4()

    for message in (first, second, first):
        await facts.forget_facts("mara", [], [Tombstone("d", (message,))])

    assert await facts.tombstones_of("mara") == [Tombstone("d", (first, second))]


@pytest.mark.parametrize("order", [0, 1])
async def test_a_tombstone_for_all_messages_stays_one(facts: FactStore, order: int):
    stones = [Tombstone("d"), Tombstone("d", (uuid4(),))]

    for stone in stones[:: 1 if order else -1]:
        await facts.forget_facts("mara", [], [stone])

    assert await facts.tombstones_of("mara") == [Tombstone("d")]


async def test_erasing_a_fact_makes_the_facts_it_superseded_valid_again(facts: FactStore):
    newest = fact("Tomas keeps ants.")
    middle = fact("Tomas keeps wasps.", superseded=True, superseded_by=newest.guid)
    oldest = fact("Tomas keeps bees.", superseded=True, superseded_by=middle.guid)
    await facts.save_facts("mara", newest, middle, oldest)

    await facts.erase_facts("mara", [middle.guid])
    chain = {one.fact: one.superseded_by for one in await facts.facts_of("mara")}
    await facts.erase_facts("mara", [newest.guid])

    assert chain == {newest.fact: None, oldest.fact: newest.guid}
    (left,) = await facts.facts_of("mara")
    assert (left.guid, left.superseded, left.superseded_by) == (oldest.guid, False, None)
    assert await facts.facts_of("mara", deleted=True) == []
    assert await facts.tombstones_of("mara") == []
