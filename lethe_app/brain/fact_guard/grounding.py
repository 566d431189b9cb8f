"""Grounding of a text in its sources: it may contain nothing that they do not contain."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from lethe_app.brain.languages.detection import function_words
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.dates.double_dates import ordinals_to_digits
from lethe_app.dates.words import COUNT_DIGITS, MONTH, MONTHS, SEASONS, WEEKDAYS
from lethe_app.language_tables import compile_table
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import SPACELESS, fold, split_words

ALLOWED_STEMS = frozenset(stem(word) for word in ("called", "named", "name", "themselves", "around", "alone", "old"))
"""Stems of words that a third-person sentence may add without adding content."""
NUMBER_DIGITS = COUNT_DIGITS | {"eleven": "11", "twelve": "12", "twenty": "20"}
_PERIODS = "week weekend month year day morning afternoon evening night"
_TIME_STEMS = frozenset(stem(word) for word in (*MONTHS, *WEEKDAYS, *SEASONS, *_PERIODS.split()))
_RELATIVE_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|just|recently|(?:next|last|this|on|in|every)\b.{0,20}\b(?:days?|weekend|"
    rf"(?:{'|'.join(_PERIODS.split())})s?|{'|'.join((*WEEKDAYS, *SEASONS, *MONTHS, *(day[:3] for day in WEEKDAYS)))}))\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_PIECE_BREAK = re.compile(r"(?<=[.!?…])\s+|\n+|[,;:]\s|\s[-–—]+\s|\b(?:but|so|because|btw)\b|\band (?=(?:I|my|we)\b)")
_MONTH = re.compile(rf"\b(?:{MONTH})\b", re.IGNORECASE)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_NUMBERED_DATE = re.compile(rf"\b{_DAY}(?: of)? {_MONTH.pattern}|{_MONTH.pattern} (?:the )?{_DAY}\b", re.IGNORECASE)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\Z")
_CJK_RUN = re.compile("[\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff]+")
"""Runs of Katakana and Han, the content words of Japanese."""
_NAME = re.compile(r"(?<![.!?…:“\"(*]\s)(?<!^)\b[A-Z][a-zà-ÿ]+")
"""Capitalised word that does not begin a sentence."""


def content_words(text: str, language: str = "en") -> set[str]:
    """Return the content words in comparable form: English ones as stems, small numbers as digits, in a script without spaces
    pairs of adjacent characters.
    """
    if SPACELESS.search(text):
        runs: list[str] = _CJK_RUN.findall(text)
        return {pair for run in runs for pair in ([left + right for left, right in pairwise(run)] or [run])}
    if language == "en":
        words = set(map(fold, split_words(text))) - STOP_WORDS - function_words("en")
        return {NUMBER_DIGITS.get(word) or _ORDINAL.sub("", stem(word)) for word in words}
    return set(map(fold, split_words(text))) - function_words(language)


def normalize_number(word: str) -> str:
    """Return a folded English word as digits if it is a small number, and the ordinal of a day without its ending."""
    return NUMBER_DIGITS.get(word) or NUMBER_DIGITS.get(word.removesuffix("s")) or _ORDINAL.sub("", word)


def is_same_word(word: str, other_word: str) -> bool:
    """Return whether two folded words are forms of the same word, such as “support” and “supportive”."""
    if word == other_word:
        return True
    min_length = min(len(word), len(other_word))
    prefix_length = next(
        (index for index, (left, right) in enumerate(zip(word, other_word, strict=False)) if left != right), min_length
    )
    return not word.isdigit() and prefix_length >= 4 and prefix_length >= 0.6 * max(len(word), len(other_word))


def count_shared_words(words: Collection[str], source_words: Collection[str]) -> int:
    """Return how many of the words occur in `source_words` in some form."""
    return sum(any(is_same_word(word, source_word) for source_word in source_words) for word in words)


def is_grounded(text: str, sources: Sequence[str], names: Collection[str]) -> bool:
    """Return whether every content word of an English sentence occurs in its sources, in some inflection, or belongs to one
    of the names.

    Dates may be new if a source contains a relative time (“yesterday”, “next Friday”). A negated sentence must come from a
    negated one and an affirmative from an affirmative. A sentence without content words of its own is not grounded.
    """
    pieces = [
        piece for source in sources for piece in _PIECE_BREAK.split(ordinals_to_digits(correct_spelling(source))) if piece
    ]
    piece_words = [content_words(piece) for piece in pieces]
    words = content_words(text) - {stem(word) for name in names for word in split_words(name)} - ALLOWED_STEMS
    missing = words.difference(*piece_words)
    relative_pieces = [piece for piece in pieces if _RELATIVE_TIME.search(piece)]
    if relative_pieces:
        missing -= _TIME_STEMS
    if relative_pieces and not all(map(_NUMBERED_DATE.search, relative_pieces)):  # a day given as a number does not move
        missing = {word for word in missing if not (word.isdigit() and len(word) <= 2)}
    if relative_pieces or any(map(_MONTH.search, pieces)):  # the year of “in May” may have been added
        missing = {word for word in missing if not _YEAR.fullmatch(word)}
    if not words or missing:
        return False
    negation = compile_table("claims", "negation")
    overlaps = [len(shared & words) for shared in piece_words]
    return any(
        bool(negation.search(piece)) == bool(negation.search(text))
        for piece, count in zip(pieces, overlaps, strict=True)
        if count == max(overlaps)
    )


def find_invented_words(text: str, sources: Sequence[str]) -> list[str]:
    """Return the names and numbers of `text` that occur in none of the sources, in order."""
    source_words = content_words("\n".join(sources))
    candidates = dict.fromkeys([*_NAME.findall(text), *re.findall(r"\d+", text)])
    return [word for word in candidates if not content_words(word) <= source_words]


def coverage(text: str, sources: Sequence[str]) -> float:
    """Return the share (0 to 1) of the content words of `text` that occur in the sources in some inflection; 0 without content
    words.
    """
    words = content_words(text)
    return len(words & content_words("\n".join(sources))) / len(words) if words else 0.0
