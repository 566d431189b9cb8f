"""What helps after a start that failed, and what a repair reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lethe_app.errors import DatabaseDamaged, DatabaseTooNew, FileError, StorageError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import back_up
from lethe_app.services.maintenance.repair import StartRemedy, find_remedies, repair_database
from lethe_app.storage.database import Database

GARBAGE = b"\xa5" * 50_000


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths.standard(tmp_path / "home")
    paths.home.mkdir()
    return paths


async def test_only_what_can_help_is_offered(paths: Paths):
    def offered(error: Exception) -> list[str]:
        return [remedy.value for remedy in find_remedies(paths, error)]

    assert offered(DatabaseDamaged("gone")) == []
    assert offered(FileError(paths.settings, "is broken")) == ["default settings"]
    assert offered(FileError(paths.home / "other.json", "is broken")) == []
    assert offered(StorageError("no room")) == []
    await (await Database.open(paths.database)).close()
    assert offered(DatabaseDamaged("broken")) == ["repair"]
    await back_up(paths.home)
    assert offered(DatabaseDamaged("broken")) == ["repair", "restore"]
    assert offered(DatabaseTooNew("newer")) == ["restore"]
    assert offered(RuntimeError("bug")) == []


async def test_without_a_backup_a_file_beyond_repair_is_replaced_and_kept(paths: Paths):
    paths.database.write_bytes(GARBAGE)

    contents, losses = await repair_database(paths)

    assert not any(contents.counts.values())
    assert losses.startswith("A part could not be read of: ")
    (kept,) = (paths.home / "backups").glob("*-replaced/lethe.sqlite3")
    assert kept.read_bytes() == GARBAGE
    assert str(kept.parent) in losses
    await (await Database.open(paths.database)).close()


async def test_with_a_backup_a_file_beyond_repair_is_left_as_it_is(paths: Paths):
    paths.settings.write_text(json.dumps({}))
    await (await Database.open(paths.database)).close()
    await back_up(paths.home)
    paths.database.write_bytes(GARBAGE)

    with pytest.raises(DatabaseDamaged, match="beyond repair"):
        await repair_database(paths)

    assert paths.database.read_bytes() == GARBAGE
    assert not list(paths.home.glob(".restore-*"))
    assert StartRemedy.RESTORE in find_remedies(paths, DatabaseDamaged("broken"))
