"""Archiving goes on after whatever ended it, says honestly who made what, and leaves the user's own words alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import LlmFactExtraction
from lethe_app.services.sessions.archive_parts import ORDER, SessionArchiver, SessionFacts
from lethe_app.services.sessions.archive_queue import ArchiveProgress, ArchiveQueue
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from tests.services.past_sessions import (
    NUTS,
    again,
    answers,
    archive,
    archived_parts,
    copy_home,
    hold,
    load_script,
    open_parts,
    opened,
    qualify,
    stated,
    trusted,
)

NONSENSE = ["certainly!"] * 3
LONG = {"paragraphs": ["The lamps on the piers were out once more.", "The watchman told of it, night after night."]}


async def test_what_rules_can_make_is_there_at_once(services: AppServices):
    session = await hold(services, *NUTS)

    assert await services.archive_queue.archive_session(session.guid)

    found, parts = await services.sessions.open(session.guid), await services.archive_queue.parts(session.guid)
    facts = {fact.fact for fact in await services.facts.facts_of("mira-test")}
    assert found.archived
    assert found.name
    assert "peanuts" in found.content
    assert found.keywords_main
    assert not found.is_roleplay
    assert 1 <= found.relevance <= 5
    assert "Tomas is allergic to peanuts." in facts
    assert {(record.state, record.made_by) for record in parts.values()} == {(PartState.DONE, MadeBy.RULES)}
    assert set(parts) == set(SessionPart)


@pytest.mark.parametrize("lines", [(), ("Hello.",), ("Hello.", "Hello, Tomas.")])
async def test_a_conversation_of_two_messages_is_neither_summed_up_nor_lost(services: AppServices, lines: tuple[str, ...]):
    session = await hold(services, *lines)

    assert not await services.archive_queue.archive_session(session.guid)
    assert not await services.archive_queue.update(session.guid)

    found = await services.sessions.open(session.guid)
    assert not found.archived
    assert not found.content
    assert await services.archive_queue.parts(session.guid) == {}
    assert len(await services.sessions.outline(session.guid)) == len(lines)


async def test_a_trusted_model_makes_every_part_and_progress_is_told(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers())
    seen: list[ArchiveProgress] = []
    services.archive_queue.changed.add(seen.append)

    await archive(services, session)

    found, parts = await services.sessions.open(session.guid), await services.archive_queue.parts(session.guid)
    assert (found.name, found.relevance) == ("Peanuts and Porto", 4)
    assert found.content.startswith("Tomas told Mira of his allergy")
    assert {(record.state, record.made_by, record.maker) for record in parts.values()} == {
        (PartState.DONE, MadeBy.MODEL, "good")
    }
    assert [(one.part, one.done, one.total) for one in seen[:2]] == [(SessionPart.SUMMARY, 0, 7), (SessionPart.TITLE, 1, 7)]
    assert services.archive_queue.progress == seen[-1] == ArchiveProgress()


async def test_facts_of_a_trusted_model_do_not_stand_beside_the_same_in_the_words_of_rules(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    carpenter = stated(5, "I work as a carpenter at the old shipyard", "Tomas is a carpenter at the shipyard.", kind="work")
    await trusted(services, script, answers=answers(facts={"facts": [carpenter]}))

    await archive(services, session)

    assert [fact.fact for fact in await services.facts.facts_of("mira-test")] == ["Tomas is a carpenter at the shipyard."]


@pytest.mark.parametrize("part", [SessionPart.SUMMARY, SessionPart.TITLE, SessionPart.FACTS])
async def test_a_part_the_model_cannot_make_stands_as_rules_made_it_and_says_so(
    services: AppServices, script: Path, part: SessionPart
):
    session = await hold(services, *NUTS)
    await services.archive_queue.archive_session(session.guid)
    by_rules = await archived_parts(services, session)
    await trusted(services, script, answers=answers(**{part.value: NONSENSE}))

    await again(services)

    parts = await services.archive_queue.parts(session.guid)
    assert (parts[part].state, parts[part].made_by, parts[part].maker) == (PartState.FAILED, MadeBy.RULES, "")
    assert parts[part].trouble.startswith("good: ")
    assert all(record.made_by is MadeBy.MODEL for other, record in parts.items() if other is not part)
    found = await services.sessions.open(session.guid)
    texts = by_rules["texts"]
    assert isinstance(texts, tuple)
    assert part is not SessionPart.TITLE or found.name == texts[0]
    assert part is not SessionPart.SUMMARY or found.content == texts[1]


async def test_a_model_that_fails_at_facts_leaves_them_to_rules(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers(facts=NONSENSE))

    await services.archive_queue.archive_session(session.guid)
    before = [fact.fact for fact in await services.facts.facts_of("mira-test")]
    await services.archive_queue.finish()

    assert before == []
    assert "Tomas is allergic to peanuts." in {fact.fact for fact in await services.facts.facts_of("mira-test")}


async def test_what_a_model_failed_at_is_tried_by_another_but_not_by_it_again(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers(title=NONSENSE))
    await archive(services, session)

    assert await ArchiveJobs(services.database).requeue_parts(list(SessionPart), "good") == 0
    await trusted(services, script, name="better", answers=answers([SessionPart.TITLE]))
    await again(services)

    title = (await services.archive_queue.parts(session.guid))[SessionPart.TITLE]
    assert (title.state, title.made_by, title.maker, title.trouble) == (PartState.DONE, MadeBy.MODEL, "better", "")
    assert (await services.sessions.open(session.guid)).name == "Peanuts and Porto"


async def test_a_part_at_which_the_model_always_dies_does_not_hold_up_the_others(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await services.archive_queue.archive_session(session.guid)
    by_rules = (await services.sessions.open(session.guid)).content
    await trusted(services, script, answers=answers(), crash_after=3)
    await ArchiveJobs(services.database).requeue_parts(list(SessionPart), "good")
    states = []
    for _start in range(3):
        await services.archive_queue.finish()
        states.append((await services.archive_queue.parts(session.guid))[SessionPart.SUMMARY].state)
        await trusted(services, script, answers=answers(), crash_after=3)

    await trusted(services, script, name="other", answers=answers(ORDER[1:]))
    await services.archive_queue.finish()

    parts = await services.archive_queue.parts(session.guid)
    assert states == [PartState.PENDING, PartState.PENDING, PartState.FAILED]
    assert parts.pop(SessionPart.SUMMARY).made_by is MadeBy.RULES
    assert (await services.sessions.open(session.guid)).content == by_rules
    assert {record.maker for record in parts.values()} == {"other"}


async def test_what_a_model_made_stands_when_only_rules_could_make_it_again(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers())
    await archive(services, session)
    before = await archived_parts(services, session)
    await services.models.unload()

    await services.archive_queue.update(session.guid)
    await services.archive_queue.finish()

    after = await archived_parts(services, session)
    assert (after["texts"], after["facts"]) == (before["texts"], before["facts"])
    assert {made_by for _state, made_by in after["parts"].values()} == {MadeBy.MODEL}  # type: ignore[attr-defined]


async def test_a_conversation_that_went_on_is_told_anew_even_if_only_rules_can(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers())
    await archive(services, session)
    await services.models.unload()
    session = await services.sessions.ensure_open(await services.sessions.open(session.guid))
    await hold(services, "I keep bees on the roof of my house.", "Bees! Tell me more.", session=session)

    await services.archive_queue.archive_session(session.guid)

    found = await services.sessions.open(session.guid)
    facts = [fact.fact for fact in await services.facts.facts_of("mira-test")]
    assert found.archived
    assert "bees" in found.content
    assert (await services.archive_queue.parts(session.guid))[SessionPart.SUMMARY].made_by is MadeBy.RULES
    assert any("bees" in fact for fact in facts)
    assert sum("allergic" in fact for fact in facts) == 1


async def test_the_users_words_are_never_overwritten(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await services.archive_queue.archive_session(session.guid)
    await services.archive_queue.write(session.guid, SessionPart.TITLE, "Mine")
    await services.archive_queue.write(session.guid, SessionPart.SUMMARY, "My own account.")
    await trusted(services, script, answers=answers([part for part in SessionPart if part.value not in {"title", "summary"}]))

    await again(services)
    await services.archive_queue.update(session.guid)
    await services.archive_queue.finish()
    session = await services.sessions.ensure_open(await services.sessions.open(session.guid))
    await archive(services, session)

    found, parts = await services.sessions.open(session.guid), await services.archive_queue.parts(session.guid)
    assert (found.name, found.content) == ("Mine", "My own account.")
    assert parts[SessionPart.TITLE].made_by is parts[SessionPart.SUMMARY].made_by is MadeBy.USER


async def test_words_the_user_writes_while_the_model_is_at_it_stand(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers(), delay=0.02)
    await services.archive_queue.archive_session(session.guid)
    at_title = asyncio.Event()
    services.archive_queue.changed.add(lambda one: at_title.set() if one.part is SessionPart.TITLE else None)
    working = asyncio.create_task(services.archive_queue.finish())
    await at_title.wait()

    await services.archive_queue.write(session.guid, SessionPart.TITLE, "Mine")
    await working

    assert (await services.sessions.open(session.guid)).name == "Mine"
    assert (await services.archive_queue.parts(session.guid))[SessionPart.TITLE].made_by is MadeBy.USER


async def test_what_was_said_while_the_model_was_at_it_is_read_too(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    second = {"paragraphs": ["Tomas told Mira of his bees on the roof, and of much else besides."]}
    await trusted(
        services, script, answers=answers(summary=[*answers([SessionPart.SUMMARY]), *answers()[1:], second]), delay=0.02
    )
    await services.archive_queue.archive_session(session.guid)
    at_summary = asyncio.Event()
    services.archive_queue.changed.add(lambda one: at_summary.set() if one.part is SessionPart.SUMMARY else None)
    working = asyncio.create_task(services.archive_queue.finish())
    await at_summary.wait()

    session = await services.sessions.ensure_open(await services.sessions.open(session.guid))
    await hold(services, "I keep bees on the roof of my house.", session=session)
    await services.archive_queue.archive_session(session.guid)
    await working

    assert (await services.sessions.open(session.guid)).content == second["paragraphs"][0]
    assert await open_parts(services, session) == set()


async def test_keywords_of_the_users_own_bring_a_conversation_up(services: AppServices):
    session = await hold(services, *NUTS)
    await services.archive_queue.archive_session(session.guid)
    before = (await services.sessions.open(session.guid)).enabled

    await services.archive_queue.write(session.guid, SessionPart.KEYWORDS, ["satay"])

    found = await services.sessions.open(session.guid)
    assert (before, found.enabled, found.keywords_main) == (False, True, ["satay"])


async def test_deleting_a_conversation_in_the_middle_leaves_the_others_to_be_done(services: AppServices, script: Path):
    older = await hold(services, *NUTS)
    newer = await hold(services, *NUTS)
    await trusted(services, script, answers=[*answers()[:1], *answers()], delay=0.02)
    for session in (older, newer):
        await services.archive_queue.archive_session(session.guid)
    under_way = asyncio.Event()
    services.archive_queue.changed.add(lambda one: under_way.set() if one.session == newer.guid else None)
    working = asyncio.create_task(services.archive_queue.finish())
    await under_way.wait()

    await services.sessions.delete(newer.guid)
    await working

    assert await open_parts(services, older) == set()
    assert (await services.archive_queue.parts(older.guid))[SessionPart.SUMMARY].made_by is MadeBy.MODEL
    await services.sessions.restore(newer.guid)
    assert await open_parts(services, newer)


async def test_without_facts_wanted_none_are_learnt(services: AppServices):
    await services.preferences.set(fact_retrieval=False)
    session = await hold(services, *NUTS)

    await services.archive_queue.archive_session(session.guid)

    assert await services.facts.facts_of("mira-test") == []


async def test_any_conversation_can_be_told_anew_the_present_one_too(services: AppServices):
    session = await hold(services, *NUTS)

    assert await services.archive_queue.update(session.guid)

    found = await services.sessions.open(session.guid)
    assert not found.archived
    assert found.content
    assert found.name
    facts = await services.facts.facts_of("mira-test")
    await services.archive_queue.archive_session(session.guid)
    assert await services.facts.facts_of("mira-test") == facts


async def copies_of_every_moment(services: AppServices, folder: Path) -> list[Path]:
    """From now on the home is copied after every change of the database."""
    database, copies = services.database, []
    run = database.run
    state = {"changes": -1}

    async def watched(work):  # type: ignore[no-untyped-def]
        result = await run(work)
        changes = await run(lambda connection: connection.total_changes)
        if changes != state["changes"]:
            state["changes"] = changes
            copies.append(await copy_home(services, folder / str(len(copies))))
        return result

    database.run = watched  # type: ignore[method-assign]
    return copies


async def test_killed_at_any_moment_rules_finish_it_exactly_once(services: AppServices, tmp_path: Path):
    earlier = await hold(services, *NUTS[:4])
    await services.archive_queue.archive_session(earlier.guid)
    session = await hold(services, *NUTS)
    copies = await copies_of_every_moment(services, tmp_path / "moments")

    await archive(services, session)

    whole = await archived_parts(services, session)
    begun = 0
    for copy in copies[:: max(1, len(copies) // 12)]:
        async with opened(copy) as after:
            if not (await after.sessions.open(session.guid)).archived:
                continue
            begun += 1
            await after.archive_queue.finish()
            assert await archived_parts(after, session) == whole
    assert begun >= 5


async def test_killed_at_any_moment_the_model_finishes_it_exactly_once(services: AppServices, script: Path, tmp_path: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers())
    copies = await copies_of_every_moment(services, tmp_path / "moments")

    await archive(services, session)

    whole, left = await archived_parts(services, session), set()
    for number, copy in enumerate(copies[:: max(1, len(copies) // 14)]):
        async with opened(copy) as after:
            if not (await after.sessions.open(session.guid)).archived:
                continue
            still = await open_parts(after, session)
            left.add(len(still))
            await trusted(after, script, name="good", answers=answers(list(still)))
            await after.archive_queue.finish()
            assert await archived_parts(after, session) == whole, number
    assert len(left) >= 4


async def test_many_open_conversations_do_not_keep_the_user_waiting_for_more_than_one(services: AppServices):
    sessions = [await hold(services, *NUTS) for _number in range(5)]

    await services.sessions.new("mira-test")

    contents = [bool((await services.sessions.open(session.guid)).content) for session in sessions]
    assert all([(await services.sessions.open(session.guid)).archived for session in sessions])
    assert sum(contents) == 1
    await services.archive_queue.finish()
    assert all([(await services.sessions.open(session.guid)).content for session in sessions])
    assert all(fact.reference_count == 5 for fact in await services.facts.facts_of("mira-test"))


def queue_of(services: AppServices, check: Callable[[], Awaitable[object]]) -> ArchiveQueue:
    """A queue of the same house in which a model has to be checked, though it is scripted."""
    core, archive_jobs = services, ArchiveJobs(services.database)
    extraction = ConversationExtraction(core.structured_output)
    session_facts = SessionFacts(archive_jobs, core.facts, LlmFactExtraction(core.structured_output), core.preferences)
    archiver = SessionArchiver(core.session_store, core.facts, session_facts, extraction, core.qualification, core.cache_state)
    run_recorded = core.archive_budget.run_recorded
    queue_services = (core.indexing, core.priority, core.sessions_changed)
    return ArchiveQueue(core.session_store, archive_jobs, archiver, *queue_services, check, run_recorded)


async def test_in_the_background_a_model_that_turns_out_to_be_good_does_again_what_rules_made(
    services: AppServices, script: Path
):
    session = await hold(services, *NUTS)
    await services.archive_queue.archive_session(session.guid)
    await load_script(services, script, answers=answers())

    async def check() -> None:
        qualify(services)

    queue = queue_of(services, check)
    under_way, done = asyncio.Event(), asyncio.Event()
    queue.changed.add(lambda one: done.set() if one == ArchiveProgress() else under_way.set())
    queue.background.start()
    await asyncio.wait_for(under_way.wait(), 120)
    done.clear()
    await asyncio.wait_for(done.wait(), 120)
    await queue.background.close()

    parts = await services.archive_queue.parts(session.guid)
    assert {record.made_by for record in parts.values()} == {MadeBy.MODEL}


async def test_while_the_user_waits_for_an_answer_nothing_is_begun(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers())
    await services.archive_queue.archive_session(session.guid)
    with services.priority.block_background():
        working = asyncio.create_task(services.archive_queue.finish())
        for _moment in range(20):
            await asyncio.sleep(0.01)
        waiting = await open_parts(services, session)
    await working

    assert waiting == set(SessionPart)
    assert await open_parts(services, session) == set()


async def test_a_model_that_goes_away_leaves_the_rest_to_rules(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers())
    await services.archive_queue.archive_session(session.guid)
    await services.models.unload()

    await services.archive_queue.finish()

    parts = await services.archive_queue.parts(session.guid)
    assert {(record.state, record.made_by) for record in parts.values()} == {(PartState.DONE, MadeBy.RULES)}
    assert await services.facts.facts_of("mira-test")
