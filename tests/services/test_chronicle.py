"""Old conversations in the user's hands: every edit is kept, every part knows its maker, and all of it can be taken back."""

from __future__ import annotations

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Role, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.list_items import Maker
from lethe_app.errors import LetheError
from lethe_app.services.sessions.editing import Reshaped
from lethe_app.storage.chats.sessions import Chats
from tests.services.stage import MIRA, before_now, log, spoke

LINES = (
    "The hatch gave way.",
    "Who held it?",
    "Jonas did.",
    "Then thank Jonas.",
    "I will thank him at the harbour tomorrow.",
    "Good.",
)


async def conversation(house: AppServices, *lines: str, days: float = 1) -> ChatSession:
    session = await Chats(house._database).add_session(ChatSession(persona_id=MIRA, added=before_now(days=days)))
    for number, line in enumerate(lines):
        role = Role.ASSISTANT if number % 2 else Role.USER
        await spoke(house, session, line, before_now(days=days, minutes=-number), role)
    return session


async def said(house: AppServices, session: ChatSession) -> list[str]:
    return [message.content for message in await log(house, session)]


async def test_the_list_tells_what_there_is_of_each(house: AppServices):
    session = await conversation(house, *LINES)
    await conversation(house, "Hello.", days=3)
    await house.archiving.archive_session(session.guid)
    await house.archiving.write(session.guid, SessionPart.TITLE, "The hatch")
    await house.chronicle.mark(session.guid, sticky=True, protected=True)

    first, second = await house.chronicle.lines(MIRA)

    assert (first.name, first.messages, first.archived, first.sticky, first.protected) == ("The hatch", 6, True, True, True)
    assert first.maker is Maker.USER
    assert (second.name, second.first_words, second.maker) == ("", "Hello.", Maker.NOBODY)
    assert await house.chronicle.line(session.guid) == first


async def test_a_wording_of_the_users_is_taken_back_with_its_maker(house: AppServices):
    session = await conversation(house, *LINES)
    await house.archiving.archive_session(session.guid)
    was = (await house.sessions.open(session.guid)).content
    told = await house.chronicle.part_of(session.guid, SessionPart.SUMMARY)

    await house.archiving.write(session.guid, SessionPart.SUMMARY, "In my words.")
    await house.chronicle.tell_as(told)

    assert was
    assert (await house.sessions.open(session.guid)).content == was
    assert (await house.archiving.parts(session.guid))[SessionPart.SUMMARY].made_by is MadeBy.RULES


async def test_a_part_is_made_again_and_no_other(house: AppServices):
    session = await conversation(house, *LINES)
    await house.archiving.archive_session(session.guid)
    for part, words in ((SessionPart.SUMMARY, "Mine."), (SessionPart.TITLE, "Mine too")):
        await house.archiving.write(session.guid, part, words)

    await house.chronicle.again(session.guid, SessionPart.SUMMARY)

    after, parts = await house.sessions.open(session.guid), await house.archiving.parts(session.guid)
    assert after.content not in {"", "Mine."}
    assert after.name == "Mine too"
    assert parts[SessionPart.SUMMARY].made_by is MadeBy.RULES
    assert parts[SessionPart.TITLE].made_by is MadeBy.USER


async def test_what_is_too_short_to_be_told_keeps_the_users_words(house: AppServices):
    session = await conversation(house, "Hello.")
    await house.archiving.write(session.guid, SessionPart.TITLE, "Mine")

    with pytest.raises(LetheError, match="too short"):
        await house.chronicle.again(session.guid, SessionPart.TITLE)

    assert (await house.sessions.open(session.guid)).name == "Mine"
    assert (await house.archiving.parts(session.guid))[SessionPart.TITLE].made_by is MadeBy.USER


async def test_a_message_is_inserted_with_the_date_of_the_one_before(house: AppServices):
    session = await conversation(house, *LINES)
    lines = await log(house, session)

    made = await house.chronicle.insert(session.guid, " It was dark. ", by_user=False, above=lines[1].id)

    assert await said(house, session) == [LINES[0], "It was dark.", *LINES[1:]]
    assert (made.time, made.role, made.speaker_name) == (lines[0].time, Role.ASSISTANT, "Mira")
    await house.chronicle.take_out(made)
    assert await said(house, session) == list(LINES)


async def test_splitting_an_archived_conversation_tells_of_both(house: AppServices):
    session = await conversation(house, *LINES)
    await house.archiving.archive_session(session.guid)
    lines, heard = await log(house, session), []
    house.chronicle.reshaped.add(heard.append)

    before = await house.chronicle.split(lines[3].id)
    fresh = await house.sessions.open(before.made[0])

    assert await said(house, session) == list(LINES[:3])
    assert await said(house, fresh) == list(LINES[3:])
    assert fresh.added == lines[3].time
    assert fresh.archived
    assert fresh.content
    assert heard[0].sessions == (session.guid, fresh.guid)
    await house.chronicle.undo(before)
    assert await said(house, session) == list(LINES)
    assert [one.guid for one in await house.sessions.list(MIRA)] == [session.guid]
    assert heard[1].gone == (fresh.guid,)


async def test_after_a_merge_a_sentence_is_found_in_the_whole(house: AppServices):
    early, late = await conversation(house, "A green lantern.", days=9), await conversation(house, "A red lantern.", days=2)

    before = await house.chronicle.merge([late.guid, early.guid])

    async def places() -> set[object]:
        return {hit.session async for some in house.finding.by_words("lantern") for hit in some}

    assert before.kept == early.guid
    assert await said(house, early) == ["A green lantern.", "A red lantern."]
    assert await places() == {early.guid}
    await house.chronicle.undo(before)
    assert await places() == {early.guid, late.guid}


async def test_replies_are_ended_before_a_conversation_changes(house: AppServices):
    session, ended = await conversation(house, *LINES), []

    async def still(guids) -> None:
        ended.extend(guids)

    house.chronicle.still = still
    await house.chronicle.delete(session.guid)

    assert ended == [session.guid]
    assert await house.sessions.list(MIRA) == []


async def rewritten(house: AppServices, *greetings: str, name: str = "Mira") -> None:
    before = await house.library.persona(MIRA)
    after = await house.library.save_persona(before.model_copy(update={"first_messages": list(greetings), "name": name}))
    await house.chronicle.greet_anew(before, after)


async def test_where_nobody_answered_yet_a_persona_written_anew_greets_anew(house: AppServices):
    session = await house.sessions.new(MIRA)
    news: list[Reshaped] = []
    house.chronicle.reshaped.add(news.append)

    await rewritten(house, "You are late, {{user}}.", name="Mirabel")

    (greeting,) = await house.sessions.page(session.guid, 0, 9)
    assert (greeting.speaker_name, greeting.content) == ("Mirabel", "You are late, Tomas.")
    assert [one.sessions for one in news] == [(session.guid,)]
    assert await Chats(house._database).deleted_messages(session.guid) == []
    await rewritten(house)
    assert await said(house, session) == []
    await rewritten(house, "Again, then.")
    assert await said(house, session) == ["Again, then."]


async def test_a_greeting_that_was_answered_or_changed_by_hand_stays(house: AppServices):
    answered = await house.sessions.new(MIRA)
    await spoke(house, answered, "Good evening.", before_now(days=0))
    before = await said(house, answered)
    await rewritten(house, "You are late.")
    assert await said(house, answered) == before

    untouched = await house.sessions.new(MIRA)
    await house.chat.edit((await house.sessions.outline(untouched.guid))[0].id, "My own words.")
    await rewritten(house, "Once more.")
    assert await said(house, untouched) == ["My own words."]
