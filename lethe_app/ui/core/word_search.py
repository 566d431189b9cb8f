"""Search for actions and settings by the words a user would type: titles, synonyms, descriptions and misspellings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

from lethe_app.searchable_text import fold

MIN_FUZZY_LENGTH = 4
"""Minimum letters of a typed word that may be misspelled; shorter words resemble too many others."""
MIN_SIMILARITY = 0.78
"""Minimum ratio of equal letters (difflib) of a typed word and the word it stands for: “temprature”, “chracter”, “memry”."""

UNIMPORTANT_WORDS = frozenset(
    {
        "a", "about", "an", "and", "are", "at", "be", "by", "can", "do", "does", "for", "from", "how", "i", "in",
        "is", "it", "its", "me", "my", "of", "on", "or", "the", "this", "that", "to", "what", "where", "with", "you",
        "he", "her", "him", "make", "she", "so", "they", "up", "want", "when", "who", "why", "will",
    }
)  # fmt: skip
"""English words of a query that are left out where the whole query matches nothing."""

ENDINGS = ("s", "es", "ed", "ing")
"""Endings without which a word is looked up as well, where no item matches all words."""

DESCRIPTION_RANK = 6
"""Rank of a text whose description matches, but neither its title nor its synonyms."""


@dataclass(frozen=True)
class SearchText:
    """Texts of an action or setting that a search looks through."""

    title: str
    terms: str = ""
    """Synonyms from other programs, separated by commas."""
    description: str = ""


Item = TypeVar("Item")


def rank_items(items: Sequence[tuple[Item, SearchText]], query: str) -> list[Item]:
    """Return the items that match the query, best first and otherwise in the given order; all without words.

    Only if nothing matches all words as they are typed, unimportant words are left out, then misspelled words are looked up,
    and at last the items are returned that match the most words.
    """
    words = split_words(query)
    if not words:
        return [item for item, _text in items]
    important = [word for word in words if word not in UNIMPORTANT_WORDS] or words
    attempts = ((rank_text, words), (rank_text, important), (rank_misspelled, important), (rank_partly, important))
    found = (_sort_by(rank, items, sought) for rank, sought in attempts)
    return next((matches for matches in found if matches), [])


def _sort_by(
    rank_item: Callable[[SearchText, Sequence[str]], float | None],
    items: Sequence[tuple[Item, SearchText]],
    words: Sequence[str],
) -> list[Item]:
    ranks = [(rank_item(text, words), index) for index, (_item, text) in enumerate(items)]
    return [items[index][0] for _rank, index in sorted((rank, index) for rank, index in ranks if rank is not None)]


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without apostrophes and punctuation."""
    kept = "".join(letter if letter.isalnum() else "" if letter in "'’" else " " for letter in fold(text))
    return kept.split()


def rank_text(text: SearchText, words: Sequence[str]) -> int | None:
    """Return how well a text matches all words, from 0 to `DESCRIPTION_RANK`; None if one of them does not occur."""
    title, terms = split_words(text.title), [split_words(term) for term in text.terms.split(",")]
    known = [*title, *(word for term in terms for word in term)]
    matches = (
        title == list(words),
        list(words) in terms,
        _has_prefixes(title, words),
        any(_has_prefixes(term, words) for term in terms),
        _has_prefixes(known, words),
        all(len(word) > 2 and any(word in other for other in known) for word in words),
        _has_prefixes([*known, *split_words(text.description)], words),
    )
    return next((rank for rank, is_match in enumerate(matches) if is_match), None)


def is_description_match(text: SearchText, query: str) -> bool:
    """Return whether a query matches the description only."""
    return rank_text(text, split_words(query)) == DESCRIPTION_RANK


def rank_misspelled(text: SearchText, words: Sequence[str]) -> float | None:
    """Return the distance (0 to 1) of the least similar word from title and synonyms; None if one resembles none of them."""
    known = split_words(f"{text.title} {text.terms}")
    similarities = [max((_similarity(word, other) for other in known), default=0.0) for word in words]
    lowest = min(similarities, default=0.0)
    return 1.0 - lowest if lowest >= MIN_SIMILARITY else None


def rank_partly(text: SearchText, words: Sequence[str]) -> float | None:
    """Return the rank of a text that matches some of several words: one more matched word outweighs any better match; None if
    it matches none.
    """
    ranks = [
        min((rank for form in _shorter_forms(word) if (rank := rank_text(text, [form])) is not None), default=None)
        for word in words
    ]
    found = [rank for rank in ranks if rank is not None]
    return (len(words) - len(found)) * (DESCRIPTION_RANK + 1) + min(found) if found else None


def _shorter_forms(word: str) -> list[str]:
    """Return a word with and without an English ending: “repeating” is found by “repeat”."""
    return [word, *(word.removesuffix(ending) for ending in ENDINGS if word.endswith(ending) and len(word) - len(ending) >= 4)]


def _has_prefixes(known: Sequence[str], words: Sequence[str]) -> bool:
    return all(any(other.startswith(word) for other in known) for word in words)


def _similarity(word: str, other: str) -> float:
    """Return 1 for a word that begins another, else the ratio of equal letters; 0 if the word is too short to compare."""
    if other.startswith(word):
        return 1.0
    if len(word) < MIN_FUZZY_LENGTH or abs(len(word) - len(other)) > 3:
        return 0.0
    return SequenceMatcher(None, word, other).ratio()
