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


def test_a_sentence_is_recognised_by_its_digest_and_the_rest_is_kept_as_written():
    text = "Hi!\n\nI'm *pregnant*. My sister is Ana."
    digests = digests_of(text, ["I'm *pregnant*."])
    assert remove_withdrawn(text, digests) == "Hi! My sister is Ana."
    assert remove_withdrawn("Something else.", digests) == "Something else."
    assert remove_withdrawn(text, digests_of(text, ["no sentence of it"])) == ""
