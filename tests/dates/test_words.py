"""Every reader of dates builds on the same words: what one understands, the others do too."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from lethe_app.dates.expressions import find_past_times
from lethe_app.dates.future import parse_future_date
from lethe_app.dates.resolve import resolve_dates
from lethe_app.dates.words import day_number, month_number, parse_count, weekday_number
from lethe_app.retrieval.time_expressions import parse_time

TODAY = date(2026, 11, 20)  # a Friday
NOW = datetime(2026, 11, 20, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize("month", ["September", "sep", "Sept"])
def test_a_short_month_is_the_same_day_in_a_search_a_request_and_a_reminder(month: str):
    (searched,) = parse_time(f"on 3 {month} 2026", TODAY).times
    (requested,) = find_past_times(f"on 3 {month.lower()} 2026", TODAY)
    reminder = parse_future_date(f"3 {month}", NOW)

    assert searched.ranges == ((date(2026, 9, 3), date(2026, 9, 3)),)
    assert requested.ranges == ((date(2026, 9, 3), date(2026, 9, 3)),)
    assert reminder.day == date(2027, 9, 3)


@pytest.mark.parametrize("weekday", ["wednesday", "wed", "weds"])
def test_a_short_weekday_is_the_same_day_in_a_request_a_reminder_and_a_stored_sentence(weekday: str):
    (requested,) = find_past_times(f"on {weekday}", TODAY)
    reminder = parse_future_date(f"on {weekday}", NOW)

    assert requested.ranges == ((date(2026, 11, 18), date(2026, 11, 18)),)
    assert reminder.day == date(2026, 11, 25)
    assert resolve_dates(f"I met her on {weekday}", TODAY) == "I met her on 18 November 2026"


def test_words_have_their_numbers():
    assert [parse_count(word) for word in ("a", "An", "a couple of", "several", "ten", "12")] == [1, 1, 2, 4, 10, 12]
    assert [month_number(name) for name in ("may", "Sept", "december")] == [5, 9, 12]
    assert [weekday_number(name) for name in ("mon", "Thurs", "sunday")] == [0, 3, 6]
    assert [day_number(word) for word in ("2nd", "31", "Twenty-first")] == [2, 31, 21]


def test_a_clause_in_the_present_is_to_come_whatever_was_told_before_it():
    told = resolve_dates("My father died last night. We bury him on Monday.", TODAY)

    assert told == "My father died on the evening of 19 November 2026. We bury him on 23 November 2026."
