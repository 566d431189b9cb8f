"""Registry of tool sets: the tools available to a persona, and the errors of plug-ins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint

from pydantic import BaseModel

from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import Tool, ToolSet
from lethe_app.plugins import PluginError, find_entry_points, load_plugins
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences
from lethe_app.services.tools.builtin_web import WEB

ENTRY_POINT_GROUP = "lethe.tools"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def find_tool_sets() -> tuple[list[ToolSet], list[PluginError]]:
    """Return the tool sets of installed plug-ins, sorted by the name of their entry point, and the faults of unusable ones."""
    return load_tool_sets(find_entry_points(ENTRY_POINT_GROUP))


def load_tool_sets(entries: Iterable[EntryPoint]) -> tuple[list[ToolSet], list[PluginError]]:
    """Load tool sets; return the usable ones and the faults of the others. Every tool of a plug-in requires permission for
    each call.
    """
    plugins, errors = load_plugins(entries, _create_tool_set, "The tools")
    return [replace(plugin.value, plugin=plugin.distribution) for plugin in plugins], errors


def _create_tool_set(factory: object) -> ToolSet:
    """Create and check a tool set. Raise whatever the plug-in raises; TypeError or ValueError if the set is invalid."""
    tool_set = factory() if callable(factory) else None
    if not isinstance(tool_set, ToolSet) or not tool_set.tools:
        raise TypeError("it is not a ToolSet with tools.")
    if not _NAME.fullmatch(tool_set.name) or not tool_set.title.strip():
        raise ValueError("its name must be short and consist of lower-case letters, digits and _, and it needs a title.")
    return replace(tool_set, tools=tuple(_check_tool(tool) for tool in tool_set.tools))


def _check_tool(tool: Tool) -> Tool:
    if not isinstance(tool, Tool) or not _NAME.fullmatch(tool.name):
        raise ValueError("the name of a tool must be short and consist of lower-case letters, digits and _.")
    if not issubclass(tool.arguments, BaseModel):
        raise TypeError("the arguments of a tool must be a pydantic model.")
    if not tool.title.strip() or not tool.description.strip():
        raise ValueError("every tool needs a title and a description.")
    tool.declared  # noqa: B018 - raises if no schema can be made of its arguments
    re.compile(tool.hint)
    # Code of others must not act without the user's permission, whatever it declares.
    return replace(tool, asks=True)


WORKING_MEMORY_SET = "bench"


class ToolRegistry:
    """Registry of tools for all personas."""

    def __init__(self, sets: Sequence[ToolSet], errors: Sequence[PluginError], preferences: Preferences) -> None:
        self.changed: Listeners[None] = Listeners()
        """Emitted when an error was added."""
        # Reversed twice, so that the first of two sets with the same name is used.
        self.sets = list({tool_set.name: tool_set for tool_set in reversed(sets)}.values())[::-1]
        self.errors = [*errors, *_find_duplicate_sets(sets)]
        self._preferences = preferences

    def set_names_of(self, persona: Persona) -> list[str]:
        """Return the names of the sets the persona may use, in the order of registration."""
        settings = self._preferences.current
        if not settings.tools_enabled:
            return []
        chosen_names = set(persona.tools if persona.override_default_toolset else settings.default_tools)
        active_names = {
            tool_set.name for tool_set in self.sets if tool_set.name in chosen_names and self._is_available(tool_set)
        }
        if WEB in active_names or (active_names and settings.agents and persona.agent_mode):
            active_names.add(WORKING_MEMORY_SET)  # web pages are stored there in full, and what background tasks found
        return [tool_set.name for tool_set in self.sets if tool_set.name in active_names]

    def _is_available(self, tool_set: ToolSet) -> bool:
        try:
            return tool_set.is_available()
        except Exception as error:  # a plug-in may raise anything; the reply is generated all the same
            self._add_error(
                tool_set, f"The availability of its tools “{tool_set.title}” could not be checked ({type(error).__name__})."
            )
            return False

    def record_tool_error(self, tool: Tool, error: Exception) -> None:
        """Record an error in a plug-in's tool, which is shown in the list of plug-ins and with the reply."""
        owner = next(
            (tool_set for tool_set in self.sets if any(candidate.name == tool.name for candidate in tool_set.tools)), None
        )
        if owner is not None and owner.plugin:
            self._add_error(owner, f"An error occurred when it was asked to {tool.title} ({type(error).__name__}).")

    def _add_error(self, tool_set: ToolSet, reason: str) -> None:
        error = PluginError(tool_set.plugin or tool_set.title, reason, in_use=True)
        if error not in self.errors:
            self.errors.append(error)
            self.changed.notify(None)

    def tools_of(self, persona: Persona) -> list[Tool]:
        """Return the tools the persona may use, in the order of registration."""
        active_names = set(self.set_names_of(persona))
        return [tool for tool_set in self.sets if tool_set.name in active_names for tool in tool_set.tools]


def _find_duplicate_sets(sets: Sequence[ToolSet]) -> list[PluginError]:
    """Return the errors of plug-ins whose set has the name of another set."""
    names, errors = set[str](), list[PluginError]()
    for tool_set in sets:
        if tool_set.name in names:
            errors.append(
                PluginError(tool_set.plugin or tool_set.title, f"A tool set called “{tool_set.name}” already exists.")
            )
        names.add(tool_set.name)
    return errors
