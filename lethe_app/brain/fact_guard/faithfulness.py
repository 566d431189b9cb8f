"""Faithfulness of a summary: invented names and numbers, and the share of its words that occur in the sources."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.brain.vocabulary.stems import stem
from lethe_app.dates.words import COUNT_DIGITS
from lethe_app.retrieval.query_terms import STOP_WORDS, fold, split_words

_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?…:“\"(*]\s)(?<!^)\b[A-Z][a-zà-ÿ]+")
"""Capitalised word that does not begin a sentence."""


def find_invented_words(text: str, sources: Sequence[str]) -> list[str]:
    """Return the names and numbers of `text` that occur in none of the sources, in order."""
    source_words = {word for source in sources for word in _content_stems(source)}
    checked_words = [*_NAME.findall(text), *_NUMBER.findall(text)]
    return [
        word
        for word in dict.fromkeys(checked_words)
        if _content_stems(word) and not source_words.issuperset(_content_stems(word))
    ]


def coverage(text: str, sources: Sequence[str]) -> float:
    """Return the share (0 to 1) of the content words of `text` that occur in the sources in some form; 0 without content
    words.
    """
    source_words = {word for source in sources for word in _content_stems(source)}
    text_words = set(_content_stems(text))
    return len(text_words & source_words) / len(text_words) if text_words else 0.0


def _content_stems(text: str) -> list[str]:
    """Return the stems of the content words, small numbers as digits."""
    words = [fold(word) for word in split_words(text)]
    return [COUNT_DIGITS.get(word) or stem(word) for word in words if word not in STOP_WORDS]
