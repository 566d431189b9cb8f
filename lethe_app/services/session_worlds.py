"""Worlds bound to a session, in the order of their precedence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from lethe_app.brain.lore.decorators import read_decorators
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.participants import Participants

SESSION_WORLDS_KEY = "worlds"
"""Key of the session state: names of the worlds that the user bound to that session alone."""


@dataclass(frozen=True)
class SessionWorlds:
    """Worlds of a session by file name, in the order of their precedence."""

    worlds: Mapping[str, World] = field(default_factory=dict)

    def find_entry(self, guid: UUID) -> tuple[World, WorldEntry] | None:
        """Return the entry with this guid and its world; of several worlds that have it, the first. None if there is none."""
        for world in self.worlds.values():
            for entry in world.entries:
                if entry.guid == guid:
                    return world, read_decorators(entry).entry
        return None

    @property
    def scan_depth(self) -> int:
        """Scan depth: number of messages before the newest one in which keys are looked for."""
        depths = (
            world.scan_depth if entry.scan_depth is None else entry.scan_depth
            for world in self.worlds.values()
            for entry in world.entries
        )
        # Worlds with a minimum number of activations scan further back until it is reached.
        extended_depths = (world.max_depth for world in self.worlds.values() if world.min_activations)
        return max((*depths, *extended_depths), default=0)


def collect_world_names(participants: Participants, stored_names: object, global_worlds: list[str]) -> list[str]:
    """Return the names of the worlds of a session, in the order of their precedence.

    `stored_names` is the session's own list as it is stored; after these come the worlds of the user persona, of the personas,
    and `global_worlds`.
    """
    names = [
        *(name for name in (stored_names if isinstance(stored_names, list) else []) if isinstance(name, str)),
        *participants.user.worlds,
        *(name for persona in (participants.persona, *participants.guests) for name in persona.worlds),
        *global_worlds,
    ]
    return list(dict.fromkeys(names))


def select_worlds(names: list[str], worlds: Mapping[str, World]) -> SessionWorlds:
    """Return the worlds with these names. A missing one is left out, because the library reports broken files."""
    return SessionWorlds({name: worlds[name] for name in names if name in worlds})
