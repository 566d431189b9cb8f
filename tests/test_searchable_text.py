"""Different spellings of a word meet, and its marks stand at the right letters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.searchable_text import fold, index_text, index_words, split_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Gartenstraße", "GARTENSTRASSE"),
        ("ёжик", "ежик"),
        ("ＡＢＣ１２", "abc12"),
        ("ｶﾞﾗｽ", "ガラス"),
        ("İstanbul", "istanbul"),
        ("ISPARTA", "ısparta"),
        ("أحمد", "احمد"),
        ("Łódź", "lodz"),
        ("Ærø", "aero"),
        ("ὈΔΥΣΣΕΎΣ", "οδυσσευς"),
        ("هٰذا", "هذا"),
        ("naïve", "naive"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("می‌خواهم", "میخواهم"),
        ("👍🏽", "👍"),
        ("m²", "m2"),
    ],
)
def test_spellings_of_a_word_meet(one: str, other: str):
    assert index_text(one) == index_text(other)


@pytest.mark.parametrize(("one", "other"), [("かき", "かぎ"), ("कल", "कला"), ("Haus", "Maus")])
def test_different_words_stay_apart(one: str, other: str):
    assert fold(one) != fold(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("修改youer服务端", ["修", "改", "youer", "服", "务", "端"]),
        ("2024年に", ["2024", "年", "に"]),
        ("iPhone手机", ["iPhone", "手", "机"]),
        ("한국어 ok", ["한", "국", "어", "ok"]),
        ("cafe\u0301 नमस्ते", ["cafe\u0301", "नमस्ते"]),
        ("juhu 😀!", ["juhu"]),
    ],
)
def test_a_text_is_split_only_at_characters_written_without_spaces(text: str, words: list[str]):
    assert split_words(text) == words


def test_words_are_found_where_they_stand():
    text = "Die Gartenstra\u00dfe, ｶﾞﾗｽ und cafe\u0301 😀👍🏽"

    spans = {form: text[start : start + length] for start, length, form in index_words(text)}

    assert spans["gartenstrasse"] == "Gartenstraße"
    assert (spans["ガ"], spans["cafe"], spans["emoji128077"]) == ("ｶﾞ", "cafe\u0301", "👍🏽")


@given(st.text())
def test_folding_twice_changes_nothing(text: str):
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet=st.characters(categories=("L", "M", "N", "So", "Zs"))))
def test_every_word_lies_in_its_text(text: str):
    words = list(index_words(text))

    assert all(0 <= start < start + length <= len(text) and form for start, length, form in words)
    assert [start for start, _length, _form in words] == sorted(start for start, _length, _form in words)
