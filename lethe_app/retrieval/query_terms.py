"""Words of a query that can lead to a memory, and the preparation of texts for the full-text index."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from lethe_app.domain.clock import MONTHS
from lethe_app.language_tables import lazy_words
from lethe_app.searchable_text import HANGUL, INDEXED_SINGLY, WORD, fold, index_text, split_words

STOP_WORDS = lazy_words("stop_words")
"""English words that occur in every conversation and therefore do not discriminate."""
EVERYDAY_WORDS = lazy_words("everyday_words")
"""English words that occur in about every second conversation: in a young memory they only seem to be rare."""

LIST_NUMBER = re.compile(r"(?:^|(?<=\s))\(?\d{1,2}[.):](?=\s)")
"""Number of an item of a list."""
NEGATED_VERB = re.compile(r"\b[a-z]+n['’]t\b", re.IGNORECASE)
"""Negated auxiliary verbs. Split at the apostrophe, “won” and “haven” would look like content words."""
HIRAGANA = re.compile("[\u3040-\u309f]")
ARTICLES = lazy_words("articles")
PET_ENDING = re.compile(r"([bcdfgklmnprstvz]?)\1(?:ie|ey|y|i)$")
"""Ending of pet forms such as “Debbie” and “Tommy”, with the doubled consonant before it."""
MAX_TERMS = 24
"""Distinct words of a long query that are looked up, longest first."""


@dataclass(frozen=True)
class QueryTerms:
    """Terms of a query, ready for the full-text index."""

    text: str
    words: tuple[str, ...]
    """Folded words without stop words and repetitions, in order of occurrence."""
    lookups: tuple[str, ...]
    """The words in the form in which the full-text index is queried."""
    names: frozenset[str]
    """Folded words that are capitalised inside the sentence, most likely names."""


def parse_query(text: str, participants: Collection[str] = ()) -> QueryTerms:
    """Parse a query into terms. A query of stop words only has none.

    The names of participants in `participants` are left out: nearly every memory is about them, so they do not discriminate.
    """
    spelled = _spelled_words(text, participants)
    kept = _longest_words(spelled)
    # The first word of a text is capitalised in any case and therefore no evidence of a name.
    first = WORD.search(text)
    names = {folded for folded, word in spelled if word[:1].isupper()} - ({fold(first[0])} if first else set())
    return QueryTerms(text, tuple(kept), tuple(map(index_text, kept)), frozenset(names))


def query_words(text: str, participants: Collection[str] = ()) -> list[str]:
    """Return the `words` of `parse_query`, in less time than the whole."""
    return _longest_words(_spelled_words(text, participants))


def _spelled_words(text: str, participants: Collection[str]) -> list[tuple[str, str]]:
    """Return the words of a text without stop words, each folded and as spelled."""
    text = LIST_NUMBER.sub(" ", NEGATED_VERB.sub(" ", text))
    folded_words = ((fold(word), word) for word in _extract_terms(text, participants))
    return [(folded, word) for folded, word in folded_words if folded not in STOP_WORDS]


def _longest_words(spelled: Sequence[tuple[str, str]]) -> list[str]:
    """Return the folded words without repetitions, in order of occurrence; of too many, the longest."""
    distinct = dict.fromkeys(folded for folded, _word in spelled)
    if len(distinct) <= MAX_TERMS:
        return list(distinct)
    longest = set(sorted(distinct, key=len, reverse=True)[:MAX_TERMS])
    return [word for word in distinct if word in longest]


def strip_addressing(text: str, participants: Collection[str]) -> str:
    """Remove the names of those in `participants` where they address somebody, before punctuation or at the end: “Are you
    there, Mira?”.

    The text is returned unchanged if nothing else is left.
    """
    names = "|".join(re.escape(name.strip()) for name in sorted(participants, key=len, reverse=True) if name.strip())
    if not names:
        return text
    remaining = re.sub(rf"(?:,\s*)?(?<!\w)(?:{names})(?=\s*(?:[^\w\s'’]|$))[,\s]*", " ", text, flags=re.IGNORECASE).strip()
    return remaining or text


def _without_names(words: list[str], participants: Collection[str]) -> list[str]:
    """Leave out the names of participants and their short forms.

    Any part of a name counts, unless its script has no spaces, where only the whole name does.
    """
    parts = [tuple(map(fold, split_words(name))) for name in participants]
    names = {
        one for whole in parts for one in ([whole] if INDEXED_SINGLY.search("".join(whole)) else [(part,) for part in whole])
    }
    if not names:
        return words
    folded, kept, index = [fold(word) for word in words], list[str](), 0
    while index < len(words):
        length = max((len(name) for name in names if tuple(folded[index : index + len(name)]) == name), default=0)
        if length == 0 and any(_is_short_for(words[index], name[0]) for name in names if len(name) == 1):
            length = 1
        if length == 0 or (length == 1 and not _is_name(words[index], folded[index - 1] if index else "")):
            kept.append(words[index])
            length = 1
        index += length
    return kept


def _is_short_for(word: str, name: str) -> bool:
    """Return whether a word is the beginning of a name, as “Mel” of Melanie, or its pet form, as “Debbie” of Deborah.

    `name` is folded. Short forms must be capitalised and must not be everyday words.
    """
    folded = fold(word)
    if not word[:1].isupper() or folded in EVERYDAY_WORDS:
        return False
    stem = PET_ENDING.sub(r"\1", folded)
    return len(stem) > 1 and (name.startswith(folded) or (len(stem) > 2 and name.startswith(stem)))


def _is_name(word: str, previous_word: str) -> bool:
    """Return whether a word spelled like a participant's name means the participant. Hasty writers use lower case for names."""
    return word[:1].isupper() or (previous_word not in ARTICLES and fold(word) not in EVERYDAY_WORDS)


def _extract_terms(text: str, participants: Collection[str]) -> list[str]:
    """Return the words of a query as spelled; for spaceless scripts, pairs of neighbouring characters.

    A pair approximates a word, because there is no dictionary for segmentation. A single character counts where it stands
    alone; hiragana (particles and endings) is dropped.
    """
    words = split_words(text)
    if HANGUL.search(text):  # no pair across a space; an empty word marks it
        words = [word for part in text.split() for word in (*split_words(part), "")]
    words = _without_names(words, participants)
    if text.isascii() or not INDEXED_SINGLY.search(text):
        return words
    terms: list[str] = []
    run = ""
    for word in [*words, ""]:
        if word and INDEXED_SINGLY.fullmatch(word) and not HIRAGANA.fullmatch(word):
            run += word
            continue
        terms += [run[index : index + 2] for index in range(max(1, len(run) - 1))] if run else []
        run = ""
        if word and not HIRAGANA.fullmatch(word):
            terms.append(word)
    return terms


def to_searchable(text: str, moment: datetime | None = None) -> str:
    """Return the text as the full-text index stores it, preceded by its date in words."""
    text = text.replace("\0", " ")
    return index_text(f"({format_day(moment)}) {text}" if moment else text)


def format_day(moment: datetime) -> str:
    """Return a date such as “8 May, 2023”, independent of the system locale."""
    return f"{moment.day} {MONTHS[moment.month - 1]}, {moment.year}"
