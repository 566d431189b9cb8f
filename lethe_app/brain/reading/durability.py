"""Lasting statements about the speaker (“I live in Porto”), told apart from momentary ones by the rows of a table."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache, lru_cache

from lethe_app.brain.vocabulary.verbs import is_adverb
from lethe_app.language_tables import compose, lazy_words, load_table, table_pattern, table_words, word_class

NOT_OCCUPATIONS = lazy_words("not_occupations")
"""Words that end like an occupation (-er, -or) and are none."""
MIN_LENGTH, MAX_LENGTH = 7, 180
"""Characters of a clause that can be a statement of its own."""
_CONTRACTIONS = (
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"'m\b", " am"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"'s been\b", " has been"),
    (r"'d(?= (?:really |also )?(?:love|like)\b)", " would"),
)
_MEANINGFUL_ADVERBS = frozenset(("never", "once", "first", "basically", "kinda", "sometimes", "since", "then"))
"""Adverbs that change the meaning of a clause and are therefore kept."""
_TIMED = re.compile(word_class("TIME"))
_UNDATED = re.compile(r"my (?:[\w-]+ )?birthday\b|i (?:was born|was raised|grew up|am from)\b")
"""Statements whose time needs no year."""
_OCCUPATION = re.compile(
    rf"i (?:am|was) (?:an?|the) (?P<noun>(?:[\w'-]+ ){{0,3}}?"
    rf"(?:only-child|{word_class('JOB')}|[a-z]+(?:er|or|ian|ess|ant|[iy]st)))"
    r"(?: (?:in|at|for|by|on|with|from|of|who|and) .+|, .+)?\Z"
)
_MODEST = re.compile(r"I(?:'m| am) (?:(?:only|just|merely|but|simply) an? |an? (?:poor|humble|simple|mere) )", re.IGNORECASE)
"""Modest self-descriptions such as “I am only a poor musician”, which belong to a played character far more often than to
the user.
"""
_ALMOST_HAPPENED = re.compile(r"\bI (?:almost|nearly|all but)\b(?! (?:never|always|only|exclusively|every))", re.IGNORECASE)
_RELATIVE_PRONOUN = re.compile(r"\b(?:he|she|they|(?:his|her|their)(?= [a-z]))\b")
_PLURAL_PRONOUN = re.compile(r"\b(?:we|our|ours|us)\b")
"""Pronouns that “My wife and I … our” explains itself."""


class Durability(Enum):
    """How a statement lasts."""

    STATE = "state"
    EVENT = "event"
    """A single event, whose date may be completed with a year."""


@lru_cache(maxsize=512)  # a clause is judged by patterns, judged generally, and given its attribute
def normalize_clause(clause: str) -> str:
    """Normalise a clause for the rows: lowercase, no contractions, no adverbs around its first verbs."""
    # In lowercase “IT” would be read as the pronoun.
    text = re.sub(r"\bIT\b", "computing", clause).lower().replace("only child", "only-child")
    for contraction, expansion in _CONTRACTIONS:
        text = re.sub(contraction, expansion, text)
    words = text.split()
    kept = [
        word for index, word in enumerate(words) if not (0 < index < 6 and is_adverb(word) and word not in _MEANINGFUL_ADVERBS)
    ]
    return " ".join(kept)


def find_durability(clause: str) -> Durability | None:
    """Return how a clause lasts as a statement about its speaker that is understood alone; None if it is none."""
    text = normalize_clause(clause)
    if not is_understood_alone(clause):
        return None
    if find_occupation(text):
        return Durability.STATE
    for pattern, durability in _rows(text.split(" ", 1)[0]):
        if pattern.match(text):
            return Durability.EVENT if _TIMED.search(text) and not _UNDATED.match(text) else durability
    return None


def find_occupation(text: str) -> str:
    """Return the noun by which a normalised clause says what the speaker is; empty if it does not."""
    match = _OCCUPATION.match(text)
    return match["noun"] if match and match["noun"].split()[-1] not in NOT_OCCUPATIONS else ""


def is_understood_alone(clause: str) -> bool:
    """Return whether a clause is complete, meant literally and certain, and refers to nothing outside of it."""
    text = normalize_clause(clause)
    if not MIN_LENGTH <= len(text) <= MAX_LENGTH or table_words("durable", "hedged").search(text):
        return False
    if table_pattern("durable", "incomplete").search(text) or table_pattern("durable", "missing_object").search(text):
        return False
    is_literal = not (_MODEST.match(clause) or _ALMOST_HAPPENED.search(clause) or is_figurative(clause))
    return is_literal and not _is_dangling(text)


def is_figurative(clause: str) -> bool:
    """Return whether a clause is a joke or an exaggeration."""
    is_joke = table_pattern("durable", "figurative").search(normalize_clause(clause))
    return bool(is_joke or table_pattern("durable", "exaggerated").search(clause))


@cache
def _rows(first_word: str) -> tuple[tuple[re.Pattern[str], Durability], ...]:
    """Return the rows for clauses that begin with “I”, with “my” or with another word."""
    table = load_table("durable")
    rows = [
        (row, durability)
        for key, durability in (("states", Durability.STATE), ("events", Durability.EVENT))
        for row in table[key]
    ]
    kind = first_word if first_word in {"i", "my"} else ""
    return tuple((re.compile(rf"(?:{compose(row)})\Z"), durability) for row, durability in rows if _first_word(row) == kind)


def _first_word(row: object) -> str:
    begin = compose(row) if isinstance(row, str) else compose(dict(row).get("before", ""))  # type: ignore[call-overload]
    return "i" if begin.startswith("i ") else "my" if begin.startswith("my ") else ""


def _is_dangling(text: str) -> bool:
    """Return whether a clause refers to something outside of it."""
    if text.startswith("my "):  # “my brother … his wife” explains itself
        text = _RELATIVE_PRONOUN.sub("", text)
        text = _PLURAL_PRONOUN.sub("", text) if " and i " in text else text
    return bool(table_words("durable", "dangling").search(text) or table_pattern("durable", "dangling_that").search(text))
