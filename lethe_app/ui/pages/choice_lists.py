"""Choices of form fields that depend on what the user has and on what is installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lethe_app.services.background.runner import BackgroundRunner
    from lethe_app.services.library import Library
    from lethe_app.services.tools.registry import ToolRegistry

Choices = list[tuple[str, str]]
"""Values with their labels."""


@dataclass(frozen=True)
class ChoiceLists:
    """Worlds, sampler presets, background tasks and sets of tools, for the settings and for a persona."""

    library: Library
    background_runner: BackgroundRunner
    tool_registry: ToolRegistry

    async def worlds(self) -> Choices:
        return [(key, world.name) for key, world in (await self.library.worlds()).items()]

    async def samplers(self) -> Choices:
        return [(key, preset.name) for key, preset in (await self.library.samplers()).items()]

    def tasks(self) -> Choices:
        return [(entry.name, entry.task.title) for entry in self.background_runner.registry.list_tasks()]

    def tools(self) -> Choices:
        return [(one.name, one.title) for one in self.tool_registry.sets]
