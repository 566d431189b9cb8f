"""Puts a conversation away when another one is taken up, and takes it up where it was left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from lethe_app.llm.kv_cache.diff import common_prefix
from lethe_app.llm.kv_cache.edits import Seam
from lethe_app.llm.kv_cache.saved_state import SavedState
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.protocol import KeptAt

SMALLEST = 512
"""Tokens below which a conversation is sooner read again than written and fetched."""
LEAST_NEW = 16
"""Tokens that must be new for a conversation to be written once more when it is left."""
WORTH_FETCHING = 256
"""Tokens that need not be read again for a saved state to be worth its loading."""

Reuse = Callable[[list[int], Sequence[Seam]], int]
"""How many of the tokens that are wanted need not be computed if these are held, with these joints."""


class Readable(Protocol):
    """What was read and can be marked."""

    @property
    def tokens(self) -> list[int]: ...

    @property
    def joints(self) -> Sequence[Seam]: ...

    def bookmark(self) -> SavedState | None:
        """All of it; None if it cannot be had now."""
        ...

    def put_back(self, mark: SavedState) -> bool:
        """Hold that and nothing else; nothing at all if that fails."""
        ...


class Resuming:
    """Knows which conversation the cache holds."""

    def __init__(self, shelf: StateStore, memory: Readable) -> None:
        self._shelf = shelf
        self._memory = memory
        self._at: KeptAt | None = None
        self._seen = 0
        """What had been forgotten when the memory was last in the clear."""
        self._seen_before_reading = 0

    def take_up(self, at: KeptAt | None, wanted: list[int], reuse: Reuse) -> None:
        """A prompt of the conversation kept `at` a place is about to be read.

        The one before is put away if it is another one; what was kept of this one is fetched if it spares more than what is
        at hand. Of another conversation only the same beginning counts: what else they share would have to be cut out of it.
        """
        if is_same(self._at, at):
            here = reuse(self._memory.tokens, self._memory.joints)
        else:
            self.put_away(LEAST_NEW)
            here = common_prefix(self._memory.tokens, wanted)
        self._at = at
        if at is not None and len(wanted) - here >= WORTH_FETCHING:
            self._fetch(at, here, reuse)
        seen = at.known if at is not None else None
        self._seen_before_reading = self._shelf.forgettings if seen is None else seen

    def has_read(self) -> None:
        """The prompt is read: without joints, nothing is left of what stood there before."""
        if not self._memory.joints:
            self._seen = self._seen_before_reading

    def put_away(self, least: int) -> None:
        """Have it written if at least so many tokens are new since it was last kept."""
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
        seen = self._shelf.forgettings
        head = self._shelf.head(at)
        if head is None or reuse(head.tokens, head.joints) - here < WORTH_FETCHING:
            return
        mark = self._shelf.take(at)
        if mark is not None and self._memory.put_back(mark):
            self._seen = seen


def is_same(one: KeptAt | None, other: KeptAt | None) -> bool:
    """Do both mean the same conversation?"""
    if one is None or other is None:
        return one is other
    return (one.folder, one.name) == (other.folder, other.name)
