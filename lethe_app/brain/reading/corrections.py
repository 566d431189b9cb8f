"""Corrections within a conversation: retractions, corrected details, and the pieces they withdraw or replace."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from lethe_app.brain.reading.pieces import DialoguePiece, SentenceMeaning
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.dates.words import MONTH, ORDINALS, SPELLED_NUMBERS, WEEKDAY
from lethe_app.language_tables import table_pattern

_JOKE_RETRACTION = partial(table_pattern, "corrections", "joke_retraction")
_TRAILING_JOKE = partial(table_pattern, "corrections", "trailing_joke")
_ERROR_RETRACTION = partial(table_pattern, "corrections", "error_retraction")
_SELF_CORRECTION = partial(table_pattern, "corrections", "self_correction")
_NEGATION_ALONE = partial(table_pattern, "corrections", "negation_alone")
_WAIT_RETRACTION = partial(table_pattern, "corrections", "wait_retraction")
_NAMED_SUBJECT = re.compile(r"(?:the|my|our) [a-z][\w'’]+ \S", re.IGNORECASE)
_EARNEST_WORD = partial(table_pattern, "corrections", "earnest_word")
_DOUBTING_QUESTION = re.compile(
    r"\b(?:really|seriously|serious|kidding|joking|for real|truly|honestly|wait|what|\d+)\b[^.!]*\?", re.IGNORECASE
)
_CORRECTED = partial(table_pattern, "corrections", "corrected")
_KINDS = (
    re.compile(rf"\b(?:{WEEKDAY})\b", re.IGNORECASE),
    re.compile(rf"\b(?:{MONTH})\b", re.IGNORECASE),
    re.compile(
        r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
        r"seventeen|"
        r"eighteen|nineteen|twenty|thirty|forty|fifty)\b",
        re.IGNORECASE,
    ),
    re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-zà-ÿ]+\b"),
)
"""Kinds of words that a single word of the same kind can correct: weekdays, months, numbers, names."""


def is_retraction(sentence: str, *, is_in_same_message: bool, replied_text: str = "") -> bool:
    """Return whether the sentence retracts its speaker's last statement.

    `is_in_same_message` is true if that statement is in the same message. Otherwise `replied_text` is the message of the other
    speaker in between, because “not really” may only answer its question and “that's wrong” may only contradict it.
    """
    if _SELF_CORRECTION().match(sentence):
        return is_in_same_message
    if sentence.rstrip("\"') ").endswith("?") or _EARNEST_WORD().search(sentence):
        return False
    if _JOKE_RETRACTION().match(sentence) or _WAIT_RETRACTION().match(sentence):
        return True
    if _ERROR_RETRACTION().match(sentence):
        return is_in_same_message
    return bool(_NEGATION_ALONE().match(sentence)) and (is_in_same_message or bool(_DOUBTING_QUESTION.search(replied_text)))


def is_about_other_subject(sentence: str, previous_text: str) -> bool:
    """Return whether “no wait, the play's on the 11th” is about another subject than `previous_text`, the message before."""
    wait_match = _WAIT_RETRACTION().match(sentence)
    rest = sentence[wait_match.end() :] if wait_match else ""
    return bool(_NAMED_SUBJECT.match(rest)) and content_words(rest).isdisjoint(content_words(previous_text))


def is_joke(sentence: str) -> bool:
    """Return whether a sentence ends by declaring itself a joke."""
    match = _TRAILING_JOKE().search(sentence)
    return match is not None and len(sentence[: match.start()].split()) > 2 and not _EARNEST_WORD().search(sentence)


def extract_corrected_statement(sentence: str, retracted: str) -> str:
    """Return what is stated along with a retraction: “I'm 34” of “just kidding, I'm 34”.

    A single word replaces the last word of its kind in the statement `retracted`: “no wait, Friday” after “The exam
    is on Thursday.” gives “The exam is on Friday.”. Return an empty string if it has no word of that kind.
    """
    rest = sentence
    for pattern in (_WAIT_RETRACTION, _JOKE_RETRACTION, _SELF_CORRECTION, _ERROR_RETRACTION, _NEGATION_ALONE):
        if match := pattern().match(rest):
            rest = rest[match.end() :].strip(" ,.;:!-–—")
    if not (word := _CORRECTED().match(rest)):
        return rest
    for kind in _KINDS:
        old = list(kind.finditer(retracted))
        if old and kind.search(f"is {word['new']}"):
            return retracted[: old[-1].start()] + word["new"] + retracted[old[-1].end() :]
    return ""


_UNITS, _ORDINALS = SPELLED_NUMBERS[1:20], ORDINALS[:15]


MAX_INTERJECTION_WORDS = 4
"""Words up to which an earlier sentence of the same message is taken for an interjection before a retraction."""


def apply_retractions(pieces: list[DialoguePiece], previous_pieces: list[DialoguePiece], replied_text: str) -> bool:
    """Drop the sentences that a retraction cancels and apply its corrections; return whether there was a retraction."""
    has_retraction = False
    for index, piece in enumerate(pieces):
        own_statement = _find_last_statement(pieces[:index])
        if piece.meaning is SentenceMeaning.DROPPED or not is_retraction(
            piece.text, is_in_same_message=own_statement is not None, replied_text=replied_text
        ):
            continue
        # “Did I tell you I'm a prince? Kidding.” retracts only the question in the same message, nothing in the one before.
        has_earlier_sentence = any(len(one.text.split()) > MAX_INTERJECTION_WORDS for one in pieces[:index])
        retracted = own_statement or (None if has_earlier_sentence else _find_last_statement(previous_pieces))
        if own_statement is None and retracted is not None and is_about_other_subject(piece.text, retracted.text):
            continue
        if retracted is not None:
            piece.text, piece.meaning = extract_corrected_statement(piece.text, retracted.text), SentenceMeaning.PLAIN
            retracted.meaning = SentenceMeaning.DROPPED
            has_retraction = True
    return has_retraction


def _find_last_statement(pieces: Sequence[DialoguePiece]) -> DialoguePiece | None:
    candidates = (piece for piece in reversed(pieces) if piece.meaning is not SentenceMeaning.DROPPED)
    return next(
        (piece for piece in candidates if not piece.text.rstrip("\"”’') ").endswith("?") and len(piece.text.split()) > 2), None
    )
