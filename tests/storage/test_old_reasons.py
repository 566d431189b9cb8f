"""Reasons that version 0.1 stored as sentences are read as data, in databases and in bundles."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import TypeAdapter

from lethe_app.domain import old_reasons
from lethe_app.domain.prompt import CacheMiss, CutReason, ReceiptEntry
from lethe_app.domain.recall import BlockReason, ReasonKind, RecalledMemory, TurnMemory
from lethe_app.language_tables import load_table
from lethe_app.storage.migrations import MIGRATIONS, migrate
from lethe_app.storage.schema.v8_reasons import convert_reasons

REASONS = [
    ("“the lamp” was said 3 messages before", 0.0, ReasonKind.KEY, {"key": "the lamp", "before": 3}),
    ("“1984” was said in your message", 0.0, ReasonKind.KEY, {"key": "1984", "before": 0}),
    ("its name, “Ines”, was said in the last message before it", 0.0, ReasonKind.NAME, {"name": "Ines", "before": 1}),
    ("a line says, word for word or nearly, what the question says", 0.7, ReasonKind.SIGNAL, {"signal": "said"}),
    ("it shares words: bees, honey", 0.0, ReasonKind.SHARED_WORDS, {"words": "bees, honey", "count": 2}),
    ("it stays until turn", 7.0, ReasonKind.STAYS_UNTIL, {"turn": 7}),
    ("it woke a few turns ago and stays until turn 9", 0.0, ReasonKind.STAYS_UNTIL, {"turn": 9}),
    ("hours the user was away", 9.5, ReasonKind.AWAY, {}),
]
BLOCKS = [
    ("cooldown", "rests until turn 4, this is turn 3", {"until": 4, "turn": 3}),
    ("chance", "drew 0.83, below 0.5 was needed", {"drawn": 0.83, "chance": 0.5}),
    (
        "group",
        "“sun” stands for the group “w”: 3 of its keys were said, 1 of this",
        {"winner": "sun", "group": "w", "more": 3, "fewer": 1},
    ),
    ("not due", "from 2026-03-01 10:00 on", {"begins": "2026-03-01 10:00"}),
    ("not relevant", "you said it did not belong to what was being said", {}),
]


def stored_recall(**fields: object) -> dict[str, object]:
    return {"memory": str(uuid4()), "category": "general", "text": "Bees.", "way": "keyword", **fields}


@pytest.mark.parametrize(("what", "value", "kind", "values"), REASONS)
def test_a_sentence_becomes_a_reason(what: str, value: float, kind: ReasonKind, values: dict[str, object]):
    made = RecalledMemory.model_validate(
        old_reasons.convert_recollection(stored_recall(because=[{"what": what, "value": value}]))
    )

    assert [(one.kind, one.values) for one in made.because] == [(kind, values)]


def test_an_unknown_sentence_is_dropped_and_data_stay_as_they_are():
    stored = stored_recall(because=[{"what": "the moon"}, {"kind": "due", "values": {}, "value": 0.0}])

    assert old_reasons.convert_recollection(stored)["because"] == [{"kind": "due", "values": {}, "value": 0.0}]


@pytest.mark.parametrize(("why", "detail", "values"), BLOCKS)
def test_the_reason_of_a_blocked_memory_becomes_data(why: str, detail: str, values: dict[str, object]):
    stored = {"recalled": [], "blocked": [{"memory": str(uuid4()), "title": "x", "why": why, "detail": detail}]}

    (made,) = TurnMemory.model_validate(old_reasons.convert_memory(stored)).blocked

    assert (made.why, made.values) == (BlockReason(why), values)


def test_a_receipt_becomes_data():
    oldest = "the oldest 2 of 9 messages left out: there is no room for all"
    note = f"{oldest}; the first 7 messages of the conversation had no room any more and are told in a summary"
    capped = "2 of 4 left out: the part may have at most 20% of the context, and for 1 there was no room"
    receipt = {
        "shares": [
            {"part": "history", "tokens": 9, "cut_tokens": 3, "note": note},
            {"part": "memories", "tokens": 9, "cut_tokens": 3, "note": capped},
        ],
        "prompt_tokens": 9,
        "context": 9,
        "reply_reserve": 1,
        "template_source": "model",
    }
    cost = {"evaluated": 9, "reused": 9, "drift": 0, "again": 4, "because": "the persona has changed", "compared": True}

    made = TypeAdapter(ReceiptEntry).validate_python(old_reasons.convert_receipt({"receipt": receipt, "cost": cost}))

    first, summarised = made.receipt.shares[0].cuts
    assert ((first.kind, first.lost, first.total), (summarised.kind, summarised.lost)) == (
        (CutReason.OLDEST, 2, 9),
        (CutReason.SUMMARISED, 7),
    )
    (cut,) = made.receipt.shares[1].cuts
    assert (cut.kind, cut.lost, cut.total, cut.share, cut.no_space) == (CutReason.CAPPED, 2, 4, 0.2, 1)
    assert (made.cost.reason, made.cost.part) == (CacheMiss.PART, "persona")


@pytest.mark.parametrize("words", load_table("old_reasons")["costs"])
def test_every_old_reason_of_a_cache_miss_is_known(words: str):
    made = old_reasons.convert_receipt({"receipt": {}, "cost": {"again": 3, "because": words}})

    assert CacheMiss(made["cost"]["reason"]) is not CacheMiss.PART


def test_a_database_is_converted_and_unreadable_records_are_left(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "old.db", isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[: MIGRATIONS.index(convert_reasons)])
        connection.execute("PRAGMA foreign_keys = OFF")
        memory = {"recalled": [stored_recall(because=[{"what": "it is always there", "value": 0.0}])], "blocked": []}
        rows = [("a", json.dumps({"said": "x", "memory": memory})), ("b", "not json"), ("c", json.dumps({"said": "x"}))]
        connection.executemany("INSERT INTO turn_memories (message_id, value) VALUES (?, ?)", rows)
        taken = json.dumps(stored_recall(because=[{"what": "its time has come", "value": 0.0}]))
        connection.execute("INSERT INTO house_state VALUES ('objections mira', 'taken back x y', ?)", (taken,))

        convert_reasons(connection)

        kept = dict(connection.execute("SELECT message_id, value FROM turn_memories"))
        (objection,) = connection.execute("SELECT value FROM house_state").fetchone()
    assert json.loads(kept["a"])["memory"]["recalled"][0]["because"][0]["kind"] == "always"
    assert (kept["b"], kept["c"]) == (rows[1][1], rows[2][1])
    assert json.loads(objection)["because"][0]["kind"] == "due"
