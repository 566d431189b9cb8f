"""The index holds exactly what was put in and not taken out, as a table and as a graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.retrieval.index import VectorIndex

SIZE = 8


def unit(number: int, version: int = 0) -> np.ndarray:
    vector = np.random.default_rng([number, version]).normal(size=SIZE).astype(np.float32)
    return vector / np.linalg.norm(vector)


def stack(*numbers: int) -> np.ndarray:
    return np.stack([unit(number) for number in numbers])


@pytest.mark.parametrize("exact_up_to", [1000, 0])
def test_the_nearest_comes_first_with_its_cosine(exact_up_to: int):
    index = VectorIndex(SIZE, exact_up_to)
    index.add(range(100), stack(*range(100)))

    numbers, cosines = index.nearest(unit(42), 5)

    assert numbers[0] == 42
    assert cosines[0] == pytest.approx(1, abs=1e-5)
    assert list(cosines) == sorted(cosines, reverse=True)
    assert index.is_exact is (exact_up_to > 0)


def test_growing_over_the_limit_loses_nothing():
    index = VectorIndex(SIZE, exact_up_to=10)
    index.add(range(10), stack(*range(10)))
    index.add(range(10, 2000), stack(*range(10, 2000)))
    index.remove([3])

    assert not index.is_exact
    assert set(index.nearest(unit(0), 1999)[0].tolist()) == set(range(2000)) - {3}


def test_an_empty_index_finds_nothing():
    numbers, cosines = VectorIndex(SIZE).nearest(unit(1), 5)

    assert len(numbers) == len(cosines) == 0


def test_a_file_is_taken_only_if_it_holds_the_same_numbers(tmp_path: Path):
    index = VectorIndex(SIZE, exact_up_to=0)
    index.add([1, 2, 3], stack(1, 2, 3))
    index.save(tmp_path / "index")

    assert not VectorIndex(SIZE, 0).load(tmp_path / "index", [1, 2])
    assert not VectorIndex(SIZE, 0).load(tmp_path / "nothing", [1, 2, 3])
    (tmp_path / "broken").write_bytes(b"no graph")
    assert not VectorIndex(SIZE, 0).load(tmp_path / "broken", [1, 2, 3])
    again = VectorIndex(SIZE, 0)
    assert again.load(tmp_path / "index", [1, 2, 3])
    assert again.nearest(unit(2), 1)[0].tolist() == [2]


STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.integers(1, 12), st.integers(0, 3)), max_size=40)


@settings(deadline=None, max_examples=40)
@given(STEPS, st.sampled_from([1000, 4, 0]))
def test_the_index_agrees_with_what_was_done_to_it(steps: list[tuple[str, int, int]], exact_up_to: int):
    index, held = VectorIndex(SIZE, exact_up_to), {}
    for deed, number, version in steps:
        if deed == "add":
            index.add([number], unit(number, version)[None, :])
            held[number] = version
        else:
            index.remove([number])
            held.pop(number, None)

    assert len(index) == len(held)
    assert set(index.nearest(unit(0), 100)[0].tolist()) == set(held)
    assert all((number in index) == (number in held) for number in range(1, 13))
    for number, version in held.items():
        assert index.nearest(unit(number, version), 1)[0].tolist() == [number]
