"""Worlds made ready once, and made ready anew only when something changed; the worlds that ship with Lethe."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from pydantic import ValidationError

from lethe_app.brain.lore.compiled import CACHE_SIZE, LoreIndex, LoreIndexCache
from lethe_app.domain.chat import Role
from lethe_app.domain.worldinfo import World
from lethe_app.paths import shipped_root
from tests.brain.scenes import entry, evaluate_worlds, names, reasons, turn, world


def naming(char: str) -> Callable[[str], str]:
    return lambda text: text.replace("{{char}}", char).replace("{{user}}", "Tomas")


def test_a_macro_for_which_there_is_nothing_is_a_condition_that_is_never_met():
    lore = LoreIndex([world(entry("self", "{{char}}", keywords_secondary=["x"], word_link="not"))], naming(""))

    assert names(evaluate_worlds(lore=lore, said="anything")) == []


def test_the_same_worlds_are_made_ready_once():
    extraction = LoreIndexCache()
    book = world(entry("king"), entry("self", "{{char}}"))

    first = extraction.get_compiled([book], naming("Mira"))

    assert extraction.get_compiled([book], naming("Mira")) is first
    assert extraction.get_compiled([book.model_copy(deep=True)], naming("Mira")) is first


@pytest.mark.parametrize(
    "again",
    [
        lambda book: ([book, world(name="more")], "Mira"),
        lambda book: ([book.model_copy(update={"scan_depth": 9})], "Mira"),
        lambda book: ([world(*book.entries, entry("queen"))], "Mira"),
        lambda book: ([book], "Ada"),
    ],
    ids=["another world", "an edited world", "an edited entry", "another name"],
)
def test_changed_worlds_or_names_are_made_ready_anew(again: Callable[[World], tuple[list[World], str]]):
    extraction = LoreIndexCache()
    book = world(entry("king"), entry("self", "{{char}}"))
    first = extraction.get_compiled([book], naming("Mira"))

    worlds, char = again(book)

    assert extraction.get_compiled(worlds, naming(char)) is not first


def test_a_few_conversations_can_take_turns():
    extraction = LoreIndexCache()
    books = [world(entry(str(number)), name=str(number)) for number in range(CACHE_SIZE + 1)]
    made = [extraction.get_compiled([book]) for book in books]

    assert extraction.get_compiled([books[1]]) is made[1]
    assert extraction.get_compiled([books[0]]) is not made[0]


def test_no_worlds_are_no_lore():
    evaluation = evaluate_worlds(said="the king")

    assert (evaluation.activated, evaluation.blocked, evaluation.tokens) == ([], [], 0)


# --- files ----------------------------------------------------------------------------------------------------------------


def test_a_world_written_before_there_were_these_fields_still_reads():
    old = '{"name": "old", "entries": [{"name": "king", "content": "x", "keywords_main": ["king"]}]}'

    (king,) = World.model_validate_json(old).entries

    assert (king.whole_word, king.scan_depth, king.cooldown, king.groups, king.role) == (True, None, 0, [], Role.SYSTEM)


def test_an_entry_written_by_hand_has_the_same_identity_at_every_reading_and_is_active():
    text = json.dumps({"name": "mine", "entries": [{"name": name, "keywords_main": ["king"]} for name in ("a", "b", "a")]})

    first, second = World.model_validate_json(text), World.model_validate_json(text)

    assert [each.guid for each in first.entries] == [each.guid for each in second.entries]
    assert first.entries[0].guid != first.entries[1].guid
    assert names(evaluate_worlds(first, said="king", at=turn(1)))


def test_a_world_that_is_none_is_refused_with_the_field_that_is_wrong():
    for wrong in (
        '{"name": "x", "entries": 3}',
        '{"name": "x", "entries": [3]}',
        "[]",
        '{"name": "x", "entries": [{"nme": ""}]}',
    ):
        with pytest.raises(ValidationError):
            World.model_validate_json(wrong)


def test_a_world_survives_its_file():
    book = world(entry("king", role="assistant", groups=["a"], do_embeds=False), recursive=True, token_budget=9)

    assert World.model_validate_json(book.model_dump_json()) == book


# --- the worlds that ship -------------------------------------------------------------------------------------------------

SEA, QUARR = "nineteen-day-sea", "quarr"
SHIPPED = {
    path.stem: World.model_validate_json(path.read_bytes()) for path in sorted((shipped_root() / "worldinfo").glob("*.json"))
}


@pytest.mark.parametrize("stem", SHIPPED)
def test_nothing_is_wrong_with_the_keywords_of_a_shipped_world(stem: str):
    assert LoreIndex([SHIPPED[stem]]).keyword_matcher.problems == {}


@pytest.mark.parametrize("stem", SHIPPED)
def test_every_shipped_entry_can_activate(stem: str):
    book = SHIPPED[stem].model_copy(
        update={"entries": [each.model_copy(update={"trigger_chance": 1}) for each in SHIPPED[stem].entries]}
    )
    for each in book.entries:
        words = [*each.keywords_main[:1], *(each.keywords_secondary[:1] if each.word_link == "and" else [])]
        assert each.name in names(evaluate_worlds(book, said=" – ".join(words))), each.name


@pytest.mark.parametrize(
    ("stem", "line", "expected", "unexpected"),
    [
        (SEA, "When does the tide turn? I can hear the Greyback already.", {"The Return"}, {"The Petrel"}),
        (SEA, "*She dries her hands on a dry rag.* “Not yet.”", set(), {"The Dry", "The Return"}),
        (SEA, "We walked out at the Dry, along a drowned road.", {"The Dry", "The drowned roads"}, set()),
        (SEA, "“Where is your brother?” I ask.", {"Ruan"}, set()),
        (SEA, "Wick! You’re the ship’s boy, aren’t you?", {"Wick, the deckhand"}, set()),
        (SEA, "Your tide tables are eleven minutes wrong.", {"Eleven minutes", "The Tide Office"}, set()),
        (SEA, "I was wrong about you.", set(), {"Eleven minutes"}),
        (SEA, "How much do they pay for candlefish, in coins?", {"Leads and tide bills"}, set()),
        (SEA, "Pay attention, and mind the coins.", set(), {"Leads and tide bills"}),
        (
            SEA,
            "The customs cutter Vigilant is standing off the Needle.",
            {"Commander Strand and the Vigilant", "The Needle"},
            set(),
        ),
        (QUARR, "I went to the Weigh‑House to ask about Augusta Lisle.", {"The Weigh-House", "Augusta Lisle"}, set()),
        (QUARR, "I watch the stairs.", set(), {"The Stair Watch"}),
        (QUARR, "Call the Watch!", {"The Stair Watch"}, set()),
        (QUARR, "Send it by the tube, before noon.", {"The Tube", "The noon shot"}, set()),
        (QUARR, "He put it in a test tube.", set(), {"The Tube"}),
        (QUARR, "At twelve o’clock the glasses trembled.", {"The noon shot"}, set()),
        (QUARR, "Mrs. Tull wants the rent.", {"Mrs. Tull"}, set()),
        (QUARR, "There was a chalk mark on the money.", set(), {"Marks and grains"}),
        (QUARR, "The baker signed for the loaf last winter.", {"The bread winter"}, set()),
        (QUARR, "I would like a loaf, please.", set(), {"The bread winter"}),
    ],
)
def test_a_believable_line_activates_what_it_speaks_of(stem: str, line: str, expected: set[str], unexpected: set[str]):
    woken = set(names(evaluate_worlds(SHIPPED[stem], said=line)))

    assert expected <= woken
    assert not unexpected & woken


def test_what_was_held_back_in_a_shipped_world_says_why():
    evaluation = evaluate_worlds(SHIPPED[QUARR], said="There was a chalk mark on the money.")

    assert reasons(evaluation) == {"Marks and grains": "secondary"}


@pytest.mark.parametrize("stem", SHIPPED)
def test_what_is_constant_in_a_shipped_world_is_there_in_silence(stem: str):
    assert [activated.cause for activated in evaluate_worlds(SHIPPED[stem], said="Hello.").activated] == ["constant"]
