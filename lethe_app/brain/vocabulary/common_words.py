"""Word lists: filler words, feelings, life events, relatives and times for summaries, and those that the user may add to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from lethe_app.language_tables import LazySet, languages_with, lazy_words, load_words
from lethe_app.retrieval.query_terms import STOP_WORDS


def read_lists(folders: Iterable[Path], name: str) -> Iterator[str]:
    """Yield the texts of all lists with that name prefix in these folders, such as `praise.en.txt` and `praise.de.txt`;
    unreadable files are skipped.
    """
    for path in sorted(path for folder in folders for path in folder.glob(f"{name}*.txt")):
        with suppress(OSError, UnicodeDecodeError):
            # A byte order mark, which some editors write, must not become part of the first entry.
            yield path.read_text(encoding="utf-8-sig")


def _non_topic_words() -> frozenset[str]:
    forms = (form for verb in load_words("common_verbs") for form in _inflect(verb))
    return frozenset((*STOP_WORDS, *load_words("filler_words"), *forms))


def _inflect(verb: str) -> set[str]:
    """Return the regular inflections of a verb, with doubled and plain consonant. A form that does not exist does no harm
    here.
    """
    if verb.endswith("ee"):
        return {verb, f"{verb}s", f"{verb}d", f"{verb}ing"}
    if verb.endswith("e"):
        return {verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"}
    if verb.endswith("y") and verb[-2] not in "aeou":
        return {verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"}
    return {verb, f"{verb}s", f"{verb}es", f"{verb}ed", f"{verb}ing", f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed"}


DETERMINERS = lazy_words("determiners")
VERB_CUES = lazy_words("verb_cues")
FEELINGS = lazy_words("feelings")
LIFE_EVENT_WORDS = lazy_words("life_events")
RELATIVE_WORDS = lazy_words("relatives")
TIME_WORDS = lazy_words("time_words")
FOREIGN_STOP_WORDS = LazySet(
    lambda: frozenset().union(*(load_words("stop_words", code) for code in languages_with("stop_words.txt") if code != "en"))
)
"""Stop words of all languages but English."""
NON_TOPIC_WORDS = LazySet(_non_topic_words)
"""English words that are never the topic of a conversation."""
LIFE_EVENT_PAIRS = LazySet(lambda: frozenset(tuple(pair.split()) for pair in load_words("life_event_pairs")))
"""Pairs of adjacent words that name a life event or ask to be remembered."""
