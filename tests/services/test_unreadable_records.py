"""One record that cannot be read takes nothing else down: it is left out, or shown as unreadable."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.paths import Paths
from lethe_app.services.search.timeline import Timeline
from lethe_app.storage.chats.session_list import SessionLines
from tests.homes import write_personas
from tests.services.conftest import MIRA, TOMAS
from tests.services.turns import say

FIRST_MESSAGE = "(SELECT id FROM messages WHERE role = 'user' ORDER BY rowid LIMIT 1)"
NOT_TEXT = "CAST(X'48FFFE69' AS TEXT)"
DAMAGES = {
    "degradations of a message": f"UPDATE alternatives SET degradations = '[{{' WHERE message_id = {FIRST_MESSAGE}",
    "a kind of degradation": f"UPDATE alternatives SET degradations = '[1]' WHERE message_id = {FIRST_MESSAGE}",
    "role of a message": f"UPDATE messages SET role = 'oracle' WHERE id = {FIRST_MESSAGE}",
    "mode of a message": f"UPDATE messages SET mode = 'telepathy' WHERE id = {FIRST_MESSAGE}",
    "time of a message": f"UPDATE messages SET time = 'yesterday' WHERE id = {FIRST_MESSAGE}",
    "text of a message": f"UPDATE alternatives SET content = {NOT_TEXT} WHERE message_id = {FIRST_MESSAGE}",
    "bytes for the text of a message": (
        f"UPDATE alternatives SET content = CAST(X'FFFEFDFC80' AS TEXT) WHERE message_id = {FIRST_MESSAGE}"
    ),
    "a message without text": f"DELETE FROM alternatives WHERE message_id = {FIRST_MESSAGE}",
    "a swipe that is not there": f"UPDATE messages SET shown = 7 WHERE id = {FIRST_MESSAGE}",
    "time of an alternative": f"UPDATE alternatives SET created = '' WHERE message_id = {FIRST_MESSAGE}",
    "kind of a memory": "UPDATE memories SET category = 'smell' WHERE content LIKE '%lantern%'",
    "keywords of a memory": "UPDATE memories SET keywords_main = '[\"lantern' WHERE content LIKE '%lantern%'",
    "metadata of a memory": "UPDATE memories SET metadata = '{' WHERE content LIKE '%lantern%'",
    "text of a memory": f"UPDATE memories SET content = {NOT_TEXT} WHERE content LIKE '%lantern%'",
    "time of a memory": "UPDATE memories SET added = 'once' WHERE content LIKE '%lantern%'",
    "number in a memory": "UPDATE memories SET priority = 'high' WHERE content LIKE '%lantern%'",
    "author of a fact": "UPDATE facts SET made_by = 'ghost' WHERE fact LIKE '%zither%'",
    "sources of a fact": "UPDATE facts SET source_memories = 'x', source_messages = '[1' WHERE fact LIKE '%zither%'",
    "time of a fact": "UPDATE facts SET last_seen = 'long ago' WHERE fact LIKE '%zither%'",
    "guests of a conversation": "UPDATE sessions SET guests = '[' WHERE guid = :old",
    "start of a conversation": "UPDATE memories SET added = '?' WHERE guid = :old",
    "activity of a conversation": "UPDATE sessions SET last_activity = '?' WHERE guid = :old",
    "goals of a conversation": "UPDATE sessions SET future_goals = 'none', relevance = 17 WHERE guid = :old",
    "flag of a conversation": "UPDATE memories SET sticky = 7, priority = 'x' WHERE guid = :old",
    "part of a conversation": """INSERT INTO session_parts (session_id, part, state, made_by, maker, tries, trouble)
        VALUES (:old, 'summary', 'lost', 'x', '', 0, '')""",
    "state of a conversation": "UPDATE session_state SET value = '{broken'",
    "state of the program": "INSERT INTO app_state VALUES ('mood', 'mira-test', '{broken')",
    "what a turn recalled": "UPDATE turn_memories SET value = '{broken'",
    "a tombstone": "INSERT INTO forgotten_facts (persona_id, digest, messages) VALUES ('mira-test', 'd', '[')",
    "kind of a passage": "UPDATE passages SET kind = 'poem' WHERE rowid = (SELECT min(rowid) FROM passages)",
    "time of a passage": "UPDATE passages SET time = 'noon' WHERE rowid = (SELECT min(rowid) FROM passages)",
    "text of a passage": f"UPDATE passages SET text = {NOT_TEXT} WHERE rowid = (SELECT min(rowid) FROM passages)",
}


UNREADABLE = {
    "role of a message": "(unreadable)",
    "time of a message": "(unreadable)",
    "a message without text": "(unreadable)",
    "bytes for the text of a message": "(unreadable)",
    "text of a message": "H\ufffd\ufffdi",
}
LINES = ("My lantern is made of copper.", "On Sundays I repair the zither.")


@pytest.fixture
async def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, echo_model: Callable[..., Path]) -> Paths:
    """A home with an older conversation, two memories and two facts, all indexed."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    paths = write_personas(tmp_path / "home", {"mira-test": MIRA, "tomas": TOMAS})
    services = await build(paths, engine="echo")
    await services.models.load(echo_model(*["“Aye.”"] * 9))
    await services.preferences.set(user_persona="tomas")
    old = await services.sessions.new("mira-test")
    for line in LINES:
        await say(services, old, line)
    contents = ("The lantern hangs in the hall.", "The zither hangs in the hall.")
    memories = [MemoryUnit(content=text, metadata={"a": "b"}) for text in contents]
    await services.memory_store.save_memories("mira-test", *memories)
    plays = ExtractedFact(fact="Tomas plays the zither.", subject="Tomas", source_memories=[old.guid])
    await services.fact_store.save_facts("mira-test", plays, ExtractedFact(fact="Tomas lives in Lyon.", subject="Tomas"))
    await services.indexing.index_all_pending()
    await services.close()
    return paths


async def use_everything(services: AppServices) -> list[str]:
    """Do what a person does of an evening; return the lines of the older conversation as they are read."""
    (old,) = await services.session_store.sessions("mira-test")
    assert len(await SessionLines(services.database).sessions_of("mira-test")) == 1
    await services.indexing.rebuild()
    await services.indexing.index_all_pending()
    listed = [line async for lines in services.memory_lists.list_memories("mira-test") for line in lines]
    assert any("hall" in line.searched for line in listed)
    assert any(fact.fact == "Tomas lives in Lyon." for fact in await services.fact_store.facts_of("mira-test"))
    assert isinstance(await services.fact_lists.load_timeline("mira-test"), Timeline)
    hits = [hit async for found in services.search.search_by_words("zither") for hit in found]
    assert any("zither" in str(hit) for hit in hits)
    assert await services.fact_store.tombstones_of("mira-test") is not None
    await services.trash.list_items()
    fresh = await services.sessions.new("mira-test")
    outcome = await say(services, fresh, "Do you remember the lantern in the hall, and who repairs the zither on Sundays?")
    assert outcome.reply.content
    assert outcome.memory.recalled
    outline = await services.session_store.outline(old.guid)
    lines = await services.sessions.page(old.guid, 0, 50)
    assert [line.id for line in lines] == [one.id for one in outline]
    await say(services, await services.session_store.session(old.guid), "And now?")
    return ["(unreadable)" if line.is_unreadable else line.content for line in lines]


FILES = ("personas/other.json", "worldinfo/moon.json", "presets/samplers/mine.json", "notebooks/mira-test/index.json")


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff\xfe", b'{"name": 3}', b""])
async def test_an_unreadable_file_takes_nothing_else_down(paths: Paths, content: bytes, echo_model: Callable[..., Path]):
    for name in FILES:
        (paths.home / name).parent.mkdir(parents=True, exist_ok=True)
        (paths.home / name).write_bytes(content)

    services = await build(paths, engine="echo")
    await services.models.load(echo_model(*["“Aye.”"] * 9))
    lines = await use_everything(services)
    await services.close()

    assert (lines[1], lines[3]) == LINES
    assert all((paths.home / name).read_bytes() == content for name in FILES)


async def test_json_that_is_none_is_kept_in_the_trash_before_it_is_emptied(paths: Paths):
    with closing(sqlite3.connect(paths.database)) as connection, connection:
        connection.execute("UPDATE facts SET source_memories = '[half' WHERE fact LIKE '%zither%'")

    services = await build(paths, engine="echo")
    query = "SELECT count(*) FROM facts, json_each(source_memories)"
    counts = await services.database.run(lambda connection: connection.execute(query).fetchone())
    facts = await services.fact_store.facts_of("mira-test")
    await services.close()

    assert counts == (0,)
    assert {fact.fact for fact in facts} == {"Tomas plays the zither.", "Tomas lives in Lyon."}
    (kept,) = paths.trash.glob("unreadable-values.*.json")
    assert "[half" in kept.read_text()


@pytest.mark.parametrize("damage", DAMAGES)
async def test_one_unreadable_record_takes_nothing_else_down(paths: Paths, damage: str, echo_model: Callable[..., Path]):
    with closing(sqlite3.connect(paths.database)) as connection, connection:
        (old,) = connection.execute("SELECT guid FROM sessions").fetchone()
        statement = DAMAGES[damage]
        assert connection.execute(statement, {"old": old} if ":old" in statement else {}).rowcount

    services = await build(paths, engine="echo")
    await services.models.load(echo_model(*["“Aye.”"] * 9))
    lines = await use_everything(services)
    await services.close()

    assert lines[3] == LINES[1]
    assert lines[1] == (UNREADABLE.get(damage) or LINES[0])
