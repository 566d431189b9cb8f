"""A change is applied or reverted as a whole; an interruption at any statement leaves no trace of it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from lethe_app.domain.agent_runs import ChangeState, RecordedChange
from lethe_app.domain.changes import DROP, MERGE, ChangedRecords
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import StorageError
from lethe_app.storage.agents.change_log import ChangeLog
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from tests.storage.memory.test_turn_memories import fail_at_statement
from tests.storage.scenes import mark_recalled

TABLES = ("memories", "facts", "changes", "passage_debts")


def build_memory(content: str, **fields: object) -> MemoryUnit:
    return MemoryUnit.model_validate({"content": content, "made_by": "journal", **fields})


DOG, HOUND = build_memory("Anna has a dog.", trigger_count=2), build_memory("Anna has a dog called Pip.", trigger_count=3)
WHOLE = build_memory("Anna has a dog called Pip.", trigger_count=5, made_by="dream")
FACT, TWIN = ExtractedFact(fact="Anna sings.", reference_count=2), ExtractedFact(fact="Anna sings!")
SUNG = ExtractedFact(fact="Anna sings.", reference_count=3)
GONE = [one.model_copy(update={"superseded": True, "superseded_by": SUNG.guid}) for one in (FACT, TWIN)]


def change(what: str, before: ChangedRecords, after: ChangedRecords) -> RecordedChange:
    return RecordedChange(persona_id="mara", what=what, before=before.model_dump_json(), after=after.model_dump_json())


MERGED = change(
    MERGE, ChangedRecords(memories=[DOG, HOUND], facts=[FACT, TWIN]), ChangedRecords(memories=[WHOLE], facts=[SUNG, *GONE])
)


@pytest.fixture
async def changes(database: Database) -> ChangeLog:
    await MemoryStore(database).save_memories("mara", DOG, HOUND)
    await FactStore(database).save_facts("mara", FACT, TWIN)
    return ChangeLog(database)


async def dump_tables(database: Database) -> list[str]:
    return await database.run(lambda c: [repr(row) for table in TABLES for row in c.execute(f"SELECT * FROM {table}")])


async def records(database: Database) -> tuple[list[MemoryUnit], list[ExtractedFact]]:
    memories = sorted(await MemoryStore(database).memories_of("mara"), key=lambda one: one.guid)
    return memories, sorted(await FactStore(database).facts_of("mara"), key=lambda one: one.guid)


async def test_reverting_a_merge_restores_exactly_what_there_was(database: Database, changes: ChangeLog):
    before = await records(database)

    done = await changes.apply_change(MERGED)
    memories, facts = await records(database)

    assert done.state is ChangeState.APPLIED
    assert memories == [WHOLE]
    assert [one.fact for one in facts if not one.superseded] == ["Anna sings."]

    await changes.revert_changes([MERGED.id])
    assert await records(database) == before
    assert (await changes.get(MERGED.id)).state is ChangeState.REVERTED  # type: ignore[union-attr]


async def test_interrupted_at_any_statement_nothing_is_stored(database: Database, changes: ChangeLog):
    before, at = await dump_tables(database), 2
    while await fail_at_statement(database, at, lambda: changes.apply_change(MERGED)):
        assert await dump_tables(database) == before
        at += 1
    assert at > 15
    assert await dump_tables(database) != before

    done, back = await dump_tables(database), 2
    while await fail_at_statement(database, back, lambda: changes.revert_changes([MERGED.id])):
        assert await dump_tables(database) == done
        back += 1
    assert back > 15


async def test_recalls_since_the_proposal_are_counted(database: Database, changes: ChangeLog):
    await mark_recalled(database, [DOG.guid, DOG.guid])

    await changes.apply_change(MERGED)
    ((whole,), _facts) = await records(database)
    assert whole.trigger_count == 7

    await changes.revert_changes([MERGED.id])
    held = {one.guid: one for one in (await records(database))[0]}
    assert held[DOG.guid].trigger_count == 4


@pytest.mark.parametrize(
    "touched",
    [
        {"content": "Anna has two dogs."},
        {"protected": True},
        {"sticky": True},
        {"made_by": ""},
    ],
)
async def test_records_that_the_user_changed_meanwhile_are_left_alone(
    database: Database, changes: ChangeLog, touched: dict[str, object]
):
    await MemoryStore(database).save_memories("mara", DOG.model_copy(update=touched))
    before = await records(database)

    with pytest.raises(StorageError, match="nothing was changed"):
        await changes.apply_change(MERGED)

    assert await records(database) == before


async def test_a_change_of_a_record_of_the_user_is_never_applied(database: Database, changes: ChangeLog):
    own, fact = MemoryUnit(content="My own."), ExtractedFact(fact="Anna is mine.", made_by=MadeBy.USER)
    await MemoryStore(database).save_memories("mara", own)
    await FactStore(database).save_facts("mara", fact)

    for records_of in (ChangedRecords(memories=[own]), ChangedRecords(facts=[fact])):
        with pytest.raises(StorageError, match="belongs to the user"):
            await changes.apply_change(change(DROP, records_of, ChangedRecords()))

    assert own in await MemoryStore(database).memories_of("mara")
    assert fact in await FactStore(database).facts_of("mara")


async def test_a_merged_memory_that_the_user_edited_is_not_reverted(database: Database, changes: ChangeLog):
    await changes.apply_change(MERGED)
    await MemoryStore(database).save_memories("mara", WHOLE.model_copy(update={"content": "Pip is a terrier.", "made_by": ""}))
    before = await records(database)

    with pytest.raises(StorageError, match="changed since"):
        await changes.revert_changes([MERGED.id])

    assert await records(database) == before


async def test_a_source_that_the_user_restored_and_edited_is_not_overwritten(database: Database, changes: ChangeLog):
    await changes.apply_change(MERGED)
    await MemoryStore(database).save_memories("mara", DOG.model_copy(update={"content": "Anna had a dog.", "made_by": ""}))

    with pytest.raises(StorageError, match="changed since"):
        await changes.revert_changes([MERGED.id])

    assert "Anna had a dog." in [one.content for one in (await records(database))[0]]


async def test_a_decided_change_is_not_applied_again(changes: ChangeLog):
    await changes.save_changes(MERGED.model_copy(update={"state": ChangeState.DECLINED}))

    assert (await changes.apply_change(MERGED)).state is ChangeState.DECLINED
    with pytest.raises(StorageError, match="no longer in the log"):
        await changes.revert_changes([uuid4()])
