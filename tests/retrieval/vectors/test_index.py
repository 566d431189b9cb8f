"""The index holds exactly what was put in and not taken out, as a table and as a graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.retrieval.vectors.index import HnswGraph, VectorTable, measure_width
from tests.sweep import examples

SIZE = 8
Kind = type[VectorTable] | type[HnswGraph]
KINDS = [VectorTable, HnswGraph]


def unit(number: int, version: int = 0) -> np.ndarray:
    vector = np.random.default_rng([number, version]).normal(size=SIZE).astype(np.float32)
    return vector / np.linalg.norm(vector)


def stack(*numbers: int) -> np.ndarray:
    return np.stack([unit(number) for number in numbers])


def filled(kind: Kind, count: int) -> VectorTable | HnswGraph:
    index = kind(SIZE)
    index.add(np.arange(count), stack(*range(count)))
    return index


@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_comes_first_with_its_cosine(kind: Kind):
    index = filled(kind, 100)

    numbers, cosines = index.nearest(unit(42), 5)

    assert numbers[0] == 42
    assert cosines[0] == pytest.approx(1, abs=1e-5)
    assert list(cosines) == sorted(cosines, reverse=True)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_index_finds_nothing(kind: Kind):
    numbers, cosines = kind(SIZE).nearest(unit(1), 5)

    assert len(numbers) == len(cosines) == 0


def test_what_is_left_is_found_also_when_nearly_all_was_taken_out():
    index = filled(HnswGraph, 3000)
    index.remove(range(2990))

    assert set(index.nearest(unit(0), 10)[0].tolist()) <= set(range(2990, 3000))
    assert len(index) == len(index.numbers()) == 10


def test_it_is_searched_as_widely_as_it_needs():
    vectors = np.random.default_rng(1).normal(size=(4000, 48)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = HnswGraph(48)
    index.add(np.arange(4000), vectors)

    index.width = measure_width(index)

    asked = vectors[:200] + vectors[200:400]
    right = np.argsort(-(asked @ vectors.T), axis=1)[:, :10]
    found = [len(np.intersect1d(index.nearest(one, 10)[0], ten)) for one, ten in zip(asked, right, strict=True)]
    assert np.mean(found) >= 9.5


STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.integers(1, 12), st.integers(0, 3)), max_size=40)


@settings(max_examples=examples(40))
@given(STEPS, st.sampled_from(KINDS))
def test_the_index_agrees_with_what_was_done_to_it(steps: list[tuple[str, int, int]], kind: Kind):
    index, held = kind(SIZE), {}
    for action, number, version in steps:
        if action == "add":
            index.add(np.array([number]), unit(number, version)[None, :])
            held[number] = version
        else:
            index.remove([number])
            held.pop(number, None)

    assert len(index) == len(held)
    assert set(index.nearest(unit(0), 100)[0].tolist()) == set(held)
    for number, version in held.items():
        assert index.nearest(unit(number, version), 1)[0].tolist() == [number]
