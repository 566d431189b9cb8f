"""Sentences of a streamed reply, as they are spoken."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lethe_app.speech.markup import SegmentKind, SpeechSegment
from lethe_app.speech.sentence_cutter import MAX_SENTENCE_LENGTH, SentenceCutter

SPEECH, ACTION = SegmentKind.SPEECH, SegmentKind.ACTION


def cut_text(text: str) -> list[SpeechSegment]:
    """The sentences of a complete text."""
    cutter = SentenceCutter()
    return [*cutter.feed(text), *cutter.finish()]


def spoken(text: str) -> list[str]:
    """The sentences of a text, actions in asterisks."""
    return [segment.text if segment.kind is SPEECH else f"*{segment.text}*" for segment in cut_text(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("You are late. The galley burns!", ["You are late.", "The galley burns!"]),
        (
            "Mr. Smith met Dr. Jones, e.g. on St. Mark's Square. He left.",
            ["Mr. Smith met Dr. Jones, e.g. on St. Mark's Square.", "He left."],
        ),
        ("She read J. R. R. Tolkien in the U.S. and slept.", ["She read J. R. R. Tolkien in the U.S. and slept."]),
        ("It costs 3.14 or 1.000 crowns. Done.", ["It costs 3.14 or 1.000 crowns.", "Done."]),
        ("Well… maybe... Wait... What?", ["Well… maybe...", "Wait...", "What?"]),
        ("“Stop!” she cried. “Now.” (He did.) Good.", ["“Stop!” she cried.", "“Now.”", "(He did.)", "Good."]),
        ("你好。今天天气很好！「真的？」他说。", ["你好。", "今天天气很好！", "「真的？」", "他说。"]),
        ("One line\nanother line", ["One line", "another line"]),
        ("really? i think so. yes", ["really?", "i think so.", "yes"]),
        ("He said no. No. 5 stays.", ["He said no.", "No. 5 stays."]),
        ("He said... nothing.", ["He said... nothing."]),
        ("...", []),
        ("Ja, z.B. morgen. Gut.", ["Ja, z.B. morgen.", "Gut."]),
    ],
)
def test_sentences_end_where_a_speaker_would_pause(text: str, sentences: list[str]):
    assert spoken(text) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("*She does not look up.* “You are late.”", ["*She does not look up.*", "“You are late.”"]),
        ("Come here, *she waves* my friend.", ["Come here,", "*she waves*", "my friend."]),
        ("I *really* mean it.", ["I really mean it."]),
        ("*smiles* Hello.", ["*smiles*", "Hello."]),
        ("_She sits down._ So be it.", ["*She sits down.*", "So be it."]),
        ("*She walks on\nAnd then?", ["*She walks on*", "And then?"]),
        ("*He **never** smiles.* No.", ["*He never smiles.*", "No."]),
        ("Two * three is six.", ["Two three is six."]),
    ],
)
def test_actions_are_told_apart_from_speech(text: str, sentences: list[str]):
    assert spoken(text) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("# Plan\n\n- **one**\n* two\n3. three", ["Plan", "one", "two", "three"]),
        ("See [the map](https://example.org/map) or ![chart](a.png).", ["See the map or chart."]),
        ("Look:\n```py\nprint('x. y')\n```\nDone.", ["Look:", "Done."]),
        ("Look at https://example.org/a.b?c=d. Then go.", ["Look at .", "Then go."]),
        ("> Quoted. Twice.", ["Quoted.", "Twice."]),
        ("| a | b |\n|---|---|\n| c | d |", ["a, b", "c, d"]),
        ("Above\n\n---\n\nbelow", ["Above", "below"]),
        ("Use `ls` and ~~not~~ <b>dir</b>.", ["Use ls and not dir."]),
        ("Fine 😀👍🏽 thanks 🇩🇪!", ["Fine thanks !"]),
        ("snake_case_name stays", ["snake case name stays"]),
        ("A \\*star\\* here.", ["A star here."]),
    ],
)
def test_markup_is_not_spoken(text: str, sentences: list[str]):
    assert spoken(text) == sentences


def test_a_sentence_is_ready_as_soon_as_the_next_one_begins():
    cutter = SentenceCutter()

    assert cutter.feed("You are late.") == []
    assert cutter.feed(" T") == [SpeechSegment("You are late.")]
    assert cutter.feed("he galley burns.") == []
    assert cutter.finish() == [SpeechSegment("The galley burns.")]


def test_a_long_sentence_is_cut_at_a_comma_or_else_between_words():
    clause = "and on we went through the fog, "

    at_commas, between_words, without_spaces = cut_text(clause * 20), cut_text("word " * 100), cut_text("字" * 500)

    assert all(segment.text.endswith(",") for segment in at_commas)
    assert all(segment.text.split() == ["word"] * len(segment.text.split()) for segment in between_words)
    assert all(len(one.text) <= MAX_SENTENCE_LENGTH for one in (*at_commas, *between_words, *without_spaces))


MARKS = ("Mr. ", "e.g. ", "http://a.b ", "```", "**", "***", "* ", "- ", "1. ", "...", "](", " word", "Word ")
ALPHABET = st.sampled_from([*'aB1 .,!?…*_`#>-|[]()<~\\\n"“”。！「」😀', *MARKS])
TEXTS = st.lists(ALPHABET, max_size=60).map("".join)


@given(TEXTS, st.lists(st.integers(1, 9), min_size=1, max_size=60))
@example("*a* b", [1])
@example("a![[", [1, 2])
@example("Fine [x](y z) and [b", [2, 1])
@example("w" * 230 + ". Then", [1])
def test_the_sentences_do_not_depend_on_the_division_into_deltas(text: str, lengths: list[int]):
    cutter, parts, start = SentenceCutter(), [], 0
    for length in [*lengths, len(text)]:
        parts += cutter.feed(text[start : start + length])
        start += length

    assert [*parts, *cutter.finish()] == cut_text(text)


WORDS = "one Two 3.14 Mr. e.g. said, stop. Really? no! “Yes.” (so) well… ok... 字。 U.S."
PROSE = st.lists(st.sampled_from([*WORDS.split(), "a" * 90]), max_size=80).map(" ".join)


@given(PROSE)
def test_nothing_that_is_spoken_is_lost_or_said_twice(text: str):
    def letters(of: str) -> str:
        return "".join(re.findall(r"[^\W_]", of))

    assert letters("".join(segment.text for segment in cut_text(text))) == letters(text)


@given(TEXTS)
def test_every_sentence_is_one_line_with_something_to_say(text: str):
    for segment in cut_text(text):
        assert "\n" not in segment.text
        assert any(character.isalnum() for character in segment.text)
