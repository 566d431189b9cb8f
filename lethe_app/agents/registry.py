"""The tasks there are: those of ours and those that came by plug-ins, each under its own name, and for whom they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from lethe_app.agents.plugins import Fault, Plugin, found
from lethe_app.agents.task import AgentTask
from lethe_app.domain.persona import Persona


@dataclass(frozen=True)
class RegisteredTask:
    """A task, and where it comes from."""

    task: AgentTask
    plugin: str = ""
    """Name of the distribution it came with; empty for ours."""

    @property
    def name(self) -> str:
        return self.task.name


class Registry:
    """Ours come first, and a plug-in cannot take the name of another task."""

    def __init__(
        self,
        ours: Sequence[AgentTask],
        find: Callable[[], tuple[list[Plugin], list[Fault]]] = found,
        reserved: Collection[str] = (),
    ) -> None:
        """`find` looks for plug-ins, which takes a moment, so not before somebody wants to know.

        Under the `reserved` names runs are kept of what is no task.
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
                faults.append(Fault(plugin.distribution, f"There is a task “{plugin.task.name}” already."))
            else:
                known[plugin.task.name] = RegisteredTask(plugin.task, plugin.distribution)
        return known, faults

    @property
    def _known(self) -> dict[str, RegisteredTask]:
        return self._all[0]

    @property
    def faults(self) -> list[Fault]:
        """Plug-ins that could not be used."""
        return self._all[1]

    def all(self) -> list[RegisteredTask]:
        return list(self._known.values())

    def get(self, name: str) -> RegisteredTask | None:
        return self._known.get(name)

    def tasks_of(self, persona: Persona, off: Collection[str]) -> list[RegisteredTask]:
        """What this persona does while the user is away: what was chosen for her, or else every one of ours that suits."""
        if not persona.agent_mode:
            return []
        chosen = persona.agent_tasks
        wanted = (
            [known for known in self._known.values() if known.name in chosen]
            if chosen
            else [known for known in self._known.values() if not known.plugin and known.task.suits(persona)]
        )
        return [known for known in wanted if known.name not in off]
