"""Does she remember? Questions about long conversations in the public LoCoMo format, one persona per conversation.

Given observations enter as facts, given summaries as summaries, dialog turns as messages; questions go through the same
search as a turn of the chat does, with the starter embedder in its own process. Metrics: R@k is the share of the sessions
with evidence among the first k, MRR the reciprocal rank of the first of them, T@5 as R@5 on single messages; categories 1 to
4, and 5 (adversarial) by itself. `inserted_hit` is the share of them among those that would be inserted into three slots.
A question is asked as if neither speaker were there, for it names them; `false_insert_addressed` is small talk that one of
them says to the other by name.

With --own-facts facts and summaries are those our rules take from the lines, without a model. With --young memories of few
sessions are asked too, and with --words nothing has a meaning: words alone find, as without an embedder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import mean, median
from uuid import UUID

import numpy as np

from lethe_app.retrieval.embedding_geometry import Embed
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.ranking import RankedSources, SearchEvidence
from lethe_app.retrieval.signals import SIGNALS, compute_contributions
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from tests.bench._locomo_stories import ADVERSARIAL, Asked, Story, first_sessions, ingest
from tests.bench._setup import LOCOMO, SMALL_TALK, WORDS, on_locomo
from tests.bench.report import Measured, run
from tests.retrieval.conftest import sure_hits

SLOTS = 3
FOREIGN = 60
"""Questions of the other conversations asked to each."""
YOUNG = (1, 2, 3, 5, 10)
"""Sessions after which a young memory is asked."""


@dataclass(frozen=True)
class Answer:
    """What came of one question."""

    category: int
    figures: Mapping[str, float]
    gold: list[bool]
    """Which of the weighed sessions have evidence."""
    evidence: SearchEvidence
    found: int
    """Sessions with evidence, weighed or not."""


async def ask(recall: MemoryIndex, passages: Passages, story: Story, asked: Asked) -> Answer:
    """One question, timed with everything that a turn of the chat would do."""
    at = story.last + timedelta(days=1)
    started = time.perf_counter()
    found = await recall.search([story.name], asked.text, limit=50, at=at)
    taken = (time.perf_counter() - started) * 1000
    evidence = await recall.collect_evidence([story.name], asked.text, at=at)
    assert evidence is not None, "there is always something to weigh"
    stored = await passages.read(found.lines)
    lines = list(dict.fromkeys(stored[number].origin for number in found.lines))
    ranked = [hit.source for hit in found.hits]
    first = next((place for place, source in enumerate(ranked, 1) if source in asked.sessions), 0)
    inserted = {hit.source for hit in sure_hits(found, SLOTS)}
    figures = {
        **{f"r{k}": share(asked.sessions, ranked[:k]) for k in (1, 3, 5, 10)},
        "mrr": 1 / first if first else 0.0,
        "turn_r5": share(asked.turns, lines[:5]),
        "inserted_hit": share(asked.sessions, inserted),
        "inserted_any": float(bool(asked.sessions & inserted)),
        "slots": float(len(inserted)),
        "ms": taken,
    }
    sources = [evidence.columns.sources[int(source)] for source in evidence.features.sources]
    gold = [source in asked.sessions for source in sources]
    return Answer(asked.category, figures, gold, evidence, len(asked.sessions))


def share(wanted: frozenset[UUID], given: Sequence[UUID] | set[UUID]) -> float:
    return len(wanted.intersection(given)) / len(wanted)


async def disturbed(recall: MemoryIndex, story: Story, texts: Sequence[str], present: Sequence[str] = ()) -> float:
    """The share of texts that bring something up although nothing is meant."""
    at = story.last + timedelta(days=1)
    found: list[RankedSources] = [
        await recall.search([story.name], text, limit=SLOTS, at=at, participants=present) for text in texts
    ]
    return mean(bool(sure_hits(one, SLOTS)) for one in found)


async def addressed(recall: MemoryIndex, story: Story) -> float:
    """The same for small talk that calls one of the speakers by name, as one of them would."""
    texts = [f"{story.speakers[number % 2]}, {text}" for number, text in enumerate(SMALL_TALK)]
    return await disturbed(recall, story, texts, story.speakers)


def ablation(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """The figures without each signal in turn."""
    figures = {}
    for without in ("", *SIGNALS):
        rows = []
        for answer in answers:
            shares = compute_contributions(answer.evidence.scores.values)
            score = np.sum([share for name, share in shares.items() if name != without], axis=0)
            ranked = [answer.gold[place] for place in (-score).argsort(kind="stable")]
            first = 1 / (ranked.index(True) + 1) if True in ranked else 0.0
            rows.append((sum(ranked[:1]) / answer.found, sum(ranked[:5]) / answer.found, first))
        r1, r5, mrr = (round(100 * mean(column), 2) for column in zip(*rows, strict=True))
        figures[f"without {without}" if without else "all"] = {"r1": r1, "r5": r5, "mrr": mrr}
    return figures


@asynccontextmanager
async def remembering(
    samples: Sequence[dict], embed: Embed | None, *, own: bool
) -> AsyncIterator[tuple[MemoryIndex, Passages, list[Story]]]:
    """All conversations, each the memory of its own persona in one database."""
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "lethe.sqlite3")
        passages = Passages(database)
        recall, chats = MemoryIndex(passages, embed, "starter" if embed else ""), SessionStore(database)
        try:
            yield recall, passages, [await ingest(recall, chats, sample, own=own) for sample in samples]
        finally:
            await database.close()


async def measure(
    samples: Sequence[dict], embed: Embed | None, foreign: Mapping[str, Sequence[str]], *, own: bool = False
) -> tuple[dict[str, float], dict[str, list[Answer]]]:
    """The figures of all conversations together, and the answers of each; `foreign` are questions to others, by name."""
    async with remembering(samples, embed, own=own) as (recall, passages, stories):
        answers = {story.name: [await ask(recall, passages, story, asked) for asked in story.questions] for story in stories}
        chatter = [await disturbed(recall, story, SMALL_TALK) for story in stories]
        called = [await addressed(recall, story) for story in stories]
        strange = [await disturbed(recall, story, foreign[story.name]) for story in stories if foreign[story.name]]
    figures = summed([answer for some in answers.values() for answer in some]) | {
        "false_insert_smalltalk": 100 * mean(chatter),
        "false_insert_addressed": 100 * mean(called),
        "false_insert_foreign": 100 * mean(strange) if strange else 0.0,
    }
    return {name: round(value, 2) for name, value in figures.items()}, answers


async def young(
    samples: Sequence[dict], embed: Embed | None, foreign: Mapping[str, Sequence[str]], *, own: bool
) -> dict[str, dict[str, float]]:
    """What is brought up from the first sessions alone, by how many they are."""
    kept = ("questions", "r1", "inserted_hit", "false_insert_smalltalk", "false_insert_addressed", "false_insert_foreign")
    figures = {}
    for count in YOUNG:
        some, _answers = await measure([first_sessions(sample, count) for sample in samples], embed, foreign, own=own)
        figures[str(count)] = {name: some[name] for name in kept}
    return figures


def strangers(samples: Sequence[dict]) -> dict[str, list[str]]:
    """For each conversation questions about the others, evenly drawn."""
    found = {}
    for sample in samples:
        others = [item for other in samples if other is not sample for item in other["qa"]]
        texts = [str(item["question"]) for item in others if int(item["category"]) != ADVERSARIAL]
        found[str(sample["sample_id"])] = texts[:: max(1, len(texts) // FOREIGN)][:FOREIGN]
    return found


def summed(answers: Sequence[Answer]) -> dict[str, float]:
    """Percent, and milliseconds."""
    plain = [answer.figures for answer in answers if answer.category != ADVERSARIAL]
    hard = [answer.figures for answer in answers if answer.category == ADVERSARIAL]
    keys = ("r1", "r3", "r5", "r10", "mrr", "turn_r5", "inserted_hit", "inserted_any")
    figures = {key: 100 * mean(row[key] for row in plain) for key in keys}
    figures["adversarial_r1"] = 100 * mean(row["r1"] for row in hard) if hard else 0.0
    figures["adversarial_r5"] = 100 * mean(row["r5"] for row in hard) if hard else 0.0
    figures["slots"] = mean(row["slots"] for row in plain)
    figures["questions"] = len(plain)
    figures["p50_ms"] = median(answer.figures["ms"] for answer in answers)
    return figures


async def everything(samples: Sequence[dict], embed: Embed | None, wanted: argparse.Namespace) -> Measured:
    """All that was asked for; the answers of each conversation are rows of the table."""
    foreign = strangers(samples)
    some, answers = await measure(samples, embed, foreign)
    plain = [answer for few in answers.values() for answer in few if answer.category != ADVERSARIAL]
    figures: dict[str, object] = {**some, "ablation": ablation(plain)}
    if wanted.young:
        figures["young"] = await young(samples, embed, foreign, own=False)
    if wanted.own_facts:
        own, _answers = await measure(samples, embed, foreign, own=True)
        figures |= {f"own_{name}": value for name, value in own.items()}
    if wanted.own_facts and wanted.young:
        figures["own_young"] = await young(samples, embed, foreign, own=True)
    return [(name, summed(few)) for name, few in answers.items()], figures


if __name__ == "__main__":
    run(
        __doc__,
        on_locomo(everything),
        LOCOMO,
        WORDS,
        ("--own-facts", {"action": "store_true", "help": "also with our own facts and summaries instead of the given ones"}),
        ("--young", {"action": "store_true", "help": "also with the first 1 to 10 sessions alone"}),
    )
