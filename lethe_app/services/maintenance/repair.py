"""Ways out of a start that failed: what can help, repairing the database, and setting unreadable settings aside."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lethe_app.domain.bundle import BackupContents
from lethe_app.domain.clock import now
from lethe_app.errors import DatabaseDamaged, DatabaseTooNew, FileError, LetheError, StorageError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import list_backups
from lethe_app.services.scheduling.offload import (
    CancelToken,
    ProgressCallback,
    WorkCancelled,
    ignore_progress,
    run_cancellable,
)
from lethe_app.storage.backup import BackupCancelled
from lethe_app.storage.database_header import has_content
from lethe_app.storage.error_translation import damaged_error, translate_errors
from lethe_app.storage.home_backup.archive import DATABASE, DATABASE_ITEMS
from lethe_app.storage.home_backup.create import describe_database
from lethe_app.storage.home_backup.restore import PREPARED_PREFIX, commit_restore
from lethe_app.storage.salvage import SalvageReport, salvage

COUNTED = {
    "conversations": ("conversation", "conversations"),
    "messages": ("message", "messages"),
    "memories": ("memory", "memories"),
    "facts": ("fact", "facts"),
    "documents": ("document", "documents"),
}
"""Singular and plural of the records that a report counts."""
PARTS = {"sessions": "conversations", "alternatives": "messages", "document_chunks": "documents"}
"""What a table contains, if it is not called like that."""
MAX_LISTED = 20
"""Number of incomplete conversations that a report lists."""


class StartRemedy(StrEnum):
    """What can be done when Lethe cannot start."""

    REPAIR = "repair"
    RESTORE = "restore"
    DEFAULT_SETTINGS = "default settings"
    TRY_AGAIN = "try again"


@dataclass(frozen=True)
class StartProblem:
    """Reason why Lethe could not start, and what can help, the most promising first."""

    error: Exception
    remedies: tuple[StartRemedy, ...]
    folder: Path
    """Existing folder that contains what is wrong."""

    @property
    def message(self) -> str:
        """Return what is wrong, as a sentence."""
        return self.error.message if isinstance(self.error, LetheError) else f"{type(self.error).__name__}: {self.error}"


@dataclass(frozen=True)
class Repair:
    """Outcome of a repair."""

    report: SalvageReport
    contents: BackupContents
    """What the new database contains."""
    kept: Path | None
    """Folder with the damaged database."""

    @property
    def is_incomplete(self) -> bool:
        """Return whether something could not be read."""
        return bool(self.report.damaged or self.report.incomplete)


def diagnose_start(paths: Paths, error: Exception) -> StartProblem:
    """Return what can help after `error` ended the start."""
    remedies = []
    is_damaged = isinstance(error, DatabaseDamaged)
    if is_damaged and paths.database.is_file() and has_content(paths.database):
        remedies.append(StartRemedy.REPAIR)
    if isinstance(error, DatabaseDamaged | DatabaseTooNew) and _has_backups(paths.home):
        remedies.append(StartRemedy.RESTORE)
    if isinstance(error, FileError) and error.path == paths.settings:
        remedies.append(StartRemedy.DEFAULT_SETTINGS)
    folder = next((one for one in (paths.home, *paths.home.parents) if one.is_dir()), paths.home)
    return StartProblem(error, (*remedies, StartRemedy.TRY_AGAIN), folder)


def _has_backups(home: Path) -> bool:
    try:
        return bool(list_backups(home))
    except StorageError:
        return False


def set_settings_aside(paths: Paths) -> Path:
    """Rename the settings file, so that the default settings apply, and return its new path. Raise StorageError."""
    kept = paths.settings.with_name(f"settings.unreadable-{now():%Y%m%d-%H%M%S}.json")
    with translate_errors(paths.settings):
        paths.settings.rename(kept)
    return kept


async def repair_database(paths: Paths, on_progress: ProgressCallback = ignore_progress) -> Repair:
    """Replace the damaged database of a closed Lethe by one with everything that can still be read; the damaged one is kept
    among the backups.

    Raise DatabaseDamaged if nothing can be read and there are backups, DatabaseLocked while Lethe runs, StorageError; then
    nothing has changed.
    """
    token = CancelToken(on_progress)

    def run() -> Repair:
        try:
            return _repair(paths, token)
        except BackupCancelled as error:
            raise WorkCancelled from error

    return await run_cancellable(asyncio.to_thread(run), token)


def _repair(paths: Paths, token: CancelToken) -> Repair:
    with translate_errors(paths.home):
        folder = Path(tempfile.mkdtemp(prefix=PREPARED_PREFIX, dir=paths.home))
    try:
        report = salvage(paths.database, folder / DATABASE, token.cancel_event, token.report_progress)
        contents = describe_database(folder / DATABASE)
        if not any(contents.counts.values()) and report.damaged and _has_backups(paths.home):
            raise damaged_error(paths.database, "is damaged beyond repair: nothing in it can be read", "Restore a backup.")
        kept = commit_restore(paths, folder, DATABASE_ITEMS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Repair(report, contents, kept)


def describe_repair(repair: Repair) -> str:
    """Return what was saved and what was not, in a few lines."""
    report, counts = repair.report, repair.contents.counts
    saved = [_count(counts[kind], *words) for kind, words in COUNTED.items() if counts.get(kind)]
    lines = [f"Saved: {', '.join(saved) or 'nothing'}."]
    damaged = dict.fromkeys(PARTS.get(table, table) for table in report.damaged)
    parts = [f"{kind} ({report.lost[kind]} lost)" if kind in report.lost else kind for kind in damaged if kind in COUNTED]
    if parts:
        lines.append(f"A part could not be read of: {', '.join(parts)}.")
    for title, there, before in report.incomplete[:MAX_LISTED]:
        lines.append(f"“{title}” has {there} of {_count(before, 'message', 'messages')}.")
    if len(report.incomplete) > MAX_LISTED:
        lines.append(f"{len(report.incomplete) - MAX_LISTED} more conversations are incomplete.")
    if not (parts or report.incomplete):
        lines.append("Everything could be read.")
    if repair.kept is not None:
        lines.append(f"The damaged file is kept in {repair.kept}.")
    return "\n".join(lines)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
