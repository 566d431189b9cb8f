"""Wires what happens without the user, on top of `wiring`: work while they are away, the internet, moods, tools."""

from __future__ import annotations

from lethe_app.storage.changes import Changes
from lethe_app.storage.task_runs import TaskRuns
from lethe_app.wiring import Wiring


class AwayWiring:
    """One of each; everything is built when it is first asked for, out of what the house has already."""

    def __init__(self, made: Wiring) -> None:
        self.made = made
        self.runs = TaskRuns(made.database)
        self.changes = Changes(made.database)
