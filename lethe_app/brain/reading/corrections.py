"""Corrections within a conversation: retractions, corrected details, the pieces they withdraw or replace, and agreement."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial

from lethe_app.brain.reading.pieces import DialoguePiece, SentenceMeaning
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.markup import MAX_CHARACTERS_READ
from lethe_app.brain.text.utterance import Utterance
from lethe_app.dates.words import MONTH, ORDINALS, SPELLED_NUMBERS, TENS, WEEKDAY
from lethe_app.domain.chat import Role
from lethe_app.language_tables import table_pattern, table_words

_pattern = partial(table_pattern, "corrections")
_words = partial(table_words, "corrections")

_NAMED_SUBJECT = re.compile(r"(?:the|my|our) [a-z][\w'’]+ \S", re.IGNORECASE)
_DOUBTING_QUESTION = re.compile(
    r"\b(?:really|seriously|serious|kidding|joking|for real|truly|honestly|wait|what|\d+)\b[^.!]*\?", re.IGNORECASE
)
MAX_LOOKBACK = 60
"""Number of preceding texts that are searched for the corrected detail."""
MAX_INTERJECTION_WORDS = 4
"""Words up to which an earlier sentence of the same message is taken for an interjection before a retraction."""
_UNITS, _ORDINALS = SPELLED_NUMBERS[1:20], ORDINALS[:15]
_NUMBER_VALUES = (
    {word: number for number, word in enumerate(_UNITS, 1)}
    | {word: number for number, word in enumerate(_ORDINALS, 1)}
    | {word: 10 * number for number, word in enumerate(TENS, 2)}
)
_WEEKDAY = rf"(?:{WEEKDAY})s?"
_MONTH = rf"(?:{MONTH})"
_CARDINAL = rf"(?:(?:{'|'.join(TENS)})(?:[ -](?:{'|'.join(_UNITS[:9])}))?|{'|'.join(_UNITS)}|\d+)"
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)}|\d+(?:st|nd|rd|th))"
_NUMBER = rf"(?:{_CARDINAL}|{_ORDINAL})"
_NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-zà-ÿ]+\b")
_DETAIL_KINDS = [re.compile(rf"\b{kind}\b", re.IGNORECASE) for kind in (_WEEKDAY, _MONTH, _NUMBER)]
_WORD_KINDS = [re.compile(rf"\b{kind}\b", re.IGNORECASE) for kind in (_WEEKDAY, _MONTH, _CARDINAL, _ORDINAL)]
"""Kinds of which a single word corrects another one; a count corrects no rank."""
_DETAIL = rf"(?:{_WEEKDAY}|{_MONTH}|{_NUMBER})"
_SMALL_WORDS = r"(?:(?:on|at|in|the|a|an|about) )*"
_CORRECTIONS = (
    re.compile(rf"\b(?P<new>{_DETAIL})\b(?: \w+)?,? (?:and )?not {_SMALL_WORDS}(?P<old>{_DETAIL})\b", re.IGNORECASE),
    re.compile(
        rf"\b(?:it's|its|it is|that's|is|was|are) not {_SMALL_WORDS}(?P<old>{_DETAIL})\b[^.!?]{{0,12}}?[,;]? "
        rf"(?:it's|its|it is|but|is|will be) {_SMALL_WORDS}(?P<new>{_DETAIL})\b",
        re.IGNORECASE,
    ),
)
_STATED_DAY = re.compile(rf"\b(?:on|at|is|'s) (?:the )?(?P<detail>{_WEEKDAY}|\d{{1,2}}(?:st|nd|rd|th)\b)", re.IGNORECASE)


def is_retraction(sentence: str, *, is_in_same_message: bool, replied_text: str = "") -> bool:
    """Return whether the sentence retracts its speaker's last statement.

    `is_in_same_message` is true if that statement is in the same message. Otherwise `replied_text` is the message of the other
    speaker in between, because “not really” may only answer its question and “that's wrong” may only contradict it.
    """
    if _pattern("self_correction").match(sentence):
        return is_in_same_message
    if sentence.rstrip("\"') ").endswith("?") or _pattern("earnest_word").search(sentence):
        return False
    if _pattern("joke_retraction").match(sentence) or _pattern("wait_retraction").match(sentence):
        return True
    if _pattern("error_retraction").match(sentence):
        return is_in_same_message
    return bool(_pattern("negation_alone").match(sentence)) and (
        is_in_same_message or bool(_DOUBTING_QUESTION.search(replied_text))
    )


def is_about_other_subject(sentence: str, previous_text: str) -> bool:
    """Return whether “no wait, the play's on the 11th” is about another subject than `previous_text`, the message before."""
    wait_match = _pattern("wait_retraction").match(sentence)
    rest = sentence[wait_match.end() :] if wait_match else ""
    return bool(_NAMED_SUBJECT.match(rest)) and content_words(rest).isdisjoint(content_words(previous_text))


def is_joke(sentence: str) -> bool:
    """Return whether a sentence ends by declaring itself a joke."""
    match = _pattern("trailing_joke").search(sentence)
    return match is not None and len(sentence[: match.start()].split()) > 2 and not _pattern("earnest_word").search(sentence)


def extract_corrected_statement(sentence: str, retracted: str) -> str:
    """Return what is stated along with a retraction: “I'm 34” of “just kidding, I'm 34”.

    A single word replaces the last word of its kind in the statement `retracted`: “no wait, Friday” after “The exam
    is on Thursday.” gives “The exam is on Friday.”. Return an empty string if it has no word of that kind.
    """
    rest = sentence
    for key in ("wait_retraction", "joke_retraction", "self_correction", "error_retraction", "negation_alone"):
        if match := _pattern(key).match(rest):
            rest = rest[match.end() :].strip(" ,.;:!-–—")
    if not (word := _pattern("corrected").match(rest)):
        return rest
    for kind in (*_WORD_KINDS, _NAME):
        old = list(kind.finditer(retracted))
        if old and kind.search(f"is {word['new']}"):
            return retracted[: old[-1].start()] + word["new"] + retracted[old[-1].end() :]
    return ""


def find_announced_detail(message: str) -> str:
    """Return the weekday or day of the month that a message restates after announcing a correction, or an empty string."""
    match = _STATED_DAY.search(message) if _words("correction_announcement").search(message) else None
    return match["detail"] if match else ""


def find_replaced_detail(text: str, new_detail: str, words: Collection[str]) -> str:
    """Return the weekday or day of the month of a text that is of the kind of `new_detail` but differs from it, or an empty
    string.

    The text must share at least one stem with `words`.
    """
    match = _STATED_DAY.search(text)
    if match is None or not set(words) & content_words(text):
        return ""
    is_same_kind = _detail_pattern(match["detail"]) is _detail_pattern(new_detail)
    return match["detail"] if is_same_kind and _detail_value(match["detail"]) != _detail_value(new_detail) else ""


def find_detail_corrections(message: str) -> Iterator[tuple[str, str]]:
    """Yield (wrong, right) for each weekday, month or number that a message corrects."""
    for pattern in _CORRECTIONS if "not " in message.lower() else ():
        for match in pattern.finditer(message):
            kind = _detail_pattern(match["old"])
            if kind.fullmatch(match["new"]) and _detail_value(match["new"]) != _detail_value(match["old"]):
                yield match["old"], match["new"]


def replace_detail(text: str, old: str, new: str) -> str | None:
    """Return the text with its first mention of `old`, in any spelling, replaced by `new`; None if `old` does not occur."""
    for match in _detail_pattern(old).finditer(text):
        if _detail_value(match[0]) == _detail_value(old):
            replacement = " ".join(word.lower() if word.isupper() else word for word in new.split(" "))
            return text[: match.start()] + replacement + text[match.end() :]
    return None


def find_corrected_index(message: str, earlier_texts: Sequence[str], old: str) -> int | None:
    """Return the index in `earlier_texts` (latest first) of the text whose detail `old` the message corrects, or None.

    Prefer the first text that shares a content word with the message, otherwise take the first that contains the detail.
    """
    indexes = [place for place, text in enumerate(earlier_texts[:MAX_LOOKBACK]) if replace_detail(text, old, "") is not None]
    words = {word for word in content_words(message) if word not in _NUMBER_VALUES and not word.isdigit()}
    return next((place for place in indexes if words & content_words(earlier_texts[place])), indexes[0] if indexes else None)


def _detail_pattern(detail: str) -> re.Pattern[str]:
    return next(kind for kind in _DETAIL_KINDS if kind.fullmatch(detail))


def _detail_value(detail: str) -> int | str:
    """Return the number a detail stands for, or the lower-case name of a weekday or month."""
    low = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", detail.lower())
    if low.isdigit():
        return int(low)
    parts = [_NUMBER_VALUES.get(part) for part in re.split(r"[ -]", low)]
    if None not in parts:
        return sum(part for part in parts if part is not None)
    return low.removesuffix("s") if low.endswith("days") else low


def correct_details(lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]]) -> None:
    """Apply corrections in later user messages to the sentence that first stated the detail."""
    plain_pieces: list[DialoguePiece] = []
    for line, line_pieces in zip(lines, pieces, strict=True):
        if line.role is Role.USER:
            for old, new in find_detail_corrections(line.text[:MAX_CHARACTERS_READ]):
                index = find_corrected_index(
                    line.text[:MAX_CHARACTERS_READ], [piece.text for piece in reversed(plain_pieces[-MAX_LOOKBACK:])], old
                )
                if index is not None:
                    piece = plain_pieces[-1 - index]
                    piece.text = replace_detail(piece.text, old, new) or piece.text
            if _correct_day(line.text[:MAX_CHARACTERS_READ], plain_pieces):
                _drop_announced(line_pieces)
            plain_pieces += [piece for piece in line_pieces if piece.meaning is SentenceMeaning.PLAIN]


def _correct_day(message: str, plain_pieces: Sequence[DialoguePiece]) -> bool:
    """Apply a day correction such as “no wait, the play's on the 11th” to the earlier sentences about the same subject.

    Return whether any sentence was corrected.
    """
    return bool(find_announced_detail(message)) and any(
        _correct_piece_day(message, piece) for piece in reversed(plain_pieces[-3 * MAX_LOOKBACK :])
    )


def _drop_announced(pieces: Sequence[DialoguePiece]) -> None:
    """Drop the sentences of a message that only announce the corrected day of an earlier sentence."""
    for piece in pieces:
        if find_announced_detail(piece.text):
            piece.meaning = SentenceMeaning.DROPPED


def _correct_piece_day(message: str, piece: DialoguePiece) -> bool:
    """Replace the day of an earlier sentence if the message announces a new one for it; return whether it was replaced."""
    new_day = find_announced_detail(message)
    words = {word for word in content_words(message) if word.isalpha()} - content_words("no wait wrong read letter got")
    old_day = find_replaced_detail(piece.text, new_day, words) if new_day else ""
    if old_day:
        piece.text = replace_detail(piece.text, old_day, new_day) or piece.text
    return bool(old_day)


def apply_retractions(pieces: list[DialoguePiece], previous_pieces: list[DialoguePiece], replied_text: str) -> bool:
    """Drop the sentences that a retraction cancels and apply its corrections; return whether there was a retraction."""
    has_retraction = False
    for index, piece in enumerate(pieces):
        own_statement = _find_last_statement(pieces[:index])
        if (
            piece.requests
            or piece.meaning is SentenceMeaning.DROPPED
            or not is_retraction(piece.text, is_in_same_message=own_statement is not None, replied_text=replied_text)
        ):
            continue
        # “Did I tell you I'm a prince? Kidding.” retracts only the question in the same message, nothing in the one before.
        has_earlier_sentence = any(len(one.text.split()) > MAX_INTERJECTION_WORDS for one in pieces[:index])
        retracted = own_statement or (None if has_earlier_sentence else _find_last_statement(previous_pieces))
        if own_statement is None and retracted is not None and is_about_other_subject(piece.text, retracted.text):
            continue
        if retracted is not None and _correct_piece_day(piece.text, retracted):
            piece.meaning = SentenceMeaning.DROPPED
            has_retraction = True
        elif retracted is not None:
            piece.text, piece.meaning = extract_corrected_statement(piece.text, retracted.text), SentenceMeaning.PLAIN
            retracted.meaning = SentenceMeaning.DROPPED
            has_retraction = True
    return has_retraction


def _find_last_statement(pieces: Sequence[DialoguePiece]) -> DialoguePiece | None:
    candidates = (piece for piece in reversed(pieces) if piece.meaning is not SentenceMeaning.DROPPED)
    return next(
        (piece for piece in candidates if not piece.text.rstrip("\"”’') ").endswith("?") and len(piece.text.split()) > 2), None
    )


def is_confirmed(index: int, lines: Sequence[Utterance]) -> bool:
    """Return whether the message at an index is by the user, or the next one is the user's agreement to it; what only the
    persona proposed was never decided.
    """
    if lines[index].role is Role.USER:
        return True
    next_line = lines[index + 1] if index + 1 < len(lines) else None
    return next_line is not None and next_line.role is Role.USER and bool(_pattern("agreement").match(next_line.text))
