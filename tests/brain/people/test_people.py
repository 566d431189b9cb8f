"""People and pets are known by name, from message to message, and what is told of them is not the speaker's own."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from lethe_app.brain.fact_rules.extractor import extract_statements
from lethe_app.brain.fact_rules.statements import SpeakerStatement
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

TIME = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)


def stated(*messages: str) -> list[SpeakerStatement]:
    """What Orla says, message by message; “P: ” begins a line of the persona."""
    lines = [
        Utterance(uuid4(), Role.ASSISTANT, "Nora", text.removeprefix("P: "), TIME)
        if text.startswith("P: ")
        else Utterance(uuid4(), Role.USER, "Orla", text, TIME)
        for text in messages
    ]
    return extract_statements(lines)


def texts(*messages: str) -> list[str]:
    return [one.text for one in stated(*messages)]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("niamh did, thats my daughter", "Orla's daughter is called Niamh."),
        ("marek, my husband, is polish", "Orla's husband is called Marek."),
        ("petra my eldest lives in bremen", "Orla's eldest child is called Petra."),
        ("carmen is my boss", "Orla's boss is called Carmen."),
        ("me mam bridie is 80", "Orla's mother is called Bridie."),
        ("my bestie tamsin cut my hair", "Orla's best friend is called Tamsin."),
        ("my landlady mrs okafor is kind", "Orla's landlady is called Mrs Okafor."),
        ("mrs byrne next door bangs on the wall", "Orla's neighbour is called Mrs Byrne."),
        ("only hamlet, our whippet", "Orla's dog is a whippet called Hamlet."),
        ("a brother cormac in perth", "Orla's brother is called Cormac."),
        ("best friend. tilda, we met at school", "Orla's best friend is called Tilda."),
        ("i cook since pavel died. my husband.", "Orla's husband is called Pavel."),
        ("brothers: tomas, jack", "Orla's brothers are called Tomas and Jack."),
        ("our cats miso and tofu", "Orla's cats are called Miso and Tofu."),
        ("we're getting a beagle, gonna call her Peggy", "Orla's dog is a beagle called Peggy."),
        ("did a cake for my friend lena's 40th last week", "Orla's friend Lena turned 40."),
    ],
)
def test_names_tell_whose_they_are(said: str, known: str):
    assert known in texts(said)


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
        (("petra, thats the daughter. shes a physio",), "Orla's daughter Petra is a physio."),
        (("my sister tamsin", "shes a cop in dallas"), "Orla's sister Tamsin is a cop in dallas."),
        (("petra, thats my daughter", "petra was born on halloween"), "Orla's daughter Petra was born on halloween."),
        (("petra, my daughter", "she lives in douglas with her fella ivan"), "Orla's daughter Petra's partner is called Ivan."),
        (("a brother cormac in perth, works in construction",), "Orla's brother Cormac works in construction."),
        (("two kids, levi 9 and mina just turned 6",), "Orla's child Levi is 9."),
        (("two kids, levi 9 and mina just turned 6", "hes all about basketball"), "Orla's child Levi is 9."),
        (("i cook since pavel died. my husband. two years ago, cancer",), "Orla's husband Pavel died in 2024 of cancer."),
        (("boss is 23. called jayden",), "Orla's boss is called Jayden."),
        (
            ("my sister tamsin is great. shes marrying a guy called omar hes an accountant",),
            "Orla's sister Tamsin's partner Omar is an accountant.",
        ),
        (("my nan taught me to knit", "P: What was her name?", "Zofia. she died in may"), "Orla's nan is called Zofia."),
    ],
)  # fmt: skip
def test_what_is_told_of_them_is_kept_with_their_name(messages: tuple[str, ...], known: str):
    assert known in texts(*messages)


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
    keys = [one.key for one in stated("my son lukas lives here", "my other son emil is 12") if " called " in one.text]
    assert len(keys) == 2
    assert len(set(keys)) == 2


def test_the_work_of_somebody_named_has_their_name_as_its_key():
    reported = {one.text: one.key for one in stated("my sister tamsin works in construction")}
    assert reported["Orla's sister Tamsin works in construction."] == "tamsin job"


@pytest.mark.parametrize(
    "said",
    ["whats our dog called again", "what is my brother studying?", "the number 6 bus is basically my wife at this point"],
)
def test_questions_and_comparisons_introduce_nobody(said: str):
    assert texts(said) == []


def test_the_pet_that_is_known_loses_its_old_name():
    said = ("we're getting a puppy, gonna call her Pixel", "ok so Pixel is out, the pup is called Dolma now")

    old, new = (one for one in stated(*said) if " called " in one.text)

    assert (old.text, new.text) == ("Orla's puppy is called Pixel.", "Orla's puppy is called Dolma.")
    assert old.key == new.key
