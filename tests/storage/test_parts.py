"""The work of archiving survives the end of the program, and never touches what the user wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lethe_app.domain.archive import PartRecord, PartState, SessionPart
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.facts import MadeBy
from lethe_app.storage.chats import Chats
from lethe_app.storage.database import Database
from lethe_app.storage.parts import Parts


@pytest.fixture
def parts(database: Database) -> Parts:
    return Parts(database)


async def test_a_session_that_is_archived_has_everything_before_it(parts: Parts, chats: Chats, session: ChatSession):
    await parts.begin(session.guid)
    assert (await chats.session(session.guid)).archived
    assert [record.part for record in await parts.pending()] == list(SessionPart)


async def test_what_is_done_stays_done_after_a_restart(parts: Parts, session: ChatSession, database: Database):
    await parts.begin(session.guid)
    done = PartRecord(session.guid, SessionPart.TITLE, PartState.DONE, MadeBy.MODEL, "small", 1)
    await parts.put(done)
    assert (await Parts(database).of(session.guid))[SessionPart.TITLE] == done
    assert SessionPart.TITLE not in {record.part for record in await parts.pending()}


async def test_what_the_user_wrote_is_not_made_again(parts: Parts, session: ChatSession):
    await parts.begin(session.guid)
    mine = PartRecord(session.guid, SessionPart.SUMMARY, PartState.DONE, MadeBy.USER)
    await parts.put(mine)
    await parts.begin(session.guid)
    await parts.put(replace(mine, made_by=MadeBy.MODEL, maker="eager"))
    assert (await parts.of(session.guid))[SessionPart.SUMMARY] == mine


async def test_only_what_rules_made_is_made_again_by_a_better_model(parts: Parts, session: ChatSession):
    await parts.begin(session.guid)
    makers = {SessionPart.TITLE: MadeBy.RULES, SessionPart.SUMMARY: MadeBy.MODEL, SessionPart.GOALS: MadeBy.USER}
    for part, maker in makers.items():
        await parts.put(PartRecord(session.guid, part, PartState.DONE, maker))
    for part in (SessionPart.KEYWORDS, SessionPart.RELEVANCE, SessionPart.ROLEPLAY, SessionPart.FACTS):
        await parts.put(PartRecord(session.guid, part, PartState.DONE, MadeBy.MODEL))
    assert await parts.redo(list(SessionPart)) == 1
    assert [record.part for record in await parts.pending()] == [SessionPart.TITLE]


async def test_nothing_is_done_for_a_session_in_the_trash(parts: Parts, chats: Chats, session: ChatSession):
    await parts.begin(session.guid)
    await chats.delete_session(session.guid)
    assert await parts.pending() == []
