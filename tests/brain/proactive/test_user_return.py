"""The note that greets the user after an absence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.proactive.user_return import (
    ReturnNote,
    UserAbsence,
    UserReturnInsert,
    add_note,
    build_return_note,
    mark_announced,
    remove_notes,
)
from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.persona import Persona, Weekday
from lethe_app.domain.recall import ReasonKind
from tests.brain.memories import memory, quick

BERLIN = ZoneInfo("Europe/Berlin")
EVENING = datetime(2026, 11, 21, 21, 4, tzinfo=BERLIN)
MARA = Persona(name="Mara", sense_of_time=True)
FORGETFUL = Persona(name="Mara")
RULES = Settings()


def greeting(last: datetime | None, moment: datetime = EVENING, persona: Persona = MARA, **more: object) -> ReturnNote | None:
    return build_return_note(UserAbsence(last, moment, persona, "Tom", **more), RULES)  # type: ignore[arg-type]


def text(note: ReturnNote | None) -> str:
    return note.text


def ago(hours: float) -> datetime:
    return (EVENING.astimezone(UTC) - timedelta(hours=hours)).astimezone(BERLIN)


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        (4, "It is 09:04 PM. Tom last wrote about 4 hours ago."),
        (6.1, "It is Saturday, November 21st, 2026, 09:04 PM. Tom last wrote about 6 hours ago."),
        (23.9, "It is Saturday, November 21st, 2026, 09:04 PM. Tom last wrote about 24 hours ago."),
        (24, "It is Saturday, November 21st, 2026, 09:04 PM. Tom last wrote yesterday."),
        (44, "It is Saturday, November 21st, 2026, 09:04 PM. Tom last wrote yesterday."),
        (47, "It is Saturday, November 21st, 2026, 09:04 PM. Tom last wrote 2 days ago."),
        (24 * 30, "It is Saturday, November 21st, 2026, 09:04 PM. Tom last wrote 30 days ago."),
    ],
)
def test_time_is_told_in_hours_and_then_in_days(hours: float, expected: str):
    assert text(greeting(ago(hours))) == expected


def test_a_short_absence_over_midnight_names_the_new_day():
    note = greeting(datetime(2026, 11, 20, 22, 0, tzinfo=BERLIN), datetime(2026, 11, 21, 2, 30, tzinfo=BERLIN))

    assert text(note) == "It is Saturday, November 21st, 2026, 02:30 AM. Tom last wrote about 4 hours ago."


@pytest.mark.parametrize(
    ("last", "now", "expected"),
    [
        (datetime(2026, 3, 28, 23, 0, tzinfo=BERLIN), datetime(2026, 3, 29, 4, 30, tzinfo=BERLIN), "about 4 hours ago"),
        (
            datetime(2026, 10, 24, 23, 0, tzinfo=BERLIN),
            datetime(2026, 10, 25, 2, 59, tzinfo=BERLIN, fold=1),
            "about 5 hours ago",
        ),
    ],
    ids=["spring", "autumn"],
)
def test_hours_are_true_hours_when_the_clock_is_changed(last: datetime, now: datetime, expected: str):
    assert expected in text(greeting(last, now))


def test_summer_time_changing_overnight_does_not_move_the_day_before():
    late = datetime(2026, 10, 24, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    after = datetime(2026, 10, 25, 20, 0, tzinfo=timezone(timedelta(hours=1)))

    assert "yesterday" in text(greeting(late, after))


def test_a_journey_back_over_the_date_line_speaks_of_hours():
    tokyo, hawaii = ZoneInfo("Asia/Tokyo"), ZoneInfo("Pacific/Honolulu")
    note = greeting(datetime(2026, 5, 2, 8, 0, tzinfo=tokyo), datetime(2026, 5, 1, 20, 0, tzinfo=hawaii))

    assert text(note) == "It is Friday, May 1st, 2026, 08:00 PM. Tom last wrote about 7 hours ago."


def test_a_day_lived_twice_on_a_journey_is_not_yesterday():
    tokyo, hawaii = ZoneInfo("Asia/Tokyo"), ZoneInfo("Pacific/Honolulu")
    note = greeting(datetime(2026, 5, 2, 8, 0, tzinfo=tokyo), datetime(2026, 5, 2, 14, 0, tzinfo=hawaii))

    assert "about 25 hours ago" in text(note)


def test_the_first_day_there_is_can_be_left_behind():
    first = datetime.min.replace(tzinfo=UTC)
    note = greeting(first, datetime(1, 1, 3, tzinfo=timezone(-timedelta(hours=9))))

    assert "2 days ago" in text(note)


def test_a_time_kept_in_utc_is_read_by_the_users_clock():
    tokyo = ZoneInfo("Asia/Tokyo")
    note = greeting(datetime(2026, 5, 1, 16, 0, tzinfo=UTC), datetime(2026, 5, 3, 9, 0, tzinfo=tokyo))

    assert "yesterday" in text(note)  # it was one o'clock at night on the 2nd


@pytest.mark.parametrize(
    ("last", "more"),
    [
        (None, {}),
        (ago(3.9), {}),
        (ago(-5), {}),
        (ago(9), {"previous_is_system": True}),
        (ago(9), {"is_latest_session": False}),
        (ago(9), {"persona": FORGETFUL}),
        (ago(9), {"persona": FORGETFUL.model_copy(update={"schedule": {Weekday.SATURDAY: "a swim"}})}),
        (ago(9), {"persona": MARA.model_copy(update={"disable_bot_guidance": True})}),
    ],
    ids=["never", "short", "future", "said", "old session", "no sense of time", "schedule alone", "no guidance"],
)
def test_where_there_was_no_absence_or_nothing_to_say_nothing_is_said(last: datetime | None, more: dict[str, object]):
    assert greeting(last, **more) is None  # type: ignore[arg-type]


def test_todays_schedule_is_told_with_its_introduction():
    plan = {Weekday.SATURDAY: "a swim with {{user}}", Weekday.SUNDAY: "rest"}
    own = MARA.model_copy(update={"schedule": plan, "schedule_prefix": "Mara means to do today:"})

    assert text(greeting(ago(9), persona=own)).endswith("\nMara means to do today: a swim with {{user}}")
    assert text(greeting(ago(9), persona=MARA.model_copy(update={"schedule": plan}))).endswith(
        "\nPlans for today: a swim with {{user}}"
    )


def test_mood_is_told_where_it_is_minded():
    moody = FORGETFUL.model_copy(update={"mood": True})

    assert text(greeting(ago(9), persona=moody, mood="Mara feels rested.")) == "Mara feels rested."
    assert greeting(ago(9), persona=FORGETFUL, mood="Mara feels rested.") is None


def test_what_waited_is_told_oldest_first_and_named_as_used():
    older = UserReturnInsert(info="Mara read about fog.", added=ago(8))
    newer = UserReturnInsert(info="Mara wrote\nin her journal.", added=ago(5))
    due = memory("birthday", insertion=MemoryInsertion.USER_RETURN, content="It is {{user}}'s birthday.", added=ago(2))
    early = memory("later", insertion=MemoryInsertion.USER_RETURN, added=ago(-2))
    other = memory("other")

    note = greeting(ago(9), persona=FORGETFUL, notes=[newer, older], memories=[early, other, due])

    assert text(note) == "Mara read about fog.\nMara wrote in her journal.\nIt is {{user}}'s birthday."
    assert note.used == (older.id, newer.id, due.guid)
    assert [(reason.kind, reason.value) for reason in note.because] == [
        (ReasonKind.AWAY, 9),
        (ReasonKind.NOTES_WAITED, 2),
        (ReasonKind.MEMORIES_WAITED, 1),
    ]


def test_what_waited_is_told_in_an_older_session_too():
    note = greeting(ago(9), is_latest_session=False, notes=[UserReturnInsert(info="Mara read about fog.")], mood="Happy.")

    assert text(note) == "Mara read about fog."


def test_a_memory_that_was_told_is_never_told_again():
    after = mark_announced(memory("any", insertion=MemoryInsertion.USER_RETURN), EVENING)

    assert (after.insertion, after.trigger_count, after.last_trigger) == (MemoryInsertion.NONE, 1, EVENING)


def test_a_note_replaces_the_one_of_the_same_task():
    first, second = UserReturnInsert(uid="journal", info="one page"), UserReturnInsert(uid="journal", info="two pages")
    free, other = UserReturnInsert(info="a thought"), UserReturnInsert(info="another thought")

    notes = add_note(add_note(add_note([first], free), other), second)

    assert [note.info for note in notes] == ["a thought", "another thought", "two pages"]


def test_notes_are_removed_by_their_own_ids():
    notes = [UserReturnInsert(info=str(number)) for number in range(3)]

    assert len({note.id for note in notes}) == 3
    assert [note.info for note in remove_notes(notes, {notes[1].id})] == ["0", "2"]
    assert UserReturnInsert.model_validate_json(notes[0].model_dump_json()) == notes[0]


zones = st.sampled_from(sorted(available_timezones())).map(ZoneInfo) | st.timedeltas(
    timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59)
).map(timezone)
any_moment = st.datetimes(timezones=zones, allow_imaginary=True)
near_moment = st.datetimes(datetime(2026, 3, 1), datetime(2026, 3, 31), timezones=zones)  # noqa: DTZ001 - hypothesis adds the zones


@quick
@given(any_moment | near_moment, any_moment | near_moment)
def test_no_two_moments_make_it_stumble_or_speak_of_negative_time(last: datetime, moment: datetime):
    note = greeting(last, moment)

    if note is not None:
        assert "-" not in note.text
        assert "last wrote" in note.text
        assert note.because[0].value >= 4
        assert greeting(moment, last) is None
