"""Lexical differences between two sentences that embeddings hardly notice: numbers, names, negation, exclusive values,
change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lethe_app.dates.words import MONTHS, ORDINALS, SPELLED_NUMBERS, TENS, WEEKDAYS
from lethe_app.retrieval.query_terms import STOP_WORDS, fold, split_words

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

NEGATION = re.compile(
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

CLAUSE_MARKER = re.compile(r"\bby (?=(?:the )?[A-Z])|\b(?:where|who|whose|whom|which|that)\b")
"""Marker of a passive or a relative clause, after which the names may come in another order."""
COMPARING = re.compile(r"\b(?:than|prefers?|rather|instead of)\b")
"""Comparison, whose two sides cannot be swapped without changing the meaning."""
SENTENCE_STARTERS = frozenset(
    {"every", "everybody", "everyone", "whenever", "today", "yesterday", "last", "next", "nobody", "being"}
)
"""Words that begin a sentence with a capital but are no names; words in -ing are treated alike."""
PLACE_PREPOSITIONS = frozenset({"in", "at", "on", "from", "near", "under"})
"""Prepositions after which a name is a place and not an actor."""
MIN_LENGTH_RATIO = 0.5
"""Share of the other sentence's words below which a sentence counts as leaving something out."""
MIN_SHARED_WORDS = 0.35
"""Minimum share of common words for a sentence to replace another one."""
MAX_OWN_WORDS = 3
"""Maximum number of words that only one sentence has. With more, it states something else as well, although long sentences
have a small distance all the same.
"""


@dataclass(frozen=True)
class SentenceContrast:
    """Lexical differences between two sentences. All fields but `is_second_changed` are symmetric."""

    numbers: bool
    """The sequences of numbers differ."""
    other_numbers: bool
    """The sequences of numbers differ, and both sentences contain numbers."""
    names: bool
    """One sentence names somebody or something that the other does not."""
    roles: bool
    """The same names occur in another order, and the grammar does not explain it."""
    negation: bool
    """One sentence is negated and the other is not."""
    values: bool
    """Each has its own word of a group of mutually exclusive words: weekdays, colours, likings."""
    subjects: bool
    """Each is about another relative or animal, or only one is about a relative."""
    detail: bool
    """One sentence is much longer than the other."""
    has_one_substitution: bool
    """They differ in exactly one word in the same place. Such a word is more often something else than a synonym."""
    has_extra_words: bool
    """One has more than `MAX_OWN_WORDS` words that the other lacks."""
    is_second_changed: bool
    """The second sentence, and not the first, says that something has changed."""
    is_one_changed: bool
    """Exactly one of them says that something has changed."""
    has_same_subject: bool
    """The first name in both is the same; in a sentence without a name, its first content word is compared."""
    word_overlap: float
    """Share of content words that they have in common (Dice coefficient), 0 to 1."""

    @property
    def is_agreeing(self) -> bool:
        """Return whether no difference speaks against both saying the same."""
        differ = self.numbers or self.names or self.roles or self.negation or self.values or self.subjects
        return not (differ or self.has_one_substitution or self.detail or self.has_extra_words or self.is_one_changed)

    @property
    def is_replacing(self) -> bool:
        """Return whether the second sentence is about the same matter as the first and makes it untrue."""
        same_matter = (
            self.has_same_subject
            and self.word_overlap >= MIN_SHARED_WORDS
            and not (self.roles or self.subjects or self.has_extra_words)
        )
        return same_matter and (self.is_second_changed or self.other_numbers or self.values or self.negation)


def compare_sentences(first: str, second: str) -> SentenceContrast:
    """Compare two sentences by their words. Only English is understood; in other languages only digits and names count."""
    first_lower, second_lower = first.lower(), second.lower()
    first_stems, second_stems = extract_stems(first), extract_stems(second)
    first_words, second_words = set(first_stems), set(second_stems)
    first_numbers, second_numbers = extract_numbers(first_lower), extract_numbers(second_lower)
    has_first_changed, has_second_changed = bool(CHANGE.search(first_lower)), bool(CHANGE.search(second_lower))
    return SentenceContrast(
        numbers=first_numbers != second_numbers,
        other_numbers=first_numbers != second_numbers and bool(first_numbers) and bool(second_numbers),
        names=has_other_names(first, second),
        roles=has_role_change(first, second),
        negation=bool(NEGATION.search(first_lower)) != bool(NEGATION.search(second_lower)),
        values=has_exclusive_values(first_lower, second_lower, VALUES),
        subjects=has_exclusive_values(first_lower, second_lower, SUBJECTS)
        or has_relative(first_lower) != has_relative(second_lower),
        detail=min(len(first_words), len(second_words)) < MIN_LENGTH_RATIO * max(len(first_words), len(second_words)),
        has_one_substitution=len(first_stems) == len(second_stems)
        and sum(one != other for one, other in zip(first_stems, second_stems, strict=True)) == 1,
        has_extra_words=max(len(first_words - second_words), len(second_words - first_words)) > MAX_OWN_WORDS,
        is_second_changed=has_second_changed and not has_first_changed,
        is_one_changed=has_second_changed != has_first_changed,
        has_same_subject=(extract_names(first) or first_stems)[:1] == (extract_names(second) or second_stems)[:1] != [],
        word_overlap=2 * len(first_words & second_words) / max(1, len(first_words) + len(second_words)),
    )


def extract_numbers(text: str) -> list[str]:
    """Return the numbers of a text as digits, in order."""
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


def has_other_names(first: str, second: str) -> bool:
    """Return whether either sentence names somebody whom the other does not. The first word counts as a name unless it can
    hardly be one.
    """
    return bool(find_unknown_names(first, second) or find_unknown_names(second, first))


def find_unknown_names(first: str, second: str) -> list[str]:
    """Return the names in the first sentence that the second does not contain in any form."""
    words, known = split_words(first), {stem(fold(word)) for word in split_words(second)}
    first_word = fold(words[0]) if words else ""
    not_names = {first_word} if first_word in SENTENCE_STARTERS or first_word.endswith("ing") else set()
    return [name for name in extract_names(first) if stem(name) not in known and name not in not_names]


def has_role_change(first: str, second: str) -> bool:
    """Return whether the names changed roles: “Lena lent Omar money” and “Omar lent Lena money”.

    “Omar was lent money by Lena” says the same as the first sentence and is recognised as passive.
    """
    if COMPARING.search(first) and COMPARING.search(second) and extract_stems(first) != extract_stems(second):
        return sorted(extract_stems(first)) == sorted(extract_stems(second))
    if bool(CLAUSE_MARKER.search(first)) != bool(CLAUSE_MARKER.search(second)):
        return False
    first_names, second_names = extract_actors(first), extract_actors(second)
    return [name for name in first_names if name in second_names] != [name for name in second_names if name in first_names]


def extract_actors(text: str) -> list[str]:
    """Return the names in order, without those of places."""
    place_names = {fold(word) for before, word in pairwise(split_words(text)) if before.lower() in PLACE_PREPOSITIONS}
    return [name for name in extract_names(text) if name not in place_names]


def has_relative(text: str) -> bool:
    """Return whether the text mentions a relative, partner, boss or the like."""
    return not RELATED.isdisjoint(split_words(text))


def has_exclusive_values(first: str, second: str, groups: Sequence[Sequence[str]]) -> bool:
    """Return whether each text has its own member of one of the groups."""
    first_words, second_words = set(split_words(first)), set(split_words(second))
    for group in groups:
        first_members = {member for member in group if not first_words.isdisjoint(member.split())}
        second_members = {member for member in group if not second_words.isdisjoint(member.split())}
        if first_members - second_members and second_members - first_members:
            return True
    return False
