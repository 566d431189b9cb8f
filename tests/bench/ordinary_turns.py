"""What comes up in ordinary messages of a conversation in LoCoMo's format, judged by hand.

The memory of each conversation is built session by session with our own facts and summaries. Every second message of one
speaker in the last third of the sessions is played as a turn against the memory of all earlier sessions: what would be
inserted into three slots is looked up among labels made by reading message and memory. A label names a conversation, the id
of the message and the number of the remembered session, and says `p` (pertinent: of the same event, person, thing or plan,
worth recalling here), `t` (the same topic, nothing to recall here) or `b` (beside the point). Figures are percent: of the
labelled insertions (`precision_strict`, `precision_topic`), of all turns (`turns_with_any`, `turns_only_irrelevant`: none
that is `p` or `t`; unlabelled ones count as relevant), and of the turns for which a label knows a pertinent session that a
pertinent one was inserted (`inserted_any`); `inserted_pertinent` and `unlabelled` are counts.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lethe_app.retrieval.embedding_geometry import Embed
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.ranking import RankedSources
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from tests.bench._locomo_stories import begin, embed_all, ingest_session, moment_of, sessions_of
from tests.bench._setup import LOCOMO, WORDS, on_locomo
from tests.bench.report import Measured, run
from tests.retrieval.conftest import sure_hits

SLOTS = 3
EVERY = 2
"""Of so many messages one is played."""
LABELS = Path(__file__).with_name("ordinary_turns.json")

Labels = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Conversation → message → number of the remembered session → `p`, `t` or `b`."""


@dataclass(frozen=True)
class Turn:
    """One message that is played, and what its memory answers."""

    conversation: str
    message: str
    """Its dialog id."""
    text: str
    found: RankedSources
    sessions: Mapping[object, int]
    """Id of each session in memory → its number."""

    @property
    def inserted(self) -> list[int]:
        """The numbers of the sessions that would be inserted."""
        return [self.sessions[hit.source] for hit in sure_hits(self.found, SLOTS)]


def played(sample: dict, number: int) -> Iterator[tuple[str, str]]:
    """Yield id and text of the messages of a session that are played."""
    talk = sample["conversation"]
    spoken = [turn for turn in talk[f"session_{number}"] if turn["speaker"] == talk["speaker_a"]]
    for turn in spoken[::EVERY]:
        yield turn["dia_id"], turn["text"]


async def turns_of(recall: MemoryIndex, chats: SessionStore, sample: dict) -> list[Turn]:
    """Play the last third of a conversation."""
    story, numbers = begin(sample), sessions_of(sample)
    first = len(numbers) - len(numbers) // 3
    known: dict[object, int] = {}
    turns = []
    for place, number in enumerate(numbers):
        if place >= first:
            at = moment_of(sample["conversation"][f"session_{number}_date_time"])
            for message, text in played(sample, number):
                found = await _found(recall, story.name, story.speakers, text, at)
                turns.append(Turn(story.name, message, text, found, dict(known)))
        known[await ingest_session(recall, chats, story, sample, number, own=True)] = number
        await embed_all(recall)
    return turns


async def _found(recall: MemoryIndex, owner: str, speakers: Sequence[str], text: str, at: datetime) -> RankedSources:
    return await recall.search([owner], text, at=at, participants=speakers)


def figures_of(turns: Sequence[Turn], labels: Labels) -> dict[str, float]:
    """Compare what was inserted with the labels."""
    judged = [_labels_of(turn, labels) for turn in turns]
    given = [[label.get(str(number), "") for number in turn.inserted] for turn, label in zip(turns, judged, strict=True)]
    every = [label for some in given for label in some]
    known = [label for label in every if label]
    answerable = [some for some, label in zip(given, judged, strict=True) if "p" in label.values()]
    return {
        "precision_strict": _percent(known.count("p"), len(known)),
        "precision_topic": _percent(len(known) - known.count("b"), len(known)),
        "turns_with_any": _percent(sum(bool(some) for some in given), len(turns)),
        "turns_only_irrelevant": _percent(sum(bool(some) and set(some) == {"b"} for some in given), len(turns)),
        "inserted_any": _percent(sum("p" in some for some in answerable), len(answerable)),
        "inserted_pertinent": known.count("p"),
        "inserted": len(every),
        "unlabelled": len(every) - len(known),
        "turns": len(turns),
        "labels": sum(len(some) for each in labels.values() for some in each.values()),
    }


def _labels_of(turn: Turn, labels: Labels) -> Mapping[str, str]:
    return labels.get(turn.conversation, {}).get(turn.message, {})


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


async def play(samples: Sequence[dict], embed: Embed | None) -> list[Turn]:
    """Play all conversations, each the memory of its own persona."""
    turns = []
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "lethe.sqlite3")
        recall, chats = MemoryIndex(Passages(database), embed, "starter" if embed else ""), SessionStore(database)
        try:
            for sample in samples:
                turns += await turns_of(recall, chats, sample)
        finally:
            await database.close()
    return turns


async def measure(samples: Sequence[dict], embed: Embed | None, wanted: argparse.Namespace) -> Measured:
    """The figures of each conversation, and of all."""
    labels = json.loads(LABELS.read_text(encoding="utf-8"))
    turns = await play(samples, embed)
    for turn in turns if wanted.unlabelled else ():
        for number in turn.inserted:
            if str(number) not in _labels_of(turn, labels):
                print(f"unlabelled {turn.conversation} {turn.message} session {number}")
    names = dict.fromkeys(turn.conversation for turn in turns)
    rows = [(name, figures_of([turn for turn in turns if turn.conversation == name], labels)) for name in names]
    return rows, figures_of(turns, labels)


if __name__ == "__main__":
    help_text = "also name what was inserted and has no label yet"
    run(__doc__, on_locomo(measure), LOCOMO, WORDS, ("--unlabelled", {"action": "store_true", "help": help_text}))
