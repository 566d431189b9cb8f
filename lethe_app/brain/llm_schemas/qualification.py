"""Test texts for qualifying a model for extraction, and the scoring of its answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

from pydantic import BaseModel, ConfigDict

from lethe_app.brain.fact_guard.grounding import coverage, find_invented_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.dates import resolve
from lethe_app.domain.chat import Role

MIN_PRECISION = 0.8
"""Minimum share of correct facts among those that pass the fact guard."""
MIN_COVERAGE = 0.2
"""Minimum share of a summary's words that occur in the session. Free summaries keep about a quarter; invented names and
numbers and the topics mentioned are more telling.
"""
SAMPLE_TIME = datetime(2020, 1, 1, 12, tzinfo=UTC)


class ExpectedFact(BaseModel):
    """Fact contained in a snippet. A wording is correct if one word prefix of each group in `needs` occurs in it."""

    model_config = ConfigDict(extra="forbid")

    fact: str
    needs: list[list[str]]


class QualificationSnippet(BaseModel):
    """Some lines, and all facts that can be extracted from them about one speaker."""

    model_config = ConfigDict(extra="forbid")

    name: str
    about: str
    lines: list[str]
    facts: list[ExpectedFact]


class QualificationDialogue(BaseModel):
    """Session to be summarised, with word groups of which the summary should mention at least half."""

    model_config = ConfigDict(extra="forbid")

    name: str
    lines: list[str]
    needs: list[list[str]]


class QualificationScore(BaseModel):
    """Score of one answer."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    """Number of different correct facts."""
    failed: str = ""
    """Reason why a summary or an entire answer failed; empty if it passed."""


def parse_utterances(lines: Sequence[str], user: str) -> list[Utterance]:
    """Return utterances for lines such as “Mira: Hello.”."""
    pairs = [line.partition(": ")[::2] for line in lines]
    return [
        Utterance(
            uuid5(NAMESPACE_OID, f"{number} {text}"),
            Role.USER if name == user else Role.ASSISTANT,
            name,
            text,
            SAMPLE_TIME + timedelta(minutes=number),
        )
        for number, (name, text) in enumerate(pairs)
    ]


def score_facts(snippet: QualificationSnippet, lines: Sequence[Utterance], answered_facts: Sequence[str]) -> QualificationScore:
    """Score the facts that passed the fact guard: the number of correct, wrong and different correct ones."""
    others = {line.name for line in lines} - {snippet.about}
    found: set[int] = set()
    right = 0
    for fact in answered_facts:
        hits = {number for number, each in enumerate(snippet.facts) if _is_correct(fact, each, snippet.about, others)}
        found |= hits
        right += bool(hits)
    return QualificationScore(right=right, wrong=len(answered_facts) - right, found=len(found))


def _is_correct(fact: str, expected: ExpectedFact, speaker: str, others: Collection[str]) -> bool:
    """Return whether a fact states what it should about the right person and mentions no other speaker."""
    words = {word.strip(".,;:!?").removesuffix("'s").removesuffix("’s") for word in fact.split()}
    is_named = speaker in words or speaker not in expected.fact
    return is_named and words.isdisjoint(others) and _count_matching_groups(fact, expected.needs) == len(expected.needs)


def score_summary(dialogue: QualificationDialogue, summary: str) -> QualificationScore:
    """Score a summary: it fails for invented names or numbers first, then for missing topics, and last for too low coverage."""
    day = SAMPLE_TIME.date()
    dated = [resolve.resolve_dates(line, day) for line in dialogue.lines]  # a summary may tell on which day “tomorrow” was
    invented_terms = find_invented_words(summary, [*dialogue.lines, *dated, f". {resolve.format_date(day)}"])
    share = coverage(summary, dialogue.lines)
    if invented_terms:
        return QualificationScore(wrong=1, failed=f"invented: {', '.join(invented_terms)}")
    if _count_matching_groups(summary, dialogue.needs) * 2 < len(dialogue.needs):
        return QualificationScore(wrong=1, failed="it misses the point")
    if share < MIN_COVERAGE:
        return QualificationScore(wrong=1, failed=f"only {share:.0%} of its words were said")
    return QualificationScore(right=1)


def _count_matching_groups(text: str, needs: Sequence[Sequence[str]]) -> int:
    """Return the number of groups with a prefix that occurs among the words of the text."""
    words = text.casefold().replace("’", "'").replace("n't", " n't").replace("'s", " ").split()
    stripped_words = [word.strip('.,;:!?"“”()') for word in words]
    return sum(any(word.startswith(tuple(group)) for word in stripped_words) for group in needs)


def has_already_failed(
    text: QualificationSnippet | QualificationDialogue,
    scores: Mapping[str, QualificationScore],
    snippets: Sequence[QualificationSnippet],
    dialogues: Sequence[QualificationDialogue],
) -> bool:
    """Return whether the remaining texts of this kind can no longer change the outcome, however good the answers are."""
    if isinstance(text, QualificationDialogue):
        return any(scores[item.name].failed for item in dialogues if item.name in scores)
    answered = [scores[item.name] for item in snippets if item.name in scores]
    best_right = sum(item.right for item in answered) + sum(len(item.facts) for item in snippets if item.name not in scores)
    return best_right < MIN_PRECISION * (best_right + sum(item.wrong for item in answered))
