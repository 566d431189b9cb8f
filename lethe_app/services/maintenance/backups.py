"""Backups while the user chats: a verified copy of the database once a day, made in pieces, given up at once when closing."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from lethe_app.errors import LetheError
from lethe_app.storage.backup import back_up

log = logging.getLogger(__name__)

AFTER_SECONDS = 30.0
"""The start belongs to the user."""


class BackupService:
    """One quiet task while the program is open."""

    def __init__(self, database: Path) -> None:
        self._task = asyncio.get_running_loop().create_task(self._keep(database))

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _keep(self, database: Path) -> None:
        await asyncio.sleep(AFTER_SECONDS)
        try:
            await back_up(database)
        except LetheError as error:
            log.warning("No backup could be made: %s", error)
