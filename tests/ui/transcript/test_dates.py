"""Days and times in words."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from lethe_app.ui.core.labels.dates import format_day, format_time
from tests.ui.chat_scene import NOON

TODAY = date(2026, 3, 5)


@pytest.mark.parametrize(
    ("age", "words"),
    [(0, "Today"), (1, "Yesterday"), (2, "Tuesday"), (6, "Friday"), (7, "26 February"), (400, "29 January 2025")],
)
def test_recent_days_have_names(age, words):
    assert format_day(TODAY - timedelta(days=age), TODAY) == words


def test_a_future_day_is_shown_as_date():
    assert format_day(TODAY + timedelta(days=1), TODAY) == "6 March"


def test_a_time_has_no_seconds():
    assert format_time(NOON.replace(second=59)).count(":") == 1
