"""Ways out of a start that failed: what can help, repairing the database, and setting unreadable settings aside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lethe_app.domain.bundle import BackupContents
from lethe_app.domain.clock import now
from lethe_app.errors import DatabaseDamaged, DatabaseTooNew, FileError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import ListedBackup, read_backups, run_cancellable_work
from lethe_app.services.scheduling.offload import CancelToken, ProgressCallback, ignore_progress
from lethe_app.storage.atomic import write_atomically
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
    if isinstance(error, DatabaseDamaged | DatabaseTooNew):
        remedies.append(StartRemedy.RESTORE)
    if isinstance(error, FileError) and error.path == paths.settings:
        remedies.append(StartRemedy.DEFAULT_SETTINGS)
    return remedies


def set_settings_aside(paths: Paths) -> Path:
    """Rename the settings file, so that the default settings apply, and return its new path. Raise StorageError."""
    kept = paths.settings.with_name(f"settings.unreadable-{now():%Y%m%d-%H%M%S}.json")
    with translate_errors(paths.settings):
        paths.settings.rename(kept)
    if paths.database.exists():  # nobody who has used Lethe is welcomed as new
        write_atomically(paths.settings, b'{"welcomed": true}')
    return kept


@dataclass(frozen=True)
class Repair:
    """What a repair has saved, in words what it has not, and the fullest backup that has more."""

    contents: BackupContents
    losses: str
    richer_backup: ListedBackup | None


async def repair_database(paths: Paths, on_progress: ProgressCallback = ignore_progress) -> Repair:
    """Replace the damaged database of a closed Lethe by one with everything that can still be read; the damaged one is kept
    among the backups.

    Raise DatabaseDamaged if nothing can be read and there are backups, DatabaseLocked while Lethe runs, StorageError; then
    nothing has changed.
    """
    return await run_cancellable_work(lambda token: _repair(paths, token), on_progress)


def _repair(paths: Paths, token: CancelToken) -> Repair:
    backups = [(one, one.contents) for one in read_backups(paths.home) if one.contents is not None]
    with prepared_folder(paths) as folder:
        report = salvage(paths.database, folder / DATABASE, token.report_progress)
        contents = describe_database(folder / DATABASE)
        if not any(contents.counts.values()) and report.damaged and backups:
            raise damaged_error(paths.database, "is damaged beyond repair: nothing in it can be read", "Restore a backup.")
        richer = [one for one, inside in backups if _has_more(inside, contents)]
        richer.sort(key=_fullness, reverse=True)
        losses = _describe_losses(report, contents, replace_items(paths, folder, DATABASE_ITEMS))
        return Repair(contents, losses, richer[0] if richer else None)


def _fullness(backup: ListedBackup) -> list[int]:
    counts = backup.contents.counts if backup.contents is not None else {}
    return [counts.get(part, 0) for part in ("messages", "facts")]


def _has_more(backup: BackupContents, saved: BackupContents) -> bool:
    return any(backup.counts.get(part, 0) > saved.counts.get(part, 0) for part in ("messages", "facts", "memories"))


def _describe_losses(report: SalvageReport, contents: BackupContents, kept: Path | None) -> str:
    parts = dict.fromkeys(PARTS[table] for table in report.damaged if table in PARTS)
    lines = [f"{'A part' if contents.counts[part] else 'Nothing'} could be read of the {part}." for part in parts]
    lines += [f"“{title}” has {there} of its {before} messages." for title, there, before in report.incomplete]
    return "\n".join([*(lines or ["Everything could be read."]), f"The damaged file is kept in {kept}."])
