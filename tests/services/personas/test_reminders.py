"""Reminders by date: silent until their hour, told once on the desktop and once in the conversation; and the week's plans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.dates.future import parse_future_date
from lethe_app.domain.clock import now, use_clock
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.persona import Weekday
from lethe_app.errors import LetheError
from tests.services.turns import DAY, MIRA, Talk, change_persona

SETTINGS = {"recall_without_match": 0, "rotation_minutes": 0}

SUNDAY = datetime(2026, 11, 22, 14, tzinfo=UTC)


@contextmanager
def later(by: timedelta) -> Iterator[None]:
    moment = now() + by
    with use_clock(lambda: moment):
        yield


async def test_a_reminder_is_silent_until_its_day_and_then_comes_up_once(talk: Talk):
    await talk.say("Good evening.")
    memory = await talk.services.reminders.create_reminder(MIRA, "Call the vet.", (now() + 2 * DAY).astimezone().date())
    early = await talk.say("Anything on your mind?")

    with later(3 * DAY):
        back = await talk.say("I am back.")
        after = await talk.say("And now?")
        held = await talk.load_memory(memory)

    assert early.note is None
    assert "It is time for this reminder: Call the vet." in back.note.content
    assert after.note is None
    assert held.insertion is MemoryInsertion.NONE


async def test_one_that_becomes_due_while_the_user_is_there_comes_at_the_next_message(talk: Talk):
    await talk.say("Good evening.")
    await talk.services.reminders.create_reminder(MIRA, "Take the cake out.", now() + timedelta(minutes=20))
    with later(timedelta(minutes=10)):
        early = await talk.say("It smells good.")
    with later(timedelta(minutes=21)):
        due = await talk.say("Hm.")

    assert early.note is None
    assert due.note.content == "It is time for this reminder: Take the cake out."
    assert "Take the cake out." in await talk.prompt_of(due)


async def test_without_hidden_notes_no_reminder_comes_up(talk: Talk):
    await change_persona(talk.services, disable_bot_guidance=True)
    await talk.services.reminders.create_reminder(MIRA, "Take the cake out.", now() + timedelta(minutes=20))

    with later(timedelta(minutes=21)):
        assert (await talk.say("Hm.")).note is None


async def test_the_desktop_is_told_once_when_the_hour_comes(services: AppServices):
    reported: list[tuple[str, str]] = []
    services.reminders.due.add(lambda found: reported.extend((persona, memory.name) for persona, memory in found))
    await services.reminders.create_reminder(MIRA, "Take the cake out.", now() + timedelta(minutes=20))

    await services.reminders.notify_due()
    assert reported == []
    with later(timedelta(minutes=21)):
        await services.reminders.notify_due()
        await services.reminders.notify_due()

    assert reported == [(MIRA, "Take the cake out.")]


async def test_one_that_was_deleted_is_told_nowhere(talk: Talk):
    services = talk.services
    reported: list[object] = []
    services.reminders.due.add(reported.append)
    memory = await services.reminders.create_reminder(MIRA, "Take the cake out.", now() + timedelta(minutes=20))
    await services.memory.forget_memory(memory.guid)

    with later(timedelta(minutes=21)):
        await services.reminders.notify_due()
        assert (await talk.say("Hm.")).note is None

    assert reported == []
    assert await services.reminders.reminders_of(MIRA) == []


async def test_they_are_listed_the_next_one_first_until_they_were_told(services: AppServices):
    await services.reminders.create_reminder(MIRA, "Second.", now() + 2 * DAY)
    await services.reminders.create_reminder(MIRA, "First.", now() + DAY)
    await services.memory.memorize(MIRA, MemoryUnit(name="No reminder", category=MemoryType.GOAL), check=False)

    assert [one.content for one in await services.reminders.reminders_of(MIRA)] == ["First.", "Second."]


@pytest.mark.parametrize(
    ("text", "when"), [("  ", SUNDAY + 9000 * DAY), ("Late.", SUNDAY - 900 * DAY), ("Late.", date(2020, 1, 1))]
)
async def test_one_without_words_or_in_the_past_is_refused(services: AppServices, text: str, when: datetime | date):
    with pytest.raises(LetheError):
        await services.reminders.create_reminder(MIRA, text, when)


async def test_today_is_no_past_day(services: AppServices):
    memory = await services.reminders.create_reminder(MIRA, "Water the plants.", now().astimezone().date())

    assert memory.is_due(now())


@pytest.mark.parametrize(
    ("words", "day", "hour"),
    [
        ("tomorrow", date(2026, 11, 23), None),
        ("Tomorrow at 9", date(2026, 11, 23), 9),
        ("tonight", date(2026, 11, 22), 20),
        ("at 9", date(2026, 11, 23), 9),
        ("next friday", date(2026, 11, 27), None),
        ("Sunday", date(2026, 11, 29), None),
        ("fri 18:00", date(2026, 11, 27), 18),
        ("in two weeks", date(2026, 12, 6), None),
        ("in 3 days at noon", date(2026, 11, 25), 12),
        ("24.12.2026 18:30", date(2026, 12, 24), 18),
        ("2026-12-24", date(2026, 12, 24), None),
        ("December 24th at 6pm", date(2026, 12, 24), 18),
        ("1 jan", date(2027, 1, 1), None),
        ("29 feb", date(2028, 2, 29), None),
        ("in a month", date(2026, 12, 22), None),
        ("day after tomorrow", date(2026, 11, 24), None),
        ("in 45 minutes", date(2026, 11, 22), 14),
        ("2026-12-24T18:30", date(2026, 12, 24), 18),
        ("2026-12-24T18:30:00Z", date(2026, 12, 24), 18),
        ("in half an hour", date(2026, 11, 22), 14),
        ("in 2 hours and 30 minutes", date(2026, 11, 22), 16),
        ("in an hour and a half", date(2026, 11, 22), 15),
        ("in 1.5 hours", date(2026, 11, 22), 15),
        ("in a couple of days", date(2026, 11, 24), None),
        ("tomorrow at quarter to nine", date(2026, 11, 23), 8),
        ("9 o'clock", date(2026, 11, 23), 9),
        ("today at 6", date(2026, 11, 22), 18),
        ("tonight at 9", date(2026, 11, 22), 21),
        ("this evening at 8", date(2026, 11, 22), 20),
        ("tomorrow morning at 8", date(2026, 11, 23), 8),
    ],
)
def test_days_ahead_are_understood(words: str, day: date, hour: int | None):
    when = parse_future_date(words, SUNDAY)

    assert when.day == day
    assert (when.hour.hour if when.hour else None) == hour


@pytest.mark.parametrize("words", ["", "hello", "yesterday", "3 march 2020", "32 december", "25:99", "in 9999 years"])
def test_what_names_no_day_to_come_is_not_understood(words: str):
    assert parse_future_date(words, SUNDAY) is None


def test_hours_from_now_are_so_many_hours_whatever_the_clocks_do():
    before_winter = datetime(2026, 10, 24, 10, tzinfo=ZoneInfo("Europe/Berlin"))
    when = parse_future_date("in 24 hours", before_winter)

    assert isinstance(moment := when.to_datetime(), datetime)
    assert moment - before_winter.astimezone(UTC) == timedelta(hours=24)
    assert when.hour == time(9)


def test_a_moment_with_its_zone_is_that_moment():
    when = parse_future_date("2026-12-24T18:30+05:30", SUNDAY)

    assert when.to_datetime() == datetime(2026, 12, 24, 13, tzinfo=UTC)


def test_the_end_of_a_month_is_the_end_of_a_shorter_one():
    when = parse_future_date("in a month", datetime(2027, 1, 31, 8, tzinfo=UTC))

    assert when.day == date(2027, 2, 28)


async def test_a_day_of_the_week_is_planned_and_cleared(services: AppServices):
    before = await services.week.save_plan(MIRA, Weekday.MONDAY, "  Tides and charts. ")
    await services.week.save_plan(MIRA, Weekday.TUESDAY, "Market.")

    assert before == ""
    assert await services.week.load_plan(MIRA, Weekday.MONDAY) == "Tides and charts."
    assert await services.week.save_plan(MIRA, Weekday.MONDAY, "") == "Tides and charts."
    assert (await services.library.persona(MIRA)).schedule == {Weekday.TUESDAY: "Market."}
    assert list(await services.week.load_plans(MIRA)) == list(Weekday)


async def test_the_plan_of_the_day_is_told_at_a_return(talk: Talk):
    await change_persona(talk.services, sense_of_time=True)
    await talk.services.week.save_plan(MIRA, list(Weekday)[(now() + DAY).astimezone().weekday()], "Tides and charts.")
    await talk.say("Good night.")

    with later(DAY):
        outcome = await talk.say("Good morning.")

    assert "Plans for today: Tides and charts." in outcome.note.content


async def test_a_message_that_asks_for_a_reminder_sets_it_and_an_edit_replaces_it(talk: Talk):
    services = talk.services
    requested: list[MemoryUnit] = []
    services.reminders.requested.add(requested.append)
    asked = await talk.say("Remind me to call the vet in 2 days, please.")
    waiting = await services.reminders.reminders_of(MIRA)

    await services.message_editing.edit(asked.asked.id, "Remind me to call the vet in 3 days, please.")
    async for _event in services.chat.regenerate(talk.session.guid, asked.reply.id):
        pass
    replaced = await services.reminders.reminders_of(MIRA)

    assert [memory.content for memory in waiting] == ["Call the vet"]
    assert [memory.guid for memory in requested] == [waiting[0].guid, replaced[0].guid]
    assert [memory.added - waiting[0].added for memory in replaced] == [DAY]


async def test_what_is_asked_for_twice_is_set_once(talk: Talk):
    for request in ("Remind me to call the vet in 2 days, please.", "Remind me to call the vet in 2 days!"):
        await talk.say(request)
    await talk.say("Remind me to call the vet in 3 days.")

    assert [memory.content for memory in await talk.services.reminders.reminders_of(MIRA)] == ["Call the vet"] * 2


async def test_no_reminder_is_set_while_memory_is_off(talk: Talk):
    await talk.services.preferences.set(memory_enabled=False)
    await talk.say("Remind me to call the vet in 2 days, please.")

    assert await talk.services.reminders.reminders_of(MIRA) == []
