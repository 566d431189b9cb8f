"""Names of participants at the beginning of a line: whose they are, in every usual spelling, however the text is cut."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.persona import Persona
from lethe_app.prompt.speaker_labels import LabelFilter, label_of, labels_by_name, split_names

VERONICA = Persona(name="Captain Veronica Hale", nickname="Vee")
ANN, BO = Persona(name="Ann Miller", is_user=True, nickname="Nan"), Persona(name="Bo")
NAMES = ("Mira", "安娜"), ("Ann", "Zoë", "李雷", "Łukasz Nowak", "~Star~")


def passed(*pieces: str, before: str = "", names: tuple[Sequence[str], Sequence[str]] = NAMES) -> tuple[str, bool]:
    """What is left of the reply, and whether somebody else was given the word."""
    reply = LabelFilter(*names, before)
    shown = "".join(map(reply.feed, pieces)) + reply.feed("", is_end=True)
    assert reply.feed("", is_end=True) == ""
    return shown, reply.has_ended


def cuts(text: str) -> list[list[str]]:
    return [[text], list(text), *([text[:place], text[place:]] for place in range(1, len(text)))]


@pytest.mark.parametrize(
    "label",
    [
        "Ann:", "**Ann:**", "**Ann**:", "*Ann:*", "***Ann:***", "__Ann__:", "Ann：", "Ann :", "ANN:", "ann:", "  Ann:",
        "### Ann:", "[Ann]:", "**[Ann]:**", "<Ann>:", "【李雷】：", "李雷：", "李雷「", "ZOË:", "Zoë\u00a0:", "łukasz nowak:",
        "~Star~:", "Ann (laughing):", "Ann *nods*:", "**Ann** (softly):", "`Ann`:", "*Ann: waves*",
    ],
)  # fmt: skip
def test_a_reply_ends_where_the_user_is_given_the_word(label: str):
    for place in ("Good night.\n", "Good night.\r\n\n", "Good night. \n\n\n"):
        for pieces in cuts(f"{place}{label} And you?"):
            shown, has_ended = passed(*pieces)

            assert (shown.rstrip(), has_ended) == ("Good night.", True), pieces
    for pieces in cuts(f"{label} I go home."):
        assert passed(*pieces) == ("", True), pieces


@pytest.mark.parametrize(
    "text",
    [
        "Hello.\nAnn, come here: now!", "Hello.\nAnnabel: no", "Hello. Ann: no", "Hello.\n- Ann: wine\n- Mira: bread",
        "Hello.\nAnn", "Hello.\nAnn :) you came", "Hello.\nAnn :D", "*Ann nods* and: she goes.", "Hello.\n“Ann: I am here.”",
        "Hello.\n> Ann: hi", "Hello.\n李雷说：好", "Hello.\n1. Ann: wine", "Hello.\n**Annex:** closed", "Hello.\nAnn (my love",
        "Zo: no", "Hello.  \n\n",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_label_is_said(text: str):
    for pieces in cuts(text):
        assert passed(*pieces) == (text, False), pieces


@pytest.mark.parametrize(
    "label", ["Mira:", "**Mira:**", "**Mira**:", "*Mira*:", "MIRA :", "Mira：", "[Mira]:", "## Mira:\n", "安娜：", "\n Mira:"]
)
def test_ones_own_label_is_left_out_once_at_the_beginning(label: str):
    for pieces in cuts(f"{label} **Good** night.\nMira: bye."):
        assert passed(*pieces) == ("**Good** night.\nMira: bye.", False), pieces


def test_emphasis_and_stage_directions_behind_ones_own_label_are_kept():
    for text, said in {
        "Mira:*smiles*": "*smiles*",
        "*Mira: smiles*": "*Mira: smiles*",
        "Mira (softly): no": "Mira (softly): no",
        "Mira「いいえ」": "「いいえ」",
    }.items():
        for pieces in cuts(text):
            assert passed(*pieces) == (said, False), pieces


def test_a_continuation_has_no_label_of_its_own_and_ends_at_others():
    assert passed("Mira: x", before="I said\n") == ("Mira: x", False)
    assert passed("Ann: x", before="I said\n") == ("", True)
    assert passed("Ann: x", before="I said to ") == ("Ann: x", False)


@given(st.lists(st.sampled_from(["Mira", "Ann", ":", "：", "*", "\n", " ", "(", ")", "a", "#", "[", "]", "「"]), max_size=12))
def test_it_does_not_matter_how_a_reply_is_cut(pieces: list[str]):
    assert passed(*pieces) == passed("".join(pieces)) == passed(*"".join(pieces))


def test_without_names_everything_passes():
    assert passed("Ann: ", "hi\n", names=((), ())) == ("Ann: hi\n", False)


# Whose name it is


def test_a_participant_has_one_label():
    assert label_of(VERONICA, (VERONICA, BO)) == "Vee"
    assert label_of(ANN, (VERONICA, ANN)) == "Ann Miller"  # as {{user}}
    of_the_user, of_the_persona = (
        dict.fromkeys(("nan", "ann miller"), "Ann Miller"),
        {"vee": "Vee", "captain veronica hale": "Vee"},
    )
    assert labels_by_name((VERONICA, ANN)) == of_the_user | of_the_persona


def test_two_with_one_nickname_are_told_apart_by_their_names():
    first, second = Persona(unique_name="a", name="Mira"), Persona(unique_name="b", name="Mira 2", nickname="Mira")

    assert (label_of(first, (first, second)), label_of(second, (first, second))) == ("Mira", "Mira 2")
    assert labels_by_name((second, first)) == {"mira": "Mira", "mira 2": "Mira 2"}
    own, others = split_names(second, first)
    assert (set(own), others) == ({"Mira 2"}, ["Mira"])
    assert split_names(first, second)[1] == ["Mira 2"]


def test_each_side_has_all_its_names():
    own, others = split_names(VERONICA, ANN, BO)

    assert list(dict.fromkeys(own)) == ["Vee", "Captain Veronica Hale", "Captain"]
    assert others == ["Nan", "Ann Miller", "Ann", "Bo"]


def test_the_users_name_ends_a_reply_of_a_namesake():
    assert split_names(Persona(name="Alex"), Persona(name="Alex", is_user=True)) == (["Alex"], ["Alex"])
