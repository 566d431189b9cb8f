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
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def run(outcome: RunOutcome, hours_ago: float) -> TaskRun:
    ended = NOON - timedelta(hours=hours_ago)
    return TaskRun(persona_id="mira", task="journal", began=ended - timedelta(minutes=1), ended=ended, outcome=outcome)


FAILED_OFTEN = [run(RunOutcome.FAILED, 2) for _time in range(9)]


@pytest.mark.parametrize(
    ("runs", "due"),
    [
        pytest.param([], None, id="never done: at once"),
        pytest.param([run(RunOutcome.MADE, 5)], NOON + 19 * HOUR, id="made: at its own time"),
        pytest.param([run(RunOutcome.NOTHING, 5)], NOON + 19 * HOUR, id="found nothing: at its own time"),
        pytest.param([run(RunOutcome.STOPPED, 5)], NOON + 19 * HOUR, id="stopped: at its own time"),
        pytest.param([run(RunOutcome.GAVE_WAY, 0)], NOON + GIVE_WAY_PAUSE, id="gave way: soon"),
        pytest.param([run(RunOutcome.GAVE_WAY, 0), run(RunOutcome.NOTHING, 1)], NOON + 23 * HOUR, id="gave way, done today"),
        pytest.param([run(RunOutcome.MADE, 1), *FAILED_OFTEN], NOON + 23 * HOUR, id="success forgives"),
        pytest.param([run(RunOutcome.MADE, -24 * 365)], NOON + DAY, id="the clock was put back"),
    ],
)
def test_what_became_of_the_last_runs_says_when_the_next_is_due(runs: list[TaskRun], due: datetime | None):
    assert next_due_time(runs, DAY, NOON) == due


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
