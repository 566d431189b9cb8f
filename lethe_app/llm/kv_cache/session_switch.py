"""Saving of the KV cache when another session is opened, and restoring of that session's state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from lethe_app.llm.kv_cache.diff import common_prefix
from lethe_app.llm.kv_cache.edits import Seam
from lethe_app.llm.kv_cache.saved_state import SavedState
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.protocol import KeptAt

SMALLEST = 512
"""Minimum number of tokens of a session worth saving; evaluating fewer again is faster than writing and reading a file."""
LEAST_NEW = 16
"""Minimum number of new tokens for which the state of a session that is left is saved again."""
WORTH_FETCHING = 256
"""Minimum number of tokens a saved state must spare for it to be loaded."""

Reuse = Callable[[list[int], Sequence[Seam]], int]
"""Function (tokens, seams) → how many tokens of the new prompt need not be computed if these were cached."""


class Readable(Protocol):
    """Cache that can be saved and restored."""

    @property
    def tokens(self) -> list[int]: ...

    @property
    def joints(self) -> Sequence[Seam]: ...

    def bookmark(self) -> SavedState | None:
        """Return a copy of the cache, or None if that is not possible now."""
        ...

    def put_back(self, mark: SavedState) -> bool:
        """Replace the cache by a saved state; the cache is empty if that fails."""
        ...


class Resuming:
    """Track which session the cache holds, and save and restore states when it changes."""

    def __init__(self, shelf: StateStore, memory: Readable) -> None:
        self._shelf = shelf
        self._memory = memory
        self._at: KeptAt | None = None
        self._seen = 0
        """Number of the last deletion whose text cannot be in the cache, neither as tokens nor in values computed behind it."""
        self._seen_before_reading = 0

    def take_up(self, at: KeptAt | None, wanted: list[int], reuse: Reuse) -> None:
        """Prepare the cache for a prompt of the session at `at`.

        If the cache holds another session, that one is saved. The saved state of this session is loaded if it spares more
        tokens than the cache does. Of another session only the common prefix counts, because anything else it shares would
        have to be cut out.
        """
        if is_same(self._at, at):
            here = reuse(self._memory.tokens, self._memory.joints)
        else:
            self.put_away(LEAST_NEW)
            here = common_prefix(self._memory.tokens, wanted)
        self._at = at
        if at is not None and len(wanted) - here >= WORTH_FETCHING:
            self._fetch(at, here, reuse)
        # Deletions that happen after the prompt was built may concern text inside it, so the number at build time counts if
        # it is known.
        seen = at.known if at is not None else None
        self._seen_before_reading = self._shelf.forgettings if seen is None else seen

    def has_read(self) -> None:
        """Record that the prompt was evaluated: without seams, nothing in the cache was computed behind earlier text."""
        if not self._memory.joints:
            self._seen = self._seen_before_reading

    def put_away(self, least: int) -> None:
        """Save the session's state if at least `least` tokens are new since the last save, or if the cache has fewer seams
        now.
        """
        at, tokens = self._at, self._memory.tokens
        if at is None or len(tokens) < SMALLEST:
            return
        kept = self._shelf.head(at)
        new = len(tokens) if kept is None else len(tokens) - common_prefix(kept.tokens, tokens)
        is_cleaner = kept is not None and len(kept.joints) > len(self._memory.joints)
        if new < least and not is_cleaner:
            return
        mark = self._memory.bookmark()
        if mark is not None:
            self._shelf.save(at, mark, self._seen)

    def _fetch(self, at: KeptAt, here: int, reuse: Reuse) -> None:
        # Taken before the file is read: a deletion in between then counts as later than the state.
        seen = self._shelf.forgettings
        head = self._shelf.head(at)
        if head is None or reuse(head.tokens, head.joints) - here < WORTH_FETCHING:
            return
        mark = self._shelf.take(at)
        if mark is not None and self._memory.put_back(mark):
            self._seen = seen


def is_same(one: KeptAt | None, other: KeptAt | None) -> bool:
    """Return whether both locations mean the same session."""
    if one is None or other is None:
        return one is other
    return (one.folder, one.name) == (other.folder, other.name)
