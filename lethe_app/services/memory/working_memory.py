"""Working memory: texts that are needed for some minutes, stored by tools and background tasks and read on request."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

from lethe_app.domain.agent_runs import TaskRun
from lethe_app.domain.clock import now
from lethe_app.domain.tools import WorkingMemoryEntry
from lethe_app.errors import LetheError
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS
from lethe_app.searchable_text import fold, split_words
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.storage.memory.working_memory import WorkingMemoryRows

DEFAULT_LIFETIME = timedelta(minutes=5)
MAX_LIFETIME = timedelta(days=1)
"""Maximum lifetime, and that of what a background task found: the user may come back the next morning only."""
MAX_ENTRIES = 50
"""Maximum number of entries of one namespace."""
MAX_KEY_CHARACTERS, MAX_VALUE_CHARACTERS = 80, 200_000
"""Maximum number of characters of a key and of a value."""
SWEEP_INTERVAL = 3600.0
MAX_LISTED = 12
"""Number of entries of one kind that are listed in a prompt."""
SESSION, TASK = "session", "task"
"""First segments of a namespace."""
FROM_WEB = "web"
"""Category of untrusted text, which is returned only as a quotation."""


class WorkingMemory:
    """Working memory. Expired entries are not returned; they are deleted at each write, at the start, and every hour.

    An entry has a path: the two segments of its namespace, and its key. Everybody writes to a namespace of their own and may
    read all entries of the same persona.
    """

    def __init__(self, rows: WorkingMemoryRows) -> None:
        self._rows = rows
        self.background = BackgroundLoop(self._sweep, SWEEP_INTERVAL)

    async def save_entry(
        self,
        persona_id: str,
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
        kind, _slash, owner = namespace.partition("/")
        if kind not in {SESSION, TASK} or not owner or "/" in owner:
            raise LetheError(f"“{namespace}” is not a namespace of working memory.")
        moment = now()
        entry = WorkingMemoryEntry(
            persona_id=persona_id,
            namespace=namespace,
            key=name,
            value=value[:MAX_VALUE_CHARACTERS],
            category=category.strip(),
            tags=[tag.strip() for tag in tags if tag.strip()],
            stored=moment,
            expires=moment + min(max(lifetime, timedelta(seconds=1)), MAX_LIFETIME),
        )
        await self._rows.save_entry(entry, MAX_ENTRIES, moment)
        return entry

    async def get(self, persona_id: str, namespace: str, key: str) -> WorkingMemoryEntry | None:
        """Return an entry by its key in `namespace`, or by its full path in any; None if there is none."""
        path = key.strip().strip("/")
        if (own := await self._rows.get(persona_id, namespace, path, now())) is not None:
            return own
        first, second, *rest = [*path.split("/"), "", ""]
        return await self._rows.get(persona_id, f"{first}/{second}", "/".join(rest).strip("/"), now())

    async def entries_below(self, persona_id: str, prefix: str) -> list[WorkingMemoryEntry]:
        """Return the entries of a namespace, or of all whose path begins with these segments, sorted by path."""
        return await self._rows.entries_below(persona_id, prefix.strip().strip("/"), now())

    async def search(
        self, persona_id: str, prefix: str, words: str, *, category: str = "", tags: Collection[str] = (), limit: int = 5
    ) -> list[WorkingMemoryEntry]:
        """Return the entries that contain at least one of the words, best match first; without words all that have the category
        and every one of the tags.
        """
        query_words, wanted_tags = {word.casefold() for word in words.split()}, {tag.strip().casefold() for tag in tags}
        entries = [
            entry
            for entry in await self.entries_below(persona_id, prefix)
            if (not category.strip() or entry.category.casefold() == category.strip().casefold())
            and wanted_tags <= {tag.casefold() for tag in entry.tags}
        ]
        if not query_words:
            return entries[:limit] if category.strip() or wanted_tags else []
        scored = [(sum(word in _searchable_text(entry) for word in query_words), entry) for entry in entries]
        ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [entry for _score, entry in ranked[:limit]]

    async def find_mentioned(self, persona_id: str, namespace: str, message: str) -> list[WorkingMemoryEntry]:
        """Return the entries of a session and of all tasks that contain at least half of the content words of a message; none
        if it has no content words.
        """
        content_words = {fold(word) for word in split_words(message)} - EVERYDAY_WORDS
        if not content_words:
            return []
        entries = [*await self.entries_below(persona_id, namespace), *await self.entries_below(persona_id, TASK)]
        texts = [(entry, _searchable_text(entry)) for entry in entries]
        return [entry for entry, text in texts if 2 * sum(word in text for word in content_words) >= len(content_words)]

    async def build_inventory(self, persona_id: str, namespace: str) -> str:
        """Return the lists of keys with their remaining time for the prompt, those of `namespace` and the full paths of what
        background tasks found; empty if there are no entries.
        """
        own, found = await self.entries_below(persona_id, namespace), await self.entries_below(persona_id, TASK)
        sections = (
            ("In working memory for some minutes (only keys; bench_get reads them):", [describe_entry(one) for one in own]),
            (
                "Found by background tasks (bench_get reads them by the full key):",
                [describe_entry(one, one.path) for one in found],
            ),
        )
        return "\n".join(_list_section(heading, lines) for heading, lines in sections if lines)

    async def delete_run(self, run: TaskRun) -> int:
        """Delete what a run of a background task stored, and return the number of entries."""
        return await self._rows.delete_stored(run.persona_id, task_namespace(run.task), run.began, run.ended or now())

    async def _sweep(self) -> None:
        await self._rows.delete_expired(now())


def session_namespace(session_id: UUID) -> str:
    """Return the namespace of a session."""
    return f"{SESSION}/{session_id}"


def task_namespace(task: str) -> str:
    """Return the namespace of a background task."""
    return f"{TASK}/{task.replace('/', '-')}"


def describe_entry(entry: WorkingMemoryEntry, name: str = "") -> str:
    """Return one line of the inventory, with the entry's key or `name`."""
    seconds = max(0, int((entry.expires - now()).total_seconds()))
    minutes = seconds // 60
    time_left = f"{minutes // 60} h" if minutes >= 60 else f"{minutes} min" if minutes else "a moment"
    details = [
        f"{time_left} left",
        *([entry.category] if entry.category else []),
        *([", ".join(entry.tags)] if entry.tags else []),
    ]
    return f"- {name or entry.key} ({'; '.join(details)})"


def _list_section(heading: str, lines: Sequence[str]) -> str:
    remainder = [f"- and {len(lines) - MAX_LISTED} more"] if len(lines) > MAX_LISTED else []
    return "\n".join([heading, *lines[:MAX_LISTED], *remainder])


def _searchable_text(entry: WorkingMemoryEntry) -> str:
    return " ".join((entry.key, entry.category, *entry.tags, entry.value)).casefold()
