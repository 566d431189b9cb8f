"""Plans and intentions in a sentence, with their extent, and the goals of a session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from lethe_app.brain.summary.summary_tables import ENGLISH, all_languages, beginning, entries, pattern
from lethe_app.brain.text.sentences import Sentence, normalized_words
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.common_words import NON_TOPIC_WORDS

MAX_PLAN_LENGTH = 110
"""Maximum characters of one plan."""
MAX_GOALS = 5
"""Maximum number of goals of a session."""
SAME_GOAL_SHARE = 0.6
"""Share of the words of the shorter of two goals that both must have to be the same."""


class StatedPlan(NamedTuple):
    """Part of a sentence that states a plan."""

    text: str
    weight: float
    """1 for an intention, higher if it has a time, lower if it is a wish."""


def find_plan(sentence: Sentence) -> StatedPlan | None:
    """Return the first plan in a sentence, or None. A second one mostly repeats the first."""
    if sentence.asks:
        return None
    text = sentence.text.replace("’", "'")
    # Without the ellipses, which the correction would replace by dots.
    corrected = "…".join(map(correct_spelling, text.split("…")))
    if found := _english_plan().search(corrected):
        clause = _cut_clause(corrected[found.start("plan") :], found.end() - found.start("plan"))
    elif found := _foreign_plan().search(text):
        clause = _cut_clause(text, found.end())
    else:
        return None
    clause_words = normalized_words(clause)
    if clause.isascii() and (len(clause_words) < 4 or NON_TOPIC_WORDS.issuperset(clause_words)):
        return None
    is_wish, has_time = bool(pattern("wish").match(clause)), bool(pattern("soon").search(clause))
    return StatedPlan(clause, 1.0 + 1.5 * has_time - 0.5 * is_wish)


def shorten_plan(text: str) -> str:
    """Shorten the text to at most `MAX_PLAN_LENGTH` characters, cut between words where there are any."""
    if len(text) <= MAX_PLAN_LENGTH:
        return text
    cut = text[: MAX_PLAN_LENGTH - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[40:] else cut}…"


def select_goals(sentences: Sequence[Sentence], plans: Sequence[StatedPlan | None], limit: int = MAX_GOALS) -> tuple[str, ...]:
    """Return up to `limit` goals as `Name: text`, in session order; later ones and those with a time are preferred.

    `plans` has the result of `find_plan` for each of the sentences.
    """
    found: list[tuple[float, int, str]] = []
    for index, (sentence, plan) in enumerate(zip(sentences, plans, strict=True)):
        recency = 0.5 * index / len(sentences)
        if sentence.narrates:
            continue
        if plan:
            found.append((plan.weight + recency, index, f"{sentence.name}: {plan.text}"))
        elif _is_agreed(sentences, index):
            found.append((2.0 + recency, index, f"{sentence.name}: {shorten_plan(sentence.text)}"))
    best: list[tuple[float, int, str]] = []
    for goal in sorted(found, key=lambda goal: (-goal[0], goal[1])):
        if len(best) < limit and not any(_is_same_goal(goal[2], known[2]) for known in best):
            best.append(goal)
    return tuple(text for _weight, _place, text in sorted(best, key=lambda goal: goal[1]))


@cache
def _english_plan() -> re.Pattern[str]:
    """Return the pattern of an English plan, which begins a clause or follows certain words; after others, “I want to” is part
    of a phrase such as “the place I want to see”.
    """
    lead, plan, no_plan = ("|".join(entries(key, ENGLISH)) for key in ("plan_lead", "plan", "no_plan"))
    adverb = "|".join(entries("plan_adverb", ENGLISH))
    begins = rf"^|[,;:.!?—–(-]\s?|(?<=\s)(?:{lead}) "
    return re.compile(
        rf"(?:{begins})(?P<plan>(?:{plan})(?: (?:{adverb}))* )(?!(?:{no_plan}|{adverb})(?!\w))(?=\w)", re.IGNORECASE
    )


@cache
def _clause_end() -> re.Pattern[str]:
    return re.compile(rf"{'|'.join(entries('plan_end'))}|\s+[-–—]+\s|;|\s*[.!?…。！]+[\"”’)]*$")


@cache
def _foreign_plan() -> re.Pattern[str]:
    return pattern("plan", tuple(code for code in all_languages() if code not in ENGLISH))


def _cut_clause(text: str, min_length: int) -> str:
    """Return the text up to the end of the clause, but at least the words that announce the plan and one more."""
    end = _clause_end().search(text, min_length + 1)
    return shorten_plan((text[: end.start()] if end else text).strip(" ,;:"))


def _is_agreed(sentences: Sequence[Sentence], index: int) -> bool:
    """Return whether the sentence is a proposal such as “shall we go tomorrow?” to which the other speaker agreed."""
    proposal = sentences[index]
    if not proposal.asks or not pattern("offer").match(proposal.text):
        return False
    answer = next((other for other in sentences[index + 1 : index + 6] if other.line != proposal.line), None)
    return answer is not None and answer.name != proposal.name and bool(beginning("agreed").match(answer.text))


def _is_same_goal(first_goal: str, second_goal: str) -> bool:
    """Return whether two goals share most of their words."""
    first, second = set(first_goal.lower().split()[1:]), set(second_goal.lower().split()[1:])
    return len(first & second) >= SAME_GOAL_SHARE * min(len(first), len(second))
