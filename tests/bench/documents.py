"""Search in a document of 300 pages: is the passage that answers a question among the first three?

The document is of our own making. Each of the 50 topics in `documents.json` has six pages, which name it again and again;
one of them holds the sentence that answers the question, in other words as far as that is natural.

Keys: `recall_at_3`, `recall_at_1`, `recalled` (the right passage would be inserted into the prompt) and `wrongly_recalled` (a
message that no page answers inserts something) in percent, `read_seconds`, `embed_seconds`, and `search_ms` (median).
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import time
from pathlib import Path

from lethe_app.services.documents.knowledge_base import DocumentQuery
from tests.bench._setup import built
from tests.bench.report import run
from tests.interchange.document_files import pdf

TOPICS: list[tuple[str, str, str]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
PAGES_PER_TOPIC = 6
FILLERS = (
    "The {topic} was looked at again in {month}, and nothing about it had changed.",
    "{name} holds that the {topic} deserves more care than it gets.",
    "What the old rules say of the {topic} is read aloud once a year, in {month}.",
    "A note in the margin, in the hand of {name}, calls the {topic} a disgrace.",
    "Nobody has been fined over the {topic} since {name} left the service.",
    "In {month} a committee of {number} sat on the matter of the {topic} and rose without a word.",
    "The {topic} is mentioned in {number} letters, most of them short.",
    "{name} asked for {number} crowns for the {topic}, and was given half.",
    "Visitors ask about the {topic} first, and about the weather after that.",
)
NAMES = ("Signe Holm", "the younger Krog", "Captain Eskil", "the widow Ravn", "Jens Monday", "Clerk Bruun", "Mother Aaby")
MONTHS = ("January", "March", "May", "July", "September", "November")
SMALL_TALK = (
    "I slept badly and my tea is cold.",
    "Tell me something nice.",
    "Do you like it when it rains?",
    "My sister called this morning; her knee is better.",
    "I think I will go for a walk later.",
    "What shall we do at the weekend?",
    "You look tired today.",
    "That was funny, go on!",
    "I am hungry. What would you cook?",
    "Good night, see you tomorrow.",
)


def pages() -> list[str]:
    """The pages of the document, the same in every run."""
    draw, texts = random.Random(300), list[str]()
    for topic, sentence, _question in TOPICS:
        place = draw.randrange(PAGES_PER_TOPIC)
        for number in range(PAGES_PER_TOPIC):
            lines = [
                draw.choice(FILLERS).format(
                    topic=topic, name=draw.choice(NAMES), month=draw.choice(MONTHS), number=draw.randrange(3, 60)
                )
                for _ in range(16)
            ]
            if number == place:
                lines.insert(draw.randrange(len(lines)), f"On the {topic}: {sentence}")
            texts.append("\n".join(line[0].upper() + line[1:] for line in lines).translate({0x2019: "'"}))
    return texts


async def measure() -> dict[str, float]:
    async with built("llama", {}, by_meaning=True) as services:
        file = services.paths.home / "Handbook.pdf"
        outline = [(index * PAGES_PER_TOPIC, topic) for index, (topic, *_rest) in enumerate(TOPICS)]
        await asyncio.to_thread(file.write_bytes, pdf(pages(), outline))
        started = time.perf_counter()
        await services.documents.add("mira", file)
        read_seconds, started = time.perf_counter() - started, time.perf_counter()
        await services.indexing.catch_up(limits=False)
        embed_seconds = time.perf_counter() - started
        ranks, recalled, times = list[int](), 0, list[float]()
        for _topic, sentence, question in TOPICS:
            started = time.perf_counter()
            hits = await services.knowledge_base.search(DocumentQuery(question, ["mira"]), 3)
            times.append(time.perf_counter() - started)
            right = [sentence in hit.chunk.text for hit in hits]
            ranks.append(right.index(True) if True in right else 3)
            recalled += any(hit.is_sure and is_right for hit, is_right in zip(hits, right, strict=True))
        wrong = [await services.knowledge_base.search(DocumentQuery(text, ["mira"]), 3) for text in SMALL_TALK]
        count = len(TOPICS)
        return {
            "recall_at_1": 100 * ranks.count(0) / count,
            "recall_at_3": 100 * sum(rank < 3 for rank in ranks) / count,
            "recalled": 100 * recalled / count,
            "wrongly_recalled": 100 * sum(any(hit.is_sure for hit in hits) for hits in wrong) / len(SMALL_TALK),
            "read_seconds": round(read_seconds, 1),
            "embed_seconds": round(embed_seconds, 1),
            "search_ms": round(1000 * statistics.median(times), 1),
        }


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
