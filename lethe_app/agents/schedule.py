"""Due time of a task: its own interval, exponential backoff after failures, and a short pause after it gave way to the user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from lethe_app.domain.agent_runs import RunOutcome, TaskRun

FIRST_REST, LONGEST_REST = timedelta(minutes=10), timedelta(hours=24)
"""Pause after one failure, and the maximum; each failure doubles the pause."""
BREATH = timedelta(minutes=1)
"""Pause after a run gave way: the user may have come back for a moment only."""
WENT_WRONG = frozenset({RunOutcome.FAILED, RunOutcome.LOST})
"""Outcomes that count as failures. A program that ended during a run may have ended because of it."""
CAME_TO_AN_END = frozenset({RunOutcome.MADE, RunOutcome.NOTHING, RunOutcome.STOPPED})
"""Outcomes after which the regular interval applies. A task that the user stopped is not restarted before it either."""


def due(runs: Sequence[TaskRun], every: timedelta, moment: datetime) -> datetime | None:
    """Return the earliest time of the next run, given the runs of one task for one persona, newest first; None is at once.

    A run that ended later than `moment`, because the clock was put back, counts as if it had ended just now.
    """
    waits: list[datetime] = []
    done = next((run for run in runs if run.outcome in CAME_TO_AN_END), None)
    if done is not None:
        waits.append(min(end_of(done), moment) + every)
    if failures := failed_in_a_row(runs):
        last = next(run for run in runs if run.outcome in WENT_WRONG)
        waits.append(min(end_of(last), moment) + rest_after(failures))
    waits += [min(end_of(run), moment) + BREATH for run in runs[:1] if run.outcome is RunOutcome.GAVE_WAY]
    return max(waits, default=None)


def failed_in_a_row(runs: Sequence[TaskRun]) -> int:
    """Return the number of failures since the last run that ended normally; runs that gave way are ignored."""
    count = 0
    for run in runs:
        if run.outcome in WENT_WRONG:
            count += 1
        elif run.outcome in CAME_TO_AN_END:
            break
    return count


def rest_after(failures: int) -> timedelta:
    """Return the pause after so many failures in a row, at most `LONGEST_REST`."""
    doubled: int = 2 ** min(failures - 1, 20)
    return min(FIRST_REST * doubled, LONGEST_REST)


def end_of(run: TaskRun) -> datetime:
    """Return the end of a run, or its beginning if it has no end."""
    return run.ended or run.began


def pace_of(name: str, own: timedelta, hours: dict[str, float]) -> timedelta:
    """Return the interval of a task: the user's setting, or else its own."""
    wanted = hours.get(name)
    return own if wanted is None else timedelta(hours=max(wanted, 0.0))


def is_quiet_hour(moment: datetime, begin: str, until: str) -> bool:
    """Return whether `moment` lies between two times of day such as 22:00 and 07:00. An empty `begin` means never, an empty
    `until` midnight.
    """
    if not begin:
        return False
    clock, first, last = moment.time().replace(tzinfo=None), time.fromisoformat(begin), time.fromisoformat(until or "00:00")
    if first <= last:
        return first <= clock < last
    return clock >= first or clock < last
