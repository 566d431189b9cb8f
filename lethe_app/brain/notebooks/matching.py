"""Choice of the notebook that a message is about, by shared words and embedding distance; small talk matches none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lethe_app.brain.notebooks.document import Notebook
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, parse_query

TITLE_WORD_SCORE, LINE_WORD_SCORE = 2.0, 1.0
"""Score of a word of the message that occurs in the title or a line of one notebook only; it is divided by the number of
notebooks.
"""
NEAREST_SCORE, NEAR_BY_SCORE = 1.0, 1.0
"""Score for one line within the `nearest` distance, and for the mean of the `NEAREST_COUNT` nearest lines within the `near_by`
distance.
"""
NEAREST_COUNT = 3
"""Number of nearest lines whose mean distance is considered."""
MIN_CONTENT_WORDS = 2
"""Minimum number of content words for the distances to count; a single one, as in “I'm sleepy”, is near to many lines by
chance.
"""
MIN_SCORE = 2.0
"""Minimum score of a matching notebook."""
MIN_LEAD = 1.5
"""Minimum lead in score for another notebook to replace the open one."""
LONG_MESSAGE = 12
"""Number of content words above which scores are reduced, because a longer message shares more words by chance."""


_REFERS = re.compile(
    r"\b(?:he|she|they|it|him|her|them|his|their|that one|those)\b(?!')|^\W*(?:yes|yeah|yep|no|nope|sure|of course|maybe|"
    r"please|and|then|"
    r"but|why|which|how (?:long|much|many|often))\b",
    re.IGNORECASE,
)
"""Reference to the preceding messages, or an answer to them."""


@dataclass(frozen=True)
class DistanceLimits:
    """Cosine distance thresholds for the loaded embedding model."""

    nearest: float
    near_by: float


@dataclass(frozen=True)
class NotebookEvidence:
    """Evidence for one notebook."""

    word_score: float = 0.0
    shared: tuple[str, ...] = ()
    distances: tuple[float, ...] = ()
    """Distances to its title and lines, nearest first; empty without an embedding model."""
    word_count: int = 2
    """Number of content words of the message."""

    def score(self, limits: DistanceLimits) -> float:
        """Return the score, comparable among the notebooks of one persona."""
        found = self.word_score
        if self.word_count < MIN_CONTENT_WORDS:
            return found
        if self.distances and self.distances[0] < limits.nearest:
            found += NEAREST_SCORE
        nearest = self.distances[:NEAREST_COUNT]
        if len(nearest) == NEAREST_COUNT and sum(nearest) / NEAREST_COUNT < limits.near_by:
            found += NEAR_BY_SCORE
        return found


@dataclass(frozen=True)
class NotebookVocabulary:
    """Content words of the notebooks of one persona."""

    titles: Mapping[str, frozenset[str]]
    lines: Mapping[str, frozenset[str]]
    notebook_counts: Counter[str] = field(default_factory=Counter)
    """Number of notebooks that contain each word."""


def build_vocabulary(notebooks: Sequence[Notebook]) -> NotebookVocabulary:
    """Return the vocabulary of all notebooks of one persona."""
    titles = {one.name: content_words(one.title) for one in notebooks}
    lines = {one.name: frozenset[str]().union(*(content_words(line.text) for line in one.lines)) for one in notebooks}
    return NotebookVocabulary(titles, lines, Counter(word for name in titles for word in titles[name] | lines[name]))


def find_evidence(text: str, words: NotebookVocabulary, present_names: Collection[str] = ()) -> dict[str, NotebookEvidence]:
    """Return the evidence in the words of a message; names of those `present_names` and everyday words are ignored."""
    message_words = [word for word in parse_query(text, present_names).words if word not in EVERYDAY_WORDS and len(word) > 1]
    roots = frozenset(root for word in message_words for root in content_words(word))
    names = frozenset(root for name in present_names for root in content_words(name))
    length_factor = 1.0 + max(0, len(roots) - LONG_MESSAGE) / LONG_MESSAGE
    found: dict[str, NotebookEvidence] = {}
    for name in words.titles:
        title, lines = roots & words.titles[name], (roots & words.lines[name]) - words.titles[name] - names
        score = sum(TITLE_WORD_SCORE / words.notebook_counts[word] for word in title) + sum(
            LINE_WORD_SCORE / words.notebook_counts[word] for word in lines
        )
        found[name] = NotebookEvidence(score / length_factor, tuple(sorted(title | lines)), word_count=len(roots))
    return found


def choose_notebook(evidence: Mapping[str, NotebookEvidence], limits: DistanceLimits, open_notebook: str = "") -> str:
    """Return the name of the matching notebook, or an empty string; the open one is kept unless another one is clearly
    ahead.
    """
    if not evidence:
        return ""
    scores = {name: one.score(limits) for name, one in evidence.items()}
    best = max(scores, key=lambda name: scores[name])
    if open_notebook not in scores:
        return best if scores[best] >= MIN_SCORE else ""
    return best if scores[best] >= max(MIN_SCORE, scores[open_notebook] + MIN_LEAD) else open_notebook


def is_continuation(text: str, evidence: NotebookEvidence, limits: DistanceLimits) -> bool:
    """Return whether a message continues the subject of the open notebook: by its words, its distance, a pronoun or an
    answer.
    """
    return evidence.score(limits) > 0 or bool(_REFERS.search(text))


def majority_notebook(votes: Sequence[str]) -> str:
    """Return the notebook that at least half of the conclusions match; empty if there is none."""
    counts = Counter(vote for vote in votes if vote)
    if not counts:
        return ""
    name, count = counts.most_common(1)[0]
    return name if 2 * count >= len(votes) else ""
