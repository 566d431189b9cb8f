"""Lexical differences between two sentences that embeddings hardly notice: numbers, names, negation, exclusive values,
change.

Only English is understood (`contradictions.toml`); in other languages only digits and names count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from lethe_app.dates.words import MONTHS, ORDINALS, SPELLED_NUMBERS, TENS, WEEKDAYS
from lethe_app.language_tables import compile_table, load_table
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import fold, split_words

SPELLED = {
    **{word: str(number) for number, word in enumerate(SPELLED_NUMBERS) if word != "one"},
    **{word: f"{10 * number}" for number, word in enumerate(TENS, 2)},
    **{word: f"{number}th" for number, word in enumerate(ORDINALS[1:12], 2)},
    "twice": "2", "dozen": "12", "hundred": "100", "thousand": "1000", "million": "1000000", "half": "0.5",
}  # fmt: skip
"""Number words and their digits. “one”, “first” and “once” are left out, because they more often mean “a”, “at the start”
and “at some time”.
"""
NUMBER = re.compile(rf"\d+(?:[.,:]\d+)*(?:th)?|\b(?:{'|'.join(SPELLED)})\b")
MIN_LENGTH_RATIO = 0.5
"""Share of the other sentence's words below which a sentence counts as leaving something out."""
MIN_SHARED_WORDS = 0.35
"""Minimum share of common words (Dice coefficient) for a sentence to replace another one."""
MAX_OWN_WORDS = 3
"""Maximum number of words that only one sentence has. With more, it states something else as well, although long sentences
have a small distance all the same.
"""
_TABLE = "contradictions"


@dataclass(frozen=True)
class SentenceContrast:
    """What the words of two sentences say about each other."""

    is_agreeing: bool
    """No difference speaks against both saying the same; it is symmetric."""
    is_replacing: bool
    """The second sentence is about the same matter as the first and makes it untrue."""


def compare_sentences(first: str, second: str) -> SentenceContrast:
    """Compare two sentences by their words."""
    first_lower, second_lower = first.lower(), second.lower()
    first_stems, second_stems = extract_stems(first), extract_stems(second)
    first_words, second_words = set(first_stems), set(second_stems)
    first_numbers, second_numbers = extract_numbers(first_lower), extract_numbers(second_lower)
    is_first_changed, is_second_changed = _matches("change", first_lower), _matches("change", second_lower)
    is_negated_differently = _matches("negation", first_lower) != _matches("negation", second_lower)
    has_other_values = (
        _has_exclusive_values(first_lower, second_lower, "values")
        # Numbers that only one sentence has are a detail.
        or (bool(first_numbers) and bool(second_numbers) and first_numbers != second_numbers)
    )
    is_of_somebody_else = (
        _has_exclusive_values(first_lower, second_lower, "subjects")
        or _has_relative(first_lower) != _has_relative(second_lower)
        or _has_role_change(first, second)
    )
    own_words = max(len(first_words - second_words), len(second_words - first_words))
    shorter, longer = sorted((len(first_words), len(second_words)))
    # One other word in the same place is more often something else than a synonym.
    has_one_substitution = len(first_stems) == len(second_stems) and sum(map(str.__ne__, first_stems, second_stems)) == 1
    is_agreeing = not (
        is_negated_differently
        or has_other_values
        or is_of_somebody_else
        or first_numbers != second_numbers
        or _find_unknown_names(first, second)
        or _find_unknown_names(second, first)
        or own_words > MAX_OWN_WORDS
        or shorter < MIN_LENGTH_RATIO * longer
        or has_one_substitution
        or is_first_changed != is_second_changed
    )
    is_same_matter = (
        (extract_names(first) or first_stems)[:1] == (extract_names(second) or second_stems)[:1] != []
        and 2 * len(first_words & second_words) >= MIN_SHARED_WORDS * max(1, len(first_words) + len(second_words))
        and own_words <= MAX_OWN_WORDS
        and not is_of_somebody_else
    )
    # “Can't eat peanuts” denies that peanuts are eaten, not that one is allergic to them.
    is_denied = is_negated_differently and (first_words <= second_words or second_words <= first_words)
    # “Doesn't work for Siemens any more” leaves “works for Bosch” true.
    denies_other = is_negated_differently and _matches("negation", second_lower) and bool(_find_unknown_names(second, first))
    is_changed = is_second_changed and not is_first_changed and not denies_other
    return SentenceContrast(is_agreeing, is_same_matter and (has_other_values or is_denied or is_changed))


def extract_numbers(text: str) -> list[str]:
    """Return the numbers of a text in lower case as digits, in order."""
    return [SPELLED.get(number, number) for number in NUMBER.findall(text)]


def extract_stems(text: str) -> list[str]:
    """Return the stems of the content words in order."""
    folded = (fold(word) for word in split_words(text))
    return [SPELLED.get(word) or stem(word) for word in folded if word not in STOP_WORDS]


def stem(word: str) -> str:
    """Strip a common English ending, so that “guards”, “guarded” and “guarding” become one stem."""
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            return word.removesuffix(ending)
    return word


def extract_names(text: str) -> list[str]:
    """Return the distinct capitalised words that are no stop words, folded, in order. The first may not be a name but a
    sentence start.
    """
    return list(dict.fromkeys(fold(word) for word in split_words(text) if word[:1].isupper() and fold(word) not in STOP_WORDS))


def _matches(key: str, text: str) -> bool:
    return compile_table(_TABLE, key).search(text) is not None


def _find_unknown_names(first: str, second: str) -> list[str]:
    """Return the names in the first sentence that the second does not contain in any form. The first word counts as a name
    unless it can hardly be one.
    """
    words, known = split_words(first), {stem(fold(word)) for word in split_words(second)}
    first_word = fold(words[0]) if words else ""
    is_no_name = first_word in load_table(_TABLE)["sentence_starters"] or first_word.endswith("ing")
    return [name for name in extract_names(first) if stem(name) not in known and not (is_no_name and name == first_word)]


def _has_role_change(first: str, second: str) -> bool:
    """Return whether the names changed roles: “Lena lent Omar money” and “Omar lent Lena money”.

    “Omar was lent money by Lena” says the same as the first sentence and is recognised as passive.
    """
    first_stems, second_stems = extract_stems(first), extract_stems(second)
    if _matches("comparing", first) and _matches("comparing", second) and first_stems != second_stems:
        return sorted(first_stems) == sorted(second_stems)
    if bool(_CLAUSE_MARKER.search(first)) != bool(_CLAUSE_MARKER.search(second)):
        return False
    first_names, second_names = _extract_actors(first), _extract_actors(second)
    return [name for name in first_names if name in second_names] != [name for name in second_names if name in first_names]


_CLAUSE_MARKER = re.compile(r"\bby (?=(?:the )?[A-Z])|\b(?:where|who|whose|whom|which|that)\b")
"""Marker of a passive or a relative clause, after which the names may come in another order."""


def _extract_actors(text: str) -> list[str]:
    """Return the names in order, without those of places."""
    words = split_words(text)
    places = {fold(word) for before, word in pairwise(words) if before.lower() in load_table(_TABLE)["place_prepositions"]}
    return [name for name in extract_names(text) if name not in places]


def _has_relative(text: str) -> bool:
    """Return whether the text mentions a relative, partner, boss or the like."""
    words = set(split_words(text))
    return any(words.intersection(member) for member in _exclusive_groups("subjects")[0])


@cache
def _exclusive_groups(kind: str) -> list[list[frozenset[str]]]:
    """Return the groups of mutually exclusive values of a kind; each value is the set of its forms."""
    groups = [[frozenset(value.split()) for value in group] for group in load_table(_TABLE)[kind]]
    return groups if kind == "subjects" else [*groups, *([frozenset({name}) for name in names] for names in (WEEKDAYS, MONTHS))]


def _has_exclusive_values(first: str, second: str, kind: str) -> bool:
    """Return whether each text has its own value of one of the groups."""
    first_words, second_words = set(split_words(first)), set(split_words(second))
    for group in _exclusive_groups(kind):
        first_values = {value for value in group if not first_words.isdisjoint(value)}
        second_values = {value for value in group if not second_words.isdisjoint(value)}
        if first_values - second_values and second_values - first_values:
            return True
    return False
