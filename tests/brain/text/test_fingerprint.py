"""What a short text comes down to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.text.fingerprint import compute_fingerprint, content_words, fingerprint_digest
from lethe_app.brain.vocabulary.stems import root
from tests.brain.memories import quick


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tomas is allergic to peanuts.", "Allergic to peanuts, Tomas was!"),
        ("Tomas isn't a sailor.", "Tomas is not a sailor"),
        ("Mara’s cat has two kittens", "Mara's cats have 2 kittens"),
        ("Zoë likes baking", "Zoe likes to bake"),
        ("He can’t swim", "He cannot swim"),
        ("猫が好き", "猫が好き。"),
    ],
)
def test_the_same_words_have_the_same_digest(one: str, other: str):
    assert fingerprint_digest(one) == fingerprint_digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tomas is allergic to peanuts.", "Tomas is not allergic to peanuts."),
        ("Tomas has two cats", "Tomas has three cats"),
        ("Tomas lives in Oslo", "Tomas lives in Rome"),
        ("He is his own", "She is her own"),
        ("🙂", "🙁"),
        ("猫が好き", "犬が好き"),
    ],
)
def test_other_words_have_another_digest(one: str, other: str):
    assert fingerprint_digest(one) != fingerprint_digest(other)


@pytest.mark.parametrize(
    "forms",
    [
        ("lighthouse", "lighthouses"),
        ("bake", "bakes", "baked", "baking"),
        ("stop", "stopped", "stopping"),
        ("cookie", "cookies"),
        ("party", "parties"),
        ("church", "churches"),
        ("call", "called", "calling"),
    ],
)
def test_forms_of_a_word_have_one_root(forms: tuple[str, ...]):
    assert len({root(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["king", "red", "sing", "glass", "bus", "seed", "straße", "is"])
def test_a_word_is_not_shortened_to_a_stump(word: str):
    assert root(word) == word


def test_small_words_carry_nothing():
    assert content_words("What are you and I to do with it?") == frozenset()
    assert content_words("The two keepers of the lighthouse") == {"2", "keeper", "lighthous"}


@quick
@given(st.text())
def test_any_text_has_a_gist(text: str):
    assert compute_fingerprint(text).stems
    assert len(fingerprint_digest(text)) == 32
    assert "" not in content_words(text)
