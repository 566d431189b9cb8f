"""Load tasks of plug-ins: entry points of the group `lethe.tasks`."""

from __future__ import annotations

import re
from datetime import timedelta

from lethe_app.agents.task import AgentTask, TaskRequirement
from lethe_app.plugins import Plugin, PluginError, find_entry_points, load_plugins

ENTRY_POINT_GROUP = "lethe.tasks"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def find_tasks() -> tuple[list[Plugin[AgentTask]], list[PluginError]]:
    """Return the tasks of installed plug-ins, sorted by the name of their entry point, and the faults of unusable ones."""
    return load_plugins(find_entry_points(ENTRY_POINT_GROUP), _create_task, "The task")


def _create_task(task_class: object) -> AgentTask:
    """Instantiate and check a task. Raise whatever the plug-in raises; TypeError or ValueError if the task is invalid."""
    task = task_class() if callable(task_class) else None
    if not isinstance(task, AgentTask):
        raise TypeError("it is not an AgentTask.")
    if not isinstance(getattr(task, "name", None), str) or not _NAME.fullmatch(task.name):
        raise ValueError("its name must be short and consist of lower-case letters, digits, - and _.")
    if not isinstance(getattr(task, "title", None), str) or not task.title.strip():
        raise ValueError("it has no title.")
    if not isinstance(task.every, timedelta) or task.every <= timedelta():
        raise ValueError("its interval must be longer than zero.")
    if not set(task.needs) <= set(TaskRequirement):
        raise ValueError("it has a requirement that Lethe does not know.")
    return task
