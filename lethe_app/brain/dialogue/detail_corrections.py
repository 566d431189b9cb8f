"""Reads which detail of an earlier message is corrected: “it is twelve years, not eleven”."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from lethe_app.brain.text.fingerprint import content_words

MOST_BACK = 60
"""Messages back in which the corrected detail is looked for."""
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
    """Return the weekday or day that a message gives anew, saying that what was said before is wrong; empty if none."""
    found = _DATED.search(message) if _ANNOUNCED.search(message) else None
    return found["detail"] if found else ""


def detail_of_kind(text: str, like: str, words: Collection[str]) -> str:
    """Return the weekday or day of a text that shares one of the `words` (stems) and is of the kind of another one."""
    found = _DATED.search(text)
    if found is None or not set(words) & content_words(text):
        return ""
    is_same_kind = _kind_of(found["detail"]) is _kind_of(like)
    return found["detail"] if is_same_kind and _value(found["detail"]) != _value(like) else ""


def detail_corrections(message: str) -> Iterator[tuple[str, str]]:
    """Yield each weekday, month or number that a message says was wrong, and the right one."""
    for pattern in _CORRECTIONS if "not " in message.lower() else ():
        for found in pattern.finditer(message):
            kind = _kind_of(found["old"])
            if kind.fullmatch(found["new"]) and _value(found["new"]) != _value(found["old"]):
                yield found["old"], found["new"]


def corrected(text: str, old: str, new: str) -> str | None:
    """Return a text with the detail `new` in place of `old`, however it is spelled; None if it does not hold it."""
    for found in _kind_of(old).finditer(text):
        if _value(found[0]) == _value(old):
            plain = " ".join(word.lower() if word.isupper() else word for word in new.split(" "))
            return text[: found.start()] + plain + text[found.end() :]
    return None


def nearest(message: str, earlier: Sequence[str], old: str) -> int | None:
    """Return the place of the text among the `earlier` ones, latest first, whose detail `old` a message corrects.

    The first that shares a word with the message, or else the first that holds the detail.
    """
    holding = [place for place, text in enumerate(earlier[:MOST_BACK]) if corrected(text, old, "") is not None]
    words = {word for word in content_words(message) if word not in _VALUES and not word.isdigit()}
    return next((place for place in holding if words & content_words(earlier[place])), holding[0] if holding else None)


def _kind_of(detail: str) -> re.Pattern[str]:
    return next(kind for kind in _KINDS if kind.fullmatch(detail))


def _value(detail: str) -> int | str:
    """Return the number a detail means; of a weekday or a month its name."""
    low = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", detail.lower())
    if low.isdigit():
        return int(low)
    parts = [_VALUES.get(part) for part in re.split(r"[ -]", low)]
    if None not in parts:
        return sum(part for part in parts if part is not None)
    return low.removesuffix("s") if low.endswith("days") else low
