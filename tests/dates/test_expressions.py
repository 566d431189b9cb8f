"""Past times in a question mean days before the one on which it is asked."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.dates.expressions import find_past_times
from tests.brain.memories import quick

TODAY = date(2026, 11, 20)  # a Friday


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("on may 2nd", "2026-05-02", "2026-05-02"),
        ("on 2 may", "2026-05-02", "2026-05-02"),
        ("may the second", "2026-05-02", "2026-05-02"),
        ("on december 31", "2025-12-31", "2025-12-31"),
        ("on 05/02", "2026-05-02", "2026-05-02"),
        ("am 2.5.", "2026-05-02", "2026-05-02"),
        ("on 2026-05-02", "2026-05-02", "2026-05-02"),
        ("on the 2nd", "2026-11-02", "2026-11-02"),
        ("on the 25th", "2026-10-25", "2026-10-25"),
        ("on the 5th of last month", "2026-10-05", "2026-10-05"),
        ("on monday", "2026-11-16", "2026-11-16"),
        ("on friday", "2026-11-13", "2026-11-13"),
        ("on monday the 9th", "2026-11-09", "2026-11-09"),
        ("monday last week", "2026-11-09", "2026-11-09"),
        ("the monday before last", "2026-11-09", "2026-11-09"),
        ("yesterday", "2026-11-19", "2026-11-19"),
        ("the day before yesterday", "2026-11-18", "2026-11-18"),
        ("three days ago", "2026-11-17", "2026-11-17"),
        ("a week ago today", "2026-11-13", "2026-11-13"),
        ("two weeks ago", "2026-11-02", "2026-11-10"),
        ("last week", "2026-11-09", "2026-11-15"),
        ("last weekend", "2026-11-14", "2026-11-15"),
        ("this morning", "2026-11-20", "2026-11-20"),
        ("in may", "2026-05-01", "2026-05-31"),
        ("early june", "2026-06-01", "2026-06-10"),
        ("the first week of june", "2026-06-01", "2026-06-07"),
        ("last summer", "2026-06-01", "2026-08-31"),
        ("on christmas eve", "2025-12-24", "2025-12-24"),
        ("from may 2nd to may 5th", "2026-05-02", "2026-05-05"),
        ("the past three days", "2026-11-17", "2026-11-20"),
    ],
)
def test_a_past_time_means_days(words: str, first: str, last: str):
    (time,) = find_past_times(words, TODAY)

    assert time.ranges[0] == (date.fromisoformat(first), date.fromisoformat(last))


def test_last_monday_may_be_that_of_this_week_or_of_the_week_before():
    (time,) = find_past_times("last monday", TODAY)

    assert [first for first, _last in time.ranges] == [date(2026, 11, 16), date(2026, 11, 9)]


def test_a_day_without_a_year_may_be_of_an_earlier_year():
    (time,) = find_past_times("on may 2nd", TODAY)

    assert [first.year for first, _last in time.ranges[:2]] == [2026, 2025]


def test_of_a_day_and_a_longer_time_the_day_counts():
    assert [time.words for time in find_past_times("what did i say yesterday about my trip last summer", TODAY)] == [
        "yesterday"
    ]


@pytest.mark.parametrize("words", ["on 31 february", "i may go", "we march on", "i sat in the sun", "the 2nd time", ""])
def test_other_words_are_no_time(words: str):
    assert find_past_times(words, TODAY) == []


@quick
@given(st.text() | st.text("0123456789/.- daymonthweekago "), st.dates())
def test_any_text_on_any_day_is_read_or_passed_over(text: str, today: date):
    for time in find_past_times(text.lower(), today):
        assert all(first <= last and first <= today for first, last in time.ranges)
