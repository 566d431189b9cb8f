"""Decision, without a language model, whether a new fact repeats a known one, replaces it, or is new."""

from __future__ import annotations

from enum import StrEnum

from lethe_app.retrieval.calibration import Thresholds
from lethe_app.retrieval.contradictions import compare_sentences


class FactRelation(StrEnum):
    """Relation of a new fact to a known one, as judged by a model, the user or the rules."""

    SAME = "same"
    UPDATE = "update"
    """The known fact was true and has changed."""
    CONTRADICTION = "contradiction"
    """The known fact was never true. The rules below never return it."""
    NEW = "new"


def classify_relation(known: str, new: str, distance: float, thresholds: Thresholds) -> FactRelation:
    """Return the relation of the later sentence `new` to the known `known`, given the cosine distance of the plain texts; NEW
    if unsure.

    SAME needs a small distance and no lexical difference (`SentenceContrast.is_agreeing`), and is symmetric. UPDATE needs a
    distance at which the pair may be about the same thing, and a lexical sign that `new` makes `known` untrue
    (`SentenceContrast.is_replacing`): distance alone cannot separate “lives in Porto” from “likes Porto”. A wrong NEW costs a
    line, a wrong SAME loses a statement, and a wrong UPDATE hides what is still true; hence NEW in case of doubt.
    """
    if known.strip() == new.strip():
        return FactRelation.SAME
    comparison = compare_sentences(known, new)
    if distance < thresholds.same_words and comparison.is_agreeing:
        return FactRelation.SAME
    if distance < thresholds.update and comparison.is_replacing:
        return FactRelation.UPDATE
    return FactRelation.NEW
