"""What a day costs, and when it has cost enough."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from lethe_app.agents.budget import Budget, DailyUsage, midnight, sum_usage
from lethe_app.domain.agent_runs import RunOutcome, TaskRun

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)


def run(tokens: int, minutes: int, *, is_over: bool = True) -> TaskRun:
    began = NOON - timedelta(minutes=minutes)
    ended, outcome = (NOON, RunOutcome.MADE) if is_over else (None, None)
    return TaskRun(persona_id="mira", task="journal", began=began, ended=ended, outcome=outcome, tokens=tokens)


def test_a_day_costs_what_its_runs_cost_and_one_under_way_costs_until_now():
    assert sum_usage([run(300, 4), run(200, 6, is_over=False)], NOON) == DailyUsage(500, timedelta(minutes=10))


def test_nothing_more_is_begun_when_either_is_used_up():
    budget = Budget(tokens=500, minutes=10)

    assert budget.can_start_run(DailyUsage(499, timedelta(minutes=9)))
    assert not budget.can_start_run(DailyUsage(500, timedelta()))
    assert not budget.can_start_run(DailyUsage(0, timedelta(minutes=10)))


def test_nought_is_no_limit():
    assert Budget().can_start_run(DailyUsage(10**9, timedelta(days=9)))


def test_a_clock_put_back_in_the_middle_of_a_run_costs_nothing():
    assert sum_usage([run(5, -30)], NOON) == DailyUsage(5, timedelta())


def test_the_day_begins_where_the_user_is():
    late = datetime(2026, 5, 3, 1, 30, tzinfo=timezone(timedelta(hours=2)))

    assert midnight(late) == datetime(2026, 5, 2, 22, tzinfo=UTC)
