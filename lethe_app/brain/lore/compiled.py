"""World Info entries of all worlds of a session, compiled into one keyword index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain.lore.decorators import EntryDecorators, read_decorators
from lethe_app.brain.lore.keyword_logic import activating_keywords
from lethe_app.brain.lore.keyword_matcher import Keyword, KeywordMatcher
from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.worldinfo import World, WorldEntry

Expand = Callable[[str], str]
"""Function that expands macros such as {{char}}."""
CACHE_SIZE = 4
"""Number of compiled world sets cached at once, for sessions used alternately."""


def return_unchanged(text: str) -> str:
    """Return the text unchanged; the default `Expand` for texts without macros."""
    return text


@dataclass(frozen=True, slots=True)
class CompiledEntry:
    """Entry with its world and the numbers of its keywords."""

    entry: WorldEntry
    world: World
    main: tuple[int, ...]
    secondary: tuple[int, ...]
    decorators: EntryDecorators
    required: tuple[tuple[int, ...], ...] = ()
    """Numbers of the keywords that its decorators require; of each list at least one must match."""
    excluded: tuple[int, ...] = ()
    """Numbers of the keywords that its decorators exclude; none of them may match."""

    @property
    def scan_depth(self) -> int:
        """Return the number of messages scanned for its keywords."""
        own = self.entry.scan_depth
        return self.world.scan_depth if own is None else own

    @property
    def max_scan_depth(self) -> int:
        """Return the maximum number of messages scanned while its world has fewer active entries than `min_activations`."""
        deeper = self.world.max_depth if self.world.min_activations and self.entry.scan_depth is None else 0
        return max(self.scan_depth, deeper)

    @property
    def uses_group_scoring(self) -> bool:
        """Return whether the entry yields to group members with more matching keywords."""
        own = self.entry.group_scoring
        return self.world.group_scoring if own is None else own

    @property
    def groups(self) -> frozenset[str]:
        """Return the folded names of its inclusion groups."""
        return frozenset(filter(None, (normalize_text(group, keep_case=False) for group in self.entry.groups)))


class LoreIndex:
    """Immutable keyword index of worlds in order of precedence; of several entries with the same guid the first one counts.

    Worlds and entries are values: editing one creates another, for which `LoreIndexCache` compiles a new index. Entries that
    are not inserted by trigger are left out.
    """

    def __init__(self, worlds: Sequence[World], expand: Expand = return_unchanged) -> None:
        self.worlds = tuple(worlds)
        self.compiled_entries: list[CompiledEntry] = []
        self.macros: dict[str, str] = {}
        """Keywords with macros as written, and their expansions."""
        self._keyword_numbers: dict[Keyword, int] = {}
        self._index_by_guid: dict[UUID, int] = {}
        self._entries_by_key: defaultdict[int, list[int]] = defaultdict(list)
        self.always_considered: list[int] = []
        """Indices of the entries considered in every turn: constant ones and those activated by the absence of keywords."""
        for world in worlds:
            for entry in world.entries:
                self._add_entry(world, entry, expand)
        self.keys = list(self._keyword_numbers)
        self.max_scan_depth = max((compiled.max_scan_depth for compiled in self.compiled_entries), default=0)
        self.keyword_matcher = KeywordMatcher(self.keys)

    def entries_for_key(self, key: int) -> Sequence[int]:
        """Return the indices of the entries that may be activated by a keyword."""
        return self._entries_by_key.get(key, ())

    def index_of(self, guid: UUID) -> int | None:
        """Return the index of an entry in `compiled_entries`; None if it is not part of this lore."""
        return self._index_by_guid.get(guid)

    def _add_entry(self, world: World, entry: WorldEntry, expand: Expand) -> None:
        if entry.guid in self._index_by_guid or entry.insertion is not MemoryInsertion.TRIGGER:
            return
        index = self._index_by_guid[entry.guid] = len(self.compiled_entries)
        decorators = read_decorators(entry)
        entry = decorators.entry
        main = self._number_keywords(entry, entry.keywords_main, expand)
        secondary = self._number_keywords(entry, entry.keywords_secondary, expand)
        required = tuple(self._number_keywords(entry, keys, expand) for keys in decorators.required_keys)
        excluded = self._number_keywords(entry, decorators.excluded_keys, expand)
        self.compiled_entries.append(CompiledEntry(entry, world, main, secondary, decorators, required, excluded))
        activating = activating_keywords(main, secondary, entry.word_link)
        for key in set(activating):
            self._entries_by_key[key].append(index)
        if entry.sticky or (secondary and not activating):
            self.always_considered.append(index)

    def _number_keywords(self, entry: WorldEntry, keywords: Sequence[str], expand: Expand) -> tuple[int, ...]:
        """Return the numbers of the non-blank keywords; a macro that expands to nothing is kept as a keyword that never
        matches.
        """
        keys = []
        for raw in filter(str.strip, keywords):
            text = raw.strip()
            if "{{" in raw:
                text = self.macros[raw] = expand(raw)
            keyword = Keyword(text, entry.whole_word, entry.case_sensitive)
            keys.append(self._keyword_numbers.setdefault(keyword, len(self._keyword_numbers)))
        return tuple(keys)


class LoreIndexCache:
    """Cache of compiled worlds, compiled anew only if the worlds or the expanded macros of their keywords changed."""

    def __init__(self) -> None:
        self._cached: list[LoreIndex] = []

    def get_compiled(self, worlds: Sequence[World], expand: Expand = return_unchanged) -> LoreIndex:
        """Return the compiled worlds; worlds are compared by value, so that re-reading an unchanged file reuses the cache."""
        for lore in self._cached:
            if lore.worlds == tuple(worlds) and all(expand(raw) == filled for raw, filled in lore.macros.items()):
                self._cached.remove(lore)
                break
        else:
            lore = LoreIndex(worlds, expand)
        self._cached = [lore, *self._cached[: CACHE_SIZE - 1]]
        return lore
