"""Detect corrections of a weekday, month or number given in an earlier message: “it is twelve years, not eleven”."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from lethe_app.brain.text.fingerprint import content_words
from lethe_app.dates.words import MONTH, ORDINALS, SPELLED_NUMBERS, TENS, WEEKDAY

MAX_LOOKBACK = 60
"""Number of preceding texts that are searched for the corrected detail."""
_UNITS, _ORDINALS = SPELLED_NUMBERS[1:20], ORDINALS[:15]
_NUMBER_VALUES = (
    {word: number for number, word in enumerate(_UNITS, 1)}
    | {word: number for number, word in enumerate(_ORDINALS, 1)}
    | {word: 10 * number for number, word in enumerate(TENS, 2)}
)
_WEEKDAY = rf"(?:{WEEKDAY})s?"
_MONTH = rf"(?:{MONTH})"
_NUMBER = (
    rf"(?:(?:{'|'.join(TENS)})(?:[ -](?:{'|'.join(_UNITS[:9])}))?|{'|'.join(_UNITS)}|{'|'.join(_ORDINALS)}|"
    r"\d{1,4}(?:st|nd|rd|th)?)"
)
_KINDS = [re.compile(rf"\b{kind}\b", re.IGNORECASE) for kind in (_WEEKDAY, _MONTH, _NUMBER)]
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


_CORRECTION_ANNOUNCEMENT = re.compile(
    r"\b(?:no wait|wait no|wait, no|correction|i (?:read|got|had) (?:it|that|the \w+) wrong|i got (?:it|that) mixed up)\b",
    re.IGNORECASE,
)
_STATED_DAY = re.compile(rf"\b(?:on|at|is|'s) (?:the )?(?P<detail>{_WEEKDAY}|\d{{1,2}}(?:st|nd|rd|th)\b)", re.IGNORECASE)


def find_announced_detail(message: str) -> str:
    """Return the weekday or day of the month that a message restates after announcing a correction, or an empty string."""
    match = _STATED_DAY.search(message) if _CORRECTION_ANNOUNCEMENT.search(message) else None
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
    return next(kind for kind in _KINDS if kind.fullmatch(detail))


def _detail_value(detail: str) -> int | str:
    """Return the number a detail stands for, or the lower-case name of a weekday or month."""
    low = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", detail.lower())
    if low.isdigit():
        return int(low)
    parts = [_NUMBER_VALUES.get(part) for part in re.split(r"[ -]", low)]
    if None not in parts:
        return sum(part for part in parts if part is not None)
    return low.removesuffix("s") if low.endswith("days") else low
