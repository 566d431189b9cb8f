"""Lexical differences between two sentences that embeddings hardly notice: numbers, names, negation, exclusive values,
change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lethe_app.retrieval.query_terms import MONTHS, STOP_WORDS, cut, fold
from lethe_app.retrieval.time_expressions import WEEKDAYS

COUNTS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
SPELLED = {
    **{word: str(number) for number, word in enumerate(COUNTS) if word != "one"},
    **{word: f"{10 * number}" for number, word in enumerate(TENS, 3)},
    **{word: f"{number}th" for number, word in enumerate(ORDINALS, 2)},
    "twice": "2", "dozen": "12", "hundred": "100", "thousand": "1000", "million": "1000000", "half": "0.5",
}  # fmt: skip
"""Number words and their digits. “one”, “first” and “once” are left out, because they more often mean “a”, “at the start”
and “at some time”.
"""
NUMBER = re.compile(rf"\d+(?:[.,:]\d+)*(?:th)?|\b(?:{'|'.join(SPELLED)})\b")

DENIAL = re.compile(
    r"n['’]t\b|\b(?:no|not|cannot|never|nobody|none|nothing|nowhere|neither|nor|without|hardly|refuses?|lacks?|forbid(?:s|den)?)\b"
)
CHANGE = re.compile(
    r"\b(?:now|nowadays|no longer|any ?more|instead|after all|at last|finally|used to|turned out|former(?:ly)?|previously"
    r"|(?:is|are|feels?|sleeps?|works?|eats?|healthy|well|home) again|again[.!]?$|(?:is|are|came|gone) back"
    r"|(?:has|have|had|was|were|been|got) (?:\w+ly |been )?(?:moved|given up|stopped|switched|swapped|replaced|changed|become"
    r"|postponed|extended|cancelled|divorced|settled|repaired|fixed|sold|found|recovered|healed|regained|finished|completed"
    r"|opened|allowed|forgiven|made up|decided|dethroned|learned to|come to|called off|given birth|bought|left|ended|started"
    r"|begun)|became|quit|broke up|stopped|gave up|died|came (?:off|home))\b"
)
"""Wording of a sentence that says that something has taken the place of something else."""

LIKINGS = ("loves love likes enjoys enjoy adores", "hates hate dislikes dislike detests")
DAYTIMES = ("morning mornings", "noon", "afternoon afternoons", "evening evenings", "night nights", "midnight")
COLOURS = "red orange yellow green blue purple pink brown black white grey silver golden blond"
OPPOSITES = (
    "northern southern eastern western", "north south east west", "left right", "male female", "opens closes", "open closed",
    "single engaged married divorced widowed", "alive dead", "ill healthy", "lost found", "won lost", "friends enemies",
    "older younger", "before after", "always never", "daily weekly monthly yearly", "day week month year",
    "spring summer autumn winter", "vegetarian vegan",
)  # fmt: skip
VALUES = (WEEKDAYS, MONTHS, LIKINGS, DAYTIMES, COLOURS.split(), *(line.split() for line in OPPOSITES))
"""Groups of mutually exclusive words. An entry of several words lists forms of one value."""

RELATIVES = (
    "mother mum mom", "father dad", "sister", "brother", "daughter", "son", "grandmother gran", "grandfather grandpa", "aunt",
    "uncle", "cousin", "niece", "nephew", "wife", "husband", "girlfriend", "boyfriend", "boss", "colleague", "neighbour",
    "landlord", "teacher",
)  # fmt: skip
ANIMALS = ("cat cats", "dog dogs", "parrot", "rabbit rabbits", "hamster", "horse horses", "bird birds", "tortoise", "snake")
SUBJECTS = (RELATIVES, ANIMALS)
"""The same kind of groups for words that say whom or what a sentence is about."""
RELATED = frozenset(word for line in RELATIVES for word in line.split())

TURNED = re.compile(r"\bby (?=(?:the )?[A-Z])|\b(?:where|who|whose|whom|which|that)\b")
"""Marker of a passive or a relative clause, after which the names may come in another order."""
COMPARING = re.compile(r"\b(?:than|prefers?|rather|instead of)\b")
"""Comparison, whose two sides cannot be swapped without changing the meaning."""
OPENERS = frozenset({"every", "everybody", "everyone", "whenever", "today", "yesterday", "last", "next", "nobody", "being"})
"""Words that begin a sentence with a capital but are no names; words in -ing are treated alike."""
PLACING = frozenset({"in", "at", "on", "from", "near", "under"})
"""Prepositions after which a name is a place and not an actor."""
DETAIL = 0.5
"""Share of the other sentence's words below which a sentence counts as leaving something out."""
ALIKE = 0.35
"""Minimum share of common words for a sentence to replace another one."""
OWN_WORDS = 3
"""Maximum number of words that only one sentence has. With more, it states something else as well, although long sentences
have a small distance all the same.
"""


@dataclass(frozen=True)
class Contrast:
    """Lexical differences between two sentences. All fields but `change` are symmetric."""

    numbers: bool
    """The sequences of numbers differ."""
    other_numbers: bool
    """The sequences of numbers differ, and both sentences contain numbers."""
    names: bool
    """One sentence names somebody or something that the other does not."""
    roles: bool
    """The same names occur in another order, and the grammar does not explain it."""
    denial: bool
    """One sentence is negated and the other is not."""
    values: bool
    """Each has its own word of a group of mutually exclusive words: weekdays, colours, likings."""
    subjects: bool
    """Each is about another relative or animal, or only one is about a relative."""
    detail: bool
    """One sentence is much longer than the other."""
    exchanged: bool
    """They differ in exactly one word in the same place. Such a word is more often something else than a synonym."""
    loose: bool
    """One has more than `OWN_WORDS` words that the other lacks."""
    change: bool
    """The second sentence, and not the first, says that something has changed."""
    changes: bool
    """Exactly one of them says that something has changed."""
    theirs: bool
    """The first name in both is the same; in a sentence without a name, its first content word is compared."""
    shared: float
    """Share of content words that they have in common (Dice coefficient), 0 to 1."""

    @property
    def agrees(self) -> bool:
        """Return whether no difference speaks against both saying the same."""
        differ = self.numbers or self.names or self.roles or self.denial or self.values or self.subjects
        return not (differ or self.exchanged or self.detail or self.loose or self.changes)

    @property
    def replaces(self) -> bool:
        """Return whether the second sentence is about the same matter as the first and makes it untrue."""
        same_matter = self.theirs and self.shared >= ALIKE and not (self.roles or self.subjects or self.loose)
        return same_matter and (self.change or self.other_numbers or self.values or self.denial)


def contrast(first: str, second: str) -> Contrast:
    """Compare two sentences by their words. Only English is understood; in other languages only digits and names count."""
    low, lower = first.lower(), second.lower()
    line, other_line = stems(first), stems(second)
    words, others = set(line), set(other_line)
    counted, recounted = numbers(low), numbers(lower)
    became, becomes = bool(CHANGE.search(low)), bool(CHANGE.search(lower))
    return Contrast(
        numbers=counted != recounted,
        other_numbers=counted != recounted and bool(counted) and bool(recounted),
        names=others_named(first, second),
        roles=roles_changed(first, second),
        denial=bool(DENIAL.search(low)) != bool(DENIAL.search(lower)),
        values=excluded(low, lower, VALUES),
        subjects=excluded(low, lower, SUBJECTS) or has_relative(low) != has_relative(lower),
        detail=min(len(words), len(others)) < DETAIL * max(len(words), len(others)),
        exchanged=len(line) == len(other_line) and sum(one != other for one, other in zip(line, other_line, strict=True)) == 1,
        loose=max(len(words - others), len(others - words)) > OWN_WORDS,
        change=becomes and not became,
        changes=becomes != became,
        theirs=(named(first) or line)[:1] == (named(second) or other_line)[:1] != [],
        shared=2 * len(words & others) / max(1, len(words) + len(others)),
    )


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as digits, in order."""
    return [SPELLED.get(number, number) for number in NUMBER.findall(text)]


def stems(text: str) -> list[str]:
    """Return the stems of the content words in order."""
    folded = (fold(word) for word in cut(text))
    return [SPELLED.get(word) or stem(word) for word in folded if word not in STOP_WORDS]


def stem(word: str) -> str:
    """Strip a common English ending, so that “guards”, “guarded” and “guarding” become one stem."""
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            return word.removesuffix(ending)
    return word


def named(text: str) -> list[str]:
    """Return the distinct capitalised words that are no stop words, folded, in order. The first may not be a name but a
    sentence start.
    """
    return list(dict.fromkeys(fold(word) for word in cut(text) if word[:1].isupper() and fold(word) not in STOP_WORDS))


def others_named(first: str, second: str) -> bool:
    """Return whether either sentence names somebody whom the other does not. The first word counts as a name unless it can
    hardly be one.
    """
    return bool(unknown(first, second) or unknown(second, first))


def unknown(first: str, second: str) -> list[str]:
    """Return the names in the first sentence that the second does not contain in any form."""
    words, known = cut(first), {stem(fold(word)) for word in cut(second)}
    opening = fold(words[0]) if words else ""
    hardly = {opening} if opening in OPENERS or opening.endswith("ing") else set()
    return [name for name in named(first) if stem(name) not in known and name not in hardly]


def roles_changed(first: str, second: str) -> bool:
    """Return whether the names changed roles: “Lena lent Omar money” and “Omar lent Lena money”.

    “Omar was lent money by Lena” says the same as the first sentence and is recognised as passive.
    """
    if COMPARING.search(first) and COMPARING.search(second) and stems(first) != stems(second):
        return sorted(stems(first)) == sorted(stems(second))
    if bool(TURNED.search(first)) != bool(TURNED.search(second)):
        return False
    one, other = acting(first), acting(second)
    return [name for name in one if name in other] != [name for name in other if name in one]


def acting(text: str) -> list[str]:
    """Return the names in order, without those of places."""
    placed = {fold(word) for before, word in pairwise(cut(text)) if before.lower() in PLACING}
    return [name for name in named(text) if name not in placed]


def has_relative(text: str) -> bool:
    """Return whether the text mentions a relative, partner, boss or the like."""
    return not RELATED.isdisjoint(cut(text))


def excluded(first: str, second: str, groups: Sequence[Sequence[str]]) -> bool:
    """Return whether each text has its own member of one of the groups."""
    words, others = set(cut(first)), set(cut(second))
    for group in groups:
        mine = {member for member in group if not words.isdisjoint(member.split())}
        theirs = {member for member in group if not others.isdisjoint(member.split())}
        if mine - theirs and theirs - mine:
            return True
    return False
