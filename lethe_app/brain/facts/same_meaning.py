"""Rewordings of a fact: other words of the same meaning, and words that add nothing (`same_meaning.toml`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache

from lethe_app.brain.facts.comparison import is_same_subject, subject_words
from lethe_app.brain.text.fingerprint import compute_fingerprint, content_words
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.language_tables import load_table

_MIN_WORDS = 2
"""Fewest words of a fact that can say what another one says; one word is often part of another statement."""
_TOKEN = re.compile(r"[^\W\d][\w'’-]*|[^\w\s]")


def is_said_by(new: ExtractedFact, old: ExtractedFact) -> bool:
    """Return whether a known fact says all that a new one says, in words of the same meaning. Rules do not say better what a
    model says, and who does not like driving at night has not said that of driving.
    """
    words, known_words = _meanings(new), _meanings(old)
    is_negated = compute_fingerprint(new.fact).is_negated
    return (
        (new.made_by is MadeBy.RULES or old.made_by is not MadeBy.RULES)
        and len(words) >= _MIN_WORDS
        and is_same_subject(new, old)
        and is_negated == compute_fingerprint(old.fact).is_negated
        and (words == known_words or (words < known_words and not is_negated and _has_whole_phrases(old.fact, words)))
    )


def _has_whole_phrases(text: str, words: Collection[str]) -> bool:
    """Return whether these words are the verb of a fact and phrases without their beginnings at most: of “loves coffee ice
    cream”, “loves ice cream” is said, but neither “loves coffee” nor, with “wants to marry”, that somebody has married.
    """
    phrases: list[list[bool]] = [[]]
    for token in _TOKEN.findall(text)[1:]:
        if stems := content_words(token):
            phrases[-1].append(any(_table().get(stem, stem) in {*words, ""} for stem in stems))
        else:
            phrases.append([])
    stated = [phrase for phrase in phrases if phrase]
    return bool(stated) and stated[0][0] and all(phrase[-1] or not any(phrase) for phrase in stated)


def _meanings(fact: ExtractedFact) -> frozenset[str]:
    """Return one word for each meaning of the content words of a fact, without the name of its subject."""
    meanings, words = _table(), content_words(fact.fact) - content_words(" ".join(subject_words(fact)[:1]))
    return frozenset(meanings.get(word, word) for word in words) - {""}


@cache
def _table() -> Mapping[str, str]:
    """Return a word for the meaning of each word, as stems; an empty string for those without one of their own."""
    table = load_table("same_meaning")
    meanings = {stem: "" for word in table["emphasis"] for stem in content_words(word)}
    for group in table["same"]:
        meanings |= {stem: group[0] for word in group for stem in content_words(word)}
    return meanings
