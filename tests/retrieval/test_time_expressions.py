"""Time words mean days, seen from the day on which they are said."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.retrieval.time_expressions import parse_time

TODAY = date(2026, 11, 20)  # a Friday


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("What did I say on 8 May 2026?", date(2026, 5, 8), date(2026, 5, 8)),
        ("What did I say on May 8th, 2026?", date(2026, 5, 8), date(2026, 5, 8)),
        ("Where were we in February 2024?", date(2024, 2, 1), date(2024, 2, 29)),
        ("What happened in 2023?", date(2023, 1, 1), date(2023, 12, 31)),
        ("yesterday you said", date(2026, 11, 19), date(2026, 11, 19)),
        ("the day before yesterday", date(2026, 11, 18), date(2026, 11, 18)),
        ("last week we", date(2026, 11, 9), date(2026, 11, 15)),
        ("last Friday", date(2026, 11, 13), date(2026, 11, 13)),
        ("last month", date(2026, 10, 1), date(2026, 10, 31)),
        ("last year", date(2025, 1, 1), date(2025, 12, 31)),
        ("last summer", date(2026, 6, 1), date(2026, 8, 31)),
        ("three days ago", date(2026, 11, 17), date(2026, 11, 17)),
        ("a couple of weeks ago", date(2026, 10, 30), date(2026, 11, 13)),
        ("a few days ago", date(2026, 11, 16), date(2026, 11, 18)),
        ("over the past week", date(2026, 11, 13), date(2026, 11, 20)),
        ("in the spring of 2024", date(2024, 3, 1), date(2024, 5, 31)),
        ("Winter, 2025 was cold", date(2025, 12, 1), date(2026, 3, 2)),
    ],
)
def test_words_of_time_mean_days(words: str, first: date, last: date):
    (time,) = parse_time(words, TODAY).times

    assert time.ranges == ((first, last),)


def test_what_happened_is_still_told_a_while_later_but_not_before():
    asked = parse_time("on 8 May 2026", TODAY)

    assert asked.fit(date(2026, 5, 8)) == (1.0, "8 May 2026")
    assert 0 < asked.fit(date(2026, 5, 15))[0] < 1
    assert asked.fit(date(2026, 5, 7))[0] == 0
    assert asked.fit(date(2026, 8, 8))[0] == 0


def test_a_month_without_a_year_fits_every_year():
    asked = parse_time("What did we do last May?", TODAY)

    assert [asked.fit(date(year, 5, 20))[0] for year in (2024, 2025, 2026)] == [1, 1, 1]
    assert asked.fit(date(2025, 4, 30))[0] == 0


def test_a_december_is_told_in_january():
    assert parse_time("in December", TODAY).fit(date(2026, 1, 3))[0] > 0.5


@pytest.mark.parametrize("words", ["I may go", "We march on", "the second time", "May I?", "room 1204", "on 31 February 2026"])
def test_other_words_mean_no_day(words: str):
    assert parse_time(words, TODAY).times == ()


@given(st.text(), st.dates(), st.dates())
def test_any_text_on_any_day_is_understood_or_passed_over(text: str, today: date, when: date):
    fit, _words = parse_time(f"{text} 999 years ago last winter", today).fit(when)

    assert 0 <= fit <= 1
