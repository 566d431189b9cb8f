"""Sessions and messages are read exactly as they were stored, after every operation."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import pytest

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, WordLink
from lethe_app.errors import DatabaseDamaged, DiskFull, StorageError
from lethe_app.storage.chats.session_list import PREVIEW_CHARACTERS, SessionLines
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.trash_listing import TrashListing
from tests.storage.scenes import purge_trash, store_alternative

Say = Callable[..., Message]
SOME_TIME = datetime(2026, 5, 9, 23, 30, 1, 5, tzinfo=timezone(timedelta(hours=-7)))


async def lines(chats: SessionStore, session: ChatSession) -> list[str]:
    return [message.content for message in await chats.page(session.guid, 0, 1000)]


async def test_a_session_is_read_with_every_field(chats: SessionStore):
    session = ChatSession(
        persona_id="mara",
        user_id="me",
        name="Ein Abend 🗼",
        content="Summary.",
        reason="why",
        path="p",
        insertion=MemoryInsertion.NATURAL,
        added=SOME_TIME,
        end_time=SOME_TIME + timedelta(days=1),
        last_trigger=SOME_TIME,
        trigger_count=3,
        priority=-2,
        position_index=4,
        duration=5,
        trigger_chance=0.25,
        sticky=True,
        protected=True,
        enabled=True,
        keywords_main=["C++", 'quo"te', "日本"],
        keywords_secondary=["b"],
        word_link=WordLink.NOT_ALL,
        case_sensitive=True,
        meta_info_toggle=True,
        meta_info="{}",
        scenario="Storm.",
        is_roleplay=True,
        future_goals=["Go back"],
        relevance=5,
        archived=True,
    )

    await chats.add_session(session)

    assert await chats.session(session.guid) == session
    assert (await chats.session(session.guid)).added.utcoffset() == timedelta(hours=-7)


async def test_only_the_named_fields_of_a_session_change(chats: SessionStore, session: ChatSession):
    changes = {"name": "New title", "scenario": "At sea.", "future_goals": ["Swim"], "archived": True}

    changed = await chats.change_session(session.guid, **changes)

    assert changed == session.model_copy(update=changes)
    assert await chats.session(session.guid) == changed


async def test_a_message_is_read_with_every_field(chats: SessionStore, session: ChatSession):
    message = Message(
        session_id=session.guid,
        role=Role.ASSISTANT,
        speaker="mara",
        speaker_name="Mara",
        time=SOME_TIME,
        hidden=True,
        note="natural",
        alternatives=[
            Alternative(content="one", thinking="hm", created=SOME_TIME, model="echo", complete=False),
            Alternative(content="two", created=SOME_TIME),
        ],
        shown=1,
    )

    stored = await chats.add_message(message)

    assert stored == message
    assert await chats.message(message.id) == message


@pytest.mark.parametrize(
    "text", ["", "null \x00 inside", "👩‍👩‍👧‍👦 مرحبا", "a\r\nb\u2028c", "x" * 1_000_000, "'; DROP TABLE messages; --"]
)
async def test_text_is_stored_as_it_is(chats: SessionStore, session: ChatSession, say: Say, text: str):
    message = await chats.add_message(say(text))

    assert (await chats.message(message.id)).content == text
    assert (await chats.outline(session.guid))[0].length == len(text)


async def test_a_lone_surrogate_is_replaced_in_the_returned_message_too(chats: SessionStore, say: Say):
    message = await chats.add_message(say("whole"))
    message.note = "half \ud83d"

    edited = await chats.edit_message(message.id, "a\ud800b")
    added = await chats.add_message(message.model_copy(update={"id": uuid4()}))

    assert edited.content == "a�b"
    assert added.note == "half �"


async def test_of_several_messages_all_are_added_or_none(chats: SessionStore, session: ChatSession, say: Say):
    stranger = Message(session_id=uuid4(), role=Role.USER)

    with pytest.raises(StorageError, match="no longer exists"):
        await chats.add_messages([say("1"), stranger])

    assert await chats.outline(session.guid) == []


async def test_two_messages_added_at_once_follow_each_other(chats: SessionStore, session: ChatSession, say: Say):
    added = await asyncio.gather(*(chats.add_message(say(str(number))) for number in range(10)))

    assert [message.parent_id for message in added[1:]] == [message.id for message in added[:-1]]
    assert await lines(chats, session) == [str(number) for number in range(10)]


async def test_the_newest_messages_are_returned_oldest_first(chats: SessionStore, session: ChatSession, say: Say):
    added = await chats.add_messages([say(str(number)) for number in range(10)])
    await chats.delete_message(added[8].id)

    assert [message.content for message in await chats.newest_messages(session.guid, 3)] == ["6", "7", "9"]
    assert [message.content for message in await chats.newest_messages(session.guid, 2, before=added[6].id)] == ["4", "5"]
    assert [message.content for message in await chats.newest_messages(session.guid, 99, before=added[1].id)] == ["0"]
    assert await chats.newest_messages(session.guid, 5, before=added[0].id) == []
    with pytest.raises(StorageError, match="no longer exists"):
        await chats.newest_messages(session.guid, 5, before=uuid4())


@pytest.mark.parametrize("position", [-1, 1, 7])
async def test_an_alternative_that_does_not_exist_cannot_be_shown(chats: SessionStore, say: Say, position: int):
    message = await chats.add_message(say("one"))

    with pytest.raises(StorageError, match="has 1 swipes"):
        await chats.set_shown(message.id, position)


async def test_an_alternative_of_a_purged_message_cannot_be_replaced(chats: SessionStore):
    with pytest.raises(StorageError, match="no longer exists"):
        await chats.replace_alternative(uuid4(), 0, Alternative())


async def test_the_only_alternative_cannot_be_removed(chats: SessionStore, say: Say):
    message = await chats.add_message(say("one"))

    with pytest.raises(StorageError, match="only version"):
        await chats.remove_alternative(message.id, 0)


async def test_an_edit_changes_the_shown_alternative_only(
    chats: SessionStore, session: ChatSession, say: Say, database: Database
):
    message = await chats.add_message(say("one"))
    await store_alternative(database, message.id, Alternative(content="two", thinking="hm", model="echo"))

    edited = await chats.edit_message(message.id, "TWO!")

    assert [alternative.content for alternative in edited.alternatives] == ["one", "TWO!"]
    assert (edited.thinking, edited.current.model) == ("hm", "echo")
    assert (await chats.outline(session.guid))[0].length == 4


async def test_of_several_deletions_all_happen_or_none(chats: SessionStore, session: ChatSession, say: Say):
    added = await chats.add_messages([say("1"), say("2")])

    with pytest.raises(StorageError):
        await chats.delete_message(added[0].id, uuid4())

    assert await lines(chats, session) == ["1", "2"]
    await chats.delete_message(added[0].id)
    with pytest.raises(StorageError, match="no longer exists"):
        await chats.delete_message(added[0].id)
    await chats.restore_message(added[0].id)
    with pytest.raises(StorageError, match="no longer in the Trash"):
        await chats.restore_message(added[0].id)


async def test_deleted_messages_and_sessions_cannot_be_changed(chats: SessionStore, say: Say, database: Database):
    message = await chats.add_message(say("1"))
    await chats.delete_message(message.id)

    for change in (
        chats.edit_message(message.id, "x"),
        chats.set_shown(message.id, 0),
        store_alternative(database, message.id, Alternative()),
        chats.remove_alternative(message.id, 0),
    ):
        with pytest.raises(StorageError, match="no longer exists"):
            await change


async def test_a_message_under_an_older_one_begins_a_branch(chats: SessionStore, session: ChatSession, say: Say):
    first, second, third = await chats.add_messages([say("1"), say("2"), say("3")])

    other = await chats.add_message(say("2b", parent_id=first.id))
    await chats.add_message(say("3b"))

    assert await lines(chats, session) == ["1", "2b", "3b"]
    assert [message.content for message in await chats.newest_messages(session.guid, 2)] == ["2b", "3b"]
    assert len(await chats.outline(session.guid)) == 3
    await chats.set_leaf(session.guid, third.id)
    assert await lines(chats, session) == ["1", "2", "3"]
    await chats.delete_message(second.id)
    assert await lines(chats, session) == ["1", "3"]
    assert [message.content for message in await chats.newest_messages(session.guid, 9, before=other.id)] == ["1"]
    assert (await chats.page(session.guid, 1, 1))[0].parent_id == first.id


async def test_a_message_cannot_follow_one_of_another_session(chats: SessionStore, session: ChatSession, say: Say):
    other = await chats.add_session(ChatSession(persona_id="mara"))
    foreign = await chats.add_message(Message(session_id=other.guid, role=Role.USER))
    await chats.add_message(say("1"))

    with pytest.raises(StorageError, match="another"):
        await chats.add_message(say("2", parent_id=foreign.id))
    with pytest.raises(StorageError, match="another"):
        await chats.set_leaf(session.guid, foreign.id)


async def test_the_list_of_sessions_shows_the_newest_activity_first(chats: SessionStore):
    start = now() - timedelta(days=9)
    first, second, third = [
        await chats.add_session(ChatSession(persona_id="mara", name=name, added=start)) for name in ("one", "two", "three")
    ]
    await chats.add_session(ChatSession(persona_id="other"))
    east = timezone(timedelta(hours=12))
    for session, hours in ((first, 2), (second, 3), (third, 1)):
        time = (start + timedelta(hours=hours)).astimezone(east if hours == 2 else UTC)
        await chats.add_message(Message(session_id=session.guid, role=Role.USER, time=time))

    listed = await chats.sessions("mara")

    assert [summary.title for summary in listed] == ["two", "one", "three"]
    assert listed[0].last_activity == start + timedelta(hours=3)
    assert listed[0].started == start
    assert len(await chats.sessions()) == 4


async def test_the_preview_is_the_newest_visible_message_of_the_branch(
    chats: SessionStore, session: ChatSession, say: Say, database: Database
):
    async def preview() -> tuple[str, int]:
        (summary,) = await chats.sessions("mara")
        return summary.preview, summary.messages

    assert await preview() == ("", 0)
    first, second, _hidden = await chats.add_messages([say("one"), say("two\n\n  lines"), say("unseen", hidden=True)])
    assert await preview() == ("two lines", 2)
    await chats.delete_message(second.id)
    assert await preview() == ("one", 1)
    await chats.restore_message(second.id)
    await store_alternative(database, second.id, Alternative(content="x" * 1000))
    assert await preview() == ("x" * PREVIEW_CHARACTERS, 2)
    await chats.set_leaf(session.guid, first.id)
    assert (await preview())[0] == "one"


async def test_a_deleted_session_is_gone_from_everything_and_comes_back(
    chats: SessionStore, session: ChatSession, say: Say, database: Database
):
    message = await chats.add_message(say("kept"))
    await chats.replace_alternative(message.id, 0, Alternative(content="kept", complete=False))

    await chats.delete_session(session.guid)

    assert await chats.sessions("mara") == []
    for question in (chats.session(session.guid), chats.outline(session.guid), chats.add_message(say("more"))):
        with pytest.raises(StorageError, match="Trash"):
            await question
    (lost,) = await TrashListing(database).list_items()
    assert (lost.id, lost.count) == (str(session.guid), 1)
    await chats.restore_session(session.guid)
    assert await lines(chats, session) == ["kept"]


async def test_purging_erases_only_records_long_in_the_trash(
    chats: SessionStore, session: ChatSession, say: Say, database: Database
):
    old, keep, young, tip = await chats.add_messages([say("old"), say("keep"), say("young"), say("tip")])
    lost = await chats.add_session(ChatSession(persona_id="mara"))
    await chats.add_messages([Message(session_id=lost.guid, role=Role.USER) for _ in range(3)])
    await chats.delete_message(old.id, tip.id)
    await chats.delete_session(lost.guid)
    in_a_month = now() + timedelta(days=31)

    assert await purge_trash(database, 30) == 0
    assert await purge_trash(database, 30, in_a_month) == 3

    assert await TrashListing(database).list_items() == []
    assert await lines(chats, session) == ["keep", "young"]
    assert (await chats.message(keep.id)).parent_id is None
    assert (await chats.add_message(say("new"))).parent_id == young.id

    def leftovers(connection: sqlite3.Connection) -> tuple[int, int]:
        messages = connection.execute("SELECT count(*) FROM messages").fetchone()[0]
        return messages, connection.execute("SELECT count(*) FROM alternatives").fetchone()[0]

    assert await database.run(leftovers) == (3, 3)
    with pytest.raises(StorageError, match="no longer in the Trash"):
        await chats.restore_message(old.id)


async def test_a_damaged_row_is_reported_as_damage(chats: SessionStore, database: Database, say: Say):
    message = await chats.add_message(say())
    await database.run(lambda connection: connection.execute("UPDATE messages SET role = 'ghost'"))

    with pytest.raises(DatabaseDamaged, match="unreadable Message"):
        await chats.message(message.id)


async def test_on_a_full_disk_a_message_is_refused_and_the_others_stay(
    chats: SessionStore, session, database: Database, say: Say
):
    await chats.add_message(say("before"))

    def narrow(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    await database.run(narrow)
    with pytest.raises(DiskFull):
        await chats.add_message(say("x" * 100_000))

    assert await lines(chats, session) == ["before"]
    assert (await chats.sessions("mara"))[0].messages == 1


async def test_the_newest_is_the_first_of_the_list(chats: SessionStore):
    reported = [await chats.add_session(ChatSession(persona_id="mira", name=name)) for name in ("One", "Two", "Three")]
    last = [Alternative(content="Last of all.")]
    await chats.add_message(Message(session_id=reported[1].guid, role=Role.USER, alternatives=last))

    every = await chats.sessions("mira")
    assert every[0].title == "Two"
    assert await chats.newest_session("mira") == every[0]
    assert await chats.sessions("mira", limit=2) == every[:2]
    assert await chats.newest_session("nobody") is None


async def test_a_limited_list_is_the_beginning_of_the_whole_list(database: Database, chats: SessionStore):
    for number in range(6):
        session = await chats.add_session(ChatSession(persona_id="mira", name=f"Number {number}"))
        part = (str(session.guid), "summary", "failed" if number % 2 else "pending", "rules")
        await database.run(
            lambda connection, part=part: connection.execute("INSERT INTO session_parts VALUES (?, ?, ?, ?, '', 0, '')", part)
        )
    lines = SessionLines(database)

    every = await lines.sessions_of("mira")
    assert {(one.failed, one.pending) for one in every} == {(1, 0), (0, 1)}
    assert await lines.sessions_of("mira", limit=4) == every[:4]


async def test_earlier_sessions_are_the_newest_ones_and_all_sticky_ones(chats: SessionStore):
    began = datetime(2026, 5, 1, 12, tzinfo=UTC)
    zones = [timezone(timedelta(hours=hours)) for hours in (-11, 0, 13)]  # whose texts are in another order than the moments
    reported = []
    for number in range(12):
        added = (began + timedelta(hours=number)).astimezone(zones[number % 3])
        one = await chats.add_session(ChatSession(persona_id="mira", name=str(number), added=added, sticky=number in {0, 3}))
        role = Role.ASSISTANT if number == 7 else Role.USER
        await chats.add_message(Message(session_id=one.guid, role=role, alternatives=[Alternative(content="Hello.")]))
        reported.append(one)
    await chats.add_session(ChatSession(persona_id="edmund", name="Another's", added=began))
    await chats.delete_session(reported[6].guid)

    assert {one.title for one in await chats.sessions_before(reported[9], 3)} == {"8", "5", "4", "3", "0"}
    assert {one.title for one in await chats.sessions_before(reported[9], 100)} == {"8", "5", "4", "3", "2", "1", "0"}
    assert await chats.sessions_before(reported[0], 100) == []
