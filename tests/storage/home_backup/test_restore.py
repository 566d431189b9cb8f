"""A backup brings everything back, here or on another computer, completely or not at all."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import stat
import threading
import zipfile
from collections import namedtuple
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lethe_app.domain.bundle import BackupKind
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.errors import DatabaseDamaged, DatabaseLocked, DatabaseTooNew, DiskFull, FileError, LetheError, StorageError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import make_daily_backup
from lethe_app.services.scheduling.offload import ignore_progress
from lethe_app.storage.backup import backup_folder, copy_verified, list_backups
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.home_backup import restore
from lethe_app.storage.home_backup.create import back_up_home
from lethe_app.storage.home_backup.restore import finish_restore, prepare_restore, read_contents
from lethe_app.storage.migrations import MIGRATIONS, migrate

FILES = {
    "settings.json": '{"font_size": 17, "web_brave_key": "SECRET-1", "later_token": "SECRET-2", "of_a_newer_version": 1}',
    "personas/mara.json": '{"name": "Mara", "bio": "Keeper of the lighthouse."}',
    "personas/me.json": '{"name": "Robin", "is_user": true}',
    "personas/mara.png": "picture",
    "worldinfo/coast.json": '{"name": "The coast"}',
    "presets/samplers/calm.json": '{"name": "Calm"}',
    "presets/system/own/deep.json": '{"name": "Deep"}',
    "notebooks/mara/sailing.md": "# Sailing\n",
    "prompts/tools_note.md": "mine",
    "subjects/subjects.en.txt": "boats",
    "mood/mine.txt": "calm",
    "translations/lethe_xx.qm": "x",
    "window.ini": "[General]\ndrafts={}\n",
    "trash/personas/old.20260101T000000000000Z.json": '{"name": "Old"}',
}
EXCLUDED = ("models/large.gguf", "cache/index/x.bin", "cache/states/y.kv", "logs/lethe.log", "inbox/a.json")


def restore_backup(paths: Paths, backup: Path) -> Path | None:
    finish_restore(paths)
    prepare_restore(paths, backup, threading.Event(), ignore_progress)
    restored = finish_restore(paths)
    assert restored is not None
    assert restored[0] == backup.name
    return restored[1]


def write_files(home: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


async def add_message(home: Path, text: str) -> None:
    database = await Database.open(home / "lethe.sqlite3")
    chats = SessionStore(database)
    session = await chats.add_session(ChatSession(persona_id="mara", name=text))
    await chats.add_message(Message(session_id=session.guid, role=Role.USER, alternatives=[Alternative(content=text)]))
    await database.close()


@pytest.fixture
async def paths(tmp_path: Path) -> Paths:
    """A data folder with one conversation and a file of every kind."""
    paths = Paths.standard(tmp_path / "home")
    write_files(paths.home, {**FILES, **dict.fromkeys(EXCLUDED, "not in a backup")})
    await add_message(paths.home, "first")
    return paths


@pytest.fixture
def backup(paths: Paths, tmp_path: Path) -> Path:
    target = tmp_path / "stick" / "all.lethebackup"
    return back_up_home(paths.home, target, threading.Event(), ignore_progress)


def titles(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return sorted(row[0] for row in connection.execute("SELECT name FROM memories"))


def snapshot(home: Path) -> dict[str, bytes]:
    """Return all files that belong to a backup, with the log of the database if there is something in it."""
    kept = ("backups", "cache", "models", "logs", "inbox", "lethe.lock", "lethe.sqlite3-shm")
    files = [path for path in sorted(home.rglob("*")) if path.is_file() and path.relative_to(home).parts[0] not in kept]
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in files if path.stat().st_size}


def test_a_backup_contains_everything_but_models_caches_and_secrets(paths: Paths, backup: Path):
    with zipfile.ZipFile(backup) as archive:
        names = archive.namelist()
        settings = json.loads(archive.read("settings.json"))
        everything = b"".join(archive.read(name) for name in names)
        database = archive.getinfo("lethe.sqlite3")

    assert sorted(names) == sorted([*FILES, "lethe.sqlite3", "backup.json"])
    assert settings == {"font_size": 17, "of_a_newer_version": 1}
    assert b"SECRET" not in everything
    assert database.compress_size < database.file_size / 2
    assert str(paths.home).encode() not in everything
    assert [file for file in backup.parent.iterdir() if file != backup] == []
    assert not list(backup_folder(paths.database).glob("*"))


def test_a_backup_says_what_is_in_it(backup: Path):
    contents = read_contents(backup)

    counts = contents.counts
    assert [counts[kind] for kind in ("personas", "worlds", "presets", "notebooks")] == [2, 1, 2, 1]
    assert (counts["conversations"], counts["messages"]) == (1, 1)
    assert contents.personas == {"mara": "Mara", "me": "Robin"}
    assert [(one.title, one.last_words) for one in contents.conversations] == [("first", "first")]


async def test_a_backup_is_restored_on_another_computer(backup: Path, tmp_path: Path):
    elsewhere = Paths.standard(tmp_path / "elsewhere")

    assert restore_backup(elsewhere, backup) is None

    database = await Database.open(elsewhere.database)
    assert [summary.title for summary in await SessionStore(database).sessions()] == ["first"]
    await database.close()
    for name, text in FILES.items():
        if name != "settings.json":
            assert (elsewhere.home / name).read_text() == text
    assert json.loads(elsewhere.settings.read_text()) == {"font_size": 17, "of_a_newer_version": 1}


async def test_restoring_keeps_what_was_there_as_a_backup_from_which_it_comes_back(paths: Paths, backup: Path):
    await add_message(paths.home, "second")
    write_files(
        paths.home, {"personas/new.json": '{"name": "New"}', "settings.json": '{"font_size": 20, "web_brave_key": "k"}'}
    )
    shutil.rmtree(paths.home / "prompts")
    before = snapshot(paths.home)

    replaced = restore_backup(paths, backup)

    assert titles(paths.database) == ["first"]
    assert not (paths.home / "personas/new.json").exists()
    assert (paths.home / "prompts/tools_note.md").exists()
    assert json.loads(paths.settings.read_text()) == {"font_size": 17, "of_a_newer_version": 1, "web_brave_key": "k"}
    (listed,) = list_backups(paths.home / "backups")
    assert (listed.path, listed.kind) == (replaced, BackupKind.REPLACED)
    assert read_contents(replaced).counts["conversations"] == 2

    restore_backup(paths, replaced)

    assert snapshot(paths.home) == {**before, "settings.json": snapshot(paths.home)["settings.json"]}
    assert json.loads(paths.settings.read_text()) == json.loads(before["settings.json"])
    assert sorted(titles(paths.database)) == ["first", "second"]
    assert len(list_backups(paths.home / "backups")) == 2


def test_restoring_leaves_models_and_deletes_what_was_computed_from_the_other_database(paths: Paths, backup: Path):
    restore_backup(paths, backup)

    assert (paths.home / "models/large.gguf").exists()
    assert not paths.index.exists()
    assert not paths.states.exists()


async def test_a_copy_of_the_database_alone_replaces_nothing_but_the_database(paths: Paths, tmp_path: Path):
    old = backup_folder(paths.database) / "lethe-20260501T120000000000Z.sqlite3"
    copy_verified(paths.database, old, threading.Event())
    await add_message(paths.home, "second")
    write_files(paths.home, {"personas/new.json": '{"name": "New"}'})

    assert [one.path for one in list_backups(paths.home / "backups")] == [old]
    assert "personas" not in read_contents(old).counts
    restore_backup(paths, old)

    assert titles(paths.database) == ["first"]
    assert (paths.home / "personas/new.json").exists()


@pytest.mark.parametrize("version", [1, 2, 5, 10])
def test_the_contents_of_an_old_database_are_read(version: int, tmp_path: Path):
    path = tmp_path / "lethe-20260501T120000000000Z.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:version])

    contents = read_contents(path)

    assert (contents.counts["conversations"], contents.conversations) == (0, [])


@pytest.mark.parametrize("version", [1, 8, 15])
async def test_a_database_of_an_earlier_version_is_restored_and_opens(version: int, paths: Paths, tmp_path: Path):
    old = tmp_path / "lethe-20250501T120000000000Z.sqlite3"
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:version])

    restore_backup(paths, old)

    database = await Database.open(paths.database)
    assert await SessionStore(database).sessions() == []
    await database.close()
    assert {one.kind for one in list_backups(paths.home / "backups")} == {BackupKind.REPLACED, BackupKind.MIGRATION}


@pytest.mark.parametrize("damage", ["empty", "missing", "text", "cut"])
async def test_a_home_with_a_damaged_database_is_restored_and_the_damaged_one_kept(paths: Paths, backup: Path, damage: str):
    content = {"empty": b"", "text": b"not a database", "cut": paths.database.read_bytes()[:5000]}.get(damage)
    paths.database.unlink()
    if content is not None:
        paths.database.write_bytes(content)

    replaced = restore_backup(paths, backup)

    database = await Database.open(paths.database)
    assert [summary.title for summary in await SessionStore(database).sessions()] == ["first"]
    await database.close()
    assert (replaced / "lethe.sqlite3").read_bytes() == content if content is not None else (replaced / "personas").is_dir()


async def test_a_settings_file_that_cannot_be_read_is_replaced_and_kept(paths: Paths, backup: Path):
    paths.settings.write_text("{ broken")

    replaced = restore_backup(paths, backup)

    assert json.loads(paths.settings.read_text())["font_size"] == 17
    assert (replaced / "settings.json").read_text() == "{ broken"


async def test_the_log_of_a_crash_is_not_replayed_into_the_restored_database(paths: Paths, backup: Path):
    database = await Database.open(paths.database)
    chats = SessionStore(database)
    await chats.add_session(ChatSession(persona_id="mara", name="only in the log"))
    left = {name: (paths.home / name).read_bytes() for name in ("lethe.sqlite3", "lethe.sqlite3-wal")}
    await database.close()
    for name, content in left.items():
        (paths.home / name).write_bytes(content)

    replaced = restore_backup(paths, backup)

    assert titles(paths.database) == ["first"]
    restore_backup(paths, replaced)
    assert titles(paths.database) == ["first", "only in the log"]


async def test_nothing_is_restored_while_lethe_is_running(paths: Paths, backup: Path):
    database = await Database.open(paths.database)

    with pytest.raises(DatabaseLocked):
        restore_backup(paths, backup)

    await database.close()
    assert not list(paths.home.glob(".restore*"))


def change_member(source: Path, target: Path, change: Callable[[zipfile.ZipFile], None], *, without: str = "") -> Path:
    """Write a copy of a backup with further members."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in archive.namelist():
            if name != without:
                copy.writestr(name, archive.read(name))
        change(copy)
    return target


def newer_database(source: Path) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection, zipfile.ZipFile(source) as archive:
        connection.deserialize(archive.read("lethe.sqlite3"))
        connection.execute("PRAGMA user_version = 99")
        return connection.serialize()


HOSTILE: dict[str, tuple[type[LetheError], Callable[[Path, Path], object]]] = {
    "climbs": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("personas/../../evil.json", "x"))),
    "climbs with backslashes": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("personas/..\\evil", "x"))),
    "absolute": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("/tmp/evil.json", "x"))),
    "drive": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("personas/C:evil.json", "x"))),
    "foreign folder": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("models/evil.gguf", "x"))),
    "foreign file": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("lethe.lock", "x"))),
    "log": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("lethe.sqlite3-wal", "x"))),
    "folder": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("personas/evil/", ""))),
    "folder as a file": (FileError, lambda a, b: change_member(a, b, lambda z: z.writestr("personas", "x"))),
    "no manifest": (FileError, lambda a, b: change_member(a, b, lambda z: None, without="backup.json")),
    "manifest is a list": (
        FileError,
        lambda a, b: change_member(a, b, lambda z: z.writestr("backup.json", "[1]"), without="backup.json"),
    ),
    "manifest is no JSON": (
        FileError,
        lambda a, b: change_member(a, b, lambda z: z.writestr("backup.json", "{"), without="backup.json"),
    ),
    "newer format": (
        DatabaseTooNew,
        lambda a, b: change_member(a, b, lambda z: z.writestr("backup.json", '{"version": 7}'), without="backup.json"),
    ),
    "newer schema": (
        DatabaseTooNew,
        lambda a, b: change_member(a, b, lambda z: z.writestr("lethe.sqlite3", newer_database(a)), without="lethe.sqlite3"),
    ),
    "foreign database": (
        DatabaseDamaged,
        lambda a, b: change_member(a, b, lambda z: z.writestr("lethe.sqlite3", "text"), without="lethe.sqlite3"),
    ),
    "cut": (FileError, lambda a, b: b.write_bytes(a.read_bytes()[:-200])),
    "cut in the middle": (FileError, lambda a, b: b.write_bytes(a.read_bytes()[: a.stat().st_size // 2])),
    "empty": (FileError, lambda _a, b: b.write_bytes(b"")),
    "text": (FileError, lambda _a, b: b.write_text("no backup")),
    "other archive": (FileError, lambda _a, b: zipfile.ZipFile(b, "w").close()),
    "missing": (StorageError, lambda _a, _b: None),
    "empty folder": (FileError, lambda _a, b: b.mkdir()),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_is_no_sound_backup_changes_nothing(paths: Paths, backup: Path, tmp_path: Path, kind: str):
    before, (error, build) = snapshot(paths.home), HOSTILE[kind]
    build(backup, tmp_path / "x.lethebackup")

    with pytest.raises(error) as caught:
        restore_backup(paths, tmp_path / "x.lethebackup")

    assert "x.lethebackup" in caught.value.message
    assert snapshot(paths.home) == before
    assert not (tmp_path / "evil.json").exists()
    assert not list_backups(paths.home / "backups")


def test_flipped_bytes_are_noticed(paths: Paths, backup: Path):
    before, content = snapshot(paths.home), bytearray(backup.read_bytes())
    with zipfile.ZipFile(backup) as archive:
        start = archive.getinfo("lethe.sqlite3").header_offset + 200
    content[start : start + 40] = b"\xff" * 40
    backup.write_bytes(content)

    with pytest.raises(FileError):
        restore_backup(paths, backup)

    assert snapshot(paths.home) == before


def test_what_the_disk_has_no_room_for_is_refused_before_anything_is_written(
    paths: Paths, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = snapshot(paths.home)
    huge = change_member(backup, tmp_path / "huge.lethebackup", lambda z: z.writestr("personas/huge.json", b"\0" * 5_000_000))
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**9, 10**9, restore.LOW_DISK_BYTES + 1_000_000))

    with pytest.raises(DiskFull):
        restore_backup(paths, huge)
    restore_backup(Paths.standard(tmp_path / "other"), backup)

    assert snapshot(paths.home) == before


def test_a_link_in_an_archive_becomes_a_file(paths: Paths, backup: Path, tmp_path: Path):
    link = zipfile.ZipInfo("personas/evil.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16

    restore_backup(paths, change_member(backup, tmp_path / "x.lethebackup", lambda z: z.writestr(link, "/etc/passwd")))

    assert not (paths.home / "personas/evil.json").is_symlink()


COUNTED = ("sync_folder", "write_atomically", "passes_integrity_check", "rotate")
"""Functions before each call of which the process is killed once."""


def restore_and_die(paths: Paths, backup: Path, steps: int) -> bool:
    """Restore in a process that dies after so many steps; return whether it was finished before."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    left = iter(range(steps))

    def counted(function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            if next(left, None) is None:
                os._exit(9)
            return function(*arguments)

        return call

    os.rename = counted(os.rename)
    for name in COUNTED:
        setattr(restore, name, counted(getattr(restore, name)))
    restore_backup(paths, backup)
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
def test_after_a_kill_at_any_point_there_is_the_old_home_or_the_new_one(paths: Paths, backup: Path, tmp_path: Path):
    asyncio.run(add_message(paths.home, "second"))
    write_files(paths.home, {"personas/new.json": '{"name": "New"}'})
    shutil.rmtree(paths.home / "prompts")
    old, results = snapshot(paths.home), []
    restored = shutil.copytree(paths.home, tmp_path / "restored")
    restore_backup(Paths.standard(restored), backup)
    new = snapshot(restored)

    for step in range(100):
        home = Paths.standard(shutil.copytree(paths.home, tmp_path / f"killed-{step}"))
        is_finished = restore_and_die(home, backup, step)
        finish_restore(home)
        results.append("old" if snapshot(home.home) == old else "new" if snapshot(home.home) == new else f"a mix at {step}")
        shutil.rmtree(home.home)
        if is_finished:
            break

    assert set(results) == {"old", "new"}
    assert results == sorted(results, reverse=True)


@pytest.mark.parametrize("parent", ["home", ".restore-"])
def test_a_file_that_cannot_be_moved_leaves_everything_as_it_was(
    paths: Paths, backup: Path, monkeypatch: pytest.MonkeyPatch, parent: str
):
    write_files(paths.home, {"trash/notebooks/lacking in the backup.md": "later"})
    before, rename = snapshot(paths.home), os.rename

    def refuse(source: Path, target: Path) -> None:
        if source.name == "notebooks" and source.parent.name.startswith(parent):
            raise PermissionError(13, "in use")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse)

    with pytest.raises(LetheError):
        restore_backup(paths, backup)

    monkeypatch.undo()
    finish_restore(paths)
    assert snapshot(paths.home) == before
    assert not list_backups(paths.home / "backups")


async def test_a_daily_backup_is_made_while_lethe_runs_and_rotates(paths: Paths):
    database = await Database.open(paths.database)

    made = await make_daily_backup(paths.home)

    assert read_contents(made).counts["conversations"] == 1
    await database.close()


def test_a_file_that_cannot_be_read_is_left_out_and_named(paths: Paths, tmp_path: Path):
    (paths.home / "personas" / "gone.json").symlink_to(tmp_path / "nowhere")
    paths.settings.write_text("{ broken, with a SECRET")

    backup = back_up_home(paths.home, tmp_path / "x.lethebackup", threading.Event(), ignore_progress)

    assert read_contents(backup).left_out == ["settings.json"]


def test_a_backup_never_overwrites_a_file(paths: Paths, backup: Path):
    with pytest.raises(StorageError, match="exists already"):
        back_up_home(paths.home, backup, threading.Event(), ignore_progress)
