"""Load tool sets of plug-ins: entry points of the group `lethe.tools`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import EntryPoint

from pydantic import BaseModel

from lethe_app.domain.tools import Tool, ToolSet
from lethe_app.plugins import PluginError, find_entry_points, load_plugins

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
