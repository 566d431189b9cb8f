"""What helps after a start that failed, and what a repair reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.errors import DatabaseDamaged, DatabaseTooNew, FileError, StorageError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import back_up, read_contents
from lethe_app.services.maintenance.repair import StartRemedy, find_remedies, repair_database, set_settings_aside
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore
from tests.storage.damaged_pages import damage_pages

GARBAGE = b"\xa5" * 50_000


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths.standard(tmp_path / "home")
    paths.home.mkdir()
    return paths


async def test_only_what_can_help_is_offered(paths: Paths):
    def offered(error: Exception) -> list[str]:
        return [remedy.value for remedy in find_remedies(paths, error)]

    assert offered(DatabaseDamaged("gone")) == ["restore"]
    assert offered(FileError(paths.settings, "is broken")) == ["default settings"]
    assert offered(FileError(paths.home / "other.json", "is broken")) == []
    assert offered(StorageError("no room")) == []
    await (await Database.open(paths.database)).close()
    assert offered(DatabaseDamaged("broken")) == ["repair", "restore"]
    assert offered(DatabaseTooNew("newer")) == ["restore"]
    assert offered(RuntimeError("bug")) == []


async def test_without_a_backup_a_file_beyond_repair_is_replaced_and_kept(paths: Paths):
    paths.database.write_bytes(GARBAGE)

    repair = await repair_database(paths)

    assert not any(repair.contents.counts.values())
    assert "Nothing could be read of the messages.\n" in repair.losses
    assert repair.richer_backup is None
    (kept,) = (paths.home / "backups").glob("*-replaced/lethe.sqlite3")
    assert kept.read_bytes() == GARBAGE
    assert str(kept.parent) in repair.losses
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


async def test_default_settings_do_not_greet_a_user_as_new(paths: Paths):
    paths.settings.write_text("{")
    set_settings_aside(paths)
    assert not paths.settings.exists()
    await (await Database.open(paths.database)).close()
    paths.settings.write_text("{")

    set_settings_aside(paths)

    services = await build(paths, engine="echo")
    assert services.preferences.current.welcomed
    await services.close()


@pytest.mark.parametrize("table", ["alternatives", "messages"])
async def test_only_what_can_be_read_afterwards_counts_and_a_richer_backup_is_named(paths: Paths, table: str):
    database = await Database.open(paths.database)
    chats = SessionStore(database)
    for name, summary in (("", ""), ("Bees", "They talked about bees.")):
        session = await chats.add_session(ChatSession(persona_id="mira", name=name, content=summary))
        for role in (Role.USER, Role.ASSISTANT):
            speaker = "Mira" if role is Role.ASSISTANT else "Tomas"
            alternatives = [Alternative(content="My bees are well.")]
            await chats.add_message(
                Message(session_id=session.guid, role=role, speaker_name=speaker, alternatives=alternatives)
            )
    await database.close()
    file = await back_up(paths.home)
    damage_pages(paths.database, table)

    repair = await repair_database(paths)

    assert repair.contents.counts["messages"] == read_contents(paths.home).counts["messages"] == 0
    assert repair.contents.counts["conversations"] == 1
    assert "Nothing could be read of the messages.\n" in repair.losses
    assert f"“Mira, {now():%Y}" in repair.losses
    assert "“Bees” has 0 of its 2 messages." in repair.losses
    assert repair.richer_backup is not None
    assert repair.richer_backup.backup.path == file


async def test_a_backup_that_has_more_facts_is_named(paths: Paths):
    database = await Database.open(paths.database)
    await SessionStore(database).add_session(ChatSession(persona_id="mira", name="Bees", content="They talked about bees."))
    await FactStore(database).save_facts("mira", ExtractedFact(fact="Tomas keeps bees."))
    await database.close()
    file = await back_up(paths.home)
    damage_pages(paths.database, "facts")

    repair = await repair_database(paths)

    assert repair.contents.counts["facts"] == 0
    assert repair.richer_backup is not None
    assert repair.richer_backup.backup.path == file
