"""A conversation left and taken up again with the real model: nothing is read twice, and it says what it would have said."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lethe_app.domain.model import KvType, LoadOptions, Usage
from lethe_app.llm.engines.llama import LlamaEngine
from lethe_app.llm.kv_cache import session_switch
from lethe_app.llm.kv_cache.reuse import ReuseOptions
from lethe_app.llm.native import model as native_model
from lethe_app.llm.protocol import Prefill, StateLocation
from tests.llm.kv_cache.probes import NOISE, STORY, Opening, divergence, next_word, opening, say
from tests.llm.model_files import file_at
from tests.sweep import BOTH_MODELS

OPTIONS = LoadOptions(context=512, batch=128, threads=1)
TOLD = f"<|im_start|>user\n{STORY[:800]}<|im_end|>\n"
"""Some 190 tokens."""
CUT = TOLD[:200] + TOLD[300:]
ASKED = TOLD + "<|im_start|>user\nWho counted the pears?<|im_end|>\n<|im_start|>assistant\n"
OTHER = f"<|im_start|>user\n{STORY[800:]}<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(autouse=True)
def short_conversations_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long ones take long to read."""
    monkeypatch.setattr(session_switch, "MIN_SAVED_TOKENS", 128)
    monkeypatch.setattr(session_switch, "MIN_SPARED_TOKENS", 64)


@pytest.fixture
def open_engine(chat_model: Path) -> Iterator[Opening]:
    """Loads the model; everything opened is closed in the end."""
    yield from opening(chat_model, OPTIONS)


@pytest.fixture
def place(tmp_path: Path) -> StateLocation:
    return StateLocation(tmp_path / "states", "anna-1", 1 << 30)


def keep(engine: LlamaEngine, least: int = 1) -> None:
    engine.stop.clear()
    engine.save_state(least, is_closing=True)


def reading(engine: LlamaEngine, prompt: str, at: StateLocation | None = None) -> Usage:
    """The logits are then those behind the prompt."""
    engine.stop.clear()
    return engine.prefill(Prefill(1, prompt, state_location=at))


@pytest.fixture
def kept(open_engine: Opening, place: StateLocation) -> StateLocation:
    """Where an engine has kept what was told."""
    engine = open_engine()
    reading(engine, TOLD, place)
    keep(engine)
    return place


def test_a_conversation_opened_again_is_not_read_again(open_engine: Opening, kept: StateLocation):
    cold = open_engine()
    _text, all_of_it = say(cold, ASKED, None)

    _text, usage = say(open_engine(), ASKED, kept)

    assert usage.evaluated_tokens < 20 < all_of_it.evaluated_tokens == all_of_it.prompt_tokens


@BOTH_MODELS
def test_it_says_to_the_last_bit_what_it_would_have_said(open_engine: Opening, place: StateLocation):
    engine = open_engine()
    reading(engine, TOLD, place)
    keep(engine)
    reading(engine, ASKED, place)
    stayed = next_word(engine)

    again = open_engine()
    usage = reading(again, ASKED, place)

    assert usage.evaluated_tokens < 20
    assert np.array_equal(next_word(again), stayed)


@pytest.mark.parametrize("kind", [KvType.F16, KvType.Q8_0, KvType.Q4_0])
def test_a_smaller_cache_comes_back_too(open_engine: Opening, place: StateLocation, kind: KvType):
    options = replace(OPTIONS, kv_type=kind)
    engine = open_engine(options)
    reading(engine, TOLD, place)
    keep(engine)
    first, _usage = say(engine, ASKED, place, 6)

    again, usage = say(open_engine(options), ASKED, place, 6)

    assert usage.evaluated_tokens < 20
    assert again == first


@pytest.mark.parametrize(("kind", "moves"), [(KvType.F16, True), (KvType.Q8_0, True), (KvType.Q4_0, False)])
def test_cells_that_every_move_would_blur_stay_in_place(starter_model: Path, kind: KvType, moves: bool):
    engine = LlamaEngine()

    facts = engine.load(file_at(starter_model), replace(OPTIONS, kv_type=kind), lambda _fraction: None)
    engine.close()

    assert facts.can_shift is moves


def test_another_conversation_comes_between_and_neither_is_read_again(open_engine: Opening, place: StateLocation):
    engine, other = open_engine(), replace(place, name="anna-2")
    say(engine, ASKED, place)
    say(engine, OTHER, other)

    _text, first = say(engine, ASKED, place)
    _text, second = say(engine, OTHER, other)

    assert first.evaluated_tokens <= 2
    assert second.evaluated_tokens <= 2


@BOTH_MODELS
def test_cuts_are_remembered_and_mended_later(open_engine: Opening, place: StateLocation):
    engine = open_engine()
    say(engine, ASKED, place)
    _text, drifted = say(engine, CUT, place)
    keep(engine)

    again = open_engine()
    _text, usage = say(again, CUT, place)
    again.prefill(Prefill(1, CUT, ReuseOptions(exact=True), state_location=place))
    mended = next_word(again)
    reading(again, CUT[:5])
    reading(again, CUT)

    assert usage.drift == drifted.drift == 1
    assert usage.evaluated_tokens <= 2
    assert mended.argmax() == next_word(again).argmax()


def test_without_surgery_what_stands_behind_a_cut_is_not_trusted(open_engine: Opening, place: StateLocation):
    engine = open_engine()
    say(engine, ASKED, place)
    say(engine, CUT, place)
    keep(engine)

    _text, usage = say(open_engine(), CUT, place, reuse=ReuseOptions(surgery=False))

    assert usage.drift == 0
    assert usage.evaluated_tokens > usage.prompt_tokens / 2


def test_only_what_the_prompt_really_begins_with_is_used(open_engine: Opening, kept: StateLocation):
    _text, usage = say(open_engine(), OTHER, kept)

    assert usage.evaluated_tokens > usage.prompt_tokens / 2


def changed(path: Path, change: str) -> None:
    raw = bytearray(path.read_bytes())
    if change == "turned":
        raw[len(raw) // 2] ^= 4
    path.write_bytes({"turned": raw, "short": raw[: len(raw) // 2], "empty": b"", "noise": os.urandom(100_000)}[change])


@pytest.mark.parametrize("change", ["turned", "short", "empty", "noise"])
def test_what_was_spoilt_on_the_disk_is_read_anew(open_engine: Opening, kept: StateLocation, change: str):
    changed(next(kept.folder.iterdir()), change)
    fresh, _usage = say(open_engine(), ASKED, None, 4)

    said, usage = say(open_engine(), ASKED, kept, 4)

    assert usage.evaluated_tokens == usage.prompt_tokens
    assert said == fresh


def test_what_another_file_read_is_read_anew(open_engine: Opening, kept: StateLocation, starter_model: Path, tmp_path: Path):
    copy = shutil.copyfile(starter_model, tmp_path / "copy.gguf")  # of the same words, but of another time

    _text, usage = say(open_engine(path=copy), ASKED, kept)

    assert usage.evaluated_tokens == usage.prompt_tokens


@pytest.mark.parametrize(
    "options", [replace(OPTIONS, context=768), replace(OPTIONS, kv_type=KvType.Q8_0), replace(OPTIONS, flash_attention=True)]
)
def test_what_was_read_in_another_way_is_read_anew(open_engine: Opening, kept: StateLocation, options: LoadOptions):
    _text, usage = say(open_engine(options), ASKED, kept)

    assert usage.evaluated_tokens == usage.prompt_tokens


def test_what_another_build_made_is_made_anew(open_engine: Opening, kept: StateLocation, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(native_model.llama_cpp, "__version__", "0.0.1")

    _text, usage = say(open_engine(), ASKED, kept)

    assert usage.evaluated_tokens == usage.prompt_tokens


def test_a_file_that_only_pretends_to_be_of_this_model_leaves_it_whole(open_engine: Opening, place: StateLocation):
    """Everything about it is right but what llama.cpp is to read."""
    engine = open_engine()
    reading(engine, TOLD, place)
    mark = engine._chat_context._cache.capture_state()  # type: ignore[union-attr]
    forged = replace(mark, data=mark.data[: len(mark.data) // 2])
    engine._state_store.save(place, forged, 0)  # type: ignore[union-attr]
    engine._state_store.wait_until_written(lambda: False)  # type: ignore[union-attr]

    again = open_engine()
    said, usage = say(again, ASKED, place, 4)

    assert usage.evaluated_tokens == usage.prompt_tokens
    assert said == say(engine, ASKED, None, 4)[0]


def test_a_short_conversation_is_not_worth_a_file(open_engine: Opening, place: StateLocation):
    engine = open_engine()
    say(engine, TOLD[:300], place)

    keep(engine)

    assert not place.folder.exists()


def test_what_is_kept_already_is_not_written_again(open_engine: Opening, place: StateLocation):
    engine = open_engine()
    reading(engine, TOLD, place)
    keep(engine)
    path = next(place.folder.iterdir())
    os.utime(path, (1000, 1000))

    keep(engine)
    reading(engine, TOLD + "And?", place)
    keep(engine, least=100)

    assert path.stat().st_mtime == 1000


def test_without_memory_for_a_copy_nothing_is_kept(open_engine: Opening, place: StateLocation, monkeypatch: pytest.MonkeyPatch):
    engine = open_engine()
    reading(engine, TOLD, place)
    room = native_model.psutil.virtual_memory()
    monkeypatch.setattr(native_model.psutil, "virtual_memory", lambda: room._replace(available=100_000))

    keep(engine)

    assert not place.folder.exists()


def test_what_was_forgotten_is_kept_again_only_when_it_was_read_anew(open_engine: Opening, place: StateLocation):
    engine = open_engine()
    say(engine, ASKED, place)
    keep(engine)
    engine.delete_states(place.folder, "anna-")
    gone = not list(place.folder.iterdir())

    keep(engine)
    still_gone = not list(place.folder.iterdir())
    _text, usage = say(engine, CUT, place)
    keep(engine)
    with_traces = bool(list(place.folder.iterdir()))
    engine.prefill(Prefill(1, CUT, ReuseOptions(exact=True), state_location=place))
    keep(engine)

    assert gone
    assert still_gone
    assert usage.drift == 1
    assert not with_traces
    assert list(place.folder.iterdir())


def test_a_mended_cache_is_as_good_after_it_came_back(open_engine: Opening, place: StateLocation):
    engine = open_engine()
    say(engine, ASKED, place)
    reading(engine, CUT, place)
    stayed = next_word(engine)
    keep(engine)

    again = open_engine()
    reading(again, CUT, place)

    assert divergence(stayed, next_word(again)) < NOISE
