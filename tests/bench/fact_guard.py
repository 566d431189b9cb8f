"""How many true and false facts does the guard between a model and the store let through?

The true ones are the “observation” fields of LoCoMo, notes of a large model, each with the message it rests on; the quotation
is that message's clause that shares most words with the note. The false ones are made from them: told of the other speaker
(`speaker`), or given to a message that does not say it, of the other speaker (`other_line`) or of the same one (`own_line`).

Keys are percentages: `true_accepted` by rules alone, `true_doubtful` what a model would be asked about, and the same of the
false ones. With a model that answers every question right, `true_accepted + true_doubtful` are kept, and of the false ones
`..._accepted`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from lethe_app.brain.fact_guard.checks import check_claim
from lethe_app.brain.fact_guard.claims import Claim, SupportLevel
from lethe_app.brain.fact_guard.quotations import split_clauses
from lethe_app.brain.reading.dialogue_acts import read_parts
from lethe_app.brain.reading.pieces import MessageParts
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from tests.bench._locomo_stories import moment_of, sessions_of
from tests.bench.report import Measured, run

SEED = 5
KINDS = ("true", "speaker", "other_line", "own_line")


@dataclass(frozen=True)
class Session:
    """One conversation and the observations about it, each with the index of its message."""

    lines: list[Utterance]
    parts: list[MessageParts]
    observations: list[tuple[str, str, int]]
    """Speaker, text, index."""


def read_sessions(path: Path) -> Iterator[Session]:
    """Every session of every conversation; observations that rest on several messages are given to the first."""
    for place, sample in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        talk = sample["conversation"]
        for key in [f"session_{number}" for number in sessions_of(sample)]:
            day = moment_of(talk[f"{key}_date_time"])
            lines = [
                Utterance(
                    uuid5(NAMESPACE_URL, f"{place} {turn['dia_id']}"),
                    Role.USER,  # either may tell of themselves
                    turn["speaker"],
                    turn["text"],
                    day,
                )
                for turn in talk[key]
            ]
            places = {turn["dia_id"]: place for place, turn in enumerate(talk[key])}
            observations = [
                (speaker, text, places[first])
                for speaker, notes in sample["observation"].get(f"{key}_observation", {}).items()
                for text, source in notes
                if (first := source[0] if isinstance(source, list) else source) in places
            ]
            yield Session(lines, read_parts(lines), observations)


def quotation_for(fact: str, text: str) -> str:
    """The clause of a message that shares most words with a fact."""
    wanted = content_words(fact)
    return max(
        (clause.text for clause in split_clauses(text)), key=lambda clause: len(wanted & content_words(clause)), default=""
    )


def claims_of(session: Session, chance: random.Random) -> Iterator[tuple[str, Claim]]:
    """The true claims of a session and the false ones made from them, by kind."""
    names = {line.name for line in session.lines}
    for speaker, text, place in session.observations:
        other = next(iter(names - {speaker}), "")
        yield "true", claim(session, text, place, speaker)
        yield "speaker", claim(session, text.replace(speaker, other), place, other)
        for kind, whose in (("other_line", other), ("own_line", speaker)):
            there = [at for at, line in enumerate(session.lines) if line.name == whose and at != place and line.text.strip()]
            far = [at for at in there if abs(at - place) > 2] or there
            yield kind, claim(session, text, chance.choice(far), speaker)


def claim(session: Session, fact: str, place: int, about: str) -> Claim:
    return Claim(place, quotation_for(fact, session.lines[place].text), fact, about)


def measure(path: Path, explained: str) -> Measured:
    """Percentages by kind; the number of true claims is a row of the table."""
    chance = random.Random(SEED)
    counts: dict[str, Counter[SupportLevel]] = {kind: Counter() for kind in KINDS}
    reasons: Counter[str] = Counter()
    for session in read_sessions(path):
        for kind, each in claims_of(session, chance):
            checked = check_claim(each, session.lines, session.parts)
            counts[kind][checked.support] += 1
            if kind == explained:
                reasons[f"{checked.support.name} {checked.reason}"] += 1
                print(f"{checked.support.name:8} {checked.reason}: {each.fact}   ← {each.quote}")
    for reason, count in reasons.most_common():
        print(count, reason)
    return [("claims", sum(counts["true"].values()))], percentages(counts)


def percentages(counts: Mapping[str, Counter[SupportLevel]]) -> dict[str, float]:
    """Of each kind what is accepted by rules, and what a model would be asked about."""
    found: dict[str, float] = {}
    for kind, each in counts.items():
        total = max(1, sum(each.values()))
        found[f"{kind}_accepted"] = 100 * each[SupportLevel.FULL] / total
        found[f"{kind}_doubtful"] = 100 * each[SupportLevel.DOUBTFUL] / total
    return found


if __name__ == "__main__":
    run(
        __doc__,
        lambda wanted: measure(wanted.data, wanted.explain),
        ("--data", {"type": Path, "required": True, "help": "a LoCoMo file"}),
        ("--explain", {"choices": list(KINDS), "default": "", "help": "show each claim of one kind"}),
    )
