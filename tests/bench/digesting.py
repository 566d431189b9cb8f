"""Making the digest of a session of 10,000 lines and taking twenty of them up into a rolling summary, best of three."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from uuid import uuid4

from lethe_app.brain.summary.digest import build_digest, extend_rolling_summary
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from tests.bench.report import best_ms, run

MOMENT = datetime(2026, 11, 21, 21, 4, tzinfo=UTC)
LINES = 10_000
WORDS = (
    "I we you my the a boat harbour sister Porto Ana lighthouse garden violin went want will see think was is to of in with "
    "and but really good tomorrow year old new ferry letter captain never about storm lantern map train window"
)


def conversation() -> list[Utterance]:
    """Two sentences of nine words to a line."""
    words = WORDS.split()
    chance = random.Random(7)
    return [
        Utterance(
            uuid4(),
            Role.USER if number % 2 else Role.ASSISTANT,
            "Tomas" if number % 2 else "Mira",
            " ".join(f"{' '.join(chance.choices(words, k=9)).capitalize()}." for _ in range(2)),
            MOMENT,
        )
        for number in range(LINES)
    ]


async def measure() -> dict[str, float]:
    lines = conversation()
    whole = build_digest(lines).summary

    async def digest() -> None:
        build_digest(lines)

    async def extend() -> None:
        extend_rolling_summary(lines[:20], whole, len(whole))

    return {"digest_ms": await best_ms(digest, rounds=3), "rolling_ms": await best_ms(extend, rounds=3)}


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
