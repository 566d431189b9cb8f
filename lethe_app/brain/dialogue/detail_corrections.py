"""Detect corrections of a weekday, month or number given in an earlier message: “it is twelve years, not eleven”."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from lethe_app.brain.text.fingerprint import content_words

MOST_BACK = 60
"""Number of preceding texts that are searched for the corrected detail."""
_UNITS, _TENS, _ORDINALS = (
    line.split()
    for line in """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    twenty thirty forty fifty sixty seventy eighty ninety
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    """.strip().splitlines()
)
_VALUES = (
    {word: number for number, word in enumerate(_UNITS, 1)}
    | {word: number for number, word in enumerate(_ORDINALS, 1)}
    | {word: 10 * number for number, word in enumerate(_TENS, 2)}
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_NUMBER = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_UNITS[:9])}))?|{'|'.join(_UNITS)}|{'|'.join(_ORDINALS)}|"
    r"\d{1,4}(?:st|nd|rd|th)?)"
)
_KINDS = [re.compile(rf"\b{kind}\b", re.IGNORECASE) for kind in (_WEEKDAY, _MONTH, _NUMBER)]
_DETAIL = rf"(?:{_WEEKDAY}|{_MONTH}|{_NUMBER})"
_SMALL = r"(?:(?:on|at|in|the|a|an|about) )*"
_CORRECTIONS = (
    re.compile(rf"\b(?P<new>{_DETAIL})\b(?: \w+)?,? (?:and )?not {_SMALL}(?P<old>{_DETAIL})\b", re.IGNORECASE),
    re.compile(
        rf"\b(?:it's|its|it is|that's|is|was|are) not {_SMALL}(?P<old>{_DETAIL})\b[^.!?]{{0,12}}?[,;]? "
        rf"(?:it's|its|it is|but|is|will be) {_SMALL}(?P<new>{_DETAIL})\b",
        re.IGNORECASE,
    ),
)


_ANNOUNCED = re.compile(
    r"\b(?:no wait|wait no|wait, no|correction|i (?:read|got|had) (?:it|that|the \w+) wrong|i got (?:it|that) mixed up)\b",
    re.IGNORECASE,
)
_DATED = re.compile(rf"\b(?:on|at|is|'s) (?:the )?(?P<detail>{_WEEKDAY}|\d{{1,2}}(?:st|nd|rd|th)\b)", re.IGNORECASE)


def announced_detail(message: str) -> str:
    """Return the weekday or day of the month that a message restates after announcing a correction, or an empty string."""
    found = _DATED.search(message) if _ANNOUNCED.search(message) else None
    return found["detail"] if found else ""


def detail_of_kind(text: str, like: str, words: Collection[str]) -> str:
    """Return the weekday or day of the month of a text that is of the kind of `like` but differs from it, or an empty
    string.

    The text must share at least one stem with `words`.
    """
    found = _DATED.search(text)
    if found is None or not set(words) & content_words(text):
        return ""
    is_same_kind = _kind_of(found["detail"]) is _kind_of(like)
    return found["detail"] if is_same_kind and _value(found["detail"]) != _value(like) else ""


def detail_corrections(message: str) -> Iterator[tuple[str, str]]:
    """Yield (wrong, right) for each weekday, month or number that a message corrects."""
    for pattern in _CORRECTIONS if "not " in message.lower() else ():
        for found in pattern.finditer(message):
            kind = _kind_of(found["old"])
            if kind.fullmatch(found["new"]) and _value(found["new"]) != _value(found["old"]):
                yield found["old"], found["new"]


def corrected(text: str, old: str, new: str) -> str | None:
    """Return the text with its first mention of `old`, in any spelling, replaced by `new`; None if `old` does not occur."""
    for found in _kind_of(old).finditer(text):
        if _value(found[0]) == _value(old):
            plain = " ".join(word.lower() if word.isupper() else word for word in new.split(" "))
            return text[: found.start()] + plain + text[found.end() :]
    return None


def nearest(message: str, earlier: Sequence[str], old: str) -> int | None:
    """Return the index in `earlier` (latest first) of the text whose detail `old` the message corrects, or None.

    Prefer the first text that shares a content word with the message, otherwise take the first that contains the detail.
    """
    holding = [place for place, text in enumerate(earlier[:MOST_BACK]) if corrected(text, old, "") is not None]
    words = {word for word in content_words(message) if word not in _VALUES and not word.isdigit()}
    return next((place for place in holding if words & content_words(earlier[place])), holding[0] if holding else None)


def _kind_of(detail: str) -> re.Pattern[str]:
    return next(kind for kind in _KINDS if kind.fullmatch(detail))


def _value(detail: str) -> int | str:
    """Return the number a detail stands for, or the lower-case name of a weekday or month."""
    low = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", detail.lower())
    if low.isdigit():
        return int(low)
    parts = [_VALUES.get(part) for part in re.split(r"[ -]", low)]
    if None not in parts:
        return sum(part for part in parts if part is not None)
    return low.removesuffix("s") if low.endswith("days") else low
