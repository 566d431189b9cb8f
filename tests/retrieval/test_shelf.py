"""The columns say the same whether they grew or were made at once."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.retrieval.shelf import Shelf
from lethe_app.storage.passages import Card

STEPS = st.lists(st.tuples(st.sampled_from(["put", "take", "look"]), st.integers(1, 12), st.sampled_from("abc")), max_size=40)


def card(number: int, source: str) -> Card:
    return Card(number, "fact", source, source, datetime(2026, 5, number, tzinfo=UTC), "", 0, 10 * number, b"vector")


@given(STEPS)
def test_a_shelf_holds_what_was_put_and_not_taken(steps: list[tuple[str, int, str]]):
    shelf, held = Shelf(), {}
    for deed, number, source in steps:
        if deed == "put":
            shelf.put([card(number, source)])
            held[number] = source
        elif deed == "take":
            shelf.take([number])
            held.pop(number, None)
        else:
            shelf.columns()

    columns = shelf.columns()

    assert len(shelf) == len(held)
    assert columns.number.tolist() == sorted(held)
    assert [columns.sources[place] for place in columns.source] == [held[number] for number in sorted(held)]
    assert set(columns.sources) == set(held.values())
    assert columns.length.tolist() == [10 * number for number in sorted(held)]
    assert all((number in shelf) == (number in held) for number in range(1, 13))


def test_rows_are_found_by_number_and_strangers_are_told_apart():
    columns = Shelf([card(2, "a"), card(5, "b")]).columns()

    rows, known = columns.rows_of(np.array([5, 1, 2, 9]))

    assert known.tolist() == [True, False, True, False]
    assert rows[known].tolist() == [1, 0]
    assert not Shelf().columns().rows_of(np.array([1]))[1].any()
