"""Two evenings archived by rules, one after the other: what changed between them is known as it is now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lethe_app.composition.app_services import AppServices
from tests.services.past_sessions import archive, hold

FIRST = datetime(2026, 11, 2, 20, tzinfo=UTC)
SECOND = datetime(2026, 11, 5, 20, tzinfo=UTC)
PLANS = (
    "hi! guess what, my driving test is on the 13th",
    "Exciting! Are you nervous?",
    "a bit. my brother is called Ben by the way, he taught me",
    "Lucky you.",
    "and we're going to Rome with the choir in december",
    "How lovely.",
    "I live in Porto, the choir rehearses on tuesdays in the old chapel",
    "I would love to hear it.",
)
CHANGED = (
    "ugh. my driving test is on the 20th now, it got pushed from the 13th",
    "Oh no.",
    "at least Ben is happy, he works in construction and has the week off",
    "Good for him.",
    "and with the choir we're going to Athens in december instead of Rome",
    "Also lovely.",
    "oh and i moved to Lisbon on monday",
    "Goodness!",
)


MOVED, DENIED = "I have moved to York.", "I don't live in Leeds any more."
NEW_BOAT = "My sister has sold the Heron. Her boat is called Petrel now."


async def archive_lines(services: AppServices, *lines: str, at: datetime) -> None:
    session = await hold(services, *lines, at=at)
    await archive(services, session)


async def known(services: AppServices) -> tuple[set[str], set[str]]:
    """The facts that hold, and those that something later replaced."""
    facts = await services.facts.facts_of("mira-test")
    return {fact.fact for fact in facts if not fact.superseded}, {fact.fact for fact in facts if fact.superseded}


async def test_plans_that_changed_are_known_as_they_are_now(services: AppServices):
    await archive_lines(services, *PLANS, at=FIRST)
    await archive_lines(services, *CHANGED, at=SECOND)

    held, outdated = await known(services)

    assert outdated == {
        "Tomas's driving test is on 13 November 2026.",
        "Tomas is going to Rome with the choir in December 2026.",
        "Tomas lives in Porto.",
    }
    assert held == {
        "Tomas's driving test is on 20 November 2026 now, it got pushed from the 13th.",
        "Tomas said: “with the choir we're going to Athens in december instead of Rome” (December 2026)",
        "Tomas moved to Lisbon on 2 November 2026.",
        "Tomas's brother is called Ben.",
        "Tomas's brother Ben taught Tomas.",
        "Tomas said: “at least Ben is happy, he works in construction and has the week off”",
    }


async def test_what_is_only_told_again_replaces_nothing(services: AppServices):
    await archive_lines(services, *PLANS, at=FIRST)
    before, _nothing = await known(services)
    await archive_lines(services, *PLANS, at=SECOND.replace(month=11, day=4))

    assert await known(services) == (before, set())


async def test_what_is_told_first_but_archived_later_does_not_replace_what_holds_now(services: AppServices):
    await archive_lines(services, *CHANGED, at=SECOND)
    await archive_lines(services, *PLANS, at=FIRST)

    held, _outdated = await known(services)
    assert "Tomas moved to Lisbon on 2 November 2026." in held
    assert "Tomas lives in Porto." not in held


@pytest.mark.parametrize(
    "lines", [(f"{MOVED} {DENIED}",), (f"{DENIED} {MOVED}",), (MOVED, "Oh.", DENIED), (DENIED, "Oh.", MOVED)]
)
async def test_what_somebody_denies_is_outdated_and_what_they_say_instead_is_not(services: AppServices, lines: tuple[str, ...]):
    await archive_lines(services, "I live in Leeds, near the canal.", "Ah.", at=FIRST)
    await archive_lines(services, *lines, "I see.", at=SECOND)

    held, outdated = await known(services)

    assert outdated == {"Tomas lives in Leeds, near the canal."}
    assert "Tomas has moved to York." in held


@pytest.mark.parametrize(
    ("told", "ended", "then"),
    [
        ("My sister Ines sails a boat called the Heron.", "Tomas's sister Ines sails a boat called the Heron.", NEW_BOAT),
        ("My sister Ines sails a boat called the Heron.", "Tomas's sister Ines sails a boat called the Heron.",
         "My sister's boat is called Petrel now."),
        ("I have a dog called Rex.", "Tomas has a dog called Rex.", "I have a cat called Misha. I don't have Rex any more."),
        ("My son goes to Hill School.", "Tomas's son goes to Hill School.",
         "My son goes to Park School now. He doesn't go to Hill School any more."),
    ],
)  # fmt: skip
async def test_what_somebody_has_no_more_is_outdated(services: AppServices, told: str, ended: str, then: str):
    await archive_lines(services, told, "Ah.", at=FIRST)
    await archive_lines(services, then, "I see.", at=SECOND)

    assert (await known(services))[1] == {ended}
