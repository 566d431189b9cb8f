"""A conversation archived with the answers of a scripted 8B model, from its lines to what is known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from tests.services.past_sessions import answers, archive, hold, stated, trusted

MONDAY = datetime(2026, 11, 23, 20, tzinfo=UTC)
EVENING = (
    "so i finally quit the agency, i'm a baker now, in a tiny shop in Leith",
    "*She laughs and pours you a coffee.* I was a baker in Bergen once, for three years.",
    "ha! my sister Ines moved to Porto last month, her dog is called Bolota",
    "Dogs are the best.",
    "I might get one myself. And I fly to Lisbon on 14 December, can't wait",
    "I will miss you terribly.",
)
GOOD = (
    stated(1, "i'm a baker now, in a tiny shop in Leith", "Tomas works as a baker in a small shop in Leith.", kind="work"),
    stated(
        3, "my sister Ines moved to Porto last month", "Tomas's sister Ines moved to Porto last month.",
        about="Tomas's sister Ines", kind="people",
    ),
    stated(5, "I fly to Lisbon on 14 December", "Tomas is flying to Lisbon on 14 December 2026.", kind="plan"),
    stated(5, "I might get one myself", "Tomas is thinking about getting a dog.", kind="plan"),
)  # fmt: skip
BAD = (
    stated(2, "I was a baker in Bergen once, for three years", "Tomas was a baker in Bergen for three years.", kind="work"),
    stated(3, "her dog is called Bolota", "Tomas's dog is called Bolota.", kind="people"),
    stated(5, "I might get one myself", "Tomas has a dog.", kind="people"),
    stated(6, "I will miss you terribly", "Tomas will be missed in Lisbon.", kind="other"),
    stated(1, "i finally quit the agency", "Tomas " + "finally " * 40 + "quit the agency.", kind="work"),
)
ALREADY = {"is_said": True}
"""What the model says where it is asked about a fact."""


async def archived(services: AppServices, script: Path, lines: Sequence[str], *texts: object) -> dict[str, ExtractedFact]:
    """All that is known after a conversation was archived by a model that answers so."""
    session = await hold(services, *lines, at=MONDAY)
    await trusted(services, script, answers=answers(facts=list(texts)))
    await archive(services, session)
    return {fact.fact: fact for fact in await services.facts.facts_of("mira-test")}


async def test_true_facts_are_learnt_with_kind_and_date_and_false_ones_are_not(services: AppServices, script: Path):
    found = await archived(services, script, EVENING, {"facts": [*GOOD, *BAD[:4]]}, ALREADY)

    assert {text: fact.kind for text, fact in found.items()} == {
        "Tomas works as a baker in a small shop in Leith.": FactKind.WORK,
        "Tomas's sister Ines moved to Porto in October 2026.": FactKind.PEOPLE,
        "Tomas is flying to Lisbon on 14 December 2026.": FactKind.PLAN,
        "Tomas is thinking about getting a dog.": FactKind.PLAN,
    }
    assert {fact.made_by for fact in found.values()} == {MadeBy.MODEL}


async def test_one_fact_that_is_too_long_discards_no_other(services: AppServices, script: Path):
    found = await archived(services, script, EVENING, {"facts": [BAD[4], GOOD[0]]})

    assert list(found) == ["Tomas works as a baker in a small shop in Leith."]


@pytest.mark.parametrize("wanted", [False, True])
async def test_facts_about_the_persona_are_extracted_only_on_request(services: AppServices, script: Path, wanted: bool):
    await services.preferences.set(persona_facts=wanted)
    hers = stated(2, "I was a baker in Bergen once", "Mira was a baker in Bergen.", about="Mira", kind="work")

    found = await archived(services, script, EVENING, {"facts": [hers, GOOD[0]]})

    assert ("Mira was a baker in Bergen." in found) is wanted
    assert "Tomas works as a baker in a small shop in Leith." in found


async def test_a_fact_that_changes_a_known_one_takes_its_place_and_its_key(services: AppServices, script: Path):
    old = ExtractedFact(fact="Tomas lives in Leith.", kind=FactKind.HOME, key="home", first_seen=MONDAY, last_seen=MONDAY)
    await services.facts.learn("mira-test", [old])
    lines = ("We left Leith, I live in Graz these days.", "How is it?", "Hot!")
    moved = stated(1, "I live in Graz these days", "Tomas lives in Graz.", kind="home", changes=1)

    found = await archived(services, script, lines, {"facts": [moved]})

    assert (found["Tomas lives in Graz."].key, found["Tomas lives in Graz."].kind) == ("home", FactKind.HOME)


async def test_the_key_of_what_rules_read_in_the_same_message_is_kept(services: AppServices, script: Path):
    lines = ("I live in Graz with my wife.", "How is it?", "Hot!")
    home = stated(1, "I live in Graz with my wife", "Tomas lives in Graz with his wife.", kind="home")

    found = await archived(services, script, lines, {"facts": [home]})

    assert found["Tomas lives in Graz with his wife."].key == "home"


async def test_what_is_said_in_character_is_a_fact_of_its_story(services: AppServices, script: Path):
    lines = ("*kneels, for I am the last king of Ulm* By the way, I keep bees.", "Rise.", "Thanks.")
    king = stated(1, "I am the last king of Ulm", "Tomas is the last king of Ulm.", kind="identity")
    bees = stated(1, "I keep bees", "Tomas keeps bees.", kind="work")

    found = await archived(services, script, lines, {"facts": [king, bees]})

    assert {text: fact.in_story for text, fact in found.items()} == {
        "Tomas is the last king of Ulm.": True,
        "Tomas keeps bees.": False,
    }


@pytest.mark.parametrize(
    ("line", "quote", "fact"),
    [
        ("Ich arbeite als Bäckerin in Graz.", "Ich arbeite als Bäckerin in Graz", "Tomas arbeitet als Bäckerin in Graz."),
        ("Je suis allergique aux noix.", "Je suis allergique aux noix", "Tomas est allergique aux noix."),
        ("Me gustaría aprender el violín.", "Me gustaría aprender el violín", "A Tomas le gustaría aprender el violín."),
        ("大阪で看護師をしています。", "大阪で看護師をしています", "Tomasは大阪で看護師として働いている。"),
    ],
)
async def test_a_conversation_in_another_language_is_learnt_from_in_that_language(
    services: AppServices, script: Path, line: str, quote: str, fact: str
):
    assert list(await archived(services, script, (line, "!", line[:3]), {"facts": [stated(1, quote, fact)]})) == [fact]
