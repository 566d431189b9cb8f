"""Does she remember? Questions about long conversations in the public LoCoMo format, one persona per conversation.

Given observations enter as facts, given summaries as summaries, dialog turns as messages; questions go through the same
search as a turn of the chat does, with the starter embedder in its own process. Metrics: R@k is the share of the sessions
with evidence among the first k, MRR the reciprocal rank of the first of them, T@5 as R@5 on single messages; categories 1 to
4, and 5 (adversarial) by itself. `inserted_hit` is the share of them among those that would be inserted into three slots.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean, median
from uuid import UUID, uuid4

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.model import LoadOptions
from lethe_app.llm import starter
from lethe_app.llm.client import ModelClient
from lethe_app.llm.gguf_file import describe
from lethe_app.retrieval import render
from lethe_app.retrieval.rank import Found, Weighing
from lethe_app.retrieval.recall import Embed, Recall
from lethe_app.retrieval.signals import SIGNALS, fused
from lethe_app.storage.chats import Chats
from lethe_app.storage.database import Database
from lethe_app.storage.passages import Passages
from tests.bench.report import arguments

EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
SMALL_TALK = Path(__file__).with_name("smalltalk.txt").read_text(encoding="utf-8").splitlines()
SLOTS = 3
FOREIGN = 60
"""Questions of the other conversations asked to each."""
ADVERSARIAL = 5


@dataclass(frozen=True)
class Asked:
    """One question and where its answer is."""

    text: str
    category: int
    sessions: frozenset[UUID]
    turns: frozenset[UUID]


@dataclass
class Story:
    """One conversation as it came into storage."""

    name: str
    last: datetime
    turns: dict[str, tuple[UUID, UUID]] = field(default_factory=dict)
    """Dialog id → message and session."""
    questions: list[Asked] = field(default_factory=list)


@dataclass(frozen=True)
class Answer:
    """What came of one question."""

    category: int
    figures: Mapping[str, float]
    gold: list[bool]
    """Which of the weighed sessions have evidence."""
    weighing: Weighing
    found: int
    """Sessions with evidence, weighed or not."""


async def ingest(recall: Recall, chats: Chats, sample: dict) -> Story:
    """Everything said and known, as the program itself stores it; then the meaning of all of it."""
    owner, talk = str(sample["sample_id"]), sample["conversation"]
    numbers = sorted(int(found[1]) for key in talk if (found := re.fullmatch(r"session_(\d+)", key)) and talk[key])
    story = Story(owner, datetime.min.replace(tzinfo=UTC))
    for number in numbers:
        began = moment_of(talk[f"session_{number}_date_time"])
        story.last = max(story.last, began)
        session = await chats.add_session(ChatSession(persona_id=owner, added=began))
        passages = []
        for place, turn in enumerate(talk[f"session_{number}"]):
            told = Message(session_id=session.guid, role=Role.USER, speaker_name=turn["speaker"], time=began,
                           alternatives=[Alternative(content=turn["text"])])  # fmt: skip
            await chats.add_message(told)
            story.turns[turn["dia_id"]] = (told.id, session.guid)
            text = turn["text"] + (f" (shares a picture: {turn['blip_caption']})" if turn.get("blip_caption") else "")
            passages += render.message(owner, session.guid, told.id, place, turn["speaker"], text, began)
        for facts in sample["observation"].get(f"session_{number}_observation", {}).values():
            for fact in facts:
                passages += render.fact(owner, session.guid, uuid4(), fact[0], began)
        passages += render.summary(owner, session.guid, sample["session_summary"].get(f"session_{number}_summary", ""), began)
        await recall.keep(passages)
    while await recall.catch_up():
        pass
    story.questions = [asked for item in sample["qa"] if (asked := question_of(item, story)).turns]
    return story


def moment_of(text: str) -> datetime:
    """Such as “1:56 pm on 8 May, 2023”."""
    return datetime.strptime(text.upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)


def question_of(item: dict, story: Story) -> Asked:
    """Evidence ids that name no turn are dropped, as in the format's own reading."""
    places = [f"D{int(one)}:{int(two)}" for evidence in item["evidence"] for one, two in EVIDENCE.findall(str(evidence))]
    known = [story.turns[place] for place in places if place in story.turns]
    turns, sessions = frozenset(turn for turn, _ in known), frozenset(session for _, session in known)
    return Asked(str(item["question"]), int(item["category"]), sessions, turns)


async def ask(recall: Recall, passages: Passages, story: Story, asked: Asked) -> Answer:
    """One question, timed with everything that a turn of the chat would do."""
    at = story.last + timedelta(days=1)
    started = time.perf_counter()
    found = await recall.search([story.name], asked.text, limit=50, at=at)
    taken = (time.perf_counter() - started) * 1000
    weighing = await recall.weigh([story.name], asked.text, at=at)
    assert weighing is not None, "there is always something to weigh"
    stored = await passages.read(found.lines)
    lines = list(dict.fromkeys(stored[number].origin for number in found.lines))
    ranked = [hit.source for hit in found.hits]
    first = next((place for place, source in enumerate(ranked, 1) if source in asked.sessions), 0)
    inserted = {hit.source for hit in found.brought_up(SLOTS)}
    figures = {
        **{f"r{k}": share(asked.sessions, ranked[:k]) for k in (1, 3, 5, 10)},
        "mrr": 1 / first if first else 0.0,
        "turn_r5": share(asked.turns, lines[:5]),
        "inserted_hit": share(asked.sessions, inserted),
        "inserted_any": float(bool(asked.sessions & inserted)),
        "slots": float(len(inserted)),
        "ms": taken,
    }
    sources = [weighing.columns.sources[int(source)] for source in weighing.evidence.sources]
    gold = [source in asked.sessions for source in sources]
    return Answer(asked.category, figures, gold, weighing, len(asked.sessions))


def share(wanted: frozenset[UUID], given: Sequence[UUID] | set[UUID]) -> float:
    return len(wanted.intersection(given)) / len(wanted)


async def disturbed(recall: Recall, story: Story, texts: Sequence[str]) -> float:
    """The share of texts that bring something up although nothing is meant."""
    at = story.last + timedelta(days=1)
    found: list[Found] = [await recall.search([story.name], text, limit=SLOTS, at=at) for text in texts]
    return mean(bool(one.brought_up(SLOTS)) for one in found)


def ablation(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """The figures without each signal in turn."""
    figures = {}
    for without in ("", *SIGNALS):
        rows = []
        for answer in answers:
            score = fused(answer.weighing.weighed.values, without)
            ranked = [answer.gold[place] for place in (-score).argsort(kind="stable")]
            first = 1 / (ranked.index(True) + 1) if True in ranked else 0.0
            rows.append((sum(ranked[:1]) / answer.found, sum(ranked[:5]) / answer.found, first))
        r1, r5, mrr = (round(100 * mean(column), 2) for column in zip(*rows, strict=True))
        figures[f"without {without}" if without else "all"] = {"r1": r1, "r5": r5, "mrr": mrr}
    return figures


async def measure(samples: Sequence[dict], embed: Embed) -> tuple[dict[str, object], dict[str, list[Answer]]]:
    """All conversations of the file, each the memory of its own persona in one database."""
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "lethe.sqlite3")
        passages = Passages(database)
        recall, chats = Recall(passages, embed, "starter"), Chats(database)
        stories = [await ingest(recall, chats, sample) for sample in samples]
        answers = {story.name: [await ask(recall, passages, story, asked) for asked in story.questions] for story in stories}
        chatter = [await disturbed(recall, story, SMALL_TALK) for story in stories]
        foreign = [await disturbed(recall, story, strangers(stories, story)) for story in stories if len(stories) > 1]
        await database.close()
    every = [answer for some in answers.values() for answer in some]
    figures = summed(every) | {
        "false_insert_smalltalk": 100 * mean(chatter),
        "false_insert_foreign": 100 * mean(foreign) if foreign else 0.0,
    }
    plain = [answer for answer in every if answer.category != ADVERSARIAL]
    return {**{name: round(value, 2) for name, value in figures.items()}, "ablation": ablation(plain)}, answers


def strangers(stories: Sequence[Story], story: Story) -> list[str]:
    """Questions of the others, evenly drawn."""
    texts = [
        asked.text for other in stories if other is not story for asked in other.questions if asked.category != ADVERSARIAL
    ]
    return texts[:: max(1, len(texts) // FOREIGN)][:FOREIGN]


def summed(answers: Sequence[Answer]) -> dict[str, float]:
    """Percent, and milliseconds."""
    plain = [answer.figures for answer in answers if answer.category != ADVERSARIAL]
    hard = [answer.figures for answer in answers if answer.category == ADVERSARIAL]
    keys = ("r1", "r3", "r5", "r10", "mrr", "turn_r5", "inserted_hit", "inserted_any")
    figures = {key: 100 * mean(row[key] for row in plain) for key in keys}
    figures["adversarial_r1"] = 100 * mean(row["r1"] for row in hard) if hard else 0.0
    figures["adversarial_r5"] = 100 * mean(row["r5"] for row in hard) if hard else 0.0
    figures["slots"] = mean(row["slots"] for row in plain)
    figures["p50_ms"] = median(answer.figures["ms"] for answer in answers)
    return figures


async def with_starter(samples: Sequence[dict]) -> tuple[dict[str, object], dict[str, list[Answer]]]:
    """Measure with the embedder that ships with the program."""
    with tempfile.TemporaryDirectory() as cache:
        client = ModelClient("embed")
        await client.load(describe(starter.embedder(Path(cache))), LoadOptions(), lambda _fraction: None)
        try:
            return await measure(samples, client.embed_tokens)
        finally:
            await client.close()


def main() -> None:
    """Measure and print."""
    wanted = arguments(__doc__, ("--data", {"type": Path, "help": "a file in LoCoMo's format"}))
    if wanted.data is None:  # the data may not be passed on, so there is none to fall back on
        print("nothing measured: name a file in LoCoMo's format with --data")
        print("{}")
        return
    figures, answers = asyncio.run(with_starter(json.loads(wanted.data.read_text(encoding="utf-8"))))
    for name, some in answers.items():
        one = summed(some)
        print(f"{name:<12}" + "".join(f"  {key} {one[key]:5.1f}" for key in ("r1", "r5", "mrr", "adversarial_r5")))
    for name, value in figures.items():
        if isinstance(value, dict):
            print("\n".join(f"{row:<28}{value[row]}" for row in value))
        else:
            print(f"{name:<28}{value}")
    if wanted.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
