"""Activation by keywords: the meaning of And, AndAll, Or, Not and NotAll, and the reproducible random draws."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from enum import Enum, auto
from itertools import accumulate

from lethe_app.domain.memory import WordLink


class KeywordVerdict(Enum):
    """Result of an entry's keyword conditions."""

    NO_MATCH = auto()
    """The keywords did not match, or too few of them."""
    CONDITION_UNMET = auto()
    """A keyword matched, but the secondary condition is not met."""
    MATCH = auto()


def evaluate_keywords(
    main: Sequence[int], secondary: Sequence[int], link: WordLink, matched: Collection[int]
) -> KeywordVerdict:
    """Return the keyword verdict of an entry; an empty list is no condition, and an entry without keywords is never
    activated by them.

    With secondary keywords only, And and Or need one match, AndAll needs all, Not needs none, and NotAll needs at least one
    missing.
    """
    has_main_match = any(key in matched for key in main)
    if not main and not secondary:
        return KeywordVerdict.NO_MATCH
    if link is WordLink.OR:
        is_match = has_main_match or any(key in matched for key in secondary)
        return KeywordVerdict.MATCH if is_match else KeywordVerdict.NO_MATCH
    if main and not has_main_match:
        return KeywordVerdict.NO_MATCH
    if not secondary or is_condition_met(link, secondary, matched):
        return KeywordVerdict.MATCH
    return KeywordVerdict.CONDITION_UNMET if any(key in matched for key in (*main, *secondary)) else KeywordVerdict.NO_MATCH


def is_condition_met(link: WordLink, secondary: Sequence[int], matched: Collection[int]) -> bool:
    """Return whether the secondary condition is met; And needs only one match, like Or."""
    present = [key in matched for key in secondary]
    match link:
        case WordLink.AND | WordLink.OR:
            return any(present)
        case WordLink.AND_ALL:
            return all(present)
        case WordLink.NOT:
            return not any(present)
        case WordLink.NOT_ALL:
            return not all(present)


def activating_keywords(main: Sequence[int], secondary: Sequence[int], link: WordLink) -> tuple[int, ...]:
    """Return the keywords of which at least one must match; empty if the entry is activated by the absence of keywords."""
    if not main and link in {WordLink.NOT, WordLink.NOT_ALL}:
        return ()
    return (*main, *secondary) if link is WordLink.OR or not main else tuple(main)


def draw_random(*purpose: object) -> float:
    """Return a reproducible pseudo-random number in [0, 1), derived by SHA-256 from its purpose: session seed, turn, entry."""
    payload = "\0".join(str(part) for part in purpose)
    # The upper 53 bits are what a float holds exactly, so that the result is below 1.
    return (int.from_bytes(hashlib.sha256(payload.encode()).digest()[:8]) >> 11) / 2**53


def pick_weighted(weights: Sequence[int], drawn: float) -> int:
    """Return the index chosen by `drawn` (0 to 1) in proportion to the weights; 0 if all weights are zero."""
    limit = drawn * sum(weights)
    return next((index for index, until in enumerate(accumulate(weights)) if limit < until), 0)
