"""Finding which of 10,000 world entries wake: 30,000 keywords over a window of 20 messages nobody has seen before."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from uuid import UUID

from lethe_app.brain.lore.compiled import LoreIndex
from lethe_app.brain.lore.engine import evaluate
from lethe_app.brain.lore.evaluation import EvaluationTurn
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.text.utterance import ScanWindow, WindowLine
from lethe_app.domain.worldinfo import World, WorldEntry
from tests.bench.report import Figures, Row, run

ENTRIES, KEYS, MESSAGES, WORDS, RUNS = 10_000, 3, 20, 150, 60
NAMED = 0.02
"""Two words in a hundred are a keyword: some sixty mentions in the window."""
ONSETS = "b br c ch d dr f g gr h k l m n p r s sh st t th tr v w".split()  # noqa: SIM905
VOWELS = "a e i o u ai ea ou".split()  # noqa: SIM905
ENDS = "n r l s t nd rk th m".split()  # noqa: SIM905


def word(random: Random, syllables: int) -> str:
    """A word such as might be English."""
    return "".join(random.choice(ONSETS) + random.choice(VOWELS) for _ in range(syllables)) + random.choice(ENDS)


def book(random: Random) -> tuple[World, list[str]]:
    """Names of one or two words, each entry with a text of its own."""
    entries, keys = [], []
    for number in range(ENTRIES):
        own = [" ".join(word(random, 2).title() for _ in range(random.choice((1, 1, 2)))) for _ in range(KEYS)]
        keys += own
        entries.append(WorldEntry(guid=UUID(int=number), name=own[0], content=f"About {own[0]}. " * 10, keywords_main=own))
    return World(name="bench", scan_depth=MESSAGES, entries=entries), keys


def windows(random: Random, keys: list[str]) -> Iterator[ScanWindow]:
    """Conversations, each with other words."""
    common = [word(random, random.choice((1, 1, 2))) for _ in range(3000)]
    while True:
        lines = [
            WindowLine(" ".join(random.choice(keys if random.random() < NAMED else common) for _ in range(WORDS)) + " — “yes”.")
            for _ in range(MESSAGES)
        ]
        yield ScanWindow(lines[0], tuple(lines[1:]))


def measure() -> tuple[list[Row], Figures]:
    random = Random(1)
    world, keys = book(random)
    builds = []
    for _ in range(3):
        start = time.perf_counter()
        lore = LoreIndex([world])
        builds.append((time.perf_counter() - start) * 1000)
    turn = EvaluationTurn("turn", 1, MESSAGES, datetime.now(UTC), seed="seed")
    fresh, again, activated = [], [], 0
    gc.collect()
    for _, window in zip(range(RUNS), windows(random, keys), strict=False):
        for times in (fresh, again):
            start = time.perf_counter()
            evaluation = evaluate(lore, window, LoreState(), turn)
            times.append((time.perf_counter() - start) * 1000)
        activated += len(evaluation.activated)
    figures = {
        "scan_ms": statistics.median(fresh),
        "scan_ms_p95": statistics.quantiles(fresh, n=20)[-1],
        "build_ms": min(builds),
        "entries": float(ENTRIES),
    }
    return [("same window again, ms", statistics.median(again)), ("entries fired per turn", activated / RUNS)], figures


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
