"""Working memory: texts too large for a prompt that are needed for some minutes, stored by tools and read on request."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from lethe_app.domain.clock import now
from lethe_app.domain.tools import BenchEntry
from lethe_app.errors import LetheError
from lethe_app.retrieval.query_terms import EVERYDAY, cut, fold
from lethe_app.services.scheduling.loop import Background
from lethe_app.storage.memory.working_memory import BenchRows

USUAL = timedelta(minutes=5)
LONGEST = timedelta(days=1)
MOST = 50
"""Maximum number of entries of one namespace."""
LONGEST_KEY, LONGEST_VALUE = 80, 200_000
"""Maximum number of characters of a key and of a value."""
SWEEP_EVERY = 3600.0
SHOWN = 12
"""Number of entries listed in a prompt."""


class Workbench:
    """Working memory. Expired entries are not returned; they are deleted at each write, at the start, and every hour."""

    def __init__(self, rows: BenchRows) -> None:
        self._rows = rows
        self._sweeping = Background(self._sweep, SWEEP_EVERY)

    def start(self, pause: float = 0.0) -> None:
        """Begin to delete expired entries periodically."""
        self._sweeping.start(pause)

    async def close(self) -> None:
        await self._sweeping.close()

    async def save_entry(
        self,
        namespace: str,
        key: str,
        value: str,
        *,
        lasts: timedelta = USUAL,
        category: str = "",
        tags: Sequence[str] = (),
    ) -> BenchEntry:
        """Store an entry, replacing one of the same key. Raise LetheError for an invalid namespace or key."""
        name = key.strip().strip("/")[:LONGEST_KEY]
        if not name:
            raise LetheError("What is laid down needs a key.")
        moment = now()
        entry = BenchEntry(
            namespace=checked(namespace),
            key=name,
            value=value[:LONGEST_VALUE],
            category=category.strip(),
            tags=[tag.strip() for tag in tags if tag.strip()],
            stored=moment,
            expires=moment + min(max(lasts, timedelta(seconds=1)), LONGEST),
        )
        await self._rows.save_entry(entry, MOST, moment)
        return entry

    async def get(self, namespace: str, key: str) -> BenchEntry | None:
        """Return an entry by its key or its full path; None if there is none."""
        path = key.strip().strip("/")
        return await self._rows.get(namespace, path.removeprefix(f"{namespace}/"), now())

    async def entries_of(self, namespace: str) -> list[BenchEntry]:
        """Return all entries of a namespace, sorted by key."""
        return await self._rows.entries_of(namespace, now())

    async def search(self, namespace: str, words: str, most: int = 5) -> list[BenchEntry]:
        """Return the entries that contain at least one of the words, best match first."""
        wanted = {word.casefold() for word in words.split() if word}
        scored = [(sum(word in _text(entry) for word in wanted), entry) for entry in await self.entries_of(namespace)]
        found = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [entry for _score, entry in found[:most]]

    async def spoken_of(self, namespace: str, message: str) -> list[BenchEntry]:
        """Return the entries that contain at least half of the content words of a message; none if it has no content words."""
        wanted = {fold(word) for word in cut(message)} - EVERYDAY
        texts = [(entry, _text(entry)) for entry in await self.entries_of(namespace)] if wanted else []
        return [entry for entry, text in texts if 2 * sum(word in text for word in wanted) >= len(wanted)]

    async def inventory(self, namespace: str) -> str:
        """Return the list of keys with their remaining time for the prompt; empty if there are no entries."""
        entries = await self.entries_of(namespace)
        if not entries:
            return ""
        lines = [describe_entry(entry) for entry in entries[:SHOWN]]
        more = [f"- and {len(entries) - SHOWN} more"] if len(entries) > SHOWN else []
        return "\n".join(["On the workbench for some minutes (only keys; bench_get shows what they hold):", *lines, *more])

    async def _sweep(self) -> None:
        await self._rows.sweep(now())


def of_session(session_id: UUID) -> str:
    """Return the namespace of a session."""
    return f"session/{session_id}"


def checked(namespace: str) -> str:
    """Return the namespace. Raise LetheError unless it has two segments."""
    first, slash, second = namespace.partition("/")
    if first not in {"session", "task"} or not slash or not second or "/" in second:
        raise LetheError(f"“{namespace}” is no place on the workbench.")
    return namespace


def describe_entry(entry: BenchEntry) -> str:
    """Return one line of the inventory."""
    seconds = max(0, int((entry.expires - now()).total_seconds()))
    minutes = seconds // 60
    left = f"{minutes // 60} h" if minutes >= 60 else f"{minutes} min" if minutes else "a moment"
    about = [f"{left} left", *([entry.category] if entry.category else []), *([", ".join(entry.tags)] if entry.tags else [])]
    return f"- {entry.key} ({'; '.join(about)})"


def _text(entry: BenchEntry) -> str:
    return " ".join((entry.key, entry.category, *entry.tags, entry.value)).casefold()
