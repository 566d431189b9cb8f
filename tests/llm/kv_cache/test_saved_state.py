"""A bookmark comes back as it was written, or not at all: damage, other models and other builds are seen before they matter."""

from __future__ import annotations

import io
import random

import pytest

from lethe_app.llm.kv_cache.edits import Seam
from lethe_app.llm.kv_cache.saved_state import SavedState, read, read_head, write

MARK = SavedState([1, 5, 9, 200_000], (Seam(2, 40), Seam(3, 7)), bytes(range(256)) * 40)


def written(mark: SavedState = MARK, identity: str = "this model") -> bytes:
    file = io.BytesIO()
    assert write(file, mark, identity, lambda: True)
    return file.getvalue()


def test_it_comes_back_as_it_was_written():
    raw = written()

    whole, head = read(io.BytesIO(raw), "this model"), read_head(io.BytesIO(raw), "this model")

    assert whole == MARK
    assert (head.tokens, head.seams) == (MARK.tokens, MARK.seams)


def test_another_models_is_none_of_ours():
    assert read(io.BytesIO(written()), "another model") is None
    assert read_head(io.BytesIO(written()), "another model") is None


@pytest.mark.parametrize("part", [0.0, 0.001, 0.01, 0.5, 0.999])
def test_a_file_cut_short_is_seen(part: float):
    raw = written()

    assert read(io.BytesIO(raw[: int(len(raw) * part)]), "this model") is None


def test_a_file_with_something_behind_it_is_seen():
    assert read(io.BytesIO(written() + b"\0"), "this model") is None


def test_whichever_bit_is_turned_it_is_seen():
    raw, dice = written(), random.Random(3)
    places = {*range(140), *(dice.randrange(len(raw)) for _ in range(400)), len(raw) - 1}

    for place in places:
        damaged = bytearray(raw)
        damaged[place] ^= 1 << dice.randrange(8)
        assert read(io.BytesIO(damaged), "this model") is None, place


@pytest.mark.parametrize("noise", [b"", b"GGUF", b"LETHEKV1", b"LETHEKV1" + b"\xff" * 60, b"\0" * 5000])
def test_a_file_that_is_no_saved_state_is_recognised(noise: bytes):
    assert read(io.BytesIO(noise), "this model") is None
    assert read_head(io.BytesIO(noise), "this model") is None


def test_cuts_that_cannot_be_are_not_believed():
    beyond = SavedState([1, 2, 3], (Seam(3, 5),), b"x")

    assert read(io.BytesIO(written(beyond)), "this model") is None


def test_writing_ends_when_it_is_to_go_on_no_longer():
    assert not write(io.BytesIO(), MARK, "this model", lambda: False)
