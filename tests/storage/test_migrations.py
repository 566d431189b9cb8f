"""Databases of every earlier version open, and no migration loses data."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from lethe_app.domain.changes import TrashKind
from lethe_app.domain.chat import Role
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import StorageError
from lethe_app.retrieval.query_terms import parse_query
from lethe_app.storage import migrations
from lethe_app.storage.backup import backup_folder, list_backups
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from lethe_app.storage.key_value import AppState, SessionState, TokenCounts
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.working_memory import WorkingMemoryRows
from lethe_app.storage.migrations import MIGRATIONS, migrate, schema_version
from lethe_app.storage.row_mapping import ALTERNATIVE_COLUMNS, MEMORY_COLUMNS, MESSAGE_COLUMNS, SESSION_COLUMNS
from lethe_app.storage.schema.v19_folded_words import fold_words
from lethe_app.storage.trash_listing import TrashListing
from tests.services.turns import MIRA

MEMORY_METADATA = next(one for one in MIGRATIONS if isinstance(one, partial) and one.args == ("v13_memory.sql",))
FIRST_SCHEMA = Path(__file__).parent / "data" / "schema_v1.sql"
SESSION, IN_TRASH = (UUID(f"11111111-1111-4111-8111-{number:012x}") for number in (1, 2))


@pytest.fixture
def old(path: Path) -> Path:
    """Return the path of a database of version 1."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FIRST_SCHEMA.read_text(encoding="utf-8"))
    return path


def add_moods(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE moods (persona_id TEXT)")


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


async def test_a_database_of_version_1_opens_with_all_its_messages(old: Path):
    database = await Database.open(old)
    chats = SessionStore(database)

    said = await chats.page(SESSION, 0, 100)
    assert [message.content for message in said] == [
        "Endlich!",
        "(Es ist ihr Geburtstag.)",
        "مرحبا، هل تتذكرين المنارة؟ 👩‍👩‍👧‍👦",
        "It's only a *story*; isn't it?\n\nSecond paragraph.",
        "The last words.",
    ]
    assert [message.hidden for message in said] == [False, True, False, False, False]
    assert [alternative.content for alternative in said[0].alternatives] == ["Da bist du ja. 🌊", "Endlich!"]
    assert said[0].time.isoformat() == "2026-05-09T20:10:07+02:00"
    assert (said[3].thinking, said[3].current.model, said[3].current.complete) == ("What did he mean?", "SmolLM2", False)
    assert said[4].parent_id == said[3].id
    assert {(message.mode, message.current.language, message.current.total_ms) for message in said} == {("text", "", None)}
    assert not any(message.current.degradations for message in said)
    assert [message.id for message in said if not message.current.complete] == [said[3].id]
    assert [item.title for item in await TrashListing(database).list_items() if item.kind is TrashKind.MESSAGE] == [
        "Deleted words."
    ]
    await database.close()


async def test_a_database_of_version_1_opens_with_every_field_of_a_session(old: Path):
    database = await Database.open(old)
    chats = SessionStore(database)

    session = await chats.session(SESSION)
    assert session.model_dump(mode="json", exclude={"guid", "leaf_id", "last_trigger"}) == {
        "category": "chat_session",
        "insertion": "trigger",
        "name": "Der Leuchtturm 🗼",
        "content": "Ein Abend „am Meer“.",
        "reason": "Sie war zum ersten Mal ehrlich.",
        "path": "",
        "added": "2026-05-09T20:00:07+02:00",
        "end_time": "2026-05-09T20:59:07+02:00",
        "trigger_count": 0,
        "priority": 3,
        "position_index": -1,
        "duration": 2,
        "trigger_chance": 0.5,
        "sticky": True,
        "protected": True,
        "enabled": False,
        "keywords_main": ["Leuchtturm", "C++"],
        "keywords_secondary": ["مرسى"],
        "word_link": "and",
        "case_sensitive": True,
        "meta_info_toggle": True,
        "meta_info": '{"x": 1}',
        "filed_under": "",
        "tags": [],
        "sources": [],
        "made_by": "",
        "metadata": {},
        "guests": [],
        "persona_id": "mara-venn",
        "user_id": "ich",
        "scenario": "Sturm.",
        "is_roleplay": True,
        "future_goals": ["Wieder hingehen"],
        "relevance": 4,
        "archived": False,
        "is_incognito": False,
    }
    (summary,) = await chats.sessions("mara-venn")
    assert (summary.messages, summary.preview) == (4, "The last words.")
    assert str(IN_TRASH) in {lost.id for lost in await TrashListing(database).list_items()}
    assert await SessionState(database).get(SESSION, "cut") == {"first": 3}
    assert await TokenCounts(database).cached_counts("gpt2", ["Hello."]) == [2]
    await database.close()


async def test_a_session_of_version_1_can_be_continued(old: Path):
    database = await Database.open(old)
    chats = SessionStore(database)
    leaf = await chats.session(SESSION)

    await chats.restore_session(IN_TRASH)
    added = await chats.add_message((await chats.page(SESSION, 4, 1))[0].model_copy(update={"id": IN_TRASH, "parent_id": None}))

    assert added.parent_id == leaf.leaf_id
    assert (await chats.outline(SESSION))[-1].id == IN_TRASH
    assert added.role is Role.USER
    await database.close()


async def test_an_old_database_is_backed_up_before_it_is_migrated(old: Path):
    database = await Database.open(old, (*MIGRATIONS, add_moods))
    assert await database.run(schema_version) == len(MIGRATIONS) + 1
    await database.close()

    (copy,) = list_backups(backup_folder(old))
    assert copy.pre_migration_version == 1
    assert "moods" in tables(old)
    assert "moods" not in tables(copy.path)


async def test_a_database_that_is_up_to_date_is_not_backed_up_at_opening(path: Path):
    await (await Database.open(path)).close()
    await (await Database.open(path)).close()

    assert list_backups(backup_folder(path)) == []


async def test_a_database_of_version_1_becomes_the_same_as_a_new_one(old: Path, tmp_path: Path):
    def schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
        rows = connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_schema")
        return {(name, re.sub(r"--[^\n]*|\s", "", sql)) for name, sql in rows}

    schemas = []
    for path in (old, tmp_path / "new.sqlite3"):
        database = await Database.open(path)
        schemas.append(await database.run(schema))
        await database.close()

    assert schemas[0] == schemas[1]


async def test_a_migration_that_fails_leaves_the_version_before_it(old: Path):
    def half(connection: sqlite3.Connection) -> None:
        add_moods(connection)
        raise ArithmeticError("half-way")

    with pytest.raises(ArithmeticError):
        await Database.open(old, (*MIGRATIONS, half))

    assert "moods" not in tables(old)
    database = await Database.open(old)
    assert len(await SessionStore(database).page(SESSION, 0, 100)) == 5
    await database.close()


def test_a_script_that_fails_half_way_is_rolled_back(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = "-- Moods; one per persona.\nCREATE TABLE moods (persona_id TEXT DEFAULT ';'); -- a comment\nDROP TABLE nowhere;\n"
    (tmp_path / "moods.sql").write_text(script, encoding="utf-8")

    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        migrate(connection)
        monkeypatch.setattr(migrations, "SCHEMA", tmp_path)
        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            migrate(connection, (*MIGRATIONS, partial(migrations.run_script, "moods.sql")))
        assert schema_version(connection) == len(MIGRATIONS)

    assert "moods" not in tables(old)


def test_a_script_is_split_at_the_ends_of_its_statements_only():
    script = (migrations.SCHEMA / "v3_facts.sql").read_text(encoding="utf-8")

    statements = list(migrations.split_statements(script))

    assert "".join(statements) == script
    assert sum("CREATE TRIGGER" in one for one in statements) == 14
    assert all(one.count("CREATE TRIGGER") <= 1 for one in statements)


async def test_nothing_is_migrated_when_the_backup_cannot_be_made(old: Path):
    backup_folder(old).write_text("a file where the folder should be")

    with pytest.raises(StorageError, match="backups"):
        await Database.open(old, (*MIGRATIONS, add_moods))

    assert "moods" not in tables(old)


def test_a_migration_may_not_leave_a_row_without_its_parent(old: Path):
    def careless(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM sessions")

    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="is left without its sessions"):
            migrate(connection, (*MIGRATIONS, careless))
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (2,)


def test_a_migration_that_meets_a_full_disk_is_rolled_back(old: Path):
    def large(connection: sqlite3.Connection) -> None:
        add_moods(connection)
        connection.execute("INSERT INTO moods VALUES (zeroblob(10000000))")

    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        connection.execute("PRAGMA max_page_count = 100")
        with pytest.raises(sqlite3.OperationalError, match="full"):
            migrate(connection, (*MIGRATIONS, large))
        assert schema_version(connection) == len(MIGRATIONS)
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'moods'").fetchone() == (0,)


def test_there_is_a_column_for_every_field(old: Path):
    def columns(connection: sqlite3.Connection, table: str) -> set[str]:
        return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}

    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        migrate(connection)
        assert set(MemoryUnit.model_fields) == set(MEMORY_COLUMNS) <= columns(connection, "memories")
        assert set(SESSION_COLUMNS) <= columns(connection, "sessions")
        assert set(MESSAGE_COLUMNS) <= columns(connection, "messages")
        assert set(ALTERNATIVE_COLUMNS) <= columns(connection, "alternatives")


async def test_the_permission_of_a_memory_becomes_metadata_and_working_memory_gets_its_persona(old: Path):
    memories = {
        "made by the user": ("", "", 1),
        "inferred": ("dream", "user-preferences/inferred", 0),
        "inferred, of money": ("dream", "user-preferences/inferred", 1),
        "to avoid": ("dream", "anti-patterns/style", 0),
        "merged": ("dream", "family", 0),
    }
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[: MIGRATIONS.index(MEMORY_METADATA)])
        copied = [name for name in MEMORY_COLUMNS if name not in {"guid", "category", "metadata"}]
        for number, (content, values) in enumerate(memories.items()):
            guid = f"22222222-2222-4222-8222-{number:012x}"
            connection.execute(
                f"INSERT INTO memories (guid, category, persona_id, {', '.join(copied)})"
                f" SELECT ?, 'general', persona_id, {', '.join(copied)} FROM memories WHERE guid = ?",
                (guid, str(SESSION)),
            )
            connection.execute(
                "UPDATE memories SET content = ?, made_by = ?, filed_under = ?, needs_permission = ? WHERE guid = ?",
                (content, *values, guid),
            )
        later = "2999-01-01T00:00:00.000000+00:00"
        for namespace in (f"session/{SESSION}", "session/gone"):
            connection.execute("INSERT INTO workbench VALUES (?, 'page', 'A page.', '', '[]', ?, ?)", (namespace, later, later))

    database = await Database.open(old)
    found = {one.content: one.metadata for one in await MemoryStore(database).memories_of("mara-venn")}
    entries = await WorkingMemoryRows(database).entries_below("mara-venn", "", datetime(2026, 5, 9, tzinfo=UTC))
    await database.close()

    permission, source = {"requires_user_permission": "true"}, {"source": "inferred"}
    assert found == {
        "made by the user": permission,
        "inferred": source,
        "inferred, of money": source | permission,
        "to avoid": source,
        "merged": {},
    }
    assert [(entry.namespace, entry.value) for entry in entries] == [(f"session/{SESSION}", "A page.")]


async def test_states_are_found_by_their_names_of_today(old: Path):
    states = {
        "pool": "keyword_entries",
        "staying": "active_spans",
        "told": "announced",
        "scratch": "session_notes",
        "frame": "stable_prefix",
    }
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[: MIGRATIONS.index(MEMORY_METADATA)])
        rows = [(str(SESSION), name, json.dumps({"of": name})) for name in (*states, "lore")]
        connection.executemany("INSERT INTO session_state VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO house_state VALUES ('outgoing', 'list', '[1]')")
        connection.execute("INSERT INTO house_state VALUES ('reminders', 'told on the desktop', '[2]')")

    database = await Database.open(old)
    found = await SessionState(database).values_of(SESSION)
    app_state = AppState(database)

    assert {name: found[today] for name, today in states.items()} == {name: {"of": name} for name in states}
    assert found["lore"] == {"of": "lore"}
    assert (await app_state.get("network_log", "list"), await app_state.get("reminders", "notified")) == ([1], [2])
    await database.close()


async def test_words_of_an_older_version_are_found_and_keep_their_vectors(old: Path):
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[: MIGRATIONS.index(fold_words)])
        row = ("message", MIRA, str(SESSION), str(SESSION), "Gartenstraße 修改", "(9 May, 2026) Gartenstraße  修  改 ")
        connection.execute("INSERT INTO passages VALUES (7, ?, ?, ?, ?, ?, ?, '2026-05-09', 'Tomas', 0)", row)
        connection.execute("INSERT INTO passage_words (rowid, searched) VALUES (7, ?)", row[-1:])
        connection.execute("INSERT INTO passage_vectors VALUES (7, 'small', x'00', x'')")

    database = await Database.open(old)
    passages = Passages(database)
    found = await passages.passages_of_terms(parse_query("GARTENSTRASSE 修改").lookups)
    vectors = await passages.vectors("small", [7])
    await passages.replace([SESSION], [])
    left = await passages.passages_of_terms(["gartenstrasse"])
    await database.close()

    assert (found.passages, vectors, left.passages) == (["7", "7"], {7: b"\0"}, [""])
