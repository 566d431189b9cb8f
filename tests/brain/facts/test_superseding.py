"""Which sources a fact keeps when it supersedes another, and the reason that is recorded."""

from __future__ import annotations

from uuid import uuid4

import pytest

from lethe_app.brain.facts.merge import merge_fact, restore_fact
from lethe_app.brain.facts.superseding import supersede
from lethe_app.brain.facts.updates import replace_outdated
from lethe_app.domain.facts import ExtractedFact, SupersededBecause
from lethe_app.retrieval.fact_relation import FactRelation

OLD = ExtractedFact(fact="Ana lives in Braga.", key="home", source_memories=[uuid4()], source_messages=[uuid4()])
NEW = ExtractedFact(fact="Ana lives in Porto.", key="home", source_memories=[uuid4()], source_messages=[uuid4()])
MORE = ExtractedFact(fact="Ana lives in Braga by the river.", key="home", source_memories=[uuid4()], source_messages=[uuid4()])


@pytest.mark.parametrize(
    ("reason", "sessions", "messages", "count"),
    [
        (SupersededBecause.CONTRADICTED, 1, 1, 1),
        (SupersededBecause.RESTORED, 1, 1, 1),
        (SupersededBecause.MERGED, 1, 1, 1),
        (SupersededBecause.EXTENDED, 1, 1, 2),
        (SupersededBecause.REPEATED, 2, 2, 1),
        (SupersededBecause.REWORDED, 1, 1, 1),
    ],
)
def test_the_reason_decides_which_sources_the_successor_takes_over(
    reason: SupersededBecause, sessions: int, messages: int, count: int
):
    old, successor = supersede(OLD, NEW, reason)
    assert (old.superseded, old.superseded_by, old.superseded_because) == (True, NEW.guid, reason)
    assert (len(successor.source_memories), len(successor.source_messages)) == (sessions, messages)
    assert successor.reference_count == count
    assert successor.superseded_because is None


def test_another_value_contradicts_and_a_detail_extends():
    for new, reason in ((NEW, SupersededBecause.CONTRADICTED), (MORE, SupersededBecause.EXTENDED)):
        records = {record.guid: record for record in replace_outdated([new], new, [OLD])}
        assert records[OLD.guid].superseded_because is reason


def test_a_restored_fact_has_no_reason_and_its_successor_was_replaced_by_the_user():
    old, new = supersede(OLD, NEW, SupersededBecause.CONTRADICTED)
    restored, replaced = restore_fact(old, [old, new], supersede_successor=True)
    assert (restored.superseded, restored.superseded_because) == (False, None)
    assert replaced.superseded_because is SupersededBecause.RESTORED


def test_an_update_is_recorded_as_a_contradiction():
    three = OLD.model_copy(update={"guid": uuid4(), "fact": "Ana has three cats.", "key": ""})
    four = NEW.model_copy(update={"fact": "Ana has four cats.", "key": ""})
    records = merge_fact(four, [(three, 0.06)], FactRelation.UPDATE)
    assert [record.superseded_because for record in records] == [SupersededBecause.CONTRADICTED, None]
