"""Models that keep a sum of what they read, or only the last of it: they go back as far as they can, and never say it wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import llama_cpp
import pytest

from lethe_app.domain.model import LoadOptions, Usage
from lethe_app.llm.engines.llama import LlamaEngine
from lethe_app.llm.kv_cache import session_switch
from lethe_app.llm.kv_cache.reuse import UNSTABLE_TAIL
from lethe_app.llm.kv_cache.session_switch import MIN_NEW_TOKENS
from lethe_app.llm.models.gguf_model import describe_model
from lethe_app.llm.native import model as native_model
from lethe_app.llm.protocol import Generate, Prefill, StateLocation
from tests.llm.kv_cache import probes
from tests.llm.kv_cache.probes import GREEDY, STORY, Opening, opening
from tests.llm.model_files import file_at
from tests.llm.tiny_models import WINDOW, write_gemma, write_granite, write_lfm2, write_mamba

OPTIONS = LoadOptions(context=1536, batch=64, threads=1)
LINE = "And so they went on until the evening came, and nobody spoke. "
say = partial(probes.say, most=12)


@pytest.fixture(params=[write_mamba, write_lfm2, write_granite], ids=["mamba", "lfm2", "granite"])
def recurrent(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Opening]:
    """In all its layers, or in every second one."""
    yield from opening(request.param(tmp_path / "recurrent.gguf"), OPTIONS)


@pytest.fixture
def windowed(tmp_path: Path) -> Iterator[Opening]:
    yield from opening(write_gemma(tmp_path / "gemma.gguf"), OPTIONS)


@pytest.fixture(params=[write_mamba, write_lfm2, write_granite, write_gemma], ids=["mamba", "lfm2", "granite", "gemma"])
def unusual(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Opening]:
    """Any of them: what they have read cannot be cut at any place, or no longer when it comes back from the disk."""
    yield from opening(request.param(tmp_path / "unusual.gguf"), OPTIONS)


@pytest.fixture
def narrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    """The same, in whose cache nothing outlives the window."""
    usual = llama_cpp.llama_context_default_params

    def sparing() -> object:
        params = usual()
        params.swa_full = False
        return params

    monkeypatch.setattr(native_model.llama_cpp, "llama_context_default_params", sparing)
    yield from opening(write_gemma(tmp_path / "gemma.gguf"), OPTIONS)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateLocation:
    monkeypatch.setattr(session_switch, "MIN_SAVED_TOKENS", 128)
    monkeypatch.setattr(session_switch, "MIN_SPARED_TOKENS", 64)
    return StateLocation(tmp_path / "states", "anna-1", 1 << 30)


def read(engine: LlamaEngine, prompt: str, at: StateLocation | None = None) -> Usage:
    engine.stop.clear()
    return engine.prefill(Prefill(1, prompt, state_location=at))


def keep(engine: LlamaEngine) -> None:
    engine.stop.clear()
    engine.save_state(1, is_closing=True)


def test_they_are_known_by_what_their_files_say(tmp_path: Path):
    mamba, gemma = (
        describe_model(write_mamba(tmp_path / "m.gguf"), "test"),
        describe_model(write_gemma(tmp_path / "g.gguf"), "test"),
    )
    hybrid = describe_model(write_lfm2(tmp_path / "l.gguf"), "test")

    assert (mamba.is_recurrent, mamba.sliding_window, mamba.attention_layers) == (True, 0, 0)
    assert (gemma.is_recurrent, gemma.sliding_window, gemma.attention_layers) == (False, WINDOW, 2)
    assert (hybrid.is_recurrent, hybrid.sliding_window, hybrid.attention_layers) == (True, 0, 1)


def test_they_tell_what_they_cannot_do(tmp_path: Path):
    engine = LlamaEngine()
    mamba = engine.load(file_at(write_mamba(tmp_path / "m.gguf")), OPTIONS, lambda _fraction: None)
    hybrid = engine.load(file_at(write_lfm2(tmp_path / "l.gguf")), OPTIONS, lambda _fraction: None)
    gemma = engine.load(file_at(write_gemma(tmp_path / "g.gguf")), OPTIONS, lambda _fraction: None)
    engine.close()

    assert (mamba.can_shift, hybrid.can_shift, gemma.can_shift) == (False, False, False)


def test_a_recurrent_model_reads_two_turns_and_not_the_conversation(recurrent: Opening):
    """With a note above the newest words that is gone the next time, as in every turn."""
    engine, reported, costs = recurrent(), STORY[:600], []
    for number in range(8):
        prompt = f"{reported}(Note {number}.) {LINE}"
        reply, usage = say(engine, prompt)
        costs.append(usage.evaluated_tokens)
        reported += LINE + reply

    turn = len(LINE) + 40
    assert costs[0] > 600
    assert max(costs[2:]) < 3 * turn


def test_a_recurrent_model_that_reads_ahead_reads_little_when_spoken_to(recurrent: Opening):
    engine, reported = recurrent(), STORY[:600]
    costs = []
    for number in range(5):
        read(engine, reported)
        reply, usage = say(engine, f"{reported}(Note {number}.) {LINE}")
        costs.append(usage.evaluated_tokens)
        reported += LINE + reply

    assert max(costs) < len(LINE) + 20


ASKS, NOTED = "<user> ", "<notes> It rains. <user> "
"""How a prompt goes on where the user is to speak: what was read ahead ends so, and notes come to stand above it."""


def test_notes_above_the_words_that_were_waited_for_have_nothing_read_again(unusual: Opening):
    engine, reported = unusual(), STORY[:900]
    costs = []
    for _turn in range(4):
        read(engine, reported + ASKS)
        reply, usage = say(engine, reported + NOTED + LINE)
        costs.append(usage.evaluated_tokens)
        reported += ASKS + LINE + reply

    assert max(costs) < len(NOTED + LINE) + 20


def test_a_conversation_opened_again_is_read_ahead_at_once_and_answered_as_soon(unusual: Opening, place: StateLocation):
    """What was kept is just what is read ahead then, to the last token."""
    engine, reported = unusual(), STORY[:900]
    read(engine, reported + ASKS, place)
    keep(engine)

    again = unusual()
    opened = read(again, reported + ASKS, place)
    said, answered = say(again, reported + NOTED + LINE, place)
    fresh, _usage = say(unusual(), reported + NOTED + LINE)

    assert opened.evaluated_tokens < 20
    assert answered.evaluated_tokens < len(NOTED + LINE) + 20
    assert said == fresh


def test_a_conversation_that_was_left_at_a_reply_is_kept_up_to_where_notes_stood(unusual: Opening, place: StateLocation):
    engine, reported = unusual(), STORY[:900]
    read(engine, reported + ASKS, place)
    reply, _usage = say(engine, reported + NOTED + LINE, place)
    keep(engine)
    reported += ASKS + LINE + reply

    said, answered = say(unusual(), reported + NOTED + LINE, place)
    fresh, _usage = say(unusual(), reported + NOTED + LINE)

    assert answered.evaluated_tokens < 2 * len(NOTED + LINE) + len(reply) + 20
    assert said == fresh


def test_what_is_kept_is_not_written_again_for_the_sake_of_its_last_tokens(unusual: Opening, place: StateLocation):
    engine = unusual()
    read(engine, STORY[:900] + ASKS, place)
    keep(engine)
    path = next(place.folder.iterdir())
    os.utime(path, (1000, 1000))

    read(engine, STORY[:900] + ASKS, place)
    engine.stop.clear()
    engine.save_state(MIN_NEW_TOKENS, is_closing=True)

    assert path.stat().st_mtime == 1000


def test_what_is_at_hand_is_not_given_up_for_what_cannot_be_gone_back_to(windowed: Opening, place: StateLocation):
    engine = windowed()
    read(engine, STORY, place)
    keep(engine)
    read(engine, STORY[:500], replace(place, name="anna-2"))

    _text, usage = say(engine, STORY[:800] + LINE, place)

    assert usage.evaluated_tokens <= 300 + len(LINE) + UNSTABLE_TAIL


def test_another_wording_from_a_recurrent_model_costs_one_token(recurrent: Opening):
    engine = recurrent()
    first, _usage = say(engine, STORY)

    again, usage = say(engine, STORY)

    assert usage.evaluated_tokens == 1
    assert again == first


def test_gone_back_a_recurrent_model_says_what_it_would_have_said(recurrent: Opening):
    engine = recurrent()
    say(engine, STORY[:900])
    say(engine, STORY[:700] + LINE)

    said, usage = say(engine, STORY[:705] + LINE)
    fresh, all_of_it = say(recurrent(), STORY[:705] + LINE)

    assert usage.evaluated_tokens < 100 < all_of_it.evaluated_tokens
    assert said == fresh


def test_a_recurrent_model_stopped_while_it_reads_says_what_it_would_have_said(recurrent: Opening):
    engine = recurrent()
    say(engine, STORY[:500])
    engine.stop.clear()
    engine.generate(
        Generate(1, STORY[:500] + LINE * 8, GREEDY, 5),
        lambda done, _total: engine.stop.set() if done > 100 else None,
        lambda _text: None,
    )

    said, _usage = say(engine, STORY[:500] + LINE * 8)
    fresh, _usage = say(recurrent(), STORY[:500] + LINE * 8)

    assert said == fresh


@pytest.mark.parametrize("more", ["", "He left the room without a word."], ids=["as it was left", "went on otherwise"])
def test_a_recurrent_model_takes_up_only_the_conversation_it_left(recurrent: Opening, place: StateLocation, more: str):
    engine = recurrent()
    read(engine, STORY + more, place)
    keep(engine)

    fresh, _usage = say(recurrent(), STORY + LINE)
    said, usage = say(recurrent(), STORY + LINE, place)

    assert usage.evaluated_tokens == usage.prompt_tokens if more else usage.evaluated_tokens <= len(LINE) + UNSTABLE_TAIL
    assert said == fresh


def test_a_recurrent_model_fetches_what_it_can_no_longer_go_back_to(recurrent: Opening, place: StateLocation):
    engine = recurrent()
    read(engine, STORY[:600], place)
    keep(engine)
    for number in range(8):
        read(engine, f"{number} {LINE}", place)

    _text, usage = say(engine, STORY[:600] + LINE, place)

    assert usage.evaluated_tokens < 100


def test_a_model_with_a_window_goes_back_where_the_cache_still_holds_it(windowed: Opening):
    engine = windowed()
    say(engine, STORY)

    said, usage = say(engine, STORY[:800] + LINE)
    fresh, _usage = say(windowed(), STORY[:800] + LINE)

    assert usage.evaluated_tokens < 100
    assert said == fresh


def test_a_model_with_a_window_reads_anew_what_was_written_over(narrow: Opening):
    engine = narrow()
    say(engine, STORY)

    said, usage = say(engine, STORY[:800] + LINE)
    fresh, _usage = say(narrow(), STORY[:800] + LINE)

    assert usage.evaluated_tokens == usage.prompt_tokens
    assert said == fresh


@pytest.mark.parametrize("kind", ["windowed", "narrow"])
def test_a_model_with_a_window_takes_up_a_conversation_it_left(kind: str, request: pytest.FixtureRequest, place: StateLocation):
    load: Opening = request.getfixturevalue(kind)
    engine = load()
    read(engine, STORY, place)
    keep(engine)
    fresh, _usage = say(load(), STORY + LINE)

    said, usage = say(load(), STORY + LINE, place)

    assert usage.evaluated_tokens <= len(LINE) + UNSTABLE_TAIL
    assert said == fresh
