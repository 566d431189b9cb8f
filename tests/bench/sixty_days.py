"""Sixty days of a persona's life in a minute or two: what she remembers, how well, and what it costs.

Every day there is a conversation in which something lasting is said; it is archived, written down, and while the user is away
she is busy. Clock and model are scripted, everything else is the program. `recall_day7` is how many of the things said were
found when asked for a week later, `recall_day60` how many at the end; `bounded` is 1 if what decays is no more in the last
fortnight than in the one before the middle. With --words nothing is found by meaning.
"""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.clock import system_clock, use_clock
from lethe_app.domain.memory import MemoryType
from tests.bench._life import Day, Planted, life, scripted
from tests.bench._setup import built
from tests.bench.report import Figures, Row, run
from tests.services.past_sessions import hold, trusted
from tests.services.tasks import Clock, leave
from tests.services.turns import MIRA, change_persona, say

DAYS, WEEK, LOOKED_AT = 60, 7, 3
TASKS = ["thoughts", "journal", "goals", "session_goals", "dream"]
DECAYING = frozenset({MemoryType.GOAL, MemoryType.WEB_SEARCH, MemoryType.REMINDER})
SLACK = 1.25
"""By so much the last fortnight may have more, for goals come and go by chance."""
PERSONAS = {
    "mira-test": {"name": "Mira", "bio": "She is the navigator of the Petrel.", "self_edit_tokens": 200},
    "tomas": {"is_user": True, "name": "Tomas", "bio": "The captain."},
}


class Life:
    """One home and its clock."""

    def __init__(self, services: AppServices, clock: Clock) -> None:
        self.services, self.clock = services, clock
        self.spent = Counter[int]()
        self.day = 0
        services.background_runner._services.structured_output._ask_until_valid = scripted(self._spend)  # type: ignore[method-assign]

    def _spend(self, tokens: int) -> None:
        self.spent[self.day] += tokens

    async def live(self, day: Day) -> None:
        """An evening of talk, and the night and day after it."""
        services, clock = self.services, self.clock
        self.clock.shown = start_of(self.day)
        session = await hold(services, at=clock.shown)
        for line in day.lines:
            await say(services, session, line)
            clock.go_on(minutes=2)
        await services.archive_queue.archive_session(session.guid)
        await services.archive_queue.finish()
        await services.indexing.index_all_pending()
        await services.notebook_writer.write_all_pending()
        leave(services, clock)
        for _hour in range(18):
            await services.background_runner.run_next_task()
            clock.go_on(minutes=61)
        await services.indexing.index_all_pending()

    async def recalls(self, planted: Planted) -> bool:
        """Is it among the first few that come to mind?"""
        found = await self.services.memory_lookup.search(MIRA, planted.asked, LOOKED_AT)
        return any(planted.expected in one.text or planted.expected in str(one.leads) for one in found)

    async def decaying(self) -> int:
        """How many memories there are that may fade."""
        return sum(one.category in DECAYING for one in await self.services.memory.memories(MIRA))


def start_of(day: int) -> datetime:
    """Eight in the evening; the last day is today."""
    today = system_clock().replace(hour=20, minute=0, second=0, microsecond=0)
    return today - timedelta(days=DAYS + 1 - day)


async def measure(*, by_meaning: bool) -> tuple[list[Row], Figures]:
    """The table, and the figures."""
    began, clock = time.perf_counter(), Clock(start_of(0))
    with use_clock(clock):
        async with built(personas=PERSONAS, by_meaning=by_meaning) as services:
            rows, figures = await sixty(services, clock, services.paths.home / "model.json")
    return [*rows, ("seconds", time.perf_counter() - began)], figures


async def sixty(services: AppServices, clock: Clock, script: Path) -> tuple[list[Row], Figures]:
    """Live all of it."""
    await services.preferences.set(agent_day_tokens=0, agent_day_minutes=0, dreams_apply=True)
    await change_persona(services, MIRA, agent_mode=True, agent_tasks=TASKS)
    await trusted(services, script, facts=False, replies=["I see."] * 1000)
    one, days = Life(services, clock), life(DAYS)
    after_a_week, decaying = [], []
    for number, day in enumerate(days):
        one.day = number
        await one.live(day)
        decaying.append(await one.decaying())
        if number >= WEEK:
            after_a_week.append(await one.recalls(days[number - WEEK].planted))
    at_the_end = [await one.recalls(day.planted) for day in days]
    memories, facts = await services.memory.memories(MIRA), await services.facts.facts_of(MIRA)
    books = await services.notebooks.notebooks_of(MIRA)
    middle, last = max(decaying[DAYS // 2 - 14 : DAYS // 2 + 1]), max(decaying[-14:])
    outcomes = Counter(str(run.outcome) for run in await services.activity_log.list_runs(1000))
    figures = {
        "memories": float(len(memories)),
        "recall_day7": sum(after_a_week) / len(after_a_week),
        "recall_day60": sum(at_the_end) / len(at_the_end),
        "tokens_per_day": sum(one.spent.values()) / DAYS,
        "bounded": float(last <= middle * SLACK),
    }
    kinds = Counter(memory.category.value for memory in memories)
    rows: list[Row] = [
        ("memories by kind", dict(kinds)),
        ("most that decay, before the middle and at the end", f"{middle}, {last}"),
        ("facts", len(facts)),
        ("notebooks", {kept.notebook.title: len(kept.notebook.lines) for kept in books}),
        ("runs", dict(outcomes)),
        ("by meaning", services.embedding.state.name or "no, by words"),
    ]
    return rows, figures


if __name__ == "__main__":
    run(
        __doc__,
        lambda wanted: measure(by_meaning=not wanted.words),
        ("--words", {"action": "store_true", "help": "without an embedding model"}),
    )
