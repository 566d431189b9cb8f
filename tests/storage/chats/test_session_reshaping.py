"""Sessions are split and merged, and messages inserted, without any loss and with undo."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lethe_app.domain.chat import Alternative, ChatSession, Message, PartRecord, PartState, Role, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import StorageError
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.session_reshaping import SessionReshaping
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.index.pending import PendingIndex
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.trash_listing import TrashListing
from tests.storage.scenes import store_alternative
from tests.sweep import examples

Say = Callable[..., Message]
BEGAN = datetime(2026, 3, 1, 20, tzinfo=UTC)


@pytest.fixture
def reshaping(database: Database) -> SessionReshaping:
    return SessionReshaping(database)


async def add_messages(chats: SessionStore, session: ChatSession, *lines: str, begin: datetime = BEGAN) -> list[Message]:
    return await chats.add_messages(
        [
            Message(
                session_id=session.guid,
                role=Role.USER,
                time=begin + timedelta(minutes=number),
                alternatives=[Alternative(content=line, created=begin + timedelta(minutes=number))],
            )
            for number, line in enumerate(lines)
        ]
    )


async def texts_of(chats: SessionStore, guid: UUID) -> list[str]:
    return [message.content for message in await chats.page(guid, 0, 1000)]


def build_new_session(session: ChatSession) -> ChatSession:
    return ChatSession(persona_id=session.persona_id, added=BEGAN)


async def test_a_split_moves_everything_from_a_message_on(
    chats: SessionStore, session: ChatSession, reshaping: SessionReshaping
):
    said = await add_messages(chats, session, "one", "two", "three", "four")
    fresh = build_new_session(session)

    await reshaping.split(said[2].id, fresh)

    assert await texts_of(chats, session.guid) == ["one", "two"]
    assert await texts_of(chats, fresh.guid) == ["three", "four"]
    assert (await chats.session(session.guid)).leaf_id == said[1].id
    assert (await chats.session(fresh.guid)).leaf_id == said[3].id
    counts = {one.guid: one.messages for one in await chats.sessions("mara")}
    assert counts == {session.guid: 2, fresh.guid: 2}
    activity = {one.guid: one.last_activity for one in await chats.sessions("mara")}
    assert activity[session.guid] == said[1].time
    assert activity[fresh.guid] == said[3].time


async def test_a_split_moves_alternatives_branches_and_deleted_messages(
    chats: SessionStore, session: ChatSession, reshaping: SessionReshaping, database: Database
):
    said = await add_messages(chats, session, "one", "two", "three")
    await store_alternative(database, said[2].id, Alternative(content="three, again"))
    side = Message(session_id=session.guid, role=Role.USER, parent_id=said[1].id, alternatives=[Alternative(content="aside")])
    await chats.add_message(side)
    await chats.set_leaf(session.guid, said[2].id)
    (last,) = await add_messages(chats, session, "gone")
    await chats.delete_message(last.id)
    fresh = build_new_session(session)

    await reshaping.split(said[1].id, fresh)

    assert await texts_of(chats, fresh.guid) == ["two", "three, again"]
    await chats.set_leaf(fresh.guid, side.id)
    assert await texts_of(chats, fresh.guid) == ["two", "aside"]
    await chats.set_leaf(fresh.guid, said[2].id)
    await chats.restore_message(last.id)
    assert (await chats.message(last.id)).session_id == fresh.guid
    assert await TrashListing(database).list_items() == []


async def test_a_split_at_the_first_message_or_on_another_branch_is_refused(
    chats: SessionStore, session: ChatSession, reshaping: SessionReshaping
):
    said = await add_messages(chats, session, "one", "two")
    side = Message(session_id=session.guid, role=Role.USER, parent_id=said[0].id, alternatives=[Alternative(content="aside")])
    await chats.add_message(side)

    with pytest.raises(StorageError, match="already the first message"):
        await reshaping.split(said[0].id, build_new_session(session))
    with pytest.raises(StorageError, match="that is shown"):
        await reshaping.split(said[1].id, build_new_session(session))


async def test_a_merge_puts_sessions_into_the_earliest_in_order_of_start(
    chats: SessionStore, session: ChatSession, reshaping: SessionReshaping
):
    early = await chats.add_session(ChatSession(persona_id="mara", added=session.added - timedelta(days=9), name="Early"))
    late = await chats.add_session(ChatSession(persona_id="mara", added=session.added + timedelta(days=9), content="Late."))
    await add_messages(chats, late, "five")
    await add_messages(chats, early, "one", "two")
    await add_messages(chats, session, "three", "four")

    before = await reshaping.merge([late.guid, session.guid, early.guid])

    assert before.kept == early.guid
    assert await texts_of(chats, early.guid) == ["one", "two", "three", "four", "five"]
    assert [one.guid for one in await chats.sessions("mara")] == [early.guid]
    whole = await chats.session(early.guid)
    assert (whole.name, whole.content, whole.added) == ("Early", "Late.", early.added)


async def test_a_merge_keeps_what_the_user_wrote(
    chats: SessionStore, session: ChatSession, database: Database, reshaping: SessionReshaping
):
    other = await chats.add_session(ChatSession(persona_id="mara", added=session.added + timedelta(days=1)))
    parts = ArchiveJobs(database)
    await parts.start_archive(session.guid)
    await parts.start_archive(other.guid)
    mine = PartRecord(other.guid, SessionPart.TITLE, PartState.DONE, MadeBy.USER)
    await parts.save_value(mine, name="My title")
    await parts.save_value(PartRecord(session.guid, SessionPart.SUMMARY, PartState.DONE, MadeBy.MODEL), content="Of the first.")
    await parts.save_value(PartRecord(other.guid, SessionPart.SUMMARY, PartState.DONE, MadeBy.MODEL), content="Of the second.")
    await chats.change_session(other.guid, future_goals=["sail"], relevance=4, keywords_main=["storm"])

    await reshaping.merge([session.guid, other.guid])

    whole = await chats.session(session.guid)
    assert whole.name == "My title"
    assert whole.content == "Of the first.\n\nOf the second."
    assert (whole.future_goals, whole.relevance, whole.keywords_main) == (["sail"], 4, ["storm"])
    assert (await parts.parts_of(session.guid))[SessionPart.TITLE].made_by is MadeBy.USER


async def test_a_merge_keeps_the_notes_and_worlds_of_all_with_the_newest_value(
    chats: SessionStore, session: ChatSession, database: Database, reshaping: SessionReshaping
):
    later = await chats.add_session(ChatSession(persona_id="mara", added=session.added + timedelta(days=1)))
    newest = await chats.add_session(ChatSession(persona_id="mara", added=session.added + timedelta(days=2)))
    state = SessionState(database)
    await state.set(session.guid, "session_notes", {"job": "baker", "cat": "Plum"})
    await state.set(later.guid, "session_notes", {"job": "nurse"})
    await state.set(later.guid, "worlds", ["sea", "quarry"])
    await state.set(newest.guid, "worlds", ["sea"])

    await reshaping.merge([newest.guid, later.guid, session.guid])

    assert await state.get(session.guid, "session_notes") == {"job": "nurse", "cat": "Plum"}
    assert await state.get(session.guid, "worlds") == ["sea", "quarry"]


async def test_only_sessions_of_one_persona_can_be_merged(
    chats: SessionStore, session: ChatSession, reshaping: SessionReshaping
):
    stranger = await chats.add_session(ChatSession(persona_id="edmund"))

    with pytest.raises(StorageError, match="the same persona"):
        await reshaping.merge([session.guid, stranger.guid])
    with pytest.raises(StorageError, match="two"):
        await reshaping.merge([session.guid, session.guid])


async def test_undo_restores_rows_parts_and_state(
    chats: SessionStore, session: ChatSession, database: Database, reshaping: SessionReshaping
):
    other = await chats.add_session(ChatSession(persona_id="mara", added=session.added + timedelta(days=1), name="Second"))
    await add_messages(chats, session, "one")
    await add_messages(chats, other, "two")
    await ArchiveJobs(database).save_value(
        PartRecord(other.guid, SessionPart.SUMMARY, PartState.DONE, MadeBy.USER), content="Mine."
    )
    await SessionState(database).set(other.guid, "session_notes", {"ship": "Petrel"})
    was = [await chats.session(session.guid), await chats.session(other.guid), await chats.sessions("mara")]

    before = await reshaping.merge([session.guid, other.guid])
    await reshaping.undo(before)

    assert [await chats.session(session.guid), await chats.session(other.guid), await chats.sessions("mara")] == was
    assert await texts_of(chats, other.guid) == ["two"]
    assert (await ArchiveJobs(database).parts_of(other.guid))[SessionPart.SUMMARY].made_by is MadeBy.USER
    assert await SessionState(database).get(other.guid, "session_notes") == {"ship": "Petrel"}


async def test_messages_added_since_stay_when_a_split_is_undone(
    chats: SessionStore, session: ChatSession, reshaping: SessionReshaping
):
    said = await add_messages(chats, session, "one", "two", "three")
    fresh = build_new_session(session)
    before = await reshaping.split(said[1].id, fresh)
    await add_messages(chats, fresh, "four")

    await reshaping.undo(before)

    assert await texts_of(chats, session.guid) == ["one", "two", "three", "four"]
    assert [one.guid for one in await chats.sessions("mara")] == [session.guid]


async def test_messages_added_since_stay_when_a_merge_is_undone(
    chats: SessionStore, session: ChatSession, reshaping: SessionReshaping
):
    other = await chats.add_session(ChatSession(persona_id="mara", added=session.added + timedelta(days=1)))
    await add_messages(chats, session, "one")
    await add_messages(chats, other, "two")
    before = await reshaping.merge([session.guid, other.guid])
    await add_messages(chats, session, "three")

    await reshaping.undo(before)

    assert await texts_of(chats, session.guid) == ["one"]
    assert await texts_of(chats, other.guid) == ["two", "three"]


async def test_a_message_is_inserted_into_an_old_session_and_erased_again(
    chats: SessionStore, session: ChatSession, say: Say, database: Database, reshaping: SessionReshaping
):
    said = await add_messages(chats, session, "one", "two", "three")
    debts = PendingIndex(database)
    await database.run(lambda connection: connection.execute("DELETE FROM passage_debts").rowcount)

    forgotten = await reshaping.insert(say("one and a half", time=said[0].time), said[1].id)
    at_end = await reshaping.insert(say("four", time=said[2].time), None)

    assert await texts_of(chats, session.guid) == ["one", "one and a half", "two", "three", "four"]
    owed = {debt.id for debt in await debts.newest_entries(100)}
    assert {said[1].id, said[2].id, forgotten.id} <= owed
    await reshaping.erase_inserted(at_end.id)
    await reshaping.erase_inserted(forgotten.id)
    assert await texts_of(chats, session.guid) == ["one", "two", "three"]
    assert (await chats.session(session.guid)).leaf_id == said[2].id


async def test_facts_name_the_session_their_messages_moved_to(
    chats: SessionStore, session: ChatSession, database: Database, reshaping: SessionReshaping
):
    said = await add_messages(chats, session, "one", "two")
    facts = FactStore(database)
    known = [
        ExtractedFact(fact=f"Fact {number}.", source_memories=[session.guid], source_messages=list(ids))
        for number, ids in enumerate([(said[0].id,), (said[1].id,), (said[0].id, said[1].id), ()])
    ]
    await facts.save_facts("mara", *known)
    fresh = build_new_session(session)

    before = await reshaping.split(said[1].id, fresh)

    async def sources() -> list[list[UUID]]:
        return [(await facts.get(fact.guid)).source_memories for fact in known]

    old, new = session.guid, fresh.guid
    assert await sources() == [[old], [new], [old, new], [old]]
    await reshaping.undo(before)
    assert await sources() == [[old]] * 4


# Whatever the tree looks like, split and merge give the same back

TREES = st.lists(st.tuples(st.integers(0, 50), st.booleans(), st.booleans(), st.integers(1, 3)), min_size=2, max_size=14)


async def add_tree(chats: SessionStore, session: ChatSession, tree: list[tuple[int, bool, bool, int]]) -> list[UUID]:
    """Add messages that follow the newest or branch off; some hidden, some in the trash, some with several alternatives."""
    ids: list[UUID] = []
    gone: list[UUID] = []
    for number, (pick, branches_off, hidden, wordings) in enumerate(tree):
        alternatives = [Alternative(content=f"m{number} w{each} lantern") for each in range(wordings)]
        live = [id_ for id_ in ids if id_ not in gone]
        parent = live[pick % len(live)] if branches_off and live else None
        fields = {"hidden": hidden, "alternatives": alternatives, "shown": wordings - 1}
        message = Message(session_id=session.guid, role=Role.USER, parent_id=parent, **fields)
        await chats.add_message(message)
        ids.append(message.id)
        if pick % 7 == 3:
            await chats.delete_message(message.id)
            gone.append(message.id)
    return ids


async def dump_sessions(database: Database) -> dict[str, object]:
    """Return the rows of all messages, and the tips and counts of the sessions."""

    def work(connection):
        messages = connection.execute(
            "SELECT id, session_id, parent_id, seq, shown, hidden, deleted_at IS NULL FROM messages ORDER BY session_id, seq"
        ).fetchall()
        sessions = connection.execute(
            "SELECT guid, tip_id, branched, message_count, last_activity FROM sessions ORDER BY guid"
        ).fetchall()
        alternatives = connection.execute("SELECT message_id, position, content FROM alternatives ORDER BY 1, 2").fetchall()
        messages = [(id_, session, parent or "", *others) for id_, session, parent, *others in messages]
        return {"messages": messages, "sessions": sessions, "alternatives": alternatives}

    return await database.run(work)


def without_order(seen: dict[str, object]) -> dict[str, object]:
    """Return a dump without `seq`: messages of other branches may have arrived between those that moved."""
    return {**seen, "messages": sorted((*row[:3], *row[4:]) for row in seen["messages"])}


async def check_integrity(database: Database) -> None:
    """Assert that a parent is in the same session and before its child, and that counts and tips are right."""

    def work(connection):
        assert not connection.execute(
            "SELECT 1 FROM messages m JOIN messages p ON p.id = m.parent_id"
            " WHERE p.session_id <> m.session_id OR p.seq >= m.seq"
        ).fetchall()
        assert not connection.execute(
            "SELECT 1 FROM sessions s WHERE message_count <>"
            " (SELECT count(*) FROM messages WHERE session_id = s.guid AND deleted_at IS NULL AND hidden = 0)"
        ).fetchall()
        assert not connection.execute(
            "SELECT 1 FROM sessions s JOIN messages t ON t.id = s.tip_id WHERE t.session_id <> s.guid"
        ).fetchall()
        assert not connection.execute("PRAGMA foreign_key_check").fetchall()

    await database.run(work)


async def split_and_merge(folder: Path, tree: list[tuple[int, bool, bool, int]], where: int) -> None:
    database = await Database.open(folder / "lethe.sqlite3")
    try:
        chats, reshaping = SessionStore(database), SessionReshaping(database)
        session = await chats.add_session(ChatSession(persona_id="mara", added=BEGAN))
        await add_tree(chats, session, tree)
        branch = await chats.outline(session.guid)
        if len(branch) < 2:
            return
        cut = branch[1 + where % (len(branch) - 1)]
        before = await dump_sessions(database)
        fresh = ChatSession(persona_id="mara", added=BEGAN + timedelta(hours=1))

        taken_down = await reshaping.split(cut.id, fresh)
        await check_integrity(database)
        at = branch.index(cut)
        assert await chats.outline(session.guid) == branch[:at]
        assert await chats.outline(fresh.guid) == branch[at:]
        assert [message.id for message in await chats.page(fresh.guid, 0, 99)] == [entry.id for entry in branch[at:]]

        await reshaping.undo(taken_down)
        await check_integrity(database)
        assert await dump_sessions(database) == before

        await reshaping.split(cut.id, fresh)
        merged = await reshaping.merge([fresh.guid, session.guid])
        await check_integrity(database)
        assert merged.kept == session.guid
        assert without_order(await dump_sessions(database)) == without_order(before)
        assert await chats.outline(session.guid) == branch
        assert [message.id for message in await chats.page(session.guid, 0, 99)] == [entry.id for entry in branch]
        leaf = (await chats.session(session.guid)).leaf_id
        assert leaf == branch[-1].id

        await reshaping.undo(merged)
        await check_integrity(database)
        assert await chats.outline(session.guid) == branch[:at]
        assert await chats.outline(fresh.guid) == branch[at:]
    finally:
        await database.close()


@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
@given(tree=TREES, where=st.integers(0, 50))
def test_undo_of_split_and_merge_restores_the_same_sessions(tree: list[tuple[int, bool, bool, int]], where: int):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(split_and_merge(Path(folder), tree, where))


async def test_a_fact_learnt_from_a_part_that_was_split_off_leads_to_the_whole_afterwards(
    chats: SessionStore, session: ChatSession, database: Database, reshaping: SessionReshaping
):
    said = await add_messages(chats, session, "one", "two")
    fresh = build_new_session(session)
    before = await reshaping.split(said[1].id, fresh)
    fact = ExtractedFact(fact="A new one.", source_memories=[fresh.guid], source_messages=[said[1].id])
    await FactStore(database).save_facts("mara", fact)

    await reshaping.undo(before)

    kept = await database.run(lambda c: c.execute("SELECT source_memories FROM facts").fetchone()[0])
    assert json.loads(kept) == [str(session.guid)]
