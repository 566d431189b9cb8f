"""Facts as an 8B model words them, true and false, each with the conversation it is said to come from.

They stand in `fact_guard/facts.jsonl`; `Tom` and other users speak with the persona `Mira`. Written for the guard; none is
taken from any data set.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

from lethe_app.brain.fact_guard.checks import CheckedClaim, check_claim
from lethe_app.brain.fact_guard.claims import Claim
from lethe_app.brain.reading.dialogue_acts import read_parts
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

FILE = Path(__file__).parent / "fact_guard" / "facts.jsonl"
DAY = datetime(2026, 11, 23, 20, tzinfo=UTC)
"""A Monday."""
ENGLISH = "English"


@dataclass(frozen=True)
class Case:
    """One fact of an answer: the number of its line counted from 1, its quotation, its subject and its words."""

    lines: tuple[str, ...]
    line: int
    quote: str
    about: str
    fact: str
    is_true: bool = True
    language: str = ENGLISH


def one(text: str, quote: str, fact: str, about: str = "Tom") -> Case:
    """A fact from a single line of Tom's."""
    return Case((f"Tom: {text}",), 1, quote, about, fact)


def said(*lines: str) -> list[Utterance]:
    """“Tom: Hello.” as something said, a minute apart."""
    pairs = [line.partition(": ")[::2] for line in lines]
    return [
        Utterance(
            uuid5(NAMESPACE_OID, f"{number} {text}"),
            Role.ASSISTANT if name in {"Mira", "ミラ"} else Role.USER,
            name,
            text,
            DAY + timedelta(minutes=number),
        )
        for number, (name, text) in enumerate(pairs)
    ]


def checked(case: Case) -> CheckedClaim:
    """What the guard says of it."""
    lines = said(*case.lines)
    return check_claim(Claim(case.line - 1, case.quote, case.fact, case.about), lines, read_parts(lines))


CASES = [Case(**{"line": 1, **json.loads(row)}) for row in FILE.read_text(encoding="utf-8").splitlines()]
TRUE = [case for case in CASES if case.is_true and case.language == ENGLISH]
FALSE = [case for case in CASES if not case.is_true and case.language == ENGLISH]
TRUE_ELSEWHERE = {
    language: [case for case in CASES if case.is_true and case.language == language]
    for language in ("German", "French", "Spanish", "Japanese")
}
FALSE_ELSEWHERE = [case for case in CASES if not case.is_true and case.language != ENGLISH]
