"""Old conversations in the user's hands: every edit is kept, every part knows its maker, and all of it can be taken back."""

from __future__ import annotations

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Role, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.list_items import DescriptionAuthor
from lethe_app.errors import LetheError
from lethe_app.services.sessions.editing import SessionsChanged
from lethe_app.storage.trash_listing import TrashListing
from tests.services.turns import MIRA, before_now, log, spoke

LINES = (
    "The hatch gave way.",
    "Who held it?",
    "Jonas did.",
    "Then thank Jonas.",
    "I will thank him at the harbour tomorrow.",
    "Good.",
)


async def conversation(services: AppServices, *lines: str, days: float = 1) -> ChatSession:
    session = await services.session_store.add_session(ChatSession(persona_id=MIRA, added=before_now(days=days)))
    for number, line in enumerate(lines):
        role = Role.ASSISTANT if number % 2 else Role.USER
        await spoke(services, session, line, before_now(days=days, minutes=-number), role)
    return session


async def said(services: AppServices, session: ChatSession) -> list[str]:
    return [message.content for message in await log(services, session)]


async def test_the_list_tells_what_there_is_of_each(services: AppServices):
    session = await conversation(services, *LINES)
    await conversation(services, "Hello.", days=3)
    await services.archive_queue.archive_session(session.guid)
    await services.archive_queue.write(session.guid, SessionPart.TITLE, "The hatch")
    await services.sessions.mark(session.guid, sticky=True, protected=True)

    first, second = await services.session_editing.list_sessions(MIRA)

    assert (first.name, first.messages, first.archived, first.sticky, first.protected) == ("The hatch", 6, True, True, True)
    assert first.maker is DescriptionAuthor.RULES
    assert (second.name, second.first_words, second.maker) == ("", "Hello.", DescriptionAuthor.NOBODY)
    await services.archive_queue.write(session.guid, SessionPart.SUMMARY, "Jonas held the hatch.")
    assert (await services.session_editing.list_sessions(MIRA))[0].maker is DescriptionAuthor.USER


async def test_a_part_is_made_again_and_no_other(services: AppServices):
    session = await conversation(services, *LINES)
    await services.archive_queue.archive_session(session.guid)
    for part, words in ((SessionPart.SUMMARY, "Mine."), (SessionPart.TITLE, "Mine too")):
        await services.archive_queue.write(session.guid, part, words)

    await services.session_editing.remake_part(session.guid, SessionPart.SUMMARY)

    after, parts = await services.sessions.open(session.guid), await services.archive_queue.parts(session.guid)
    assert after.content not in {"", "Mine."}
    assert after.name == "Mine too"
    assert parts[SessionPart.SUMMARY].made_by is MadeBy.RULES
    assert parts[SessionPart.TITLE].made_by is MadeBy.USER


async def test_what_is_too_short_to_be_told_keeps_the_users_words(services: AppServices):
    session = await conversation(services, "Hello.")
    await services.archive_queue.write(session.guid, SessionPart.TITLE, "Mine")

    with pytest.raises(LetheError, match="too short"):
        await services.session_editing.remake_part(session.guid, SessionPart.TITLE)

    assert (await services.sessions.open(session.guid)).name == "Mine"
    assert (await services.archive_queue.parts(session.guid))[SessionPart.TITLE].made_by is MadeBy.USER


async def test_a_message_is_inserted_with_the_date_of_the_one_before(services: AppServices):
    session = await conversation(services, *LINES)
    lines = await log(services, session)

    made = await services.session_editing.insert(session.guid, " It was dark. ", by_user=False, above=lines[1].id)

    assert await said(services, session) == [LINES[0], "It was dark.", *LINES[1:]]
    assert (made.time, made.role, made.speaker_name) == (lines[0].time, Role.ASSISTANT, "Mira")
    await services.session_editing.remove_inserted(made)
    assert await said(services, session) == list(LINES)


async def test_splitting_an_archived_conversation_tells_of_both(services: AppServices):
    session = await conversation(services, *LINES)
    await services.archive_queue.archive_session(session.guid)
    lines, received = await log(services, session), []
    services.session_editing.sessions_changed.add(received.append)

    before = await services.session_editing.split(lines[3].id)
    fresh = await services.sessions.open(before.created[0])

    assert await said(services, session) == list(LINES[:3])
    assert await said(services, fresh) == list(LINES[3:])
    assert fresh.added == lines[3].time
    assert fresh.archived
    assert fresh.content
    assert received[0].sessions == (session.guid, fresh.guid)
    await services.session_editing.undo(before)
    assert await said(services, session) == list(LINES)
    assert [one.guid for one in await services.sessions.list(MIRA)] == [session.guid]
    assert received[1].deleted == (fresh.guid,)


async def test_after_a_merge_a_sentence_is_found_in_the_whole(services: AppServices):
    early, late = (
        await conversation(services, "A green lantern.", days=9),
        await conversation(services, "A red lantern.", days=2),
    )

    before = await services.session_editing.merge([late.guid, early.guid])

    async def places() -> set[object]:
        return {hit.session async for some in services.search.search_by_words("lantern") for hit in some}

    assert before.kept == early.guid
    assert await said(services, early) == ["A green lantern.", "A red lantern."]
    assert await places() == {early.guid}
    await services.session_editing.undo(before)
    assert await places() == {early.guid, late.guid}


async def test_replies_are_ended_before_a_conversation_changes(services: AppServices):
    session, ended = await conversation(services, *LINES), []

    async def stop_reply(guid) -> None:
        ended.append(guid)

    services.session_editing.add_reply_stopper(stop_reply)
    await services.session_editing.delete(session.guid)

    assert ended == [session.guid]
    assert await services.sessions.list(MIRA) == []


async def rewritten(services: AppServices, *greetings: str, name: str = "Mira") -> None:
    before = await services.library.persona(MIRA)
    after = await services.library.save_persona(before.model_copy(update={"first_messages": list(greetings), "name": name}))
    await services.session_editing.replace_greeting(before, after)


async def test_where_nobody_answered_yet_a_persona_written_anew_greets_anew(services: AppServices):
    session = await services.sessions.new(MIRA)
    news: list[SessionsChanged] = []
    services.session_editing.sessions_changed.add(news.append)

    await rewritten(services, "You are late, {{user}}.", name="Mirabel")

    (greeting,) = await services.sessions.page(session.guid, 0, 9)
    assert (greeting.speaker_name, greeting.content) == ("Mirabel", "You are late, Tomas.")
    assert [one.sessions for one in news] == [(session.guid,)]
    assert await TrashListing(services.database).list_items() == []
    await rewritten(services)
    assert await said(services, session) == []
    await rewritten(services, "Again, then.")
    assert await said(services, session) == ["Again, then."]


async def test_a_greeting_that_was_answered_or_changed_by_hand_stays(services: AppServices):
    answered = await services.sessions.new(MIRA)
    await spoke(services, answered, "Good evening.", before_now(days=0))
    before = await said(services, answered)
    await rewritten(services, "You are late.")
    assert await said(services, answered) == before

    untouched = await services.sessions.new(MIRA)
    await services.message_editing.edit((await services.sessions.outline(untouched.guid))[0].id, "My own words.")
    await rewritten(services, "Once more.")
    assert await said(services, untouched) == ["My own words."]
