"""Registry of tool sets: the tools available to a persona, and the errors of plug-ins."""

from __future__ import annotations

from collections.abc import Sequence

from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import Tool, ToolSet
from lethe_app.plugins import PluginError
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences
from lethe_app.services.tools.builtin_web import WEB

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
