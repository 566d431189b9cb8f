"""The texts on which a model is tried, and how what it makes of them is marked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

from pydantic import BaseModel, ConfigDict

from lethe_app.brain.dates import resolve
from lethe_app.brain.fact_guard.faithfulness import coverage, invented
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

LEAST_PRECISION = 0.8
"""Of the facts that pass the check for what is really said, the share that must be right."""
LEAST_COVERAGE = 0.2
"""The share of a summary's words that must come from the conversation. Who tells it freely keeps a quarter; names, numbers
and what it touches upon say more."""
LONG_AGO = datetime(2020, 1, 1, 12, tzinfo=UTC)


class RightFact(BaseModel):
    """A fact that a snippet holds. A wording is right if for each group of `needs` one of its word beginnings occurs."""

    model_config = ConfigDict(extra="forbid")

    fact: str
    needs: list[list[str]]


class Snippet(BaseModel):
    """Some lines, and all that can rightly be noted of one of their speakers."""

    model_config = ConfigDict(extra="forbid")

    name: str
    about: str
    lines: list[str]
    facts: list[RightFact]


class Dialogue(BaseModel):
    """A conversation to be summed up, and what its summary should touch upon: at least half of the groups."""

    model_config = ConfigDict(extra="forbid")

    name: str
    lines: list[str]
    needs: list[list[str]]


class Marks(BaseModel):
    """What one text showed."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    """Different right facts."""
    failed: str = ""
    """Why a summary, or a whole answer, was no good."""


def as_said(lines: Sequence[str], user: str) -> list[Utterance]:
    """Lines such as “Mira: Hello.” as the brain reads them."""
    pairs = [line.partition(": ")[::2] for line in lines]
    return [
        Utterance(
            uuid5(NAMESPACE_OID, f"{number} {text}"),
            Role.USER if name == user else Role.ASSISTANT,
            name,
            text,
            LONG_AGO + timedelta(minutes=number),
        )
        for number, (name, text) in enumerate(pairs)
    ]


def mark_facts(snippet: Snippet, lines: Sequence[Utterance], stated: Sequence[str]) -> Marks:
    """Count right and wrong ones among the facts that the guard has let through."""
    others = {said.name for said in lines} - {snippet.about}
    found: set[int] = set()
    right = 0
    for fact in stated:
        hits = {number for number, each in enumerate(snippet.facts) if _is_right(fact, each, snippet.about, others)}
        found |= hits
        right += bool(hits)
    return Marks(right=right, wrong=len(stated) - right, found=len(found))


def _is_right(fact: str, right: RightFact, about: str, others: Collection[str]) -> bool:
    """Does it say what it should, of whom it should, and nothing of the other speakers?"""
    words = {word.strip(".,;:!?").removesuffix("'s").removesuffix("’s") for word in fact.split()}
    is_named = about in words or about not in right.fact
    return is_named and words.isdisjoint(others) and _touches(fact, right.needs) == len(right.needs)


def mark_summary(dialogue: Dialogue, summary: str) -> Marks:
    """Why a summary is no good, or nothing: names and numbers first, then what it tells, its words last."""
    day = LONG_AGO.date()
    dated = [resolve.resolve(line, day) for line in dialogue.lines]  # a summary may tell on which day “tomorrow” was
    made_up = invented(summary, [*dialogue.lines, *dated, f". {resolve.spell(day)}"])
    share = coverage(summary, dialogue.lines)
    if made_up:
        return Marks(wrong=1, failed=f"invented: {', '.join(made_up)}")
    if _touches(summary, dialogue.needs) * 2 < len(dialogue.needs):
        return Marks(wrong=1, failed="it misses the point")
    if share < LEAST_COVERAGE:
        return Marks(wrong=1, failed=f"only {share:.0%} of its words were said")
    return Marks(right=1)


def _touches(text: str, needs: Sequence[Sequence[str]]) -> int:
    """How many groups have a word in the text that begins like one of theirs."""
    words = text.casefold().replace("’", "'").replace("n't", " n't").replace("'s", " ").split()
    bare = [word.strip('.,;:!?"“”()') for word in words]
    return sum(any(word.startswith(tuple(group)) for word in bare) for group in needs)


def is_lost(
    text: Snippet | Dialogue, marks: Mapping[str, Marks], snippets: Sequence[Snippet], dialogues: Sequence[Dialogue]
) -> bool:
    """Can the rest of its kind no longer change the outcome, however good it were?"""
    if isinstance(text, Dialogue):
        return any(marks[each.name].failed for each in dialogues if each.name in marks)
    done = [marks[each.name] for each in snippets if each.name in marks]
    best = sum(each.right for each in done) + sum(len(each.facts) for each in snippets if each.name not in marks)
    return best < LEAST_PRECISION * (best + sum(each.wrong for each in done))
