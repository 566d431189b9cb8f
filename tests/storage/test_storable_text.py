"""Any string can be stored, and only lone surrogates are replaced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.storage.row_mapping import storable_text


@given(st.text())
def test_a_proper_string_stays_as_it_is(text: str):
    assert storable_text(text) is text


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("😀\ud83d", "😀�"),
        ("null \x00 and \ud800", "null \x00 and �"),
    ],
)
def test_surrogates_are_joined_or_replaced(broken: str, mended: str):
    assert storable_text(broken) == mended


@given(st.text(st.characters(categories=["Cs", "L", "So"])))
def test_whatever_comes_out_can_be_encoded(text: str):
    assert storable_text(text).encode().decode() == storable_text(text)
