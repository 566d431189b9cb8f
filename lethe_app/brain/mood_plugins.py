"""Finds the moodlets that other packages bring along, and lets none that is broken in."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from lethe_app.brain.mood import OURS, Moodlet

log = logging.getLogger(__name__)

GROUP = "lethe.moodlets"


def installed() -> list[EntryPoint]:
    """What is offered on this computer."""
    return list(entry_points(group=GROUP))


def moodlets(offered: Iterable[EntryPoint]) -> list[Moodlet]:
    """Ours, and those offered that can be used: one that is no moodlet, or has the name of another, is left out and told."""
    found = {moodlet.id: moodlet for moodlet in OURS}
    for entry in offered:
        try:
            moodlet = entry.load()
        except Exception:  # whatever somebody else's code can do wrong
            log.exception("The mood “%s” could not be loaded.", entry.name)
            continue
        if not isinstance(moodlet, Moodlet) or not moodlet.id or moodlet.id in found:
            log.warning("The mood “%s” is left out: it is no moodlet, or there is one of its name already.", entry.name)
            continue
        found[moodlet.id] = moodlet
    return list(found.values())
