"""From a damaged database everything is saved that can still be read, and the report says what is lost."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import DatabaseDamaged, WorkCancelled
from lethe_app.storage.backup import passes_integrity_check
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.migrations import MIGRATIONS, migrate
from lethe_app.storage.salvage import SalvageReport, salvage

SESSIONS, LINES = 8, 40
PAGE = 4096


@pytest.fixture
async def filled(path: Path) -> Path:
    """A database with eight conversations of forty long lines, and some memories and facts."""
    database = await Database.open(path)
    chats, memories, facts = SessionStore(database), MemoryStore(database), FactStore(database)
    for number in range(SESSIONS):
        session = await chats.add_session(ChatSession(persona_id="mara", name=f"Evening {number}"))
        for line in range(LINES):
            text = f"evening {number}, line {line}: " + "the lantern hangs in the hall " * 12
            role = Role.ASSISTANT if line % 2 else Role.USER
            await chats.add_message(Message(session_id=session.guid, role=role, alternatives=[Alternative(content=text)]))
        await memories.save_memories("mara", MemoryUnit(content=f"memory {number}", tags=["a"]))
        await facts.save_facts(
            "mara", ExtractedFact(fact=f"Tomas knows {number}.", subject="Tomas", source_memories=[session.guid])
        )
    await database.close()
    return path


def saved_from(path: Path) -> tuple[SalvageReport, Path]:
    target = path.parent / "saved" / "lethe.sqlite3"
    target.parent.mkdir(exist_ok=True)
    before = path.read_bytes()
    report = salvage(path, target)
    assert path.read_bytes() == before
    assert passes_integrity_check(target, threading.Event())
    return report, target


async def contents_of(path: Path) -> tuple[int, int, int, int]:
    """Open a database as Lethe does; return how many conversations, readable lines, memories and facts it has."""
    database = await Database.open(path)
    chats = SessionStore(database)
    sessions = await chats.sessions("mara")
    lines = 0
    for session in sessions:
        outline = await chats.outline(session.guid)
        loaded = await chats.page(session.guid, 0, 1000)
        assert [one.id for one in outline] == [one.id for one in loaded]
        lines += sum(bool(one.content) for one in loaded)
    memories = await MemoryStore(database).memories_of("mara")
    facts = await FactStore(database).facts_of("mara")
    assert await database.run(lambda connection: connection.execute("SELECT count(*) FROM passage_debts").fetchone()[0])
    await database.close()
    return len(sessions), lines, len(memories), len(facts)


def overwrite(path: Path, start: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(data)


HEADERS: dict[str, Callable[[Path], None]] = {
    "magic": lambda path: overwrite(path, 0, b"garbage!" * 2),
    "header of garbage": lambda path: overwrite(path, 0, b"\xa5" * 100),
    "header of zeros": lambda path: overwrite(path, 0, bytes(100)),
    "version": lambda path: overwrite(path, 60, bytes(12)),
    "first page": lambda path: overwrite(path, 0, b"\xa5" * PAGE),
}


@pytest.mark.parametrize("damage", HEADERS)
async def test_a_damaged_beginning_costs_nothing(filled: Path, damage: str):
    HEADERS[damage](filled)
    with pytest.raises(DatabaseDamaged):
        await Database.open(filled)

    report, target = saved_from(filled)

    assert await contents_of(target) == (SESSIONS, SESSIONS * LINES, SESSIONS, SESSIONS)
    assert not report.incomplete


def pages_of(path: Path, table: str) -> list[int]:
    """The leaf pages of a table."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno"
        try:
            return [page for (page,) in connection.execute(query, (table,))]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite cannot tell pages")


@pytest.mark.parametrize("table", ["alternatives", "messages", "memories", "sessions"])
@pytest.mark.parametrize("which", [[0], [-1], [1, -2]])
async def test_a_cut_page_costs_only_what_was_on_it(filled: Path, table: str, which: list[int]):
    pages = pages_of(filled, table)
    damaged = {pages[number] for number in which if -len(pages) <= number < len(pages)} or {pages[0]}
    with closing(sqlite3.connect(filled)) as connection:
        (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    for page in damaged:
        overwrite(filled, (page - 1) * PAGE, b"\xa5" * PAGE)

    report, target = saved_from(filled)
    sessions, lines, _memories, _facts = await contents_of(target)

    share = len(damaged) / len(pages)
    if table in {"alternatives", "messages"}:
        assert lines >= rows * (1 - 2 * share) - 1
    assert report.damaged == [table]
    if table in {"memories", "sessions"}:  # their messages are still there
        assert (sessions, lines) == (SESSIONS, SESSIONS * LINES)
    if table in {"alternatives", "messages"}:
        assert sum(there for _title, there, _before in report.incomplete) < sum(was for _, _there, was in report.incomplete)


def cut(path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


@pytest.mark.parametrize("share", [0.4, 0.6, 0.95])
async def test_of_a_truncated_file_the_beginning_is_saved(filled: Path, share: float):
    cut(filled, share)
    with pytest.raises(DatabaseDamaged):
        await Database.open(filled)

    report, target = saved_from(filled)
    sessions, lines, _memories, _facts = await contents_of(target)

    assert sessions or share < 0.5
    assert lines >= SESSIONS * LINES * (share - 0.4)
    assert report.damaged


async def test_what_only_the_log_has_is_saved_too(filled: Path):
    database = await Database.open(filled)
    await MemoryStore(database).save_memories("mara", MemoryUnit(content="only in the log"))
    for suffix in ("", "-wal"):
        copy = filled.parent / "crashed" / f"lethe.sqlite3{suffix}"
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(filled.with_name(filled.name + suffix).read_bytes())
    await database.close()
    crashed = filled.parent / "crashed" / "lethe.sqlite3"
    overwrite(crashed, (pages_of(filled, "alternatives")[1] - 1) * PAGE, bytes(PAGE))

    _report, target = saved_from(crashed)

    assert (await contents_of(target))[2] == SESSIONS + 1


@pytest.mark.parametrize("content", [b"", b"x" * 5000, bytes(200_000), b"SQLite format 3\x00" + b"\xff" * 20_000])
async def test_of_a_file_of_which_nothing_can_be_read_an_empty_database_is_made(tmp_path: Path, content: bytes):
    path = tmp_path / "home" / "lethe.sqlite3"
    write(path, content)

    report, target = saved_from(path)

    assert "messages" in report.damaged
    with closing(sqlite3.connect(target)) as connection:
        assert not any(connection.execute(f"SELECT 1 FROM {table}").fetchone() for table in ("messages", "memories", "facts"))
    await (await Database.open(target)).close()


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def insert(connection: sqlite3.Connection, table: str, **values: object) -> None:
    """Insert a row; columns that need a value have an empty one."""
    info = connection.execute(f"PRAGMA table_info({table})").fetchall()
    row = {name: "" if kind == "TEXT" else 0 for _, name, kind, is_needed, default, _ in info if is_needed and default is None}
    row |= values
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))


@pytest.mark.parametrize("version", [1, 8, 15, len(MIGRATIONS)])
@pytest.mark.parametrize("damage", ["version", "header of zeros"])
async def test_a_database_of_an_older_version_is_salvaged_into_the_newest(tmp_path: Path, version: int, damage: str):
    path, guid, id_, time = tmp_path / "lethe.sqlite3", str(uuid4()), str(uuid4()), "2026-01-01T10:00:00+00:00"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:version])
        kinds = {"category": "chat_session", "insertion": "trigger", "keywords_main": "[]", "keywords_secondary": "[]"}
        insert(connection, "memories", guid=guid, persona_id="mara", added=time, last_trigger=time, word_link="and", **kinds)
        session = {"future_goals": "[]", "last_activity": time, "tip_id": id_, "message_count": 1, "relevance": 1}
        insert(connection, "sessions", guid=guid, persona_id="mara", **session)
        insert(connection, "messages", id=id_, session_id=guid, seq=1, role="user", time=time)
        insert(connection, "alternatives", message_id=id_, content="hello", length=5, created=time)
    HEADERS[damage](path)

    _report, target = saved_from(path)

    assert (await contents_of(target))[:2] == (1, 1)


def test_a_salvage_can_be_stopped(filled: Path, tmp_path: Path):
    def cancel(fraction: float) -> None:
        if fraction > 0.05:
            raise WorkCancelled

    with pytest.raises(WorkCancelled):
        salvage(filled, tmp_path / "saved.sqlite3", cancel)
