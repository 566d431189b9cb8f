"""Grounding check: a fact or summary sentence may contain nothing that its sources do not contain."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from lethe_app.brain.dates.double_dates import ordinals_to_digits
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.dates.words import COUNT_DIGITS, MONTHS, SEASONS, WEEKDAYS
from lethe_app.retrieval.query_terms import STOP_WORDS, fold, split_words

ALLOWED_STEMS = frozenset(stem(word) for word in ("called", "named", "name", "themselves", "around", "alone", "old"))
"""Stems of words that a third-person sentence may add without adding content."""
_PERIODS = ("week", "weekend", "month", "year", "day", "morning", "afternoon", "evening", "night")
_TIME_STEMS = frozenset(stem(word) for names in (MONTHS, WEEKDAYS, SEASONS, _PERIODS) for word in names)
_RELATIVE_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:next|last|this|on|in|every)\b.{0,20}\b(?:week|weekend|month|year|night|"
    r"morning|"
    + "|".join((*WEEKDAYS, *SEASONS, *MONTHS, *(day[:3] for day in WEEKDAYS)))
    + r"|days?|weeks?|months?|years?)|just|recently)\b",
    re.IGNORECASE,
)
_PIECE_BREAK = re.compile(r"(?<=[.!?…])\s+|\n+|[,;:]\s|\s[-–—]+\s|\b(?:but|so|because|btw)\b|\band (?=(?:I|my|we)\b)")
_MONTH = re.compile(r"\b(?:" + "|".join(MONTHS) + r")\b", re.IGNORECASE)
_NUMBERED_DATE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH.pattern}|{_MONTH.pattern} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|no|none|nothing|nobody|without|cannot|neither|nor)\b|n't\b", re.IGNORECASE)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\Z")
_STOP_STEMS = frozenset(map(stem, STOP_WORDS))

_NEGATED_AUXILIARIES = frozenset(
    "doesn isn wasn hasn didn couldn wouldn won aren haven weren hadn cannot can shouldn ain d".split()  # noqa: SIM905
)


def is_grounded(fact_text: str, sources: Sequence[str], names: Collection[str]) -> bool:
    """Return whether every content word of the fact occurs in its sources, in some form, or belongs to one of the names.

    Dates may be new if a source contains a relative time (“yesterday”, “next Friday”). A negated fact must come from a
    negated sentence and an affirmative one from an affirmative sentence. A fact without content words of its own is not
    grounded.
    """
    source_pieces = [
        sentence
        for source in sources
        for sentence in _PIECE_BREAK.split(ordinals_to_digits(correct_spelling(source)))
        if sentence
    ]
    piece_stems = [set(_stems(sentence)) for sentence in source_pieces]
    name_stems = {stem(word) for name in names for word in split_words(name)}
    fact_stems = {word for word in _stems(fact_text) if word not in name_stems and word not in ALLOWED_STEMS}
    missing = fact_stems.difference(*piece_stems)
    if relative_pieces := [sentence for sentence in source_pieces if _RELATIVE_TIME.search(sentence)]:
        day_pattern = (
            r"(?!)" if all(map(_NUMBERED_DATE.search, relative_pieces)) else r"\d{1,2}"
        )  # a day given as a number does not move
        missing = {word for word in missing if not (word in _TIME_STEMS or re.fullmatch(rf"{day_pattern}|(?:19|20)\d\d", word))}
    if any(map(_MONTH.search, source_pieces)):  # the year of “in May” may have been added
        missing = {word for word in missing if not re.fullmatch(r"(?:19|20)\d\d", word)}
    if not fact_stems or missing:
        return False
    overlaps = [len(words & fact_stems) for words in piece_stems]
    closest_pieces = [sentence for sentence, count in zip(source_pieces, overlaps, strict=True) if count == max(overlaps)]
    is_negated = bool(_NEGATION.search(fact_text))
    return any(bool(_NEGATION.search(sentence)) == is_negated for sentence in closest_pieces)


def _stems(text: str) -> Iterable[str]:
    """Yield the content words in comparable form, small numbers as digits."""
    for word in split_words(text):
        low = fold(word)
        if low not in STOP_WORDS and low not in _NEGATED_AUXILIARIES and stem(low) not in _STOP_STEMS:
            yield COUNT_DIGITS.get(low) or _ORDINAL.sub("", stem(low))
