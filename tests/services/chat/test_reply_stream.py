"""A reply in pieces: whatever the cuts, the name is taken off, thinking is told apart, and nothing said is lost."""

from __future__ import annotations

import pytest

from lethe_app.domain.chat import Alternative
from lethe_app.domain.prompt import Prompt, Receipt
from lethe_app.services.chat.generation import ReplyParser
from lethe_app.services.events import ReplyText, ThinkingText

NOTHING = Alternative(model="echo")


def a_reply(before: Alternative = NOTHING, **prompt: object) -> ReplyParser:
    receipt = Receipt(shares=(), prompt_tokens=0, context=1000, reply_reserve=100, template_source="model")
    names = (("Vee", "Mira"), ("Ann",))
    return ReplyParser(Prompt(text="", receipt=receipt, names=names, **prompt), "Mira", before)  # type: ignore[arg-type]


def hear(reply: ReplyParser, pieces: list[str]) -> tuple[str, str]:
    """All that was said and thought, as told in events."""
    events = [event for piece in pieces for event in reply.feed(piece)] + reply.finish()
    said = "".join(event.text for event in events if isinstance(event, ReplyText))
    return said, "".join(event.text for event in events if isinstance(event, ThinkingText))


def cuts(text: str) -> list[list[str]]:
    """Whole, letter by letter, and in two at every place."""
    return [[text], list(text), *([text[:place], text[place:]] for place in range(1, len(text)))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Mira: Good night.", "Good night."),
        ("\n\n Mira:Good night.", "Good night."),
        ("Miranda: Good night.", "Miranda: Good night."),
        ("Mira", "Mira"),
        ("Mira said: no.", "Mira said: no."),
        ("Good night. Mira: bye.", "Good night. Mira: bye."),
        ("Mira: Mira: Good night.", "Mira: Good night."),
        ("  Good night.", "Good night."),
        ("mira: Good night.", "Good night."),
        ("**Mira:** Good night.", "Good night."),
        ("Mira：晚安", "晚安"),
        ("Vee: Good night.", "Good night."),
        ("{{char}}: Good night.", "Good night."),
    ],
)
def test_the_name_is_taken_off_however_the_reply_is_cut(text: str, said: str):
    for pieces in cuts(text):
        reply = a_reply()

        received, _thought = hear(reply, pieces)

        assert received == said, pieces
        assert reply.alternative(complete=True).content == said


def test_what_was_told_is_what_is_kept():
    for pieces in cuts("<think>He is tired.\nSo am I.</think>\n\nMira: Sleep well."):
        reply = a_reply()

        said, thought = hear(reply, pieces)
        kept = reply.alternative(complete=True)

        assert (said, thought) == ("Sleep well.", "He is tired.\nSo am I."), pieces
        assert (kept.content, kept.thinking) == (said, thought)


@pytest.mark.parametrize("label", ["Ann:", "**Ann:**", "Ann：", "ANN :", "{{user}}:"])
@pytest.mark.parametrize("thought", ["", "<think>Ann: sad?\nAnn: no.</think>\n", "Mira: <Think>Ann: sad?\nAnn: no.</THINK>\n"])
def test_it_ends_where_the_user_is_given_the_word_and_thoughts_may_name_anybody(label: str, thought: str):
    for pieces in cuts(f"{thought}Mira: Sleep well.\n{label} I do.\nMira: Good."):
        reply = a_reply()

        said, thoughts = hear(reply, pieces)

        assert (said, thoughts) == ("Sleep well.", "Ann: sad?\nAnn: no." if thought else ""), pieces
        assert reply.labels.has_ended
        assert not reply.is_without_words


def test_a_reply_that_begins_with_the_user_has_nothing_of_its_own():
    for text in ("Ann: I go.\nMira: Wait!", "Mira:\n\nAnn: I go.", "<think>Hm.</think>**Ann:** I go."):
        for pieces in cuts(text):
            reply = a_reply()

            assert hear(reply, pieces)[0] == "", pieces
            assert reply.labels.has_ended
            assert reply.is_without_words


def test_what_stands_above_a_lone_end_marker_was_thinking():
    for pieces in cuts("He is tired.\nSo am I.\n</think>\n\nMira: Sleep well."):
        reply = a_reply()

        hear(reply, pieces)

        kept = reply.alternative(complete=True)
        assert (kept.content, kept.thinking) == ("Sleep well.", "He is tired.\nSo am I."), pieces


def test_a_lone_end_marker_of_a_continuation_leaves_what_was_there():
    reply = a_reply(Alternative(content="Sleep ", model="echo"))

    hear(reply, ["hm", "</think>", " well."])

    kept = reply.alternative(complete=True)
    assert (kept.content, kept.thinking) == ("Sleep well.", "hm")


def test_nothing_but_a_name_leaves_an_empty_reply():
    reply = a_reply()

    assert hear(reply, ["Mira", ":", " "]) == ("", "")
    assert reply.is_empty


def test_a_reply_that_is_nothing_but_thinking_is_shown_as_the_answer():
    reply = a_reply()

    hear(reply, ["<think>Good ", "night."])

    kept = reply.alternative(complete=True)
    assert (kept.content, kept.thinking) == ("Good night.", "")


def test_a_thought_the_prompt_opened_is_told_apart():
    reply = a_reply(starts_in_thought=True, thinking_start="<think>", thinking_end="</think>")

    assert hear(reply, ["He is tired.</thi", "nk>Sleep."]) == ("Sleep.", "He is tired.")


def test_a_continuation_goes_on_in_the_middle_of_a_word_and_keeps_its_spaces():
    before = Alternative(content="It was a dark and stor", thinking="Weather.", model="echo", complete=False)
    reply = a_reply(before)

    said, _thought = hear(reply, ["my", " night.", " Mira: no."])

    kept = reply.alternative(complete=True)
    assert said == "my night. Mira: no."
    assert kept == before.model_copy(update={"content": "It was a dark and stormy night. Mira: no.", "complete": True})


def test_a_continuation_that_adds_nothing_is_empty():
    reply = a_reply(Alternative(content="Yes.", model="echo"))

    hear(reply, [""])

    assert reply.is_empty


def test_space_at_the_end_goes_only_when_the_reply_is_complete():
    reply = a_reply()
    reply.feed("One, ")

    assert reply.alternative(complete=False).content == "One, "
    assert not reply.alternative(complete=False).complete
    assert reply.alternative(complete=True).content == "One,"


def test_finishing_twice_says_nothing_twice():
    for text in ("Mira", "<think>Only this", "Good night."):
        reply = a_reply()
        reply.feed(text)
        reply.finish()
        kept = reply.alternative(complete=True)

        assert reply.finish() == []
        assert reply.alternative(complete=True) == kept


def test_a_held_beginning_is_kept_when_the_reply_is_stopped():
    reply = a_reply()
    reply.feed(" Mir")

    reply.finish()

    assert reply.alternative(complete=False).content == "Mir"
