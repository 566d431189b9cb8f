"""Decision, without a language model, whether a new fact repeats a known one, replaces it, or is new."""

from __future__ import annotations

from enum import StrEnum

from lethe_app.retrieval.calibration import Thresholds
from lethe_app.retrieval.contradictions import contrast


class SentenceRelation(StrEnum):
    """Relation of a new sentence to a known one."""

    SAME = "same"
    UPDATE = "update"
    NEW = "new"


def relation(a: str, b: str, distance: float, thresholds: Thresholds) -> SentenceRelation:
    """Return the relation of the later sentence `b` to the known `a`, given the cosine distance of the plain texts; NEW if
    unsure.

    SAME needs a small distance and no lexical difference (`Contrast.agrees`), and is symmetric. UPDATE needs a distance at
    which the pair may be about the same thing, and a lexical sign that `b` makes `a` untrue (`Contrast.replaces`): distance
    alone cannot separate “lives in Porto” from “likes Porto”. A wrong NEW costs a line, a wrong SAME loses a statement, and
    a wrong UPDATE hides what is still true; hence NEW in case of doubt.
    """
    if a.strip() == b.strip():
        return SentenceRelation.SAME
    found = contrast(a, b)
    if distance < thresholds.same_words and found.agrees:
        return SentenceRelation.SAME
    if distance < thresholds.update and found.replaces:
        return SentenceRelation.UPDATE
    return SentenceRelation.NEW
