"""When a task is due again: at its own pace, later and later after failures, and soon after it gave way to the user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from lethe_app.domain.agent_runs import RunOutcome, TaskRun

FIRST_REST, LONGEST_REST = timedelta(minutes=10), timedelta(hours=24)
"""After one failure, and after many: each doubles the rest."""
BREATH = timedelta(minutes=1)
"""After it gave way: the user may be back for a moment only."""
WENT_WRONG = frozenset({RunOutcome.FAILED, RunOutcome.LOST})
"""A program that ended in the middle may have ended because of it."""
CAME_TO_AN_END = frozenset({RunOutcome.MADE, RunOutcome.NOTHING, RunOutcome.STOPPED})
"""Nothing to be made up for: what the user stopped is not begun again before its time, either."""


def due(runs: Sequence[TaskRun], every: timedelta, moment: datetime) -> datetime | None:
    """The earliest moment for the next run, after these of one task for one persona, newest first; None is at once.

    A run that ended later than `moment`, because a clock was put back, counts as if it had ended just now.
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
    """How many of the newest went wrong since one came to its end; those that gave way say nothing."""
    count = 0
    for run in runs:
        if run.outcome in WENT_WRONG:
            count += 1
        elif run.outcome in CAME_TO_AN_END:
            break
    return count


def rest_after(failures: int) -> timedelta:
    """Doubling, up to a day."""
    doubled: int = 2 ** min(failures - 1, 20)
    return min(FIRST_REST * doubled, LONGEST_REST)


def end_of(run: TaskRun) -> datetime:
    """When it ended, or at least began."""
    return run.ended or run.began


def pace_of(name: str, own: timedelta, hours: dict[str, float]) -> timedelta:
    """The task's own pace, unless the user gave it another one."""
    wanted = hours.get(name)
    return own if wanted is None else timedelta(hours=max(wanted, 0.0))


def is_quiet_hour(moment: datetime, begin: str, until: str) -> bool:
    """Does `moment` lie between two times of day such as 22:00 and 07:00? No `begin` is never; no `until` is midnight."""
    if not begin:
        return False
    clock, first, last = moment.time().replace(tzinfo=None), time.fromisoformat(begin), time.fromisoformat(until or "00:00")
    if first <= last:
        return first <= clock < last
    return clock >= first or clock < last
