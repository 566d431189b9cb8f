"""Finds tasks that others wrote: entry points of the group `lethe.tasks`. One that is broken harms nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import EntryPoint, entry_points

from lethe_app.agents.task import AgentTask, Need

GROUP = "lethe.tasks"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True)
class Plugin:
    """A task that came with another distribution."""

    task: AgentTask
    distribution: str


@dataclass(frozen=True)
class Fault:
    """A plug-in that cannot be used, and why, in one sentence."""

    distribution: str
    words: str


def found() -> tuple[list[Plugin], list[Fault]]:
    """Every plug-in that is installed now, by the name of its entry point."""
    return load(sorted(entry_points(group=GROUP), key=lambda entry: entry.name))


def load(entries: Iterable[EntryPoint]) -> tuple[list[Plugin], list[Fault]]:
    """Those that can be used, and the faults of the others."""
    plugins, faults = [], []
    for entry in entries:
        source = entry.dist.name if entry.dist is not None else entry.module
        try:
            plugins.append(Plugin(_made(entry), source))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the code of others does, the program starts
            faults.append(Fault(source, f"The task “{entry.name}” cannot be used: {_words(error)}"))
    return plugins, faults


def _made(entry: EntryPoint) -> AgentTask:
    """Raises whatever the plug-in raises, TypeError and ValueError among it."""
    task = entry.load()()
    if not isinstance(task, AgentTask):
        raise TypeError("it is no Task.")
    if not isinstance(getattr(task, "name", None), str) or not _NAME.fullmatch(task.name):
        raise ValueError("its name must be short, of small letters, digits, - and _.")
    if not isinstance(getattr(task, "title", None), str) or not task.title.strip():
        raise ValueError("it has no title.")
    if not isinstance(task.every, timedelta) or task.every <= timedelta():
        raise ValueError("its pace must be a time longer than none.")
    if not set(task.needs) <= set(Need):
        raise ValueError("it needs something that Lethe does not know.")
    return task


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200] or type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."
