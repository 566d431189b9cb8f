"""The entries of all worlds that take part in a conversation, made ready to be woken by words."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain.lore.keyword_logic import waking
from lethe_app.brain.lore.keyword_matcher import Keyword, KeywordMatcher
from lethe_app.brain.vocabulary.normalize import fold
from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.worldinfo import World, WorldEntry

Expand = Callable[[str], str]
"""Fills in macros such as {{char}}."""
KEPT = 4
"""Sets of worlds kept ready at once, for conversations that take turns."""


def as_it_is(text: str) -> str:
    """For texts without macros."""
    return text


@dataclass(frozen=True, slots=True)
class CompiledEntry:
    """An entry in its world, its keywords by their numbers."""

    entry: WorldEntry
    world: World
    main: tuple[int, ...]
    secondary: tuple[int, ...]

    @property
    def depth(self) -> int:
        """How many messages its keywords are looked for in."""
        own = self.entry.scan_depth
        return self.world.scan_depth if own is None else own

    @property
    def reach(self) -> int:
        """How many they may be looked for in while its world has too few entries awake."""
        deeper = self.world.deepest_scan if self.world.least_awake and self.entry.scan_depth is None else 0
        return max(self.depth, deeper)

    @property
    def scores(self) -> bool:
        """Does it leave its groups to entries of which more keywords were said?"""
        own = self.entry.group_scoring
        return self.world.group_scoring if own is None else own

    @property
    def groups(self) -> frozenset[str]:
        """The names of its groups, however they are spelled."""
        return frozenset(filter(None, (fold(group, keep_case=False) for group in self.entry.groups)))


@dataclass(frozen=True)
class Problem:
    """A keyword that can never be found."""

    world: World
    entry: WorldEntry
    key: str
    message: str


class Lore:
    """Worlds in the order of their precedence: of several entries with one guid the first counts.

    It is made once and never changes; worlds and entries are values, and whoever edits one makes another (see `OpenLore`).
    Entries whose insertion is not by trigger are none of its business.
    """

    def __init__(self, worlds: Sequence[World], expand: Expand = as_it_is) -> None:
        start = time.perf_counter()
        self.worlds = tuple(worlds)
        self.placed: list[CompiledEntry] = []
        self.macros: dict[str, str] = {}
        """Keywords with macros as they are written, and what became of them."""
        self._numbers: dict[Keyword, int] = {}
        self._places: dict[UUID, int] = {}
        self._woken_by: defaultdict[int, list[int]] = defaultdict(list)
        self._always: list[int] = []
        for world in worlds:
            for entry in world.entries:
                self._add(world, entry, expand)
        self.keys = list(self._numbers)
        self.depth = max((placed.reach for placed in self.placed), default=0)
        self.keywords = KeywordMatcher(self.keys)
        self.build_seconds = time.perf_counter() - start

    @property
    def always(self) -> Sequence[int]:
        """Places of the entries to be looked at every turn: constant ones and those that wake by what is not said."""
        return self._always

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with keywords, as far as it is known; some show only when they are used."""
        wrong = self.keywords.problems
        if not wrong:
            return []
        return [
            Problem(placed.world, placed.entry, self.keys[key].text, wrong[key])
            for placed in self.placed
            for key in dict.fromkeys((*placed.main, *placed.secondary))
            if key in wrong
        ]

    def woken_by(self, key: int) -> Sequence[int]:
        """Places of the entries that may wake when this keyword is heard."""
        return self._woken_by.get(key, ())

    def place_of(self, guid: UUID) -> int | None:
        """Where an entry is in `placed`."""
        return self._places.get(guid)

    def _add(self, world: World, entry: WorldEntry, expand: Expand) -> None:
        if entry.guid in self._places or entry.insertion is not MemoryInsertion.TRIGGER:
            return
        place = self._places[entry.guid] = len(self.placed)
        main = self._keys(entry, entry.keywords_main, expand)
        secondary = self._keys(entry, entry.keywords_secondary, expand)
        self.placed.append(CompiledEntry(entry, world, main, secondary))
        wakers = waking(main, secondary, entry.word_link)
        for key in set(wakers):
            self._woken_by[key].append(place)
        if entry.sticky or (secondary and not wakers):
            self._always.append(place)

    def _keys(self, entry: WorldEntry, written: Sequence[str], expand: Expand) -> tuple[int, ...]:
        """Numbers of the keywords that are more than blanks; a macro for which there is nothing is one that is never heard."""
        keys = []
        for raw in filter(str.strip, written):
            text = raw.strip()
            if "{{" in raw:
                text = self.macros[raw] = expand(raw)
            keyword = Keyword(text, entry.whole_word, entry.case_sensitive)
            keys.append(self._numbers.setdefault(keyword, len(self._numbers)))
        return tuple(keys)


class OpenLore:
    """Keeps the lore of the worlds last asked for, and makes it anew only when they or the names in their keywords changed."""

    def __init__(self) -> None:
        self._kept: list[Lore] = []

    def of(self, worlds: Sequence[World], expand: Expand = as_it_is) -> Lore:
        """Equal worlds are the same worlds, read from their files again or not."""
        for lore in self._kept:
            if lore.worlds == tuple(worlds) and all(expand(raw) == filled for raw, filled in lore.macros.items()):
                self._kept.remove(lore)
                break
        else:
            lore = Lore(worlds, expand)
        self._kept = [lore, *self._kept[: KEPT - 1]]
        return lore
