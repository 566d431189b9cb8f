"""What is known: confirmed, changed, taken out, and told."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.facts.merge import (
    FactNeighbours,
    build_tombstone,
    find_nearest_current,
    is_forgotten,
    merge_fact,
    restore_fact,
)
from lethe_app.domain.facts import ExtractedFact, MadeBy, SupersededBecause
from lethe_app.retrieval.fact_relation import FactRelation
from tests.brain.memories import MOMENT, NAMES, quick


def source(name: str) -> UUID:
    return uuid5(NAMES, name)


def fact(text: str, *sources: str, days_old: float = 0, **fields: object) -> ExtractedFact:
    seen = MOMENT - timedelta(days=days_old)
    values = {"fact": text, "first_seen": seen, "last_seen": seen, "source_memories": [source(name) for name in sources]}
    return ExtractedFact.model_validate({**values, **fields})


OSLO = fact("Tomas lives in Oslo.", "spring", days_old=100)
ROME = fact("Tomas lives in Rome.", "autumn", days_old=1)


# --- the same ---------------------------------------------------------------------------------------------------------------


def test_the_first_fact_is_new():
    assert merge_fact(OSLO, []) == [OSLO]


def test_what_is_said_again_elsewhere_counts_again():
    (after,) = merge_fact(fact("Tomas lived in Oslo", "summer", days_old=50), [(OSLO, 0.01)])

    assert (after.guid, after.fact, after.reference_count) == (OSLO.guid, OSLO.fact, 2)
    assert after.source_memories == [source("spring"), source("summer")]
    assert after.last_seen == MOMENT - timedelta(days=50)


def test_without_a_session_its_messages_say_whether_it_was_said_anew():
    held = fact("Tomas lives in Oslo.", source_messages=[source("a")])

    assert merge_fact(fact("Tomas lives in Oslo.", source_messages=[source("a")]), [(held, 0.0)]) == []
    (after,) = merge_fact(fact("Tomas lives in Oslo.", source_messages=[source("b")]), [(held, 0.0)])
    assert after.reference_count == 2


def test_the_same_words_are_the_same_although_the_vectors_disagree():
    (after,) = merge_fact(fact("Tomas lives in Oslo", "summer"), [(ROME, 0.1), (OSLO, 0.4)])

    assert after.guid == OSLO.guid


@pytest.mark.parametrize(
    ("old", "new", "wording"),
    [
        (MadeBy.RULES, MadeBy.MODEL, "Tomas is an Oslo resident."),
        (MadeBy.RULES, MadeBy.USER, "Tomas is an Oslo resident."),
        (MadeBy.MODEL, MadeBy.RULES, "Tomas lives in Oslo."),
        (MadeBy.USER, MadeBy.MODEL, "Tomas lives in Oslo."),
    ],
)
def test_the_better_writer_words_it(old: MadeBy, new: MadeBy, wording: str):
    held = OSLO.model_copy(update={"made_by": old})

    other, after = merge_fact(fact("Tomas is an Oslo resident.", "summer", made_by=new), [(held, 0.1)], FactRelation.SAME)

    assert (after.fact, after.reference_count) == (wording, 2)
    assert (other.superseded_by, other.superseded_because) == (after.guid, SupersededBecause.REWORDED)
    assert not set(after.source_memories) & set(other.source_memories)


# --- changes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [FactRelation.UPDATE, FactRelation.CONTRADICTION])
def test_a_change_supersedes_and_each_fact_keeps_its_own_sources(relation: FactRelation):
    old, new = merge_fact(ROME, [(OSLO, 0.2)], relation)

    assert (old.guid, old.superseded, old.superseded_by) == (OSLO.guid, True, ROME.guid)
    assert (new.guid, new.superseded) == (ROME.guid, False)
    assert (old.source_memories, new.source_memories) == ([source("spring")], [source("autumn")])


@pytest.mark.parametrize("fields", [{"pinned": True}, {"made_by": MadeBy.USER}])
def test_what_is_pinned_or_the_users_own_stays_beside_a_change(fields: dict[str, object]):
    held = OSLO.model_copy(update=fields)

    assert merge_fact(ROME, [(held, 0.2)], FactRelation.UPDATE) == [ROME]


def test_the_user_supersedes_anything():
    own = ROME.model_copy(update={"made_by": MadeBy.USER})

    old, _new = merge_fact(own, [(OSLO.model_copy(update={"pinned": True}), 0.2)], FactRelation.UPDATE)

    assert old.superseded_by == ROME.guid


def test_an_older_saying_archived_late_does_not_replace_the_newer_one():
    old, new = merge_fact(OSLO, [(ROME, 0.2)], FactRelation.UPDATE)

    assert (old.guid, old.superseded_by) == (OSLO.guid, ROME.guid)
    assert (new.guid, new.superseded) == (ROME.guid, False)
    assert new.source_memories == [source("autumn")]


def test_what_was_superseded_does_not_come_back_from_the_same_session():
    gone, holds = merge_fact(ROME, [(OSLO, 0.2)], FactRelation.UPDATE)
    again = fact("Tomas lives in Oslo.", "spring", days_old=100)

    assert merge_fact(again, [(gone, 0.0), (holds, 0.2)], FactRelation.UPDATE) == []


def test_what_was_superseded_holds_again_when_it_is_said_anew():
    gone, holds = merge_fact(ROME, [(OSLO, 0.2)], FactRelation.UPDATE)
    back = fact("Tomas lives in Oslo.", "winter")

    left, returned = merge_fact(back, [(gone, 0.0), (holds, 0.2)], FactRelation.UPDATE)

    assert (left.guid, left.superseded_by) == (ROME.guid, back.guid)
    assert not returned.superseded


def test_the_nearest_one_that_holds_is_the_rival():
    gone = OSLO.model_copy(update={"superseded": True, "superseded_by": ROME.guid})
    far = fact("Tomas sails.")

    assert find_nearest_current([(gone, 0.0), (far, 0.3), (ROME, 0.2)]) == (ROME, 0.2)
    assert find_nearest_current([(gone, 0.0)]) is None


# --- restoring and forgetting -----------------------------------------------------------------------------------------------


def test_a_restored_fact_holds_beside_the_one_that_replaced_it():
    gone, holds = merge_fact(ROME, [(OSLO, 0.2)], FactRelation.UPDATE)

    (back,) = restore_fact(gone, [gone, holds])

    assert (back.superseded, back.superseded_by) == (False, None)
    assert restore_fact(holds, [gone, holds]) == []


def test_a_fact_restored_instead_takes_the_place_of_the_latest():
    oslo = OSLO.model_copy(update={"superseded": True, "superseded_by": ROME.guid})
    bern = fact("Tomas lives in Bern.")
    rome = ROME.model_copy(update={"superseded": True, "superseded_by": bern.guid})

    back, left = restore_fact(oslo, [oslo, rome, bern], supersede_successor=True)

    assert not back.superseded
    assert (left.guid, left.superseded_by) == (bern.guid, oslo.guid)


def test_a_fact_whose_successor_is_gone_can_be_restored():
    orphan = OSLO.model_copy(update={"superseded": True, "superseded_by": source("nowhere")})

    (back,) = restore_fact(orphan, [orphan], supersede_successor=True)

    assert not back.superseded


@pytest.mark.parametrize(
    ("text", "messages", "made_by", "forgotten"),
    [
        ("Tomas lives in Oslo.", ["a"], MadeBy.MODEL, True),
        ("In Oslo Tomas lived", ["a", "b"], MadeBy.RULES, True),
        ("Tomas lives in Oslo.", [], MadeBy.RULES, True),
        ("Tomas lives in Oslo.", ["b"], MadeBy.RULES, False),
        ("Tomas does not live in Oslo.", ["a"], MadeBy.RULES, False),
        ("Tomas lives in Oslo.", ["a"], MadeBy.USER, False),
    ],
)
def test_what_the_user_took_out_stays_out_until_it_is_said_anew(
    text: str, messages: list[str], made_by: MadeBy, forgotten: bool
):
    stone = build_tombstone(OSLO.model_copy(update={"source_messages": [source("a")]}))
    new = fact(text, "spring", source_messages=[source(name) for name in messages], made_by=made_by)

    assert is_forgotten(new, [stone]) is forgotten
    assert not is_forgotten(new, [])


def test_a_tombstone_does_not_tell_what_was_forgotten():
    stone = build_tombstone(OSLO)

    assert "oslo" not in repr(stone).lower()


# --- for all histories ------------------------------------------------------------------------------------------------------

PLACES = ["Oslo", "Rome", "Bern"]


@st.composite
def sayings(draw: st.DrawFn) -> list[tuple[ExtractedFact, FactRelation]]:
    """Facts of four days, a session each, in the order in which they are archived, which need not be that of the days."""
    days = draw(st.lists(st.integers(0, 3), min_size=1, max_size=9))
    return [
        (
            fact(
                f"Tomas lives in {draw(st.sampled_from(PLACES))} with {draw(st.integers(1, 2))} cats.",
                f"session {day}",
                days_old=day,
                guid=UUID(int=number),
                made_by=draw(st.sampled_from(MadeBy)),
                pinned=draw(st.sampled_from([False, False, True])),
            ),
            draw(st.sampled_from(FactRelation)),
        )
        for number, day in enumerate(days)
    ]


def enter(book: dict[UUID, ExtractedFact], new: ExtractedFact, relation: FactRelation) -> list[ExtractedFact]:
    near: FactNeighbours = [(each, 0.0 if each.fact == new.fact else 0.06) for each in book.values()]
    changed = merge_fact(new, near, relation)
    book.update({each.guid: each for each in changed})
    return changed


@quick
@given(sayings(), st.data())
def test_of_two_facts_one_of_which_replaced_the_other_never_both_hold(
    said: list[tuple[ExtractedFact, FactRelation]], data: st.DataObject
):
    book: dict[UUID, ExtractedFact] = {}
    for new, relation in said:
        before = dict(book)
        enter(book, new, relation)
        if data.draw(st.booleans()):
            some = data.draw(st.sampled_from(sorted(book.values(), key=lambda each: each.guid)))
            book |= {
                each.guid: each for each in restore_fact(some, book.values(), supersede_successor=data.draw(st.booleans()))
            }

        for each in book.values():
            assert each.superseded == (each.superseded_by is not None)
            assert each.superseded_by is None or each.superseded_by in book
            was = before.get(each.guid)
            assert was is None or each.reference_count >= was.reference_count
            assert was is None or set(was.source_memories) <= set(each.source_memories)
        assert any(not each.superseded for each in book.values())


@quick
@given(sayings())
def test_pinned_and_own_facts_fall_to_the_user_alone(said: list[tuple[ExtractedFact, FactRelation]]):
    book: dict[UUID, ExtractedFact] = {}
    for new, relation in said:
        before = dict(book)
        enter(book, new, relation)

        for guid, was in before.items():
            if (was.pinned or was.made_by is MadeBy.USER) and not was.superseded and new.made_by is not MadeBy.USER:
                assert not book[guid].superseded


@quick
@given(sayings())
def test_archiving_a_session_twice_is_archiving_it_once(said: list[tuple[ExtractedFact, FactRelation]]):
    book: dict[UUID, ExtractedFact] = {}
    for new, relation in said:
        enter(book, new, relation)
        again = new.model_copy(update={"guid": UUID(int=new.guid.int + 1000)})

        assert enter(book, again, relation) == []


@quick
@given(sayings())
def test_archiving_every_session_again_by_the_same_rules_changes_nothing(said: list[tuple[ExtractedFact, FactRelation]]):
    extracted = [new.model_copy(update={"made_by": MadeBy.RULES, "pinned": False}) for new, _relation in said]
    book: dict[UUID, ExtractedFact] = {}
    for new in extracted:
        enter(book, new, FactRelation.NEW)
    before = standing(book)

    for new in extracted:
        enter(book, new.model_copy(update={"guid": UUID(int=new.guid.int + 1000)}), FactRelation.NEW)

    assert standing(book) == before


def standing(book: dict[UUID, ExtractedFact]) -> dict[UUID, object]:
    """What holds, how often it was said, and where."""
    return {
        guid: (each.fact, each.superseded_by, each.reference_count, set(each.source_memories)) for guid, each in book.items()
    }
