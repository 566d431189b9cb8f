"""Load tool sets of plug-ins: entry points of the group `lethe.tools`. A broken plug-in affects nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points

from pydantic import BaseModel

from lethe_app.domain.tools import Tool, ToolSet

ENTRY_POINT_GROUP = "lethe.tools"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class ToolFault:
    """Plug-in that cannot be used, with the reason in one sentence."""

    distribution: str
    reason: str
    in_use: bool = False
    """True if it was loaded and failed later, during use."""


def find_plugins() -> tuple[list[ToolSet], list[ToolFault]]:
    """Return every installed plug-in, sorted by the name of its entry point, and the faults of unusable ones."""
    return load_plugins(sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name))


def load_plugins(entries: Iterable[EntryPoint]) -> tuple[list[ToolSet], list[ToolFault]]:
    """Load plug-ins; return the usable ones and the faults of the others. Every tool of a plug-in requires permission for
    each call.
    """
    sets: list[ToolSet] = []
    faults: list[ToolFault] = []
    for entry in entries:
        source = entry.dist.name if entry.dist is not None else entry.module
        try:
            sets.append(replace(_instantiate_set(entry), plugin=source))
        except (Exception, SystemExit) as error:  # whatever the code of others does, the program starts
            error_text = " ".join(str(error).split())[:200] or type(error).__name__
            sentence = error_text if error_text.endswith((".", "!", "?")) else f"{error_text}."
            faults.append(ToolFault(source, f"The tools “{entry.name}” cannot be used: {sentence}"))
    return sets, faults


def _instantiate_set(entry: EntryPoint) -> ToolSet:
    """Instantiate and check a tool set. Raise whatever the plug-in raises; TypeError or ValueError if the set is invalid."""
    tool_set = entry.load()()
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
    tool.declared  # noqa: B018 - raises where its schema cannot be told
    re.compile(tool.hint)
    # Code of others must not act without the user's permission, whatever it declares.
    return replace(tool, asks=True)
