"""A clock that was wrong once: nothing learnt later is outdated, nothing stays the newest, and nothing is erased by age."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.clock import TRUST_DAYS, ClockHistory, is_later, now, order_times, use_clock
from lethe_app.domain.facts import ExtractedFact
from lethe_app.storage.backup import BackupKind, backup_path, list_backups, rotate
from tests.services.past_sessions import hold
from tests.services.turns import MIRA, add_memory, say

YEARS = timedelta(days=5 * 365)
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


async def conversation_at(services: AppServices, lines: list[tuple[str, datetime]]) -> ChatSession:
    """A conversation in which the user said these lines by a clock that showed these times."""
    session = None
    for text, moment in lines:
        session = await hold(services, (Role.USER, text), session=session, at=moment, persona=MIRA)
    assert session is not None
    return session


def test_a_time_after_now_is_later_than_none():
    with use_clock(lambda: NOON):
        assert is_later(NOON, NOON - timedelta(days=1))
        assert not is_later(NOON + YEARS, NOON - timedelta(days=1))


def test_the_order_of_messages_decides_about_their_times():
    hour = timedelta(hours=1)
    with use_clock(lambda: NOON):
        assert order_times([NOON - hour, NOON + YEARS, NOON - hour]) == [NOON - hour, NOON, NOON]
        assert order_times([NOON - hour, NOON - YEARS]) == [NOON - hour, NOON - hour]


def test_after_a_leap_the_clock_is_trusted_again_after_days_of_use():
    history = ClockHistory(NOON).follow(NOON + timedelta(days=20))
    assert not history.days_left
    for leap in (YEARS, -YEARS):
        leapt = history.follow(history.last + leap)
        assert leapt.days_left == TRUST_DAYS
        assert leapt.follow(leapt.last + timedelta(hours=1)).days_left == TRUST_DAYS
        for _ in range(TRUST_DAYS):
            leapt = leapt.follow(leapt.last + timedelta(days=1))
        assert not leapt.days_left


@pytest.mark.parametrize("ahead", [YEARS, timedelta(days=40)])
async def test_a_fact_learnt_later_replaces_one_that_a_wrong_clock_dated_ahead(services: AppServices, ahead: timedelta):
    with use_clock(lambda: NOON + ahead):
        await services.facts.learn(MIRA, [ExtractedFact(fact="Tomas lives in Porto.", key="home")])
    with use_clock(lambda: NOON):
        await services.facts.learn(MIRA, [ExtractedFact(fact="Tomas lives in Braga.", key="home")])
        facts = {fact.fact: fact.superseded for fact in await services.facts.facts_of(MIRA)}

    assert facts == {"Tomas lives in Porto.": True, "Tomas lives in Braga.": False}


async def test_three_lines_below_in_the_same_conversation_the_later_line_holds(services: AppServices):
    texts = [("I live in Porto.", NOON + YEARS), ("I like it here.", NOON + YEARS), ("I live in Braga now.", NOON)]
    with use_clock(lambda: NOON + timedelta(minutes=1)):
        session = await conversation_at(services, texts)
        await services.archive_queue.archive_session(session.guid, at_once=True)
        facts = {fact.fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded}

    assert any("Braga" in fact for fact in facts)
    assert not any("Porto" in fact for fact in facts)


async def test_a_conversation_dated_ahead_does_not_stay_the_newest(services: AppServices):
    with use_clock(lambda: NOON + YEARS):
        ahead = await conversation_at(services, [("Is it late?", NOON + YEARS)])
    with use_clock(lambda: NOON):
        newer = await conversation_at(services, [("Good morning, Mira, how are you?", NOON)])
        listed = [summary.guid for summary in await services.sessions.list(MIRA)]
        kept = (await services.sessions.page(ahead.guid, 0, 1))[0].time
    with use_clock(lambda: NOON + timedelta(hours=12)):
        ended = await services.session_timeout.find_ended_session(MIRA)

    assert listed[:2] == [newer.guid, ahead.guid]
    assert kept == NOON + YEARS
    assert ended == newer.guid


@pytest.mark.parametrize("leap", [YEARS, timedelta(days=40)])
async def test_a_leap_ahead_erases_neither_the_trash_nor_old_conversations(services: AppServices, leap: timedelta):
    await services.preferences.set(trash_days=10, retention_days=20)
    with use_clock(lambda: NOON):
        deleted = await conversation_at(services, [("One.", NOON)])
        kept = await conversation_at(services, [("Two.", NOON)])
        await services.sessions.delete(deleted.guid)
        await services.trash.purge_expired()
    with use_clock(lambda: NOON + leap):
        await conversation_at(services, [("Written before anything is erased.", now())])
        for _ in range(3):
            await services.trash.purge_expired()
            await services.retention.delete_unwanted()
        listed = {summary.guid for summary in await services.sessions.list(MIRA)}
        in_trash = [item.id for item in await services.trash.list_items()]
    for day in range(1, TRUST_DAYS + 1):
        with use_clock(lambda day=day: NOON + leap + timedelta(days=day)):
            await services.trash.purge_expired()

    assert kept.guid in listed
    assert in_trash == [str(deleted.guid)]
    assert await services.trash.list_items() == []


@pytest.mark.parametrize("leap", [YEARS, timedelta(days=40)])
async def test_a_leap_ahead_ends_no_memory_of_which_the_time_would_be_over(
    services: AppServices, says: Callable[..., object], leap: timedelta
):
    await says(*["Aye."] * 9)
    with use_clock(lambda: NOON):
        await services.trash.purge_expired()
        await add_memory(services, "Tomas sails in May.", made_by="journal", end_time=NOON + timedelta(days=3))
        await say(services, await services.sessions.new(MIRA), "Good morning.")
    for minutes in (1, 2):
        with use_clock(lambda minutes=minutes: NOON + leap + timedelta(minutes=minutes)):
            session = await services.sessions.new(MIRA)
            for text in ("Good morning.", "How are you?"):
                await say(services, session, text)
            await services.trash.purge_expired()
    assert "Tomas sails in May." in [memory.content for memory in await services.memory.memories(MIRA)]
    with use_clock(lambda: NOON + timedelta(days=4)):
        for text in ("Good morning.", "How are you?"):
            await say(services, session, text)
    assert "Tomas sails in May." in [memory.content for memory in await services.memory.memories(MIRA)]


def test_backups_of_a_time_to_come_and_of_the_past_never_push_each_other_out(tmp_path):
    for moment in (NOON, NOON + YEARS):
        for day in range(3):
            backup_path(tmp_path, moment - timedelta(days=day), BackupKind.DAILY).write_bytes(b"")

    with use_clock(lambda: NOON):
        rotate(tmp_path, BackupKind.DAILY, 2)

    assert len(list_backups(tmp_path)) == 4
