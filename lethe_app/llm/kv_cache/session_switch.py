"""Saving of the KV cache when another session is opened, and restoring of that session's state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from lethe_app.llm.kv_cache.diff import common_prefix_length
from lethe_app.llm.kv_cache.edits import Seam
from lethe_app.llm.kv_cache.saved_state import SavedState
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.protocol import StateLocation

MIN_SAVED_TOKENS = 512
"""Minimum number of tokens of a session worth saving; evaluating fewer again is faster than writing and reading a file."""
MIN_NEW_TOKENS = 16
"""Minimum number of new tokens for which the state of a session that is left is saved again."""
MIN_SPARED_TOKENS = 256
"""Minimum number of tokens a saved state must spare for it to be loaded."""

Reuse = Callable[[list[int], Sequence[Seam]], int]
"""Function (tokens, seams) → how many tokens of the new prompt need not be computed if these were cached."""


class SavableCache(Protocol):
    """Cache that can be saved and restored."""

    @property
    def tokens(self) -> list[int]: ...

    @property
    def seams(self) -> Sequence[Seam]: ...

    def capture_state(self) -> SavedState | None:
        """Return a copy of the cache, or None if that is not possible now."""
        ...

    def restore_state(self, state: SavedState) -> bool:
        """Replace the cache by a saved state; the cache is empty if that fails."""
        ...


class SessionSwitcher:
    """Track which session the cache holds, and save and restore states when it changes."""

    def __init__(self, state_store: StateStore, cache: SavableCache) -> None:
        self._state_store = state_store
        self._cache = cache
        self._location: StateLocation | None = None
        self._last_deletion = 0
        """Number of the last deletion whose text cannot be in the cache, neither as tokens nor in values computed after it."""
        self._deletion_before_prefill = 0

    def switch_session(self, location: StateLocation | None, target: list[int], reuse: Reuse) -> None:
        """Prepare the cache for a prompt of the session at `location`.

        If the cache holds another session, that one is saved. The saved state of this session is loaded if it spares more
        tokens than the cache does. Of another session only the common prefix counts, because anything else it shares would
        have to be cut out.
        """
        if is_same_session(self._location, location):
            reused = reuse(self._cache.tokens, self._cache.seams)
        else:
            # The cache still holds the other session; the next evaluation overwrites it.
            self.save_state(MIN_NEW_TOKENS)
            reused = common_prefix_length(self._cache.tokens, target)
        self._location = location
        if location is not None and len(target) - reused >= MIN_SPARED_TOKENS:
            self._load_state(location, reused, reuse)
        # Deletions that happen after the prompt was built may concern text inside it, so the number at build time counts if
        # it is known.
        known_deletion = location.last_deletion if location is not None else None
        self._deletion_before_prefill = self._state_store.last_deletion if known_deletion is None else known_deletion

    def record_prefill(self) -> None:
        """Record that the prompt was evaluated: without seams, nothing in the cache was computed after earlier text."""
        if not self._cache.seams:
            self._last_deletion = self._deletion_before_prefill

    def save_state(self, min_new_tokens: int) -> None:
        """Save the session's state if at least `min_new_tokens` tokens are new since the last save, or if the cache has fewer
        seams now.
        """
        location, tokens = self._location, self._cache.tokens
        if location is None or len(tokens) < MIN_SAVED_TOKENS:
            return
        saved = self._state_store.load_head(location)
        new_tokens = len(tokens) if saved is None else len(tokens) - common_prefix_length(saved.tokens, tokens)
        is_cleaner = saved is not None and len(saved.seams) > len(self._cache.seams)
        if new_tokens < min_new_tokens and not is_cleaner:
            return
        state = self._cache.capture_state()
        if state is not None:
            self._state_store.save(location, state, self._last_deletion)

    def _load_state(self, location: StateLocation, reused: int, reuse: Reuse) -> None:
        # Taken before the file is read: a deletion in between then counts as later than the state.
        last_deletion = self._state_store.last_deletion
        head = self._state_store.load_head(location)
        if head is None or reuse(head.tokens, head.seams) - reused < MIN_SPARED_TOKENS:
            return
        state = self._state_store.load(location)
        if state is not None and self._cache.restore_state(state):
            self._last_deletion = last_deletion


def is_same_session(first: StateLocation | None, second: StateLocation | None) -> bool:
    """Return whether both locations mean the same session."""
    if first is None or second is None:
        return first is second
    return (first.folder, first.name) == (second.folder, second.name)
