"""When a task comes next, told from what became of it before, on a calendar of our own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lethe_app.agents.schedule import (
    FIRST_BACKOFF,
    GIVE_WAY_PAUSE,
    MAX_BACKOFF,
    count_consecutive_failures,
    interval_of,
    is_quiet_hour,
    next_due_time,
)
from lethe_app.domain.agent_runs import RunOutcome, TaskRun

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def run(outcome: RunOutcome, hours_ago: float) -> TaskRun:
    ended = NOON - timedelta(hours=hours_ago)
    return TaskRun(persona_id="mira", task="journal", began=ended - timedelta(minutes=1), ended=ended, outcome=outcome)


def test_what_was_never_done_is_due_at_once():
    assert next_due_time([], DAY, NOON) is None


@pytest.mark.parametrize("outcome", [RunOutcome.MADE, RunOutcome.NOTHING, RunOutcome.STOPPED])
def test_what_came_to_an_end_waits_for_its_own_time(outcome: RunOutcome):
    assert next_due_time([run(outcome, 5)], DAY, NOON) == NOON - timedelta(hours=5) + DAY


def test_what_gave_way_may_be_taken_up_soon():
    assert next_due_time([run(RunOutcome.GAVE_WAY, 0)], DAY, NOON) == NOON + GIVE_WAY_PAUSE


def test_giving_way_does_not_bring_forward_what_was_done_today():
    assert (
        next_due_time([run(RunOutcome.GAVE_WAY, 0), run(RunOutcome.NOTHING, 1)], DAY, NOON) == NOON - timedelta(hours=1) + DAY
    )


@pytest.mark.parametrize(
    ("failures", "rest"), [(1, FIRST_BACKOFF), (2, 2 * FIRST_BACKOFF), (3, 4 * FIRST_BACKOFF), (50, MAX_BACKOFF)]
)
def test_failures_make_it_rest_twice_as_long_each_time_but_not_for_ever(failures: int, rest: timedelta):
    runs = [run(RunOutcome.FAILED, hours) for hours in range(failures)]

    assert next_due_time(runs, timedelta(minutes=1), NOON) == NOON + rest


def test_a_run_that_was_lost_counts_as_a_failure_for_it_may_have_been_the_cause():
    assert (
        count_consecutive_failures(
            [run(RunOutcome.LOST, 0), run(RunOutcome.GAVE_WAY, 1), run(RunOutcome.FAILED, 2), run(RunOutcome.MADE, 3)]
        )
        == 2
    )


def test_success_forgives():
    runs = [run(RunOutcome.MADE, 1), *(run(RunOutcome.FAILED, 2) for _ in range(9))]

    assert next_due_time(runs, DAY, NOON) == NOON - timedelta(hours=1) + DAY


def test_a_clock_that_was_put_back_does_not_hold_it_off_for_a_year():
    assert next_due_time([run(RunOutcome.MADE, -24 * 365)], DAY, NOON) == NOON + DAY


def test_the_user_may_give_it_another_pace():
    assert interval_of("journal", DAY, {"journal": 2.5}) == timedelta(hours=2.5)
    assert interval_of("dream", DAY, {"journal": 2.5}) == DAY


@pytest.mark.parametrize(
    ("clock", "begin", "until", "quiet"),
    [
        ("23:30", "22:00", "07:00", True),
        ("06:59", "22:00", "07:00", True),
        ("07:00", "22:00", "07:00", False),
        ("21:59", "22:00", "07:00", False),
        ("13:00", "12:00", "14:00", True),
        ("14:00", "12:00", "14:00", False),
        ("23:00", "22:00", "", True),
        ("03:00", "22:00", "", False),
        ("03:00", "", "07:00", False),
        ("12:00", "12:00", "12:00", False),
    ],
)
def test_quiet_hours_may_go_past_midnight(clock: str, begin: str, until: str, *, quiet: bool):
    moment = datetime.fromisoformat(f"2026-05-02T{clock}+02:00")

    assert is_quiet_hour(moment, begin, until) is quiet
