"""Small worlds, windows and turns for the tests of the brain."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid5

from lethe_app.brain.lore.compiled import LoreIndex
from lethe_app.brain.lore.engine import evaluate
from lethe_app.brain.lore.evaluation import ActivatedEntry, BlockedEntry, Evaluation, EvaluationTurn, LoreLimits
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.text.utterance import ScanWindow, WindowLine
from lethe_app.domain.worldinfo import World, WorldEntry

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
MOMENT = datetime(2026, 11, 21, 21, 4, tzinfo=UTC)
NAMES = UUID("00000000-0000-0000-0000-00000000beef")


def entry(name: str, *main: str, **fields: object) -> WorldEntry:
    """Woken by its own name unless keywords are given; the same name is the same entry."""
    defaults = {"guid": uuid5(NAMES, name), "content": f"About the {name}.", "added": LONG_AGO}
    return WorldEntry.model_validate({"name": name, "keywords_main": main or [name], **defaults, **fields})


def world(*entries: WorldEntry, **fields: object) -> World:
    return World.model_validate({"name": "a world", "entries": list(entries), **fields})


def window(pending: str = "", *spoken: str) -> ScanWindow:
    """`spoken` is newest first."""
    return ScanWindow(WindowLine(pending), tuple(WindowLine(text) for text in spoken))


def turn(number: int = 1, **fields: object) -> EvaluationTurn:
    values: dict[str, object] = {
        "id": f"turn {number}",
        "number": number,
        "message_count": 100,
        "moment": MOMENT,
        "seed": "a session",
    }
    return EvaluationTurn(**{**values, **fields})  # type: ignore[arg-type]


def evaluate_worlds(
    *worlds: World,
    said: str | ScanWindow = "",
    at: EvaluationTurn | None = None,
    state: LoreState | None = None,
    limits: LoreLimits | None = None,
    lore: LoreIndex | None = None,
) -> Evaluation:
    received = window(said) if isinstance(said, str) else said
    return evaluate(lore or LoreIndex(worlds), received, state or LoreState(), at or turn(), limits)


def names(evaluation: Evaluation) -> list[str]:
    return [activated.entry.name for activated in evaluation.activated]


def reasons(evaluation: Evaluation) -> dict[str, str]:
    return {blocked.entry.name: blocked.reason.value for blocked in evaluation.blocked}


def one(evaluation: Evaluation) -> ActivatedEntry:
    (activated,) = evaluation.activated
    return activated


def the_block(evaluation: Evaluation) -> BlockedEntry:
    (blocked,) = evaluation.blocked
    return blocked
