"""Same, changed or new: what distance and words settle together, and what they leave alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.paths import shipped_root
from lethe_app.retrieval.calibration import PairKind, Thresholds, load_pairs
from lethe_app.retrieval.contradictions import compare_sentences, extract_numbers
from lethe_app.retrieval.fact_relation import FactRelation, classify_relation

LIMITS = Thresholds(
    same_words=0.15, same_memory=0.15, update=0.25, natural=0.7,
    rag_limit=0.8, embedder="made up",
)  # fmt: skip
NEAR, NEARBY, FAR = 0.05, 0.2, 0.5
PAIRS = load_pairs(shipped_root() / "resources" / "calibration" / "pairs.json")
FACTS = st.sampled_from(sorted({text for pair in PAIRS for text in (pair.first, pair.second)}))
WORDS = (
    "Mira", "Lena", "Omar", "Porto", "two", "three", "14", "not", "never", "now", "cat", "dog", "red", "blue", "lives", "has",
    "in", "by", "who", "the", "a", "her", "likes", "Monday", "Friday",
)  # fmt: skip
SENTENCES = st.one_of(FACTS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join), st.text(max_size=30))


@pytest.mark.parametrize(
    ("known", "reported"),
    [
        ("Otto repairs clocks in his cellar.", "In his cellar, Otto repairs clocks."),
        ("Vera is allergic to strawberries.", "Strawberries give Vera an allergic reaction."),
        ("The tower is guarded by Bram.", "Bram guards the tower."),
        ("Otto has 3 sisters.", "Otto has three sisters."),
        ("Vera hasn't any pets.", "Vera has no pets."),
    ],
)
def test_the_same_in_other_words_is_the_same(known: str, reported: str):
    assert classify_relation(known, reported, NEAR, LIMITS) is FactRelation.SAME
    assert classify_relation(reported, known, NEAR, LIMITS) is FactRelation.SAME


@pytest.mark.parametrize(
    ("known", "reported"),
    [
        ("Vera lives in Graz.", "Vera has moved from Graz to Linz."),
        ("Vera has two horses.", "Vera has three horses."),
        ("Otto eats fish.", "Otto does not eat fish."),
        ("Otto's band meets on Monday.", "Otto's band meets on Thursday."),
        ("Otto plays the flute.", "Otto no longer plays the flute."),
        ("Vera's bicycle is red.", "Vera's bicycle is green."),
        ("Vera loves the sea.", "Vera hates the sea."),
        ("The king is alive.", "The king is dead."),
    ],
)
def test_what_makes_the_old_untrue_takes_its_place(known: str, reported: str):
    assert classify_relation(known, reported, NEAR, LIMITS) is FactRelation.UPDATE
    assert classify_relation(known, reported, NEARBY, LIMITS) is FactRelation.UPDATE


@pytest.mark.parametrize(
    ("known", "reported"),
    [
        ("Lena lent Omar money.", "Omar lent Lena money."),
        ("Lena likes plums.", "Omar likes plums."),
        ("Vera works for Bosch.", "Vera doesn't work for Siemens any more."),
        ("Vera's sister is twelve.", "Vera's brother is twelve."),
        ("Vera's cat is black.", "Vera's dog is white."),
        ("Lena visited Omar in Graz.", "Omar visited Lena in Linz."),
        ("Vera volunteers at a shelter.", "Vera volunteers at a shelter, which she found after a long illness of her aunt."),
        ("Otto has two horses.", "Vera has three horses."),
        ("Vera hired a gardener.", "Vera hired a gardener from Linz."),
        ("Vera paints.", "Vera paints huge portraits of sailors."),
        ("Vera sings in the church choir and loves it.", "Vera sings in the church choir, dusts the pews, rings the bells."),
        ("Otto now rows on the lake.", "Otto rows on the lake."),
        ("Vera drinks tea for breakfast.", "Vera drinks coffee for breakfast."),
        ("Otto lives near the station.", "Otto works near the station."),
        ("Vera works in a bank.", "Vera's husband works in a bank."),
        ("Otto prefers the mountains to the sea.", "Otto prefers the sea to the mountains."),
    ],
)
def test_somebody_or_something_else_or_more_detail_is_new_however_near(known: str, reported: str):
    assert classify_relation(known, reported, NEAR, LIMITS) is FactRelation.NEW


def test_without_a_sign_in_the_words_what_is_only_nearby_is_new():
    assert classify_relation("Vera lives in Graz.", "Vera likes her house in Graz.", NEARBY, LIMITS) is FactRelation.NEW


def test_a_change_is_told_in_one_direction_only():
    assert classify_relation("Otto plays the flute.", "Otto has given up the flute.", NEAR, LIMITS) is FactRelation.UPDATE
    assert classify_relation("Otto has given up the flute.", "Otto plays the flute.", NEAR, LIMITS) is FactRelation.NEW


@given(SENTENCES, SENTENCES)
def test_what_is_far_away_is_new_whatever_it_says(first: str, second: str):
    same = first.strip() == second.strip()
    assert classify_relation(first, second, FAR, LIMITS) is (FactRelation.SAME if same else FactRelation.NEW)


@given(SENTENCES)
def test_a_repetition_is_the_same(text: str):
    assert classify_relation(text, f" {text} ", 1e-7, LIMITS) is FactRelation.SAME


@given(SENTENCES, SENTENCES, st.floats(0, 2))
def test_being_the_same_is_so_from_both_sides(first: str, second: str, distance: float):
    there = classify_relation(first, second, distance, LIMITS) is FactRelation.SAME
    back = classify_relation(second, first, distance, LIMITS) is FactRelation.SAME
    assert there == back


@given(SENTENCES, SENTENCES, st.floats(0, 2))
def test_other_numbers_are_never_the_same(first: str, second: str, distance: float):
    if extract_numbers(first.lower()) != extract_numbers(second.lower()):
        assert classify_relation(first, second, distance, LIMITS) is not FactRelation.SAME


@given(st.lists(st.sampled_from(WORDS), max_size=7), st.data(), st.sampled_from(["2", "17", "three", "twelve", "1.5", "fifth"]))
def test_a_number_more_is_never_the_same(words: list[str], data: st.DataObject, number: str):
    place = data.draw(st.integers(0, len(words)))
    counted = [*words[:place], number, *words[place:]]

    assert classify_relation(" ".join(words), " ".join(counted), NEAR, LIMITS) is not FactRelation.SAME


@given(SENTENCES, st.sampled_from(["Quentin", "Xanthe"]), st.sampled_from(["Ulrich", "Ysolde"]), st.floats(0, 2))
def test_another_person_is_never_the_same_or_an_update(rest: str, one: str, other: str, distance: float):
    found = classify_relation(f"{one} heard: {rest}", f"{other} heard: {rest}", distance, LIMITS)
    assert found is FactRelation.NEW


@given(SENTENCES, SENTENCES, st.floats(0, 2), st.floats(0, 2))
def test_what_is_known_farther_away_is_known_nearer_too(first: str, second: str, one: float, other: float):
    near, far = sorted((one, other))
    if classify_relation(first, second, far, LIMITS) is not FactRelation.NEW:
        assert classify_relation(first, second, near, LIMITS) is not FactRelation.NEW


def test_most_shipped_updates_have_a_sign_and_few_related_facts_do():
    signs = {
        kind: [compare_sentences(pair.first, pair.second).is_replacing for pair in PAIRS if pair.kind is kind]
        for kind in PairKind
    }

    assert sum(signs[PairKind.UPDATE]) > 0.7 * len(signs[PairKind.UPDATE])
    assert sum(signs[PairKind.RELATED]) < 0.05 * len(signs[PairKind.RELATED])
    assert not any(signs[PairKind.UNRELATED])


@pytest.mark.parametrize(
    ("first", "second", "is_replacing"),
    [
        ("Tomas is allergic to peanuts.", "Tomas can't eat peanuts.", False),
        ("Tomas hates crowds.", "Tomas doesn't go into crowds.", False),
        ("Tomas eats meat on Sundays.", "Tomas doesn't eat meat.", True),
        ("Tomas has a dog.", "Tomas has no dog at home.", True),
    ],
)
def test_only_what_is_stated_is_denied(first: str, second: str, is_replacing: bool):
    assert compare_sentences(first, second).is_replacing is is_replacing
