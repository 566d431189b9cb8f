"""Numbers, ages and sizes as a person would say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from PySide6.QtCore import QLocale

from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import RecallCounts, RecalledMemory, RecallWay, count_recalled
from lethe_app.ui.core.formatting import (
    abbreviate_tokens,
    format_age,
    format_message_count,
    format_recall_counts,
    format_size,
    format_token_count,
)
from lethe_app.ui.core.labels.dates import spell_out_dates

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
def test_an_age_is_formatted_relative_to_today(days, words):
    assert format_age(PRESENT - timedelta(days=days), PRESENT) == words


def test_a_time_in_the_future_is_today():
    assert format_age(PRESENT + timedelta(hours=30), PRESENT) == "today"


def test_a_count_of_one_is_singular():
    assert format_message_count(1) == "1 message"
    assert format_message_count(1212) == "1,212 messages"
    assert format_token_count(142) == "142 tokens"


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (RecallCounts(memories=2, world_entries=3), "2 memories · 3 world entries"),
        (RecallCounts(world_entries=1), "1 world entry"),
        (RecallCounts(memories=1, passages=2), "1 memory · 2 document passages"),
    ],
)
def test_what_was_recalled_is_counted_by_kind(counts, words):
    assert format_recall_counts(counts) == words


def test_notebooks_count_as_memories_and_world_entries_do_not():
    common = {"memory": uuid4(), "text": "The tide.", "way": RecallWay.KEYWORD}
    notebook = RecalledMemory(category=MemoryType.FILE, world="notebook", **common)
    entry = RecalledMemory(category=MemoryType.WORLD_INFO, world="sea", **common)

    assert count_recalled([notebook, entry, entry]) == RecallCounts(memories=1, world_entries=2)


def test_dates_of_a_notebook_are_spelled_out_at_the_ends_of_its_lines():
    assert spell_out_dates("- The tide. (2026-11-27)\n- On 2026-11-27 (2026-99-99)") == (
        "- The tide. (27\N{NO-BREAK SPACE}Nov\N{NO-BREAK SPACE}2026)\n- On 2026-11-27 (2026-99-99)"
    )


@pytest.mark.parametrize(("tokens", "words"), [(512, "512"), (3120, "3.1k"), (8192, "8k"), (131072, "128k"), (10000, "10.0k")])
def test_token_counts_are_abbreviated(tokens, words):
    assert abbreviate_tokens(tokens) == words


@pytest.mark.parametrize(("size", "words"), [(98_000_000, "98 MB"), (4_080_000_000, "4.1 GB"), (10, "1 MB")])
def test_sizes_have_decimal_units(size, words):
    assert format_size(size) == words
