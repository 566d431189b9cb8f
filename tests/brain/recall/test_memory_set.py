"""Memories at hand are sorted as if each turn went through them all."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as some

from lethe_app.brain.recall.decay import is_prunable
from lethe_app.brain.recall.memory_set import MemorySet
from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit

START = now()
MOMENT = START + timedelta(days=1)
KINDS = [kind for kind in MemoryType if kind is not MemoryType.CHAT_SESSION]
units = some.builds(
    MemoryUnit,
    guid=some.uuids(),
    category=some.sampled_from(KINDS),
    insertion=some.sampled_from(MemoryInsertion),
    sticky=some.booleans(),
    filed_under=some.sampled_from(("", "anti-patterns/talk")),
    protected=some.booleans(),
    content=some.sampled_from(("The lamp.", "The tide.")),
    added=some.just(START),
    last_trigger=some.just(START),
)
homes = some.lists(units, max_size=12, unique_by=lambda unit: unit.guid)


def agree(held: MemorySet, memories: list[MemoryUnit]) -> bool:
    """Is every part of it what a look at each memory finds, in the same order?"""
    return (
        list(held) == memories
        and [held[place] for place in range(len(held))] == memories
        and held[:3] == memories[:3]
        and held.by_guid == {one.guid: one for one in memories}
        and held.in_group("waiting") == [one for one in memories if one.insertion in WAITING_INSERTIONS]
        and held.in_group("awaiting_return") == [one for one in memories if one.insertion is MemoryInsertion.USER_RETURN]
        and held.in_group("triggers") == [one for one in memories if one.insertion is MemoryInsertion.TRIGGER]
        and held.in_group("constant_or_filed") == [one for one in memories if one.sticky or one.filed_under]
        and held.in_group("prunable") == [one for one in memories if is_prunable(one)]
    )


@given(homes)
def test_every_part_is_what_a_look_at_each_finds(memories: list[MemoryUnit]):
    assert agree(MemorySet(memories), memories)


@given(homes, some.data())
def test_after_any_touch_and_loss_too(memories: list[MemoryUnit], data: some.DataObject):
    guids = [one.guid for one in memories]
    named = data.draw(some.sets(some.sampled_from(guids)) if guids else some.just(set()))
    before = MemorySet(memories)

    touched = before.with_recalls(named, MOMENT)
    left = touched.exclude(named)

    counts = [one.trigger_count + (one.guid in named) for one in memories]
    assert [one.trigger_count for one in touched] == counts
    assert agree(touched, list(touched))
    assert touched.differs_only_in_recalls(before)
    assert not memories or not MemorySet(memories).differs_only_in_recalls(before)
    assert agree(left, [one for one in memories if one.guid not in named])
    assert before.select(named) == [one for one in memories if one.guid in named]
    assert agree(before, memories)


@given(homes, homes, some.data())
def test_after_any_change_it_is_as_if_all_had_been_read_again(
    memories: list[MemoryUnit], others: list[MemoryUnit], data: some.DataObject
):
    known = [one.guid for one in memories]
    named = data.draw(some.sets(some.sampled_from(known)) if known else some.just(set()))
    gone = data.draw(some.sets(some.sampled_from(sorted(named))) if named else some.just(set()))
    later = data.draw(some.booleans())
    rewritten = [
        one.model_copy(update={"sticky": not one.sticky, "added": MOMENT if later else one.added})
        for one in memories
        if one.guid in named - gone
    ]
    new = [one for one in others if one.guid not in known]

    kept = MemorySet(memories).with_changes([*rewritten, *new], named | {one.guid for one in new})

    there = {one.guid: one for one in [*(one for one in memories if one.guid not in named), *rewritten, *new]}
    assert dict(kept.by_guid) == there
    assert [one.added for one in kept] == sorted((one.added for one in there.values()), reverse=True)
    assert agree(kept, list(kept))
