"""Numbers, ages and sizes as a person would say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import QLocale

from lethe_app.ui.core.formatting import age_in_words, messages_in_words, rounded, size_in_words, tokens_in_words

PRESENT = datetime(2026, 11, 20, 12, tzinfo=UTC)  # a Friday


@pytest.fixture(autouse=True)
def english():
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    yield
    QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, "today"), (1, "yesterday"), (3, "Tuesday"), (6, "Saturday"), (7, "13 Nov"), (17, "3 Nov"), (400, "16 Oct 2025")],
)
def test_an_age_is_told_in_words(days, words):
    assert age_in_words(PRESENT - timedelta(days=days), PRESENT) == words


def test_a_clock_that_went_backwards_still_says_today():
    assert age_in_words(PRESENT + timedelta(hours=30), PRESENT) == "today"


def test_one_is_not_many():
    assert messages_in_words(1) == "1 message"
    assert messages_in_words(1212) == "1,212 messages"
    assert tokens_in_words(142) == "142 tokens"


@pytest.mark.parametrize(("tokens", "words"), [(512, "512"), (3120, "3.1k"), (8192, "8k"), (131072, "128k"), (10000, "10.0k")])
def test_tokens_are_rounded_to_what_is_said(tokens, words):
    assert rounded(tokens) == words


@pytest.mark.parametrize(("size", "words"), [(98_000_000, "98 MB"), (4_080_000_000, "4.1 GB"), (10, "1 MB")])
def test_sizes_are_told_as_file_managers_tell_them(size, words):
    assert size_in_words(size) == words
