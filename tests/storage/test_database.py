"""The database file, its storage thread, and every error of them."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from lethe_app.errors import (
    DatabaseDamaged,
    DatabaseLocked,
    DatabaseTooNew,
    DiskFull,
    ReadOnly,
    StorageError,
)
from lethe_app.storage.database import Database
from lethe_app.storage.database_header import sidecar_path
from lethe_app.storage.error_translation import translate
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.migrations import APPLICATION_ID, MIGRATIONS
from tests.conftest import create_database as create_by_migrations

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def real_creation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a new database be created as in the program, not copied."""
    monkeypatch.setattr("lethe_app.storage.database._create", create_by_migrations)


def insert_key(connection: sqlite3.Connection, tokens: int) -> None:
    connection.execute("INSERT INTO token_counts VALUES ('t', ?, ?)", (str(tokens).encode(), tokens))


def keys(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT tokens FROM token_counts ORDER BY tokens")]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every file in the folder but the lock."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file() and file.name != "lethe.lock"}


def write_file(path: Path, content: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def run_without_rights(path: Path, which: str) -> subprocess.CompletedProcess[str]:
    """Open a database whose file or folder is read-only, as a user without the rights of root."""
    path.parent.chmod(0o555 if which == "folder" else 0o777)
    path.chmod(0o444)
    path.with_name("lethe.lock").chmod(0o666)
    stranger = {"user": 65534} if os.geteuid() == 0 else {}  # nothing is forbidden to root
    done = run_python(OPENS, path, **stranger)
    path.parent.chmod(0o755)
    return done


async def create_database(path: Path) -> None:
    """Create a database with one row and close it."""
    database = await Database.open(path)
    await database.run(lambda connection: insert_key(connection, 1))
    await database.close()


def run_python(code: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False, **options)  # type: ignore[call-overload]


async def test_records_are_stored_after_reopening(path: Path):
    await create_database(path)

    database = await Database.open(path)

    assert await database.run(keys) == [1]
    await database.close()


async def test_a_new_database_has_our_id_and_its_pragmas(database: Database):
    def pragma(name: str):
        return lambda connection: connection.execute(f"PRAGMA {name}").fetchone()[0]

    assert await database.run(pragma("application_id")) == APPLICATION_ID
    assert await database.run(pragma("user_version")) == len(MIGRATIONS)
    assert await database.run(pragma("journal_mode")) == "wal"
    assert await database.run(pragma("synchronous")) == 2
    assert await database.run(pragma("foreign_keys")) == 1


async def test_closing_twice_is_harmless_and_nothing_runs_afterwards(path: Path):
    database = await Database.open(path)
    await database.close()
    await database.close()

    with pytest.raises(StorageError, match="already closed"):
        await database.run(keys)


async def test_failed_work_is_rolled_back(database: Database):
    def work(connection: sqlite3.Connection) -> None:
        insert_key(connection, 1)
        raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"):
        await database.run(work)

    assert await database.run(keys) == []


async def test_all_work_is_done_in_one_thread_in_the_order_it_came(database: Database):
    seen: list[tuple[int, int]] = []

    def work(number: int):
        return lambda _connection: seen.append((number, threading.get_ident()))

    await asyncio.gather(*(database.run(work(number)) for number in range(20)))

    assert [number for number, _ in seen] == list(range(20))
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != threading.get_ident()


async def test_cancelling_the_caller_does_not_cancel_the_write(database: Database):
    began, go_on = threading.Event(), threading.Event()

    def slow(connection: sqlite3.Connection) -> None:
        insert_key(connection, 1)
        began.set()
        go_on.wait(5)
        insert_key(connection, 2)

    caller = asyncio.create_task(database.run(slow))
    waiting = asyncio.create_task(database.run(lambda connection: insert_key(connection, 3)))
    await asyncio.to_thread(began.wait, 5)
    caller.cancel()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go_on.set()

    assert await database.run(keys) == [1, 2, 3]


async def test_closing_waits_for_submitted_work(path: Path):
    database = await Database.open(path)

    def slow(connection: sqlite3.Connection) -> None:
        time.sleep(0.05)
        insert_key(connection, 1)

    writing = asyncio.create_task(database.run(slow))
    await asyncio.sleep(0)
    await database.close()

    await writing
    database = await Database.open(path)
    assert await database.run(keys) == [1]
    await database.close()


async def test_a_write_that_fails_after_its_caller_has_gone_is_logged(database: Database, quiet_log):
    go_on = threading.Event()

    def failing(_connection: sqlite3.Connection) -> None:
        go_on.wait(5)
        raise ValueError("nobody hears me")

    caller = asyncio.create_task(database.run(failing))
    await asyncio.sleep(0.01)
    caller.cancel()
    await asyncio.wait([caller])
    go_on.set()
    await database.run(keys)
    await asyncio.sleep(0)

    assert [record.levelno for record in quiet_log.records] == [logging.ERROR]
    assert "nobody hears me" in quiet_log.records[0].getMessage()
    quiet_log.records.clear()


async def test_cancelled_opening_releases_the_home(path: Path):
    opening = asyncio.create_task(Database.open(path))
    await asyncio.sleep(0)
    opening.cancel()
    await asyncio.wait([opening])

    assert opening.cancelled()
    await create_database(path)


async def test_a_full_disk_is_reported_and_loses_nothing_already_written(database: Database):
    await database.run(lambda connection: insert_key(connection, 1))

    def narrow(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    await database.run(narrow)
    with pytest.raises(DiskFull, match="nothing already written is lost") as caught:
        await database.run(lambda connection: [insert_key(connection, number) for number in range(2, 5000)])

    assert str(database.path) in caught.value.message
    assert await database.run(keys) == [1]
    await database.run(lambda connection: connection.execute("PRAGMA max_page_count = 100000").fetchone())
    await database.run(lambda connection: insert_key(connection, 2))
    assert await database.run(keys) == [1, 2]


LIMITED = """
import asyncio, resource, signal, sys
from pathlib import Path
from lethe_app.errors import StorageError
from lethe_app.storage.database import Database

async def main():
    database = await Database.open(Path(sys.argv[1]))
    await database.run(lambda c: c.execute("INSERT INTO token_counts VALUES ('t', x'01', 1)"))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        await database.run(lambda c: c.execute("INSERT INTO token_counts VALUES (?, x'02', 2)", ("x" * 1_000_000,)))
    except StorageError as error:
        print(type(error).__name__, error)
    await database.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a thing of Unix")
async def test_a_refused_write_is_reported_and_the_rest_survives(path: Path):
    done = run_python(LIMITED, path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("StorageError", "DiskFull"))
    assert str(path) in done.stdout
    database = await Database.open(path)
    assert await database.run(keys) == [1]
    await database.close()


KILLED = """
import asyncio, os, sys
from pathlib import Path
from lethe_app.storage.database import Database

async def main():
    database = await Database.open(Path(sys.argv[1]))
    await database.run(lambda c: c.execute("INSERT INTO token_counts VALUES ('t', x'01', 1)"))
    await database.run(lambda c: (c.execute("INSERT INTO token_counts VALUES ('t', x'02', 2)"), os._exit(9)))

asyncio.run(main())
"""


async def test_after_a_crash_whole_work_is_there_and_half_work_is_not(path: Path):
    assert run_python(KILLED, path).returncode == 9

    database = await Database.open(path)

    assert await database.run(keys) == [1]
    await database.close()


OPENS = """
import asyncio, sys
from pathlib import Path
from lethe_app.errors import LetheError
from lethe_app.storage.database import Database

async def main():
    try:
        await (await Database.open(Path(sys.argv[1]))).close()
        print("opened")
    except LetheError as error:
        print(type(error).__name__, error)

asyncio.run(main())
"""


async def test_a_second_program_is_refused_until_the_first_has_closed(path: Path):
    database = await Database.open(path)
    assert run_python(OPENS, path).stdout.startswith("DatabaseLocked Lethe is already running")

    await database.close()

    assert run_python(OPENS, path).stdout == "opened\n"


async def test_a_lock_of_another_program_is_reported(database: Database):
    await database.run(lambda connection: connection.execute("PRAGMA busy_timeout = 10").fetchone())
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(DatabaseLocked, match="Another program is using"):
            await database.run(lambda connection: insert_key(connection, 1))


NEWER_AND_KILLED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA user_version = 99")
os._exit(0)
"""


@pytest.mark.parametrize("with_index", [True, False])
async def test_a_newer_database_whose_version_is_only_in_the_log_is_left_untouched(path: Path, with_index: bool):
    await create_database(path)
    assert run_python(NEWER_AND_KILLED, path).returncode == 0
    if not with_index:
        sidecar_path(path, "-shm").unlink()
    before = contents(path.parent)

    with pytest.raises(DatabaseTooNew):
        await Database.open(path)

    after = contents(path.parent)
    assert set(after) == set(before)
    assert {name: after[name] for name in after if not name.endswith("-shm")} == {
        name: before[name] for name in before if not name.endswith("-shm")
    }


@pytest.mark.parametrize(
    "content",
    [b"Dear diary,\n" * 50, b"SQLite format 3\x00", b"\x00" * 4096],
    ids=["a text", "only the beginning", "zeroes"],
)
async def test_a_file_that_is_no_database_is_refused_and_left_untouched(path: Path, content: bytes):
    write_file(path, content)

    with pytest.raises(DatabaseDamaged) as caught:
        await Database.open(path)

    assert str(path) in caught.value.message
    assert contents(path.parent) == {path.name: content}


async def test_the_database_of_another_program_is_refused_and_left_untouched(path: Path):
    write_file(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    before = contents(path.parent)

    with pytest.raises(DatabaseDamaged, match="another program"):
        await Database.open(path)

    assert contents(path.parent) == before


async def test_a_folder_in_place_of_the_database_is_reported(path: Path):
    write_file(path / "in the way")

    with pytest.raises(DatabaseDamaged, match="not a file"):
        await Database.open(path)


async def test_damage_inside_the_file_is_reported_when_it_is_read(path: Path):
    database = await Database.open(path)
    await database.run(lambda connection: [insert_key(connection, number) for number in range(5000)])
    await database.close()
    with path.open("r+b") as file:
        file.seek(-5 * 4096, os.SEEK_END)
        file.write(b"\xff" * 5 * 4096)

    database = await Database.open(path)
    with pytest.raises(DatabaseDamaged, match="is damaged"):
        await database.run(keys)
    await database.close()


async def test_a_home_below_a_file_cannot_be_opened(tmp_path: Path):
    write_file(tmp_path / "file", b"in the way")

    with pytest.raises(StorageError, match=r"lethe\.sqlite3"):
        await Database.open(tmp_path / "file" / "home" / "lethe.sqlite3")


def test_writing_to_a_read_only_connection_is_reported_as_such(tmp_path: Path):
    path = tmp_path / "some.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")

    reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    with closing(reader), pytest.raises(sqlite3.OperationalError) as caught:
        reader.execute("INSERT INTO t VALUES (1)")

    assert isinstance(translate(caught.value, path), ReadOnly)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work in another way there")
@pytest.mark.parametrize("which", ["file", "folder"])
async def test_a_read_only_home_is_reported_at_once(which: str):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lethe.sqlite3"
        await create_database(path)

        done = run_without_rights(path, which)

    assert done.stdout.startswith("ReadOnly"), done.stderr


def test_a_programming_error_is_not_translated(tmp_path: Path):
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("SELECT nonsense")

    assert translate(caught.value, tmp_path) is None
    assert translate(KeyError("x"), tmp_path) is None


async def test_text_that_is_not_utf8_is_read_with_replacement_characters(database: Database):
    found = await database.run(lambda connection: connection.execute("SELECT CAST(X'48FF69' AS TEXT), 'ü'").fetchall())

    assert found == [("H\ufffdi", "ü")]


async def test_a_database_that_was_read_only_once_opens_again(path: Path):
    await (await Database.open(path)).close()
    for suffix in ("-wal", "-shm"):  # SQLite makes them as read-only as the database was then
        sidecar = path.with_name(path.name + suffix)
        sidecar.touch()
        sidecar.chmod(0o444)

    database = await Database.open(path)
    await database.run(lambda connection: connection.execute("INSERT INTO app_state VALUES ('a', 'b', '1')"))

    assert all(path.with_name(path.name + suffix).stat().st_mode & 0o200 for suffix in ("-wal", "-shm"))
    await database.close()


@pytest.mark.parametrize("state", ["is empty", "is missing"])
async def test_an_empty_or_missing_file_beside_a_backup_is_not_silently_started_anew(path: Path, state: str):
    backup = path.parent / "backups" / "lethe-20260501T120000000000Z.sqlite3"
    write_file(backup, b"kept")
    if state == "is empty":
        write_file(path)

    with pytest.raises(DatabaseDamaged, match=state) as caught:
        await Database.open(path)

    assert str(backup) in caught.value.remedy
    assert (path.name in contents(path.parent)) == (state == "is empty")


async def test_an_empty_file_beside_a_full_log_is_not_started_anew(path: Path):
    write_file(path)
    write_file(sidecar_path(path, "-wal"), b"a log")

    with pytest.raises(DatabaseDamaged, match="although its log exists"):
        await Database.open(path)

    assert sidecar_path(path, "-wal").read_bytes() == b"a log"


async def test_leftovers_of_a_broken_first_start_do_no_harm(path: Path):
    write_file(sidecar_path(path, ".new"), b"half a database")
    write_file(sidecar_path(path, ".new-journal"), b"half a journal")

    await create_database(path)

    assert set(contents(path.parent)) == {path.name}


UNDER_QT = """
import asyncio, sys
from pathlib import Path
import qasync
from PySide6.QtCore import QCoreApplication
from lethe_app.services.maintenance.backups import make_daily_backup
from lethe_app.storage.database import Database

async def main():
    database = await Database.open(Path(sys.argv[1]))
    slow = asyncio.ensure_future(database.run(lambda c: c.execute("INSERT INTO token_counts VALUES ('t', x'01', 1)")))
    await asyncio.sleep(0)
    slow.cancel()
    print(await database.run(lambda c: c.execute("SELECT count(*) FROM token_counts").fetchone()[0]))
    print(await make_daily_backup(database.path.parent))
    await database.close()

application = QCoreApplication([])
with qasync.QEventLoop(application) as loop:
    loop.run_until_complete(main())
"""


def test_it_works_on_the_event_loop_of_the_window(path: Path):
    pytest.importorskip("qasync")

    done = run_python(UNDER_QT, path)

    assert done.stdout == "1\nNone\n", done.stderr


async def test_a_lock_that_is_released_a_moment_later_is_waited_for(tmp_path: Path):
    lock = HomeLock(tmp_path)
    asyncio.get_running_loop().call_later(0.05, lock.release)

    waited = await asyncio.to_thread(HomeLock, tmp_path, 60.0)

    waited.release()
