"""Settles without a language model whether a new fact says what is known already, takes its place, or is new."""

from __future__ import annotations

from enum import StrEnum

from lethe_app.retrieval.calibration import Thresholds
from lethe_app.retrieval.contradictions import contrast


class SentenceRelation(StrEnum):
    """What a new sentence is to one that is known."""

    SAME = "same"
    UPDATE = "update"
    NEW = "new"


def relation(a: str, b: str, distance: float, thresholds: Thresholds) -> SentenceRelation:
    """What `b`, said later, is to the known `a`, given the cosine distance of the plain texts; when unsure NEW.

    SAME needs a small distance and words that do not speak against it (`Contrast.agrees`), and is so from both sides. UPDATE
    needs a distance at which the pair may be about the same thing, and a sign in the words that `b` makes `a` untrue
    (`Contrast.replaces`): distance alone cannot tell “lives in Porto” from “likes Porto”. A wrong NEW costs a line, a wrong
    SAME loses what was said, and a wrong UPDATE hides what is still true; hence the order of doubt.
    """
    if a.strip() == b.strip():
        return SentenceRelation.SAME
    found = contrast(a, b)
    if distance < thresholds.same_words and found.agrees:
        return SentenceRelation.SAME
    if distance < thresholds.update and found.replaces:
        return SentenceRelation.UPDATE
    return SentenceRelation.NEW
