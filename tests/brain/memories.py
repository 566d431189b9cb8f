"""Memories and moments for the tests of what she brings up, forgets and keeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from hypothesis import settings
from hypothesis import strategies as st

from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from tests.sweep import examples

MOMENT = datetime(2026, 11, 21, 21, 4, tzinfo=UTC)
NAMES = UUID("00000000-0000-0000-0000-0000000000ab")
quick = settings(max_examples=examples(100), database=None)


def memory(name: str, days_old: float = 1, **fields: object) -> MemoryUnit:
    """The same name is the same memory."""
    added = MOMENT - timedelta(days=days_old)
    defaults = {"guid": uuid5(NAMES, name), "name": name, "content": f"About {name}.", "added": added, "last_trigger": added}
    return MemoryUnit.model_validate({**defaults, **fields})


def natural(name: str, days_old: float = 1, **fields: object) -> MemoryUnit:
    return memory(name, days_old, **{"insertion": MemoryInsertion.NATURAL, **fields})


def forced(name: str, days_old: float = 1, **fields: object) -> MemoryUnit:
    return natural(name, days_old, insertion=MemoryInsertion.NATURAL_FORCED, **fields)


@st.composite
def memories(draw: st.DrawFn) -> list[MemoryUnit]:
    """Some of every kind, up to two months old, a few of them not yet due."""
    return [
        memory(
            f"memory {number} {draw(st.sampled_from(['lighthouse', 'harbour at night', 'you and me']))}",
            draw(st.floats(-5, 60)),
            category=draw(st.sampled_from(MemoryType)),
            insertion=draw(st.sampled_from(MemoryInsertion)),
            priority=draw(st.integers(-2, 6)),
            trigger_count=draw(st.integers(0, 5)),
            last_trigger=MOMENT - timedelta(days=draw(st.floats(0, 60))),
            end_time=draw(st.sampled_from([None, None, MOMENT - timedelta(days=1), MOMENT + timedelta(days=9)])),
            protected=draw(st.sampled_from([False, False, False, True])),
            sticky=draw(st.sampled_from([False, False, False, True])),
            enabled=draw(st.sampled_from([True, True, True, False])),
        )
        for number in range(draw(st.integers(0, 8)))
    ]
