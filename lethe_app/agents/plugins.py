"""Load tasks of plug-ins: entry points of the group `lethe.tasks`. A broken plug-in affects nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import EntryPoint, entry_points

from lethe_app.agents.task import AgentTask, Need

ENTRY_POINT_GROUP = "lethe.tasks"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True)
class Plugin:
    """Task of another distribution."""

    task: AgentTask
    distribution: str


@dataclass(frozen=True)
class Fault:
    """Plug-in that cannot be used, with the reason in one sentence."""

    distribution: str
    reason: str


def find_plugins() -> tuple[list[Plugin], list[Fault]]:
    """Return every installed plug-in, sorted by the name of its entry point, and the faults of unusable ones."""
    return load_plugins(sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name))


def load_plugins(entries: Iterable[EntryPoint]) -> tuple[list[Plugin], list[Fault]]:
    """Load plug-ins; return the usable ones and the faults of the others."""
    plugins, faults = [], []
    for entry in entries:
        source = entry.dist.name if entry.dist is not None else entry.module
        try:
            plugins.append(Plugin(_instantiate_task(entry), source))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the code of others does, the program starts
            faults.append(Fault(source, f"The task “{entry.name}” cannot be used: {_describe_error(error)}"))
    return plugins, faults


def _instantiate_task(entry: EntryPoint) -> AgentTask:
    """Instantiate and check a task. Raise whatever the plug-in raises; TypeError or ValueError if the task is invalid."""
    task = entry.load()()
    if not isinstance(task, AgentTask):
        raise TypeError("it is not a Task.")
    if not isinstance(getattr(task, "name", None), str) or not _NAME.fullmatch(task.name):
        raise ValueError("its name must be short and consist of lower-case letters, digits, - and _.")
    if not isinstance(getattr(task, "title", None), str) or not task.title.strip():
        raise ValueError("it has no title.")
    if not isinstance(task.every, timedelta) or task.every <= timedelta():
        raise ValueError("its interval must be longer than zero.")
    if not set(task.needs) <= set(Need):
        raise ValueError("it has a requirement that Lethe does not know.")
    return task


def _describe_error(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200] or type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."
