"""Check of the database for damage, after the start and whenever reading fails; what is made from other tables is renewed."""

from __future__ import annotations

import asyncio
import shutil
from functools import partial

from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.events import Listeners
from lethe_app.services.maintenance.backups import run_cancellable_work
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.scheduling.offload import ProgressCallback, ignore_progress
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.damage import Damage, find_damage, renew_derived_tables
from lethe_app.storage.database import Database
from lethe_app.storage.error_translation import damaged_error

REPAIR_REQUEST = ".repair"
"""Name of the file in the data folder that lets the next start offer a repair."""


async def check_database(paths: Paths, on_progress: ProgressCallback = ignore_progress) -> Damage:
    """Return what of the database is damaged, which may be in use. Raise StorageError."""
    return await run_cancellable_work(lambda token: find_damage(paths.database, token.cancel_event), on_progress)


def request_repair(paths: Paths) -> None:
    """Let the next start offer a repair instead of opening the database. Raise StorageError."""
    write_atomically(paths.home / REPAIR_REQUEST, b"")


def check_repair_request(paths: Paths) -> None:
    """Raise DatabaseDamaged if `request_repair` was called since the last start."""
    if (paths.home / REPAIR_REQUEST).exists():
        (paths.home / REPAIR_REQUEST).unlink()
        raise damaged_error(paths.database, "is damaged")


class IntegrityService:
    """Background check, once after the start and after every error of SQLite that means damage."""

    def __init__(self, paths: Paths, database: Database, memory: MemoryService, memory_index: MemoryIndex) -> None:
        self._paths, self._database, self._memory, self._index = paths, database, memory, memory_index
        self.needs_repair = False
        """True if something was found to be damaged that cannot be made again."""
        self.found: Listeners[LetheError] = Listeners()
        """Emitted with what to tell the user when something was found to be damaged."""
        self.background = BackgroundLoop(self._check_once)
        database.damage_listeners.append(self.background.wake)

    async def check(self, on_progress: ProgressCallback = ignore_progress) -> bool:
        """Check the database, make again what is made from other tables if only that is damaged. Return whether
        nothing was. Raise StorageError.
        """
        damage = await check_database(self._paths, on_progress)
        self.needs_repair = damage is Damage.RECORDS
        if self.needs_repair:
            self.found.notify(damaged_error(self._paths.database, "is damaged"))
        elif damage is Damage.DERIVED:
            await self._renew_derived_tables()
            self.found.notify(LetheError("The search index was damaged and is made again.", "Nothing was lost."))
        return damage is Damage.NOTHING

    async def _renew_derived_tables(self) -> None:
        await self._database.run_in_thread(renew_derived_tables)
        self._index.reload()
        await self._index.wait_until_idle()
        # Its files contain the numbers of passages that are gone.
        await asyncio.to_thread(partial(shutil.rmtree, self._paths.index, ignore_errors=True))
        await self._memory.rebuild()

    async def _check_once(self) -> None:
        if not self.needs_repair:
            await self.check()
