"""What somebody said they will do, want to do or want to be reminded of, in their own words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.brain.plans import Plan, shortened
from lethe_app.brain.quotable import Sentence

MOST = 5
_OFFER = re.compile(r"^(?:shall we|should we|why don't we|how about we|do you want to|want to|wanna) ", re.IGNORECASE)
_AGREED = re.compile(
    r"^(?:oh,? |wow,? )?(?:yes|yeah|yep|sure|definitely|absolutely|of course|sounds|ok(?:ay)?|gladly|i'd love|deal|count me in|"
    r"let's|great idea|good idea)\b",
    re.IGNORECASE,
)


def goals(sentences: Sequence[Sentence], plans: Sequence[Plan | None], most: int = MOST) -> tuple[str, ...]:
    """Up to `most` goals as `Name: what they said`, in the order in which they were said; later and nearer ones are preferred.

    `plans` has what `plan_in` found in each of the sentences.
    """
    found: list[tuple[float, int, str]] = []
    for place, (sentence, plan) in enumerate(zip(sentences, plans, strict=True)):
        later = 0.5 * place / len(sentences)
        if sentence.narrates:
            continue
        if plan:
            found.append((plan.worth + later, place, f"{sentence.name}: {plan.text}"))
        elif _is_agreed(sentences, place):
            found.append((2.0 + later, place, f"{sentence.name}: {shortened(sentence.text)}"))
    best: list[tuple[float, int, str]] = []
    for goal in sorted(found, key=lambda goal: (-goal[0], goal[1])):
        if len(best) == most:
            break
        if not any(_same(goal[2], known[2]) for known in best):
            best.append(goal)
    return tuple(text for _worth, _place, text in sorted(best, key=lambda goal: goal[1]))


def _is_agreed(sentences: Sequence[Sentence], place: int) -> bool:
    """Is it a question such as “shall we go tomorrow?”, and did the other one agree?"""
    asked = sentences[place]
    if not asked.asks or not _OFFER.match(asked.text):
        return False
    answer = next((other for other in sentences[place + 1 : place + 6] if other.line != asked.line), None)
    return answer is not None and answer.name != asked.name and bool(_AGREED.match(answer.text))


def _same(one: str, other: str) -> bool:
    """Do two goals share most of their words?"""
    first, second = set(one.lower().split()[1:]), set(other.lower().split()[1:])
    return len(first & second) >= 0.6 * min(len(first), len(second))
