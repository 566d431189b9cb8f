"""Backups are verified, rotated, and made while the database is in use."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import zipfile
from collections import namedtuple
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.errors import DatabaseDamaged
from lethe_app.services.maintenance.backups import make_daily_backup
from lethe_app.storage import backup
from lethe_app.storage.backup import backup_folder, list_backups
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database


def in_days(days: int) -> datetime:
    return now() + timedelta(days=days)


async def add_message(database: Database, text: str) -> None:
    chats = SessionStore(database)
    session = await chats.add_session(ChatSession(persona_id="mara", name=text))
    await chats.add_message(Message(session_id=session.guid, role=Role.USER, alternatives=[Alternative(content=text)]))


async def titles(database: Database) -> list[str]:
    return sorted(summary.title for summary in await SessionStore(database).sessions())


async def back_up(database: Path, **options: Any) -> Path | None:
    return await make_daily_backup(database.parent, **options)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*"))


def titles_in(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive, closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(archive.read("lethe.sqlite3"))
        return sorted(row[0] for row in connection.execute("SELECT name FROM memories"))


def overwrite(path: Path, start: int) -> None:
    """Overwrite everything from `start`, which counts from the end when negative."""
    with path.open("r+b") as file:
        size = path.stat().st_size
        file.seek(start % size)
        file.write(b"\xff" * (size - start % size))


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


async def test_a_backup_has_all_messages_so_far_and_is_one_file(database: Database):
    await add_message(database, "first")

    copy = await back_up(database.path)
    await add_message(database, "second")

    assert titles_in(copy) == ["first"]
    assert files(backup_folder(database.path)) == [copy.name]
    (listed,) = list_backups(backup_folder(database.path))
    assert (listed.path, listed.pre_migration_version) == (copy, None)
    assert abs(listed.created - now()) < timedelta(minutes=1)
    assert listed.size == len(copy.read_bytes())


async def test_an_empty_database_is_not_backed_up(database: Database):
    assert await back_up(database.path) is None


async def test_there_is_one_backup_a_day_and_only_after_a_change(database: Database):
    await add_message(database, "first")

    assert await back_up(database.path) is not None
    await add_message(database, "second")
    assert await back_up(database.path) is None
    later = await back_up(database.path, moment=in_days(1))
    assert later is not None
    assert titles_in(later) == ["first", "second"]
    assert await back_up(database.path, moment=in_days(2)) is None


async def test_the_oldest_backups_are_deleted_but_not_those_before_migrations(database: Database):
    await add_message(database, "first")
    old = backup.back_up_before_migration(database.path, 1)
    for day in range(1, 6):
        await add_message(database, str(day))
        assert await back_up(database.path, keep=3, moment=in_days(day - 10)) is not None

    kept = list_backups(backup_folder(database.path))

    assert len([copy for copy in kept if copy.pre_migration_version is None]) == 3
    assert [copy.path for copy in kept if copy.pre_migration_version == 1] == [old]


async def test_backups_go_on_after_the_clock_was_ahead(database: Database):
    await add_message(database, "first")
    ahead = [await back_up(database.path, moment=in_days(365 + day)) for day in range(2)]
    await add_message(database, "second")

    copy = await back_up(database.path, keep=2)

    assert copy is not None
    kept = [one.path for one in list_backups(backup_folder(database.path))]
    assert copy in kept
    assert len(set(kept) & set(ahead)) == 1


async def test_a_damaged_database_is_reported_and_no_backup_is_deleted(path: Path):
    database = await Database.open(path)
    for number in range(60):
        await add_message(database, f"{number} " + "x" * 500)
    copy = await back_up(path)
    await add_message(database, "later")
    await database.close()
    overwrite(path, -8 * 4096)
    database = await Database.open(path)

    with pytest.raises(DatabaseDamaged):
        await back_up(path, keep=1, moment=in_days(1))

    await database.close()
    assert files(backup_folder(path)) == [copy.name]
    assert len(titles_in(copy)) == 60


async def test_nothing_is_backed_up_when_there_is_too_little_space(database: Database, monkeypatch: pytest.MonkeyPatch):
    await add_message(database, "first")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**9, 10**9, 10**6))

    assert await back_up(database.path) is None
    assert files(backup_folder(database.path)) == []


async def test_messages_are_stored_while_a_backup_is_made(database: Database, monkeypatch: pytest.MonkeyPatch):
    await database.run(lambda connection: connection.execute("INSERT INTO token_counts VALUES ('t', zeroblob(8000000), 1)"))
    await add_message(database, "first")
    monkeypatch.setattr(backup, "PAUSE_SECONDS", 0.05)

    copying = asyncio.create_task(back_up(database.path))
    await asyncio.sleep(0.06)
    await add_message(database, "meanwhile")

    assert not copying.done()
    copy = await copying
    assert copy is not None
    assert titles_in(copy) == ["first"]
    assert await titles(database) == ["first", "meanwhile"]


async def test_a_cancelled_backup_leaves_nothing(database: Database, monkeypatch: pytest.MonkeyPatch):
    await database.run(lambda connection: connection.execute("INSERT INTO token_counts VALUES ('t', zeroblob(8000000), 1)"))
    await add_message(database, "first")
    monkeypatch.setattr(backup, "PAUSE_SECONDS", 0.05)

    copying = asyncio.create_task(back_up(database.path))
    await asyncio.sleep(0.06)
    copying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await copying

    assert files(backup_folder(database.path)) == []


async def test_foreign_files_in_the_folder_are_no_backups(tmp_path: Path):
    for name in ("lethe-yesterday.sqlite3", "notes.txt", "lethe-20260501T120000000000Z.partial"):
        (tmp_path / name).write_text("x")

    assert list_backups(tmp_path) == []
    assert list_backups(tmp_path / "missing") == []
