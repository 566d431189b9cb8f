"""Keyword matches of a turn, each with its nearest occurrence: the newest message, or the text of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lethe_app.brain.lore.compiled import CompiledEntry, LoreIndex
from lethe_app.brain.text.utterance import ScanWindow, WindowLine
from lethe_app.domain.worldinfo import World

_ENTRY_TEXT_DISTANCE = 1 << 60
"""Distance of a match in an entry's text, greater than that of any message."""


class NearestMatch(NamedTuple):
    """Nearest occurrence of a keyword."""

    distance: int
    """0 is the text being sent, 1 the newest message before it; `_ENTRY_TEXT_DISTANCE` for a match in an entry's text."""
    source: int = -1
    """Index of the entry whose text contains it; -1 for a message."""

    @property
    def in_entry(self) -> bool:
        return self.source >= 0


class ScannedText:
    """Scanned messages and entry texts, extended in each recursion round by the texts of newly activated entries."""

    def __init__(self, lore: LoreIndex, window: ScanWindow) -> None:
        self._lore = lore
        self._lines = window.lines(lore.max_scan_depth)
        self._message_matches: dict[int, NearestMatch] = {}
        self._entry_matches: dict[int, NearestMatch] = {}
        # By id(world): pydantic gives a World no hash; `lore` keeps it alive.
        self._depths: dict[int, int] = {}
        found = lore.keyword_matcher.find([line.text for line in self._lines])
        for distance, keys in enumerate(found):  # newest first, so that the nearest occurrence is kept
            for key in keys:
                self._message_matches.setdefault(key, NearestMatch(distance))

    @property
    def max_distance(self) -> int:
        """Return the distance of the oldest available message."""
        return len(self._lines) - 1

    @property
    def message_matches(self) -> Mapping[int, NearestMatch]:
        """Return the keywords found in messages, each with its newest occurrence."""
        return self._message_matches

    def line_of(self, nearest: NearestMatch) -> WindowLine:
        """Return the message of a match."""
        return self._lines[nearest.distance]

    def scan_entry_texts(self, sources: list[tuple[int, str]]) -> set[int]:
        """Scan the texts of these entries and return the keywords that no entry text contained before."""
        new: set[int] = set()
        found = self._lore.keyword_matcher.find([text for _place, text in sources])
        for (index, _text), keys in zip(sources, found, strict=True):
            for key in keys - self._entry_matches.keys():
                self._entry_matches[key] = NearestMatch(_ENTRY_TEXT_DISTANCE, index)
                new.add(key)
        return new

    def extend_depth(self, world: World, depth: int) -> set[int]:
        """Extend a world's scan depth by one message, to `depth`; return the keywords whose newest occurrence is there."""
        self._depths[id(world)] = depth
        return {key for key, match in self._message_matches.items() if match.distance == depth}

    def matches_for(self, compiled: CompiledEntry) -> dict[int, NearestMatch]:
        """Return the matches of an entry's keywords: in messages within its depth, and in entry texts if it allows
        recursion.
        """
        matches = {}
        allows_recursion = is_activated_by_entries(compiled)
        depth = min(compiled.max_scan_depth, max(compiled.scan_depth, self._depths.get(id(compiled.world), 0)))
        conditions = (key for keys in (*compiled.required, compiled.excluded) for key in keys)
        for key in (*compiled.main, *compiled.secondary, *conditions):
            nearest = self._message_matches.get(key)
            if nearest is not None and nearest.distance <= depth:
                matches[key] = nearest
            elif allows_recursion and key in self._entry_matches:
                matches[key] = self._entry_matches[key]
        return matches


def is_activated_by_entries(compiled: CompiledEntry) -> bool:
    """Return whether texts of other entries can activate the entry."""
    return compiled.world.recursive and not compiled.entry.exclude_recursion


def can_activate_entries(compiled: CompiledEntry) -> bool:
    """Return whether the entry's text can activate other entries."""
    return compiled.world.recursive and not compiled.entry.prevent_recursion
