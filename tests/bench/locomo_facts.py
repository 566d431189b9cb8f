"""Measure the facts taken by rules from public conversations (LoCoMo format): coverage, and precision by labels of our own.

Both speakers are people and are read as users. A fact counts for the message it was taken from, the last of its messages.
`evidence_with_fact` is the percentage of messages named as evidence by questions of category 1-4 from which a fact was taken.

The labels are verdicts on facts drawn at random with `--sample`: `right` (says what the speaker said, of the right subject,
nothing lost) and `worth` (somebody would want a companion to remember it months later). They are kept by conversation, message
and the SHA-1 of the fact, without the text; a label whose fact is no longer produced is not counted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from dataclasses import dataclass
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from tests.bench._locomo_stories import ADVERSARIAL, moment_of, places_of, sessions_of
from tests.bench.report import run

LABELS = Path(__file__).with_name("locomo_facts.json")
SEED = 20261123


@dataclass(frozen=True)
class Taken:
    """One fact and where it was taken from."""

    conversation: str
    message: str
    text: str
    kind: str
    key: str

    @property
    def label(self) -> str:
        """Return the name of its label."""
        digest = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        return f"{self.conversation} {self.message} {digest}"


def facts_of(sample: dict) -> tuple[list[Taken], dict[str, str]]:
    """Return the facts of all sessions of one conversation, and its messages."""
    talk, found, told = sample["conversation"], [], {}
    for number in sessions_of(sample):
        time = moment_of(talk[f"session_{number}_date_time"])
        turns = talk[f"session_{number}"]
        ids = {uuid5(NAMESPACE_URL, turn["dia_id"]): turn["dia_id"] for turn in turns}
        told |= {turn["dia_id"]: f"{turn['speaker']}: {turn['text']}" for turn in turns}
        lines = [
            Utterance(message, Role.USER, turn["speaker"], turn["text"], time) for message, turn in zip(ids, turns, strict=True)
        ]
        found += [
            Taken(sample["sample_id"], ids[fact.message_ids[-1]], fact.text, fact.kind.value, fact.key)
            for fact in extract_statements(lines)
        ]
    return found, told


def evidence_of(sample: dict) -> set[str]:
    """Return the messages that answer a question."""
    asked = [item for item in sample["qa"] if int(item["category"]) != ADVERSARIAL]
    return {f"D{session}:{turn}" for item in asked for session, turn in places_of(item)}


def measure(wanted: argparse.Namespace) -> dict[str, float]:
    """Measure, and print the facts that are asked for."""
    labels: dict[str, list[bool]] = json.loads(LABELS.read_text(encoding="utf-8")) if LABELS.exists() else {}
    taken: list[Taken] = []
    messages: dict[tuple[str, str], str] = {}
    evidence: set[tuple[str, str]] = set()
    for sample in json.loads(wanted.data.read_text(encoding="utf-8")):
        name = sample["sample_id"]
        found, told = facts_of(sample)
        taken += found
        messages |= {(name, message): text for message, text in told.items()}
        evidence |= {(name, message) for message in evidence_of(sample) & told.keys()}
    with_fact = {(fact.conversation, fact.message) for fact in taken}
    judged = {fact.label: labels[fact.label] for fact in taken if fact.label in labels}
    figures = {
        "evidence_with_fact": 100 * len(evidence & with_fact) / max(1, len(evidence)),
        "evidence": float(len(evidence)),
        "facts": float(len(taken)),
        "facts_per_message": len(taken) / max(1, len(messages)),
        "right": 100 * sum(right for right, _worth in judged.values()) / max(1, len(judged)),
        "worth": 100 * sum(worth for _right, worth in judged.values()) / max(1, len(judged)),
        "labelled": float(len(judged)),
        "labels": float(len(labels)),
    }
    once = list({(fact.conversation, fact.text): fact for fact in reversed(taken)}.values())
    shown = random.Random(wanted.seed).sample(once, min(wanted.sample, len(once)))
    if wanted.explain:
        shown += [fact for fact in taken if fact.label in judged and not all(judged[fact.label])]
    for fact in shown:
        print(f"{fact.label} {judged.get(fact.label)}\n  {fact.text} [{fact.kind} {fact.key}]")
        print(f"  ← {messages[fact.conversation, fact.message]}")
    return figures


if __name__ == "__main__":
    run(
        __doc__,
        measure,
        ("--data", {"type": Path, "required": True, "help": "the conversations"}),
        ("--explain", {"action": "store_true", "help": "show the labelled facts that are wrong or worthless"}),
        ("--sample", {"type": int, "default": 0, "help": "show that many facts at random, with their labels"}),
        ("--seed", {"type": int, "default": SEED, "help": "of the sample"}),
    )
