"""Registry of background tasks, built-in and from plug-ins, by unique name, and their selection for a persona."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from lethe_app.agents.plugins import Fault, Plugin, found
from lethe_app.agents.task import AgentTask
from lethe_app.domain.persona import Persona


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
        ours: Sequence[AgentTask],
        find: Callable[[], tuple[list[Plugin], list[Fault]]] = found,
        reserved: Collection[str] = (),
    ) -> None:
        """Create the registry. `find` loads the plug-ins; it takes a moment and is called at first use.

        The `reserved` names belong to runs of work that is not a task.
        """
        self._ours, self._reserved = ours, reserved
        self._find = find

    @cached_property
    def _all(self) -> tuple[dict[str, RegisteredTask], list[Fault]]:
        known = {task.name: RegisteredTask(task) for task in self._ours}
        assert len(known) == len(self._ours), "two of our own tasks have the same name"
        plugins, faults = self._find()
        for plugin in plugins:
            if plugin.task.name in known or plugin.task.name in self._reserved:
                faults.append(Fault(plugin.distribution, f"A task called “{plugin.task.name}” already exists."))
            else:
                known[plugin.task.name] = RegisteredTask(plugin.task, plugin.distribution)
        return known, faults

    @property
    def _known(self) -> dict[str, RegisteredTask]:
        return self._all[0]

    @property
    def faults(self) -> list[Fault]:
        """Return the plug-ins that could not be used."""
        return self._all[1]

    def all(self) -> list[RegisteredTask]:
        return list(self._known.values())

    def get(self, name: str) -> RegisteredTask | None:
        return self._known.get(name)

    def tasks_of(self, persona: Persona, off: Collection[str]) -> list[RegisteredTask]:
        """Return the tasks of a persona: its own selection, or else every built-in task that suits it; without those in
        `off`.
        """
        if not persona.agent_mode:
            return []
        chosen = persona.agent_tasks
        wanted = (
            [known for known in self._known.values() if known.name in chosen]
            if chosen
            else [known for known in self._known.values() if not known.plugin and known.task.suits(persona)]
        )
        return [known for known in wanted if known.name not in off]
