"""People and pets are known by name, from message to message, and what is told of them is not the speaker's own."""

from __future__ import annotations

import re

import pytest

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.reading.statements import SpeakerStatement
from tests.brain.conversations import spoken


def stated(*messages: str) -> list[SpeakerStatement]:
    """What Orla says of herself."""
    return extract_statements(spoken(*messages, user="Orla"))


def texts(*messages: str) -> list[str]:
    return [one.text for one in stated(*messages)]


@pytest.mark.parametrize(
    "said",
    [
        "my sister says hello",
        "my dog hates rain",
        "my mother bound books",
        "brb my cat is screaming",
        "anyway, my wife. lovely.",
        "my oldest student is 91",
        "my friends think im mad and dumb",
        "the vet called back",
    ],
)
def test_everyday_words_are_not_taken_for_names(said: str):
    assert not [text for text in texts(said) if re.search(r" (?:is|was) called ", text)]


@pytest.mark.parametrize(
    ("messages", "known"),
    [
        (
            ("my sister tamsin and my aunt grete came. she is a nurse",),
            ["Orla said: “my sister tamsin and my aunt grete came. she is a nurse”"],
        ),
        (("petra, thats my daughter", "is she a nurse?"), []),
        (("petra, thats my daughter", "imagine petra was a nurse"), []),
        (
            ("petra, thats my daughter. some woman rang. shes a nurse",),
            ["Orla said: “petra, thats my daughter. some woman rang. shes a nurse”"],
        ),
    ],
)
def test_nothing_is_told_of_them_where_it_is_asked_imagined_or_anybodys(messages: tuple[str, ...], known: list[str]):
    assert [text for text in texts(*messages) if "nurse" in text] == known


def test_what_others_are_is_never_the_speakers_own():
    reported = texts("petra, thats my daughter. shes a physio", "she plays the harp")
    assert not [text for text in reported if text.startswith(("Orla is", "Orla plays"))]


def test_the_names_of_two_sons_stand_side_by_side():
    statements = stated("my son lukas lives here", "my other son emil is 12")
    keys = [one.key for one in statements if "Lukas" in one.text or "Emil" in one.text]
    assert len(keys) >= 2
    assert len(set(keys)) == len(keys)


def test_the_work_of_somebody_named_has_their_name_as_its_key():
    reported = {one.text: one.key for one in stated("my sister tamsin works in construction")}
    assert reported["Orla's sister Tamsin works in construction."] == "tamsin job"


@pytest.mark.parametrize("named", ["my puppy is called Pixel", "we have a puppy called Pixel"])
@pytest.mark.parametrize("renamed", ["my puppy is called Dolma now", "the puppy is called Dolma now"])
def test_a_pet_called_otherwise_now_loses_its_old_name(named: str, renamed: str):
    (old, new) = stated(named, renamed)

    assert "Pixel" in old.text
    assert new.text == "Orla's puppy is now called Dolma."
    assert old.key == new.key


def test_whose_boss_somebody_is_tells_the_name_of_the_boss():
    assert texts("carmen is my boss") == ["Orla's boss is called Carmen."]
    assert "Orla's sister Tamsin is Orla's boss." in texts("my sister tamsin", "tamsin is my boss")
