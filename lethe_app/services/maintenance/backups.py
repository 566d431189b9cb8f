"""Daily backup of the database in the background while the program runs."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from lethe_app.errors import LetheError
from lethe_app.storage.backup import back_up

log = logging.getLogger(__name__)

START_DELAY_SECONDS = 30.0
"""Seconds after the start before the backup begins, so that it does not slow the start down."""


class BackupService:
    """Background task that makes at most one verified backup a day; `close` cancels a backup in progress."""

    def __init__(self, database: Path) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(database))

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, database: Path) -> None:
        await asyncio.sleep(START_DELAY_SECONDS)
        try:
            await back_up(database)
        except LetheError as error:
            log.warning("No backup could be made: %s", error)
