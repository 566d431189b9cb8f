"""Keyword matches of a turn, each with its nearest occurrence: the newest message, or the text of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lethe_app.brain.lore.compiled import CompiledEntry, Lore
from lethe_app.brain.text.scan_window import ScanWindow, WindowLine
from lethe_app.domain.worldinfo import World

_IN_A_TEXT = 1 << 60
"""Distance of a match in an entry's text, greater than that of any message."""


class NearestMatch(NamedTuple):
    """Nearest occurrence of a keyword."""

    distance: int
    """0 is the text being sent, 1 the newest message before it; see `in_entry`."""
    source: int = -1
    """Index of the entry whose text contains it; -1 for a message."""

    @property
    def in_entry(self) -> bool:
        return self.source >= 0


class ScannedText:
    """Scanned messages and entry texts, extended in each recursion round by the texts of newly activated entries."""

    def __init__(self, lore: Lore, window: ScanWindow) -> None:
        self._lore = lore
        self._lines = window.lines(lore.depth)
        self._said: dict[int, NearestMatch] = {}
        self._written: dict[int, NearestMatch] = {}
        # By id(world): a World is a mutable pydantic model and not hashable.
        self._depths: dict[int, int] = {}
        found = lore.keywords.find([line.text for line in self._lines])
        for distance, keys in enumerate(found):
            for key in keys:
                self._said.setdefault(key, NearestMatch(distance))

    @property
    def farthest(self) -> int:
        """Return the distance of the oldest available message."""
        return len(self._lines) - 1

    @property
    def said(self) -> Mapping[int, NearestMatch]:
        """Return the keywords found in messages, each with its newest occurrence."""
        return self._said

    def line(self, heard: NearestMatch) -> WindowLine:
        """Return the message of a match."""
        return self._lines[heard.distance]

    def read(self, sources: list[tuple[int, str]]) -> set[int]:
        """Scan the texts of these entries and return the keywords that no entry text contained before."""
        new: set[int] = set()
        found = self._lore.keywords.find([text for _place, text in sources])
        for (place, _text), keys in zip(sources, found, strict=True):
            for key in keys - self._written.keys():
                self._written[key] = NearestMatch(_IN_A_TEXT, place)
                new.add(key)
        return new

    def deepen(self, world: World, depth: int) -> set[int]:
        """Extend the scan depth of a world to `depth`; return the keywords whose newest occurrence is at that depth."""
        self._depths[id(world)] = depth
        return {key for key, heard in self._said.items() if heard.distance == depth}

    def text_for(self, placed: CompiledEntry) -> dict[int, NearestMatch]:
        """Return the matches of an entry's keywords: in messages within its depth, and in entry texts if it allows
        recursion.
        """
        heard = {}
        listens = hears_entries(placed)
        depth = min(placed.reach, max(placed.depth, self._depths.get(id(placed.world), 0)))
        for key in (*placed.main, *placed.secondary):
            said = self._said.get(key)
            if said is not None and said.distance <= depth:
                heard[key] = said
            elif listens and key in self._written:
                heard[key] = self._written[key]
        return heard


def hears_entries(placed: CompiledEntry) -> bool:
    """Return whether texts of other entries can activate the entry."""
    return placed.world.recursive and not placed.entry.exclude_recursion


def wakes_entries(placed: CompiledEntry) -> bool:
    """Return whether the entry's text can activate other entries."""
    return placed.world.recursive and not placed.entry.prevent_recursion
