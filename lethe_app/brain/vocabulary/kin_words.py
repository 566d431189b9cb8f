"""Words for relatives, friends and pets: colloquial forms with their standard ones, and which pronoun can refer to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial

from lethe_app.brain.vocabulary.common_words import (
    FEELINGS,
    LIFE_EVENT_WORDS,
    NON_TOPIC_WORDS,
    RELATIVE_WORDS,
    TIME_WORDS,
    VERB_CUES,
)
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, is_adverb, is_past, third_person_form
from lethe_app.dates.words import MONTHS, WEEKDAYS
from lethe_app.language_tables import LazySet, lazy_words, load_table, load_words, table_pattern
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import fold

_MY_WORDS = frozenset(("my", "our", "me", "the"))
_ADJECTIVES_BEFORE_NAME = frozenset(("big", "little", "wee", "old", "young", "baby", "lil"))
_NAMES_LIKE_WORD_FORMS = lazy_words("names_like_forms")
_NAMES_ALSO_WORDS = lazy_words("names_also_words")
_pattern = partial(table_pattern, "relations")


def _words_no_names() -> frozenset[str]:
    lists = (STOP_WORDS, NON_TOPIC_WORDS, FEELINGS, LIFE_EVENT_WORDS, RELATIVE_WORDS, VERB_CUES, TIME_WORDS, BASE_VERBS)
    third_forms = map(third_person_form, BASE_VERBS)
    others = (*third_forms, *WEEKDAYS, *MONTHS, *load_words("not_names"))
    return frozenset(fold(word) for words in (*lists, others) for word in words)


_NOT_NAMES = LazySet(_words_no_names)


@cache
def _standard_words() -> Mapping[str, str]:
    """Return the standard word of each colloquial one, the longest first, so that “best mate” is not taken for “mate”."""
    words = {word: plain for plain, some in load_table("word_classes")["COLLOQUIAL"].items() for word in some}
    return {word: words[word] for word in sorted(words, key=len, reverse=True)}


def standardize_relations(text: str) -> str:
    """Replace colloquial words for relatives by standard ones: “the missus” by “my wife”, “me mam” by “my mother”."""
    replaced = _pattern("colloquial_relation").sub(_standardize_match, _pattern("relation_without_my").sub(r"my \g<who>", text))
    return _pattern("relation_with_the").sub(r"my \g<who>", replaced)


def _standardize_match(match: re.Match[str]) -> str:
    whose = match["whose"].lower()
    my_word = ("My" if match["whose"][0].isupper() else "my") if whose in _MY_WORDS else match["whose"]
    return f"{my_word} {_standard_words()[match['who'].lower()]}{chr(39) + 's' if match['of'] else ''}"


def standardize_role(role: str) -> str:
    """Return the standard form of a role: “best friend” for “bestie”, “dog” for “springer”. Adjectives that distinguish two
    relatives, such as “older”, stay.
    """
    role = role.lower().strip()
    for word, standard in _standard_words().items():
        if f" {role}".endswith(f" {word}"):
            role = role.removesuffix(word) + standard
            break
    for animal in ("dog", "cat", "snake"):
        if _pattern(f"ends_with_{animal}").search(role):
            return animal
    role = re.sub(
        r"\b(?:new|good|dear|great|crazy|beautiful|lovely|wee|other|old|black|white|elderly|favou?rite|ex) (?=\w)", "", role
    )
    return re.sub(r"\b(?:lil|baby|kid) (?=brother|sister)", "little ", role)


def is_own_relation(role: str) -> bool:
    """Return whether “a … called Tom” belongs to the speaker, such as a brother or a cat, and not a vet."""
    return not _pattern("ends_with_other_role").search(role.lower())


def possible_pronouns(relation: str) -> frozenset[str]:
    """Return which of “he” and “she” can refer to this relative or pet."""
    last_word = relation.rsplit(" ", 1)[-1]
    if _pattern("female").match(last_word):
        return frozenset(("she",))
    return frozenset(("he",)) if _pattern("male").match(last_word) else frozenset(("she", "he"))


def parse_name(word: str, *, is_certain: bool = False) -> str:
    """Return the word as a name, with capitals; empty if it is more likely an everyday word.

    A lowercase word counts as a name only if it is not known as a word. `is_certain` states that its position allows no other
    reading.
    """
    parts = word.strip(" '’").split()
    if not parts:
        return ""
    parts = parts[1:] if len(parts) > 1 and parts[0].lower() in _ADJECTIVES_BEFORE_NAME else parts
    last_word = parts[-1]
    folded = fold(last_word)
    is_also_word = folded in _NOT_NAMES and folded not in _NAMES_LIKE_WORD_FORMS
    if len(last_word) < 2 or (is_also_word and not (is_certain and last_word[0].isupper() and folded in _NAMES_ALSO_WORDS)):
        return ""
    is_word = folded not in _NAMES_LIKE_WORD_FORMS and (
        is_adverb(folded) or is_past(folded) or folded.endswith(("ing", "ness", "tion"))
    )
    if is_word and not last_word[0].isupper():
        return ""
    return " ".join(part if part[0].isupper() else part.capitalize() for part in parts)
