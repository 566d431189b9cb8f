"""Which keywords were heard in a turn, and where: in how new a message, or in the text of which entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lethe_app.brain.lore.compiled import CompiledEntry, Lore
from lethe_app.brain.text.scan_window import ScanWindow, WindowLine
from lethe_app.domain.worldinfo import World

_IN_A_TEXT = 1 << 60
"""Farther away than any message."""


class NearestMatch(NamedTuple):
    """The place where a keyword is nearest."""

    distance: int
    """0 is the text being sent, 1 the newest message before it; see `in_entry`."""
    source: int = -1
    """The place in the lore of the entry whose text it stands in; -1 if it was said."""

    @property
    def in_entry(self) -> bool:
        return self.source >= 0


class ScannedText:
    """Grows from round to round as entries that wake add their texts."""

    def __init__(self, lore: Lore, window: ScanWindow) -> None:
        self._lore = lore
        self._lines = window.lines(lore.depth)
        self._said: dict[int, NearestMatch] = {}
        self._written: dict[int, NearestMatch] = {}
        self._depths: dict[int, int] = {}
        found = lore.keywords.find([line.text for line in self._lines])
        for distance, keys in enumerate(found):
            for key in keys:
                self._said.setdefault(key, NearestMatch(distance))

    @property
    def farthest(self) -> int:
        """The distance of the oldest message there is."""
        return len(self._lines) - 1

    @property
    def said(self) -> Mapping[int, NearestMatch]:
        """Keywords in messages, each where it is newest."""
        return self._said

    def line(self, heard: NearestMatch) -> WindowLine:
        """The message it was said in."""
        return self._lines[heard.distance]

    def read(self, sources: list[tuple[int, str]]) -> set[int]:
        """Listen to the texts of these entries and return the keywords that were in no such text before."""
        new: set[int] = set()
        found = self._lore.keywords.find([text for _place, text in sources])
        for (place, _text), keys in zip(sources, found, strict=True):
            for key in keys - self._written.keys():
                self._written[key] = NearestMatch(_IN_A_TEXT, place)
                new.add(key)
        return new

    def deepen(self, world: World, depth: int) -> set[int]:
        """Look for the keywords of a world in this many messages from now on; returns those that stand in the last of them."""
        self._depths[id(world)] = depth
        return {key for key, heard in self._said.items() if heard.distance == depth}

    def text_for(self, placed: CompiledEntry) -> dict[int, NearestMatch]:
        """What this entry hears of its own keywords: messages within its depth, and texts of entries if it listens to them."""
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
    """Can texts of other entries wake it?"""
    return placed.world.recursive and not placed.entry.exclude_recursion


def wakes_entries(placed: CompiledEntry) -> bool:
    """Can its text wake other entries?"""
    return placed.world.recursive and not placed.entry.prevent_recursion
