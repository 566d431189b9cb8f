"""Decides from the keywords that were heard whether an entry wakes: what And, AndAll, Or, Not and NotAll mean."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from enum import Enum, auto
from itertools import accumulate

from lethe_app.domain.memory import WordLink


class KeywordVerdict(Enum):
    """What an entry's keywords say."""

    ASLEEP = auto()
    """Nothing of it was mentioned, or not enough to speak of."""
    HELD_BACK = auto()
    """It was mentioned, but its secondary keywords keep it asleep."""
    AWAKE = auto()


def judge(main: Sequence[int], secondary: Sequence[int], link: WordLink, heard: Collection[int]) -> KeywordVerdict:
    """An empty list is no condition, whichever it is; an entry without any keyword never wakes by words.

    With secondary keywords alone: And and Or wait for one of them, AndAll for all, Not wakes as long as none is heard, NotAll
    until all are.
    """
    main_heard = any(key in heard for key in main)
    if not main and not secondary:
        return KeywordVerdict.ASLEEP
    if link is WordLink.OR:
        return _awake(main_heard or any(key in heard for key in secondary))
    if main and not main_heard:
        return KeywordVerdict.ASLEEP
    if not secondary or is_met(link, secondary, heard):
        return KeywordVerdict.AWAKE
    return KeywordVerdict.HELD_BACK if any(key in heard for key in (*main, *secondary)) else KeywordVerdict.ASLEEP


def is_met(link: WordLink, secondary: Sequence[int], heard: Collection[int]) -> bool:
    """Do the secondary keywords allow it? Any of them is enough for And, as for Or."""
    present = [key in heard for key in secondary]
    match link:
        case WordLink.AND | WordLink.OR:
            return any(present)
        case WordLink.AND_ALL:
            return all(present)
        case WordLink.NOT:
            return not any(present)
        case WordLink.NOT_ALL:
            return not all(present)


def waking(main: Sequence[int], secondary: Sequence[int], link: WordLink) -> tuple[int, ...]:
    """The keywords without one of which it cannot wake; none if it wakes by what is not said."""
    if not main and link in {WordLink.NOT, WordLink.NOT_ALL}:
        return ()
    return (*main, *secondary) if link is WordLink.OR or not main else tuple(main)


def _awake(yes: bool) -> KeywordVerdict:
    return KeywordVerdict.AWAKE if yes else KeywordVerdict.ASLEEP


def draw(*of: object) -> float:
    """A number from 0 up to but not including 1, drawn from what it is for: session seed, turn, entry."""
    told = "\0".join(str(part) for part in of)
    return (int.from_bytes(hashlib.sha256(told.encode()).digest()[:8]) >> 11) / 2**53


def pick(weights: Sequence[int], drawn: float) -> int:
    """The index that `drawn` (0 to 1) falls on when each has a share of its weight; the first if none has any."""
    limit = drawn * sum(weights)
    return next((index for index, until in enumerate(accumulate(weights)) if limit < until), 0)
