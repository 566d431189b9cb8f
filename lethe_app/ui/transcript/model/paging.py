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

PAGE = 100
"""Messages per page."""
KEPT = 1200
"""Maximum number of loaded messages kept in memory; enough for several screens in both directions."""
AT_ONCE = 2
"""Maximum number of pages loaded at the same time."""


class MessagePages:
    """Cache of the loaded messages of one session (LRU)."""

    def __init__(self, loader: Loader, arrived: Callable[[list[Message]], None], failed: Callable[[LetheError], None]) -> None:
        self._loader, self._arrived, self._failed = loader, arrived, failed
        self._kept: OrderedDict[UUID, Message] = OrderedDict()
        self._live: dict[UUID, Message] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._fruitless: set[int] = set()
        self._wanted: list[int] = []

    def get(self, message_id: UUID) -> Message | None:
        """Return a message; None if it is not loaded."""
        if (live := self._live.get(message_id)) is not None:
            return live
        if (kept := self._kept.get(message_id)) is not None:
            self._kept.move_to_end(message_id)
        return kept

    def add_message(self, message: Message) -> None:
        """Keep a message that was added or changed while the session is on display; it is never dropped."""
        self._live[message.id] = message
        self._kept.pop(message.id, None)

    def drop(self, message_id: UUID) -> None:
        """Remove a message; pages that failed or brought nothing new may be requested again."""
        self._live.pop(message_id, None)
        self._kept.pop(message_id, None)
        self._fruitless.clear()

    def want(self, indexes: Sequence[int]) -> None:
        """Load the pages of these positions, from the end of the session; pages that were requested before but not started
        are dropped.
        """
        pages = sorted({index // PAGE for index in indexes}, reverse=True)
        self._wanted = [page for page in pages if page not in self._tasks and page not in self._fruitless]
        self._fetch()

    def _fetch(self) -> None:
        while self._wanted and len(self._tasks) < AT_ONCE:
            page = self._wanted.pop(0)
            self._tasks[page] = asyncio.get_running_loop().create_task(self._load(page))

    async def _load(self, page: int) -> None:
        try:
            messages = await self._loader(page * PAGE, PAGE)
        except LetheError as error:
            self._fruitless.add(page)
            self._failed(error)
        else:
            self._keep(page, messages)
        finally:
            self._tasks.pop(page, None)
        self._fetch()

    def _keep(self, page: int, messages: list[Message]) -> None:
        """Store a loaded page. One without new messages is not requested again, because it would bring nothing new."""
        fresh = [message for message in messages if message.id not in self._live and message.id not in self._kept]
        if not fresh:
            self._fruitless.add(page)
        self._kept.update((message.id, message) for message in fresh)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        self._arrived(messages)

    def retry(self) -> None:
        """Allow pages that failed or brought nothing new to be loaded again."""
        self._fruitless.clear()

    def close(self) -> None:
        """Cancel all loading."""
        self._wanted.clear()
        for task in list(self._tasks.values()):
            task.cancel()
        self._tasks.clear()
