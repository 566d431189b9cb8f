"""What requests to forget withdraw when a conversation is read: the line before, the line itself, or what says the same."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from lethe_app.brain.reading.dialogue_acts import drop_withdrawn
from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.text.withdrawn import digests_of, remove_withdrawn
from lethe_app.domain.chat import Role
from lethe_app.domain.clock import now

WORK = "I work as a carpenter."
LEARNT_WORK = "Ben works as a carpenter."


def talk(*texts: str) -> list[Utterance]:
    """A conversation between Ben and Mira, whose lines begin with her name."""
    moment = now()
    return [
        Utterance(
            uuid4(),
            Role.ASSISTANT if text.startswith("Mira: ") else Role.USER,
            "Mira" if text.startswith("Mira: ") else "Ben",
            text.removeprefix("Mira: "),
            moment + timedelta(minutes=index),
        )
        for index, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("texts", "learnt"),
    [
        ((WORK, "Mira: Nice.", "Forget that I live in Kraków."), [LEARNT_WORK]),
        ((WORK, "I live in Kraków.", "Mira: You live in Kraków!", "Forget that I live in Kraków."), [LEARNT_WORK]),
        ((WORK, "Forget that movie, let's talk about something else."), [LEARNT_WORK]),
        ((WORK, "Ignore that if you are busy."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "No, please forget that."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "Please forget what I told you about being pregnant."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "Delete that from your memory."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant. This stays off the record."), [LEARNT_WORK]),
        ((WORK, "Off the record, I'm pregnant."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "That was off the record."), [LEARNT_WORK]),
        (("I live in Kraków and work as a carpenter.", "Forget that I live in Kraków."), [LEARNT_WORK]),
        (("I live in Kraków.", "Forget that I live in Kraków, I moved to Gdańsk."), ["Ben moved to Gdańsk."]),
        (("I'm 34.", "Mira: Nice.", "Forget that, I'm 35."), ["Ben is 35."]),
        ((WORK, "*she forgets that I live in Kraków* Hello."), [LEARNT_WORK]),
        ((WORK, 'My boss said "forget that".'), [LEARNT_WORK]),
        ((WORK, "Mira: Forget that."), [LEARNT_WORK]),
        ((WORK, "Vergiss, dass ich in Krakau wohne."), [LEARNT_WORK]),
        ((WORK, "Vergiss das."), []),
        ((WORK, "Forget everything about my job."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "I shouldn't have said that. Forget it, please."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "Sorry, that slipped out! Please forget that."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant. I should never have told you that. Forget that."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "Oh no, that was a mistake, please delete it."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "Don't write that down."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "Please keep no record of this."), [LEARNT_WORK]),
        ((WORK, "Between us, and don't save this: I'm pregnant."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant, but please forget that."), [LEARNT_WORK]),
        ((WORK, "I'm pregnant.", "Mira: Oh!", "What I told you about being pregnant, forget it."), [LEARNT_WORK]),
        ((WORK, "Ich bin schwanger.", "Mira: Oh!", "Das hätte ich nicht sagen sollen. Vergiss das bitte."), [LEARNT_WORK]),
        ((WORK, "Forget my cat."), [LEARNT_WORK]),
        ((WORK, "Please forget Lena."), [LEARNT_WORK]),
    ],
)
def test_a_request_withdraws_what_it_means_and_is_never_learnt(texts: tuple[str, ...], learnt: list[str]):
    lines = talk(*texts)
    assert [statement.text for statement in extract_statements(lines)] == learnt
    assert [statement.text for statement in extract_statements(drop_withdrawn(lines))] == learnt


def test_what_is_withdrawn_is_in_no_line_that_is_read_on():
    lines = talk(
        "I live in Kraków and work as a carpenter.", "Mira: You live in Kraków! And wood?", "Forget that I live in Kraków."
    )
    assert [line.text for line in drop_withdrawn(lines)] == ["I work as a carpenter.", "And wood?"]


@pytest.mark.parametrize("request_text", ["Keep that off the record.", "That was off the record.", "Please forget that."])
def test_what_was_answered_to_it_is_withdrawn_with_the_line_before(request_text: str):
    lines = talk(WORK, "Mira: Wood smells good.", "I am pregnant.", "Mira: You are pregnant? How are you?", request_text)
    assert [line.text for line in drop_withdrawn(lines)] == [WORK, "Wood smells good.", "How are you?"]


def test_a_sentence_is_recognised_by_its_digest_and_the_rest_is_kept_as_written():
    text = "Hi!\n\nI'm *pregnant*. My sister is Ana."
    digests = digests_of(text, ["I'm *pregnant*."])
    assert remove_withdrawn(text, digests) == "Hi! My sister is Ana."
    assert remove_withdrawn("Something else.", digests) == "Something else."
    assert remove_withdrawn(text, digests_of(text, ["no sentence of it"])) == ""
