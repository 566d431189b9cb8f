"""The words of a question that can lead to a memory, and texts made ready to be found by words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can could did do does doing don
    during each for from further get got had has have having he her here hers him his how i if in into is it its itself just
    let ll m me more most my no not of off on once only or our out over own re s same she should so some such t than that the
    their theirs them then there these they this those through to too under until up us very ve was we were what when where
    which while who whom whose why will with would you your yours
    """.split()  # noqa: SIM905 - a list of a hundred quoted words cannot be read
)
"""English words that stand in every conversation and so lead nowhere."""

WORD = re.compile(r"[^\W_]+")
SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
)
"""Characters of scripts that write without spaces: Thai, Lao, Burmese, Khmer, Kana, Han."""
MOST_WORDS = 24
"""Of a long message only so many different words are looked up, the longest ones."""


@dataclass(frozen=True)
class Question:
    """What someone said, as words that may lead somewhere."""

    text: str
    words: tuple[str, ...]
    """Folded, without stop words and repetitions, in the order in which they were said."""
    neighbours: tuple[tuple[int, int], ...]
    """Pairs of `words`, by position, that stood side by side."""
    names: frozenset[str]
    """Words written with a capital inside the sentence, folded: most likely somebody's or some place's name."""


def fold(text: str) -> str:
    """Lower case without accents, so that “Zoë” is “zoe”."""
    plain = unicodedata.normalize("NFKD", text).casefold()  # both, twice: each may leave something for the other
    decomposed = unicodedata.normalize("NFKD", plain).casefold()
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def cut(text: str) -> list[str]:
    """The words of a text, as they are spelled; every character of a spaceless script is one."""
    return WORD.findall(SPACELESS.sub(r" \g<0> ", text))


def question(text: str) -> Question:
    """Take a text apart. Where nothing but stop words was said, nothing leads anywhere."""
    spelled = [word for word in cut(text) if fold(word) not in STOP_WORDS]
    folded = [fold(word) for word in spelled]
    kept = sorted(sorted(set(folded), key=lambda word: -len(word))[:MOST_WORDS], key=folded.index)
    place = {word: number for number, word in enumerate(kept)}
    pairs = dict.fromkeys(
        (place[left], place[right]) for left, right in pairwise(folded) if left != right and left in place and right in place
    )
    first = WORD.search(text)
    names = {fold(word) for word in spelled if word[:1].isupper()} - ({fold(first[0])} if first else set())
    return Question(text, tuple(kept), tuple(pairs), frozenset(names))


def searchable(text: str, when: datetime | None = None) -> str:
    """The text as the word index gets it: with its day in words, and spaces where its script has none."""
    spaced = SPACELESS.sub(r" \g<0> ", text.replace("\0", " "))
    return f"({day(when)}) {spaced}" if when else spaced


def day(when: datetime) -> str:
    """Such as “8 May, 2023”, whatever the language of the system."""
    return f"{when.day} {MONTHS[when.month - 1].capitalize()}, {when.year}"


MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
