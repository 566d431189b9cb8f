"""Which notebook a message is about, by its words and by how near it lies to their lines; small talk is about none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lethe_app.brain.notebooks.document import Notebook
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.retrieval.query_terms import EVERYDAY, question

IN_TITLE, IN_LINES = 2.0, 1.0
"""What a word of the message is worth that stands there, and in no other notebook."""
NEAREST, NEAR_BY = 1.0, 1.0
"""What it is worth that one line is as near as a memory whose moment this is; and that several are as near as memories are."""
SEVERAL = 3
LEAST_SAID = 2
"""Words that carry a message; what one of them means, as in “I'm sleepy”, lies near to many a line by chance."""
ENOUGH = 2.0
"""From which on a message is about a notebook."""
CLEARLY = 1.5
"""By so much another notebook must be ahead to take the place of the one that is open."""
LONG_MESSAGE = 12
"""Words; in a longer one more of them are somewhere by chance."""


_REFERS = re.compile(
    r"\b(?:he|she|they|it|him|her|them|his|their|that one|those)\b(?!')|^\W*(?:yes|yeah|yep|no|nope|sure|of course|maybe|"
    r"please|and|then|"
    r"but|why|which|how (?:long|much|many|often))\b",
    re.IGNORECASE,
)
"""Refers to what was said before, or answers it."""


@dataclass(frozen=True)
class DistanceLimits:
    """Cosine distances, for the embedder that is loaded."""

    nearest: float
    near_by: float


@dataclass(frozen=True)
class NotebookSigns:
    """What speaks for one notebook."""

    words: float = 0.0
    shared: tuple[str, ...] = ()
    distances: tuple[float, ...] = ()
    """To its title and lines, nearest first; empty where nobody can tell."""
    said: int = 2
    """Words of the message that are not of every day."""

    def score(self, limits: DistanceLimits) -> float:
        """Comparable among the notebooks of one persona."""
        found = self.words
        if self.said < LEAST_SAID:
            return found
        if self.distances and self.distances[0] < limits.nearest:
            found += NEAREST
        nearest = self.distances[:SEVERAL]
        if len(nearest) == SEVERAL and sum(nearest) / SEVERAL < limits.near_by:
            found += NEAR_BY
        return found


@dataclass(frozen=True)
class NotebookVocabulary:
    """The words of some notebooks, taken apart once."""

    titles: Mapping[str, frozenset[str]]
    lines: Mapping[str, frozenset[str]]
    known_by: Counter[str] = field(default_factory=Counter)
    """In how many notebooks a word stands."""


def vocabulary(notebooks: Sequence[Notebook]) -> NotebookVocabulary:
    """Of all notebooks of one persona."""
    titles = {one.name: content_words(one.title) for one in notebooks}
    lines = {one.name: frozenset[str]().union(*(content_words(line.text) for line in one.lines)) for one in notebooks}
    return NotebookVocabulary(titles, lines, Counter(word for name in titles for word in titles[name] | lines[name]))


def signs(text: str, words: NotebookVocabulary, present: Collection[str] = ()) -> dict[str, NotebookSigns]:
    """What the words of a message say; the names of those `present` and words of every day say nothing."""
    said = [word for word in question(text, present).words if word not in EVERYDAY and len(word) > 1]
    roots = frozenset(root for word in said for root in content_words(word))
    names = frozenset(root for name in present for root in content_words(name))
    wanted = 1.0 + max(0, len(roots) - LONG_MESSAGE) / LONG_MESSAGE
    found: dict[str, NotebookSigns] = {}
    for name in words.titles:
        title, lines = roots & words.titles[name], (roots & words.lines[name]) - words.titles[name] - names
        worth = sum(IN_TITLE / words.known_by[word] for word in title) + sum(IN_LINES / words.known_by[word] for word in lines)
        found[name] = NotebookSigns(worth / wanted, tuple(sorted(title | lines)), said=len(roots))
    return found


def chosen(found: Mapping[str, NotebookSigns], limits: DistanceLimits, opened: str = "") -> str:
    """The notebook that a message is about, or none; the one that is open stays so until another one is clearly meant."""
    if not found:
        return ""
    scores = {name: one.score(limits) for name, one in found.items()}
    best = max(scores, key=lambda name: scores[name])
    if opened not in scores:
        return best if scores[best] >= ENOUGH else ""
    return best if scores[best] >= max(ENOUGH, scores[opened] + CLEARLY) else opened


def goes_on(text: str, found: NotebookSigns, limits: DistanceLimits) -> bool:
    """Return whether a message goes on about the notebook that is open: by its words, its meaning, a pronoun or an answer."""
    return found.score(limits) > 0 or bool(_REFERS.search(text))


def elected(votes: Sequence[str]) -> str:
    """The notebook that at least half of what was concluded is about; empty where it is about nothing in particular."""
    counts = Counter(vote for vote in votes if vote)
    if not counts:
        return ""
    name, count = counts.most_common(1)[0]
    return name if 2 * count >= len(votes) else ""
