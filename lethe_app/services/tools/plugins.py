"""Finds sets of tools that others wrote: entry points of the group `lethe.tools`. A broken one harms nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points

from pydantic import BaseModel

from lethe_app.domain.tools import Tool, ToolSet

GROUP = "lethe.tools"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class ToolFault:
    """A plug-in that cannot be used, and why, in one sentence."""

    distribution: str
    words: str
    in_use: bool = False
    """It could be loaded, and broke while it was used."""


def found() -> tuple[list[ToolSet], list[ToolFault]]:
    """Every plug-in that is installed now, by the name of its entry point."""
    return load(sorted(entry_points(group=GROUP), key=lambda entry: entry.name))


def load(entries: Iterable[EntryPoint]) -> tuple[list[ToolSet], list[ToolFault]]:
    """Those that can be used, and the faults of the others. What they bring in asks the user before every use."""
    sets: list[ToolSet] = []
    faults: list[ToolFault] = []
    for entry in entries:
        source = entry.dist.name if entry.dist is not None else entry.module
        try:
            sets.append(replace(_made(entry), plugin=source))
        except (Exception, SystemExit) as error:  # whatever the code of others does, the program starts
            words = " ".join(str(error).split())[:200] or type(error).__name__
            told = words if words.endswith((".", "!", "?")) else f"{words}."
            faults.append(ToolFault(source, f"The tools “{entry.name}” cannot be used: {told}"))
    return sets, faults


def _made(entry: EntryPoint) -> ToolSet:
    """Raises whatever the plug-in raises, TypeError and ValueError among it."""
    made = entry.load()()
    if not isinstance(made, ToolSet) or not made.tools:
        raise TypeError("it is no ToolSet with tools in it.")
    if not _NAME.fullmatch(made.name) or not made.title.strip():
        raise ValueError("its name must be short, of small letters, digits and _, and it needs a title.")
    return replace(made, tools=tuple(_checked(tool) for tool in made.tools))


def _checked(tool: Tool) -> Tool:
    if not isinstance(tool, Tool) or not _NAME.fullmatch(tool.name):
        raise ValueError("the name of a tool must be short, of small letters, digits and _.")
    if not issubclass(tool.arguments, BaseModel):
        raise TypeError("the arguments of a tool are a pydantic model.")
    if not tool.title.strip() or not tool.description.strip():
        raise ValueError("every tool needs a title and a description.")
    tool.declared  # noqa: B018 - raises where its schema cannot be told
    re.compile(tool.hint)
    return replace(tool, asks=True)
