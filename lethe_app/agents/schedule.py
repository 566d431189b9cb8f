"""Due time of a task: its own interval, exponential backoff after failures, and a short pause after it gave way to the user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from lethe_app.domain.agent_runs import RunOutcome, TaskRun

FIRST_BACKOFF, MAX_BACKOFF = timedelta(minutes=10), timedelta(hours=24)
"""Pause after one failure, and the maximum; each failure doubles the pause."""
GIVE_WAY_PAUSE = timedelta(minutes=1)
"""Pause after a run gave way: the user may have come back for a moment only."""
FAILURE_OUTCOMES = frozenset({RunOutcome.FAILED, RunOutcome.LOST})
"""Outcomes that count as failures. A program that ended during a run may have ended because of it."""
REGULAR_OUTCOMES = frozenset({RunOutcome.MADE, RunOutcome.NOTHING, RunOutcome.STOPPED})
"""Outcomes after which the regular interval applies. A task that the user stopped is not restarted before it either."""


def next_due_time(runs: Sequence[TaskRun], interval: timedelta, moment: datetime) -> datetime | None:
    """Return the earliest time of the next run, given the runs of one task for one persona, newest first; None is at once.

    A run that ended later than `moment`, because the clock was put back, counts as if it had ended just now.
    """
    due_times: list[datetime] = []
    last_regular_run = next((run for run in runs if run.outcome in REGULAR_OUTCOMES), None)
    if last_regular_run is not None:
        due_times.append(min(end_of(last_regular_run), moment) + interval)
    if failures := count_consecutive_failures(runs):
        last_failure = next(run for run in runs if run.outcome in FAILURE_OUTCOMES)
        due_times.append(min(end_of(last_failure), moment) + backoff_after(failures))
    due_times += [min(end_of(run), moment) + GIVE_WAY_PAUSE for run in runs[:1] if run.outcome is RunOutcome.GAVE_WAY]
    return max(due_times, default=None)


def count_consecutive_failures(runs: Sequence[TaskRun]) -> int:
    """Return the number of failures since the last run that ended normally; runs that gave way are ignored."""
    count = 0
    for run in runs:
        if run.outcome in FAILURE_OUTCOMES:
            count += 1
        elif run.outcome in REGULAR_OUTCOMES:
            break
    return count


def backoff_after(failures: int) -> timedelta:
    """Return the pause after so many failures in a row, at most `MAX_BACKOFF`."""
    doubled: int = 2 ** min(failures - 1, 20)
    return min(FIRST_BACKOFF * doubled, MAX_BACKOFF)


def end_of(run: TaskRun) -> datetime:
    """Return the end of a run, or its beginning if it has no end."""
    return run.ended or run.began


def interval_of(name: str, default: timedelta, hours: dict[str, float]) -> timedelta:
    """Return the interval of a task: the user's setting, or else its own."""
    chosen_hours = hours.get(name)
    return default if chosen_hours is None else timedelta(hours=max(chosen_hours, 0.0))


def is_quiet_hour(moment: datetime, begin: str, until: str) -> bool:
    """Return whether `moment` lies between two times of day such as 22:00 and 07:00. An empty `begin` means never, an empty
    `until` midnight.
    """
    if not begin:
        return False
    time_of_day, first, last = (
        moment.time().replace(tzinfo=None),
        time.fromisoformat(begin),
        time.fromisoformat(until or "00:00"),
    )
    if first <= last:
        return first <= time_of_day < last
    return time_of_day >= first or time_of_day < last
