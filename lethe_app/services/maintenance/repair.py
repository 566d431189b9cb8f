"""Ways out of a start that failed: what can help, repairing the database, and setting unreadable settings aside."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
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
from lethe_app.storage.home_backup.restore import commit_restore, prepared_folder
from lethe_app.storage.salvage import SalvageReport, salvage

PARTS = {"alternatives": "messages", "sessions": "conversations", "document_chunks": "documents"}
PARTS |= {table: table for table in ("messages", "memories", "facts", "documents")}
"""What the tables contain that a report names."""
MAX_LISTED = 20
"""Number of incomplete conversations that a report lists."""


class StartRemedy(StrEnum):
    """What can be done when Lethe cannot start."""

    REPAIR = "repair"
    RESTORE = "restore"
    DEFAULT_SETTINGS = "default settings"


@dataclass(frozen=True)
class Repair:
    """Outcome of a repair."""

    report: SalvageReport
    contents: BackupContents
    """What the new database contains."""
    kept: Path | None
    """Folder with the damaged database."""


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


async def repair_database(paths: Paths, on_progress: ProgressCallback = ignore_progress) -> Repair:
    """Replace the damaged database of a closed Lethe by one with everything that can still be read; the damaged one is kept
    among the backups.

    Raise DatabaseDamaged if nothing can be read and there are backups, DatabaseLocked while Lethe runs, StorageError; then
    nothing has changed.
    """
    return await run_cancellable_work(lambda token: _repair(paths, token), on_progress)


def _repair(paths: Paths, token: CancelToken) -> Repair:
    with prepared_folder(paths) as folder:
        report = salvage(paths.database, folder / DATABASE, token.cancel_event, token.report_progress)
        contents = describe_database(folder / DATABASE)
        if not any(contents.counts.values()) and report.damaged and _has_backups(paths.home):
            raise damaged_error(paths.database, "is damaged beyond repair: nothing in it can be read", "Restore a backup.")
        return Repair(report, contents, commit_restore(paths, folder, DATABASE_ITEMS))


def describe_repair(repair: Repair, saved: str) -> str:
    """Return what was saved, in words, and what was not, in a few lines."""
    lines = [f"Saved: {saved if any(repair.contents.counts.values()) else 'nothing'}."]
    parts = dict.fromkeys(PARTS[table] for table in repair.report.damaged if table in PARTS)
    incomplete = repair.report.incomplete
    if parts:
        lines.append(f"A part could not be read of: {', '.join(parts)}.")
    lines += [f"“{title}” has {there} of its {before} messages." for title, there, before in incomplete[:MAX_LISTED]]
    if incomplete[MAX_LISTED:]:
        lines.append(f"{len(incomplete) - MAX_LISTED} more conversations are incomplete.")
    if not (parts or incomplete):
        lines.append("Everything could be read.")
    if repair.kept is not None:
        lines.append(f"The damaged file is kept in {repair.kept}.")
    return "\n".join(lines)
