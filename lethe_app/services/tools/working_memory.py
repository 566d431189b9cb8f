"""Working memory: texts too large for a prompt that are needed for some minutes, stored by tools and read on request."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from lethe_app.domain.clock import now
from lethe_app.domain.tools import WorkingMemoryEntry
from lethe_app.errors import LetheError
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, fold, split_words
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.storage.memory.working_memory import WorkingMemoryRows

DEFAULT_LIFETIME = timedelta(minutes=5)
MAX_LIFETIME = timedelta(days=1)
MAX_ENTRIES = 50
"""Maximum number of entries of one namespace."""
MAX_KEY_CHARACTERS, MAX_VALUE_CHARACTERS = 80, 200_000
"""Maximum number of characters of a key and of a value."""
SWEEP_INTERVAL = 3600.0
MAX_LISTED = 12
"""Number of entries listed in a prompt."""


class WorkingMemory:
    """Working memory. Expired entries are not returned; they are deleted at each write, at the start, and every hour."""

    def __init__(self, rows: WorkingMemoryRows) -> None:
        self._rows = rows
        self.background = BackgroundLoop(self._sweep, SWEEP_INTERVAL)

    async def save_entry(
        self,
        namespace: str,
        key: str,
        value: str,
        *,
        lifetime: timedelta = DEFAULT_LIFETIME,
        category: str = "",
        tags: Sequence[str] = (),
    ) -> WorkingMemoryEntry:
        """Store an entry, replacing one of the same key. Raise LetheError for an invalid namespace or key."""
        name = key.strip().strip("/")[:MAX_KEY_CHARACTERS]
        if not name:
            raise LetheError("What is laid down needs a key.")
        moment = now()
        entry = WorkingMemoryEntry(
            namespace=check_namespace(namespace),
            key=name,
            value=value[:MAX_VALUE_CHARACTERS],
            category=category.strip(),
            tags=[tag.strip() for tag in tags if tag.strip()],
            stored=moment,
            expires=moment + min(max(lifetime, timedelta(seconds=1)), MAX_LIFETIME),
        )
        await self._rows.save_entry(entry, MAX_ENTRIES, moment)
        return entry

    async def get(self, namespace: str, key: str) -> WorkingMemoryEntry | None:
        """Return an entry by its key or its full path; None if there is none."""
        path = key.strip().strip("/")
        return await self._rows.get(namespace, path.removeprefix(f"{namespace}/"), now())

    async def entries_of(self, namespace: str) -> list[WorkingMemoryEntry]:
        """Return all entries of a namespace, sorted by key."""
        return await self._rows.entries_of(namespace, now())

    async def search(self, namespace: str, words: str, limit: int = 5) -> list[WorkingMemoryEntry]:
        """Return the entries that contain at least one of the words, best match first."""
        query_words = {word.casefold() for word in words.split() if word}
        scored = [
            (sum(word in _searchable_text(entry) for word in query_words), entry) for entry in await self.entries_of(namespace)
        ]
        ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [entry for _score, entry in ranked[:limit]]

    async def find_mentioned(self, namespace: str, message: str) -> list[WorkingMemoryEntry]:
        """Return the entries that contain at least half of the content words of a message; none if it has no content words."""
        content_words = {fold(word) for word in split_words(message)} - EVERYDAY_WORDS
        texts = [(entry, _searchable_text(entry)) for entry in await self.entries_of(namespace)] if content_words else []
        return [entry for entry, text in texts if 2 * sum(word in text for word in content_words) >= len(content_words)]

    async def build_inventory(self, namespace: str) -> str:
        """Return the list of keys with their remaining time for the prompt; empty if there are no entries."""
        entries = await self.entries_of(namespace)
        if not entries:
            return ""
        lines = [describe_entry(entry) for entry in entries[:MAX_LISTED]]
        remainder = [f"- and {len(entries) - MAX_LISTED} more"] if len(entries) > MAX_LISTED else []
        return "\n".join(["In working memory for some minutes (only keys; bench_get reads them):", *lines, *remainder])

    async def _sweep(self) -> None:
        await self._rows.delete_expired(now())


def session_namespace(session_id: UUID) -> str:
    """Return the namespace of a session."""
    return f"session/{session_id}"


def check_namespace(namespace: str) -> str:
    """Return the namespace. Raise LetheError unless it has two segments."""
    first, slash, second = namespace.partition("/")
    if first not in {"session", "task"} or not slash or not second or "/" in second:
        raise LetheError(f"“{namespace}” is not a namespace of working memory.")
    return namespace


def describe_entry(entry: WorkingMemoryEntry) -> str:
    """Return one line of the inventory."""
    seconds = max(0, int((entry.expires - now()).total_seconds()))
    minutes = seconds // 60
    time_left = f"{minutes // 60} h" if minutes >= 60 else f"{minutes} min" if minutes else "a moment"
    details = [
        f"{time_left} left",
        *([entry.category] if entry.category else []),
        *([", ".join(entry.tags)] if entry.tags else []),
    ]
    return f"- {entry.key} ({'; '.join(details)})"


def _searchable_text(entry: WorkingMemoryEntry) -> str:
    return " ".join((entry.key, entry.category, *entry.tags, entry.value)).casefold()
