"""Archive jobs survive the end of the program and never overwrite what the user wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lethe_app.domain.chat import ChatSession, PartRecord, PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.errors import StorageError
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database


@pytest.fixture
def parts(database: Database) -> ArchiveJobs:
    return ArchiveJobs(database)


async def test_archiving_a_session_queues_every_part(parts: ArchiveJobs, chats: SessionStore, session: ChatSession):
    await parts.start_archive(session.guid)
    assert (await chats.session(session.guid)).archived
    assert {record.part for record in await parts.pending_parts()} == set(SessionPart)


async def test_a_part_written_by_the_user_is_not_made_again(parts: ArchiveJobs, session: ChatSession):
    await parts.start_archive(session.guid)
    mine = PartRecord(session.guid, SessionPart.SUMMARY, PartState.DONE, MadeBy.USER)
    await parts.save_value(mine)
    await parts.start_archive(session.guid)
    await parts.save_value(replace(mine, made_by=MadeBy.MODEL, maker="eager"))
    assert (await parts.parts_of(session.guid))[SessionPart.SUMMARY] == mine


async def test_a_better_model_makes_only_parts_by_rules_again(parts: ArchiveJobs, session: ChatSession):
    await parts.start_archive(session.guid)
    makers = {SessionPart.TITLE: MadeBy.RULES, SessionPart.SUMMARY: MadeBy.MODEL, SessionPart.GOALS: MadeBy.USER}
    for part, maker in makers.items():
        await parts.save_value(PartRecord(session.guid, part, PartState.DONE, maker))
    for part in (SessionPart.KEYWORDS, SessionPart.RELEVANCE, SessionPart.ROLEPLAY, SessionPart.FACTS):
        await parts.save_value(PartRecord(session.guid, part, PartState.DONE, MadeBy.MODEL))
    assert await parts.requeue_parts(list(SessionPart)) == 1
    assert [record.part for record in await parts.pending_parts()] == [SessionPart.TITLE]


async def test_a_session_in_the_trash_has_no_pending_parts(parts: ArchiveJobs, chats: SessionStore, session: ChatSession):
    await parts.start_archive(session.guid)
    await chats.delete_session(session.guid)
    assert await parts.pending_parts() == []


async def test_a_value_and_its_author_are_stored_together_or_not_at_all(
    parts: ArchiveJobs, chats: SessionStore, session: ChatSession
):
    await parts.start_archive(session.guid)
    before = (await parts.parts_of(session.guid))[SessionPart.SUMMARY]
    mine = replace(before, state=PartState.DONE, made_by=MadeBy.USER)
    late = replace(before, state=PartState.DONE, made_by=MadeBy.MODEL, maker="late")

    assert await parts.save_value(mine, None, content="Mine.")
    assert not await parts.save_value(late, before, content="The model's.")

    assert (await parts.parts_of(session.guid))[SessionPart.SUMMARY] == mine
    assert (await chats.session(session.guid)).content == "Mine."


async def test_a_value_changes_only_its_own_fields_of_memory_and_session(
    parts: ArchiveJobs, chats: SessionStore, session: ChatSession
):
    await parts.start_archive(session.guid)
    before = await chats.session(session.guid)
    record = (await parts.parts_of(session.guid))[SessionPart.GOALS]

    await parts.save_value(record, record, keywords_main=["tea"], future_goals=["To drink it."], relevance=4, is_roleplay=True)

    changed = {"keywords_main": ["tea"], "future_goals": ["To drink it."], "relevance": 4, "is_roleplay": True}
    assert await chats.session(session.guid) == before.model_copy(update=changed)


async def test_an_invalid_value_is_refused(parts: ArchiveJobs, chats: SessionStore, session: ChatSession):
    await parts.start_archive(session.guid)
    record = (await parts.parts_of(session.guid))[SessionPart.RELEVANCE]

    with pytest.raises(ValueError, match="relevance"):
        await parts.save_value(replace(record, state=PartState.DONE), record, relevance=9)

    assert (await parts.parts_of(session.guid))[SessionPart.RELEVANCE] == record


async def test_a_session_in_the_trash_can_neither_be_archived_nor_written(
    parts: ArchiveJobs, chats: SessionStore, session: ChatSession
):
    await parts.start_archive(session.guid)
    record = (await parts.parts_of(session.guid))[SessionPart.SUMMARY]
    await chats.delete_session(session.guid)

    for attempt in (parts.start_archive(session.guid), parts.save_value(record, record, content="Too late.")):
        with pytest.raises(StorageError):
            await attempt


@pytest.mark.parametrize(("went_on", "maker"), [(True, MadeBy.RULES), (False, MadeBy.MODEL)])
async def test_parts_by_a_model_count_as_by_rules_once_the_session_continues(
    parts: ArchiveJobs, chats: SessionStore, session: ChatSession, went_on: bool, maker: MadeBy
):
    await parts.start_archive(session.guid)
    await parts.save_value(PartRecord(session.guid, SessionPart.TITLE, PartState.DONE, MadeBy.MODEL, "small"))
    if went_on:
        await chats.change_session(session.guid, archived=False)

    await parts.start_archive(session.guid)

    title = (await parts.parts_of(session.guid))[SessionPart.TITLE]
    assert (title.state, title.made_by) == (PartState.PENDING, maker)


async def test_queuing_parts_does_not_archive_a_session(parts: ArchiveJobs, chats: SessionStore, session: ChatSession):
    await parts.start_archive(session.guid, archive=False)

    assert not (await chats.session(session.guid)).archived
    assert len(await parts.pending_parts()) == len(SessionPart)


async def test_a_model_is_not_asked_again_for_a_part_it_failed_at(parts: ArchiveJobs, session: ChatSession):
    await parts.start_archive(session.guid)
    for part in SessionPart:
        await parts.save_value(PartRecord(session.guid, part, PartState.DONE, MadeBy.MODEL, "small"))
    failed = PartRecord(session.guid, SessionPart.TITLE, PartState.FAILED, tries=2, trouble="small: It could not.")
    await parts.save_value(failed)

    assert await parts.requeue_parts(list(SessionPart), "small") == 0
    assert await parts.requeue_parts(list(SessionPart), "smaller") == 1
    assert await parts.pending_parts() == [replace(failed, state=PartState.PENDING, trouble="")]


async def test_the_newest_session_comes_first_with_its_parts_together(
    parts: ArchiveJobs, chats: SessionStore, session: ChatSession
):
    newer = await chats.add_session(ChatSession(persona_id="mara"))
    for each in (session, newer):
        await parts.start_archive(each.guid)

    pending = await parts.pending_parts()

    assert [record.session_id for record in pending] == [newer.guid] * len(SessionPart) + [session.guid] * len(SessionPart)
