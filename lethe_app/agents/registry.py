"""Registry of background tasks, built-in and from plug-ins, by unique name, and their selection for a persona."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from lethe_app.agents.task import AgentTask, TaskRequirement
from lethe_app.domain.persona import Persona
from lethe_app.plugins import Plugin, PluginError, find_entry_points, load_plugins

ENTRY_POINT_GROUP = "lethe.tasks"
_TASK_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def find_tasks() -> tuple[list[Plugin[AgentTask]], list[PluginError]]:
    """Return the tasks of installed plug-ins, sorted by the name of their entry point, and the faults of unusable ones."""
    return load_plugins(find_entry_points(ENTRY_POINT_GROUP), _create_task, "The task")


def _create_task(task_class: object) -> AgentTask:
    """Instantiate and check a task. Raise whatever the plug-in raises; TypeError or ValueError if the task is invalid."""
    task = task_class() if callable(task_class) else None
    if not isinstance(task, AgentTask):
        raise TypeError("it is not an AgentTask.")
    if not isinstance(getattr(task, "name", None), str) or not _TASK_NAME.fullmatch(task.name):
        raise ValueError("its name must be short and consist of lower-case letters, digits, - and _.")
    if not isinstance(getattr(task, "title", None), str) or not task.title.strip():
        raise ValueError("it has no title.")
    if not isinstance(task.every, timedelta) or task.every <= timedelta():
        raise ValueError("its interval must be longer than zero.")
    if not set(task.needs) <= set(TaskRequirement):
        raise ValueError("it has a requirement that Lethe does not know.")
    return task


@dataclass(frozen=True)
class RegisteredTask:
    """Task with its origin."""

    task: AgentTask
    plugin: str = ""
    """Name of the distribution of a plug-in; empty for built-in tasks."""

    @property
    def name(self) -> str:
        return self.task.name


class Registry:
    """Registry of tasks. Built-in tasks come first; a plug-in cannot take the name of another task."""

    def __init__(
        self,
        builtin_tasks: Sequence[AgentTask],
        discover: Callable[[], tuple[list[Plugin[AgentTask]], list[PluginError]]] = find_tasks,
        reserved_names: Collection[str] = (),
    ) -> None:
        """Create the registry. `discover` loads the plug-ins; it takes a moment and is called at first use.

        `reserved_names` belong to runs of work that is not a task.
        """
        self._builtin_tasks, self._reserved_names = builtin_tasks, reserved_names
        self._discover = discover

    @cached_property
    def _loaded(self) -> tuple[dict[str, RegisteredTask], list[PluginError]]:
        tasks = {task.name: RegisteredTask(task) for task in self._builtin_tasks}
        assert len(tasks) == len(self._builtin_tasks), "two of our own tasks have the same name"
        plugins, errors = self._discover()
        for plugin in plugins:
            if plugin.value.name in tasks or plugin.value.name in self._reserved_names:
                errors.append(PluginError(plugin.distribution, f"A task called “{plugin.value.name}” already exists."))
            else:
                tasks[plugin.value.name] = RegisteredTask(plugin.value, plugin.distribution)
        return tasks, errors

    @property
    def _tasks(self) -> dict[str, RegisteredTask]:
        return self._loaded[0]

    @property
    def errors(self) -> list[PluginError]:
        """Return the plug-ins that could not be used."""
        return self._loaded[1]

    def list_tasks(self) -> list[RegisteredTask]:
        return list(self._tasks.values())

    def get(self, name: str) -> RegisteredTask | None:
        return self._tasks.get(name)

    def tasks_of(self, persona: Persona, disabled_names: Collection[str]) -> list[RegisteredTask]:
        """Return the tasks of a persona: its own selection, or else every built-in task that suits it; without those in
        `disabled_names`.
        """
        if not persona.agent_mode:
            return []
        chosen_names = persona.agent_tasks
        selected = (
            [known for known in self._tasks.values() if known.name in chosen_names]
            if chosen_names
            else [known for known in self._tasks.values() if not known.plugin and known.task.is_default_for(persona)]
        )
        return [known for known in selected if known.name not in disabled_names]
