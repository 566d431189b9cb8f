"""Load messages in pages when they come into view, and drop those not viewed for long."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from lethe_app.domain.chat import Message
from lethe_app.errors import LetheError

Loader = Callable[[int, int], Awaitable[list[Message]]]
"""Load at most `count` messages from the position `start` in the session."""

PAGE_SIZE = 100
"""Messages per page."""
MAX_CACHED_MESSAGES = 1200
"""Maximum number of loaded messages kept in memory; enough for several screens in both directions."""
MAX_CONCURRENT_PAGES = 2
"""Maximum number of pages loaded at the same time."""


class MessagePages:
    """Cache of the loaded messages of one session (LRU)."""

    def __init__(
        self, loader: Loader, on_loaded: Callable[[list[Message]], None], on_failed: Callable[[LetheError], None]
    ) -> None:
        self._loader, self._on_loaded, self._on_failed = loader, on_loaded, on_failed
        self._cached_messages: OrderedDict[UUID, Message] = OrderedDict()
        self._pinned_messages: dict[UUID, Message] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._skipped_pages: set[int] = set()
        self._pending_pages: list[int] = []

    def find_message(self, message_id: UUID) -> Message | None:
        """Return a message; None if it is not loaded."""
        if (pinned := self._pinned_messages.get(message_id)) is not None:
            return pinned
        if (cached := self._cached_messages.get(message_id)) is not None:
            self._cached_messages.move_to_end(message_id)
        return cached

    def add_message(self, message: Message) -> None:
        """Keep a message that was added or changed while the session is on display; it is never dropped."""
        self._pinned_messages[message.id] = message
        self._cached_messages.pop(message.id, None)

    def remove_message(self, message_id: UUID) -> None:
        """Remove a message; pages that failed or brought nothing new may be requested again."""
        self._pinned_messages.pop(message_id, None)
        self._cached_messages.pop(message_id, None)
        self._skipped_pages.clear()

    def request_pages(self, positions: Sequence[int]) -> None:
        """Load the pages of these positions, from the end of the session; pages that were requested before but not started
        are dropped.
        """
        pages = sorted({index // PAGE_SIZE for index in positions}, reverse=True)
        self._pending_pages = [page for page in pages if page not in self._tasks and page not in self._skipped_pages]
        self._start_loading()

    def _start_loading(self) -> None:
        while self._pending_pages and len(self._tasks) < MAX_CONCURRENT_PAGES:
            page = self._pending_pages.pop(0)
            self._tasks[page] = asyncio.get_running_loop().create_task(self._load_page(page))

    async def _load_page(self, page: int) -> None:
        try:
            messages = await self._loader(page * PAGE_SIZE, PAGE_SIZE)
        except LetheError as error:
            self._skipped_pages.add(page)
            self._on_failed(error)
        else:
            self._store_page(page, messages)
        finally:
            self._tasks.pop(page, None)
        self._start_loading()

    def _store_page(self, page: int, messages: list[Message]) -> None:
        """Store a loaded page. One without new messages is not requested again, because it would bring nothing new."""
        new_messages = [
            message
            for message in messages
            if message.id not in self._pinned_messages and message.id not in self._cached_messages
        ]
        if not new_messages:
            self._skipped_pages.add(page)
        self._cached_messages.update((message.id, message) for message in new_messages)
        while len(self._cached_messages) > MAX_CACHED_MESSAGES:
            self._cached_messages.popitem(last=False)
        self._on_loaded(messages)

    def close(self) -> None:
        """Cancel all loading."""
        self._pending_pages.clear()
        for task in list(self._tasks.values()):
            task.cancel()
        self._tasks.clear()
