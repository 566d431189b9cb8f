"""Cells part as they fill, come back from their file as they were, and stand still while they are written."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from lethe_app.errors import StorageError
from lethe_app.retrieval.vectors import inverted_file as module
from lethe_app.retrieval.vectors.inverted_file import Cells

SIZE = 6


def units(count: int, seed: int = 1) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, SIZE)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> Cells:
    """Eight hundred vectors, at most twenty to a cell."""
    monkeypatch.setattr(module, "FULL", 20)
    made = Cells(SIZE)
    made.add(np.arange(800), units(800))
    return made


def test_no_cell_holds_too_much_and_each_vector_is_in_one(cells: Cells):
    assert max(len(cell) for cell in cells._cells) <= 20
    assert sorted(number for cell in cells._cells for number in cell.numbers.tolist()) == list(range(800))
    assert cells.stored(np.array([3, 799])) == pytest.approx(units(800)[[3, 799]])


def test_a_narrow_search_finds_most_and_a_wide_one_all(cells: Cells):
    asked = units(50, seed=2)
    right = [set(row) for row in np.argsort(-(asked @ units(800).T), axis=1)[:, :10].tolist()]

    narrow, wide = ([set(cells.nearest(one, 10, width)[0].tolist()) for one in asked] for width in (200, 800))

    assert np.mean([len(found & ten) for found, ten in zip(narrow, right, strict=True)]) > 8
    assert wide == right


def test_many_that_are_all_the_same_are_parted_too(cells: Cells):
    cells.add(np.arange(1000, 1100), np.repeat(units(1, seed=3), 100, axis=0))

    numbers, cosines = cells.nearest(units(1, seed=3)[0], 100)

    assert max(len(cell) for cell in cells._cells) <= 20
    assert cosines == pytest.approx(np.ones(100))
    assert sorted(numbers.tolist()) == list(range(1000, 1100))


def test_of_a_number_that_comes_twice_the_later_vector_counts(cells: Cells):
    cells.add(np.array([5, 5, 900]), units(3, seed=4))

    assert len(cells) == 801
    assert cells.stored(np.array([5]))[0] == pytest.approx(units(3, seed=4)[1])


def test_they_come_back_from_their_file_and_can_be_changed(cells: Cells, tmp_path: Path):
    cells.remove([7])
    cells.save(tmp_path / "cells")

    again = Cells.load(tmp_path / "cells", SIZE, 300, [8])
    again.add(np.array([7]), units(1, seed=5))

    assert again.numbers().tolist() == [number for number in range(800) if number != 8]
    assert again.width == 300
    assert again.nearest(units(1, seed=5)[0], 1)[0].tolist() == [7]
    assert again.stored(np.array([9])) == pytest.approx(units(800)[[9]])


def test_what_is_taken_out_while_the_file_is_written_disturbs_no_other(
    cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write = np.save

    def taking_out(file: BinaryIO, values: np.ndarray) -> None:
        cells.remove(range(0, 800, 3))
        write(file, values)

    with monkeypatch.context() as changed:
        changed.setattr(np, "save", taking_out)
        cells.save(tmp_path / "cells")

    again = Cells.load(tmp_path / "cells", SIZE, 0, [])
    assert len(cells) == 533
    assert again.numbers().tolist() == list(range(800)), "the next start takes out what storage no longer has"
    assert again.stored(np.arange(800)) == pytest.approx(units(800))


@pytest.mark.parametrize("keep", [0, 100, -SIZE * 4, -2])
def test_a_file_that_is_cut_short_is_refused(cells: Cells, tmp_path: Path, keep: int):
    cells.save(tmp_path / "cells")
    (tmp_path / "cells").write_bytes((tmp_path / "cells").read_bytes()[:keep])

    with pytest.raises(StorageError, match="is not an index"):
        Cells.load(tmp_path / "cells", SIZE, 0, [])
