"""Ways out of a start that failed: what can help, repairing the database, and setting unreadable settings aside."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from lethe_app.domain.bundle import BackupContents
from lethe_app.domain.clock import now
from lethe_app.errors import DatabaseDamaged, DatabaseTooNew, FileError, StorageError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import list_backups, run_cancellable_work
from lethe_app.services.scheduling.offload import CancelToken, ProgressCallback, ignore_progress
from lethe_app.storage.database_header import has_content
from lethe_app.storage.error_translation import damaged_error, translate_errors
from lethe_app.storage.home_backup.create import DATABASE, DATABASE_ITEMS, describe_database
from lethe_app.storage.home_backup.restore import prepared_folder, replace_items
from lethe_app.storage.salvage import SalvageReport, salvage

PARTS = {"alternatives": "messages", "sessions": "conversations", "document_chunks": "documents"} | {
    table: table for table in ("messages", "memories", "facts", "documents")
}
"""What the tables contain that a report names."""


class StartRemedy(StrEnum):
    """What can be done when Lethe cannot start."""

    REPAIR = "repair"
    RESTORE = "restore"
    DEFAULT_SETTINGS = "default settings"


def find_remedies(paths: Paths, error: Exception) -> list[StartRemedy]:
    """Return what can help after `error` ended the start, the most promising first."""
    remedies = []
    if isinstance(error, DatabaseDamaged) and paths.database.is_file() and has_content(paths.database):
        remedies.append(StartRemedy.REPAIR)
    if isinstance(error, DatabaseDamaged | DatabaseTooNew) and _has_backups(paths.home):
        remedies.append(StartRemedy.RESTORE)
    if isinstance(error, FileError) and error.path == paths.settings:
        remedies.append(StartRemedy.DEFAULT_SETTINGS)
    return remedies


def _has_backups(home: Path) -> bool:
    with suppress(StorageError):
        return bool(list_backups(home))
    return False


def set_settings_aside(paths: Paths) -> Path:
    """Rename the settings file, so that the default settings apply, and return its new path. Raise StorageError."""
    kept = paths.settings.with_name(f"settings.unreadable-{now():%Y%m%d-%H%M%S}.json")
    with translate_errors(paths.settings):
        paths.settings.rename(kept)
    return kept


async def repair_database(paths: Paths, on_progress: ProgressCallback = ignore_progress) -> tuple[BackupContents, str]:
    """Replace the damaged database of a closed Lethe by one with everything that can still be read; the damaged one is kept
    among the backups. Return what was saved, and in words what was not.

    Raise DatabaseDamaged if nothing can be read and there are backups, DatabaseLocked while Lethe runs, StorageError; then
    nothing has changed.
    """
    return await run_cancellable_work(lambda token: _repair(paths, token), on_progress)


def _repair(paths: Paths, token: CancelToken) -> tuple[BackupContents, str]:
    with prepared_folder(paths) as folder:
        report = salvage(paths.database, folder / DATABASE, token.report_progress)
        contents = describe_database(folder / DATABASE)
        if not any(contents.counts.values()) and report.damaged and _has_backups(paths.home):
            raise damaged_error(paths.database, "is damaged beyond repair: nothing in it can be read", "Restore a backup.")
        return contents, _describe_losses(report, replace_items(paths, folder, DATABASE_ITEMS))


def _describe_losses(report: SalvageReport, kept: Path | None) -> str:
    parts = dict.fromkeys(PARTS[table] for table in report.damaged if table in PARTS)
    lines = [f"A part could not be read of: {', '.join(parts)}."] if parts else []
    lines += [f"“{title}” has {there} of its {before} messages." for title, there, before in report.incomplete]
    return "\n".join([*(lines or ["Everything could be read."]), f"The damaged file is kept in {kept}."])
