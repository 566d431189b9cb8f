"""Cutting the real model's cache: it evaluates only what is new, and cells, tokens and joints tell one story at any moment."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lethe_app.domain.model import LoadOptions
from lethe_app.llm.engines.llama import LlamaEngine
from lethe_app.llm.kv_cache import staging
from lethe_app.llm.kv_cache.cache import KvCache, ReuseOptions
from lethe_app.llm.kv_cache.edits import MAX_SEAMS, Seam
from lethe_app.llm.protocol import Generate, RequestPriority
from tests.llm.kv_cache.probes import GREEDY, NOISE, STORY, agrees, divergence, next_word, silent
from tests.llm.model_files import load_engine
from tests.sweep import BOTH_MODELS


class Table:
    """A cache to operate on."""

    def __init__(self, engine: LlamaEngine) -> None:
        weights, chat = engine._require_loaded()
        self.engine = engine
        self.cache: KvCache = chat._cache
        self.text = weights.tokenize(STORY * 3)

    def piece(self, start: int, length: int) -> list[int]:
        return self.text[start : start + length]

    def begin(self, tokens: list[int]) -> None:
        """Read them with nothing cached before."""
        self.engine.stop.clear()
        self.cache._rewind(0)
        self.cache.evaluate(tokens, silent)

    def next_word(self) -> np.ndarray:
        return next_word(self.engine)

    def next_word_after(self, tokens: list[int]) -> np.ndarray:
        """The truth: read from the first token on."""
        self.begin(tokens)
        return self.next_word()


@pytest.fixture(scope="module")
def table(chat_model: Path) -> Iterator[Table]:
    engine = load_engine(chat_model, LoadOptions(context=640, batch=64, threads=1))
    yield Table(engine)
    engine.close()


def test_a_note_that_is_gone_is_cut_out_of_the_cache(table: Table):
    old, note, said, new = table.piece(0, 150), table.piece(300, 50), table.piece(150, 60), table.piece(210, 20)
    table.begin(old + note + said)

    evaluated = table.cache.evaluate(old + said + new, silent)

    assert evaluated == len(new)
    assert table.cache.drift == 1
    assert table.cache._tokens == old + said + new
    assert agrees(table.cache)


def test_what_is_put_into_the_middle_costs_only_itself(table: Table):
    old, put_in, said = table.piece(0, 100), table.piece(300, 40), table.piece(100, 100)
    table.begin(old + said)

    evaluated = table.cache.evaluate(old + put_in + said + [said[-1]], silent)

    assert evaluated == len(put_in) + 1
    assert table.cache._seams == [Seam(140, 40)]
    assert agrees(table.cache)


@BOTH_MODELS
def test_put_in_and_cut_out_again_the_model_says_what_it_said(table: Table):
    old, put_in, said = table.piece(0, 100), table.piece(300, 40), table.piece(100, 100)
    true = table.next_word_after(old + said)
    table.cache.evaluate(old + put_in + said + [said[-1]], silent)

    evaluated = table.cache.evaluate(old + said, silent)

    assert evaluated == 1
    assert divergence(true, table.next_word()) < NOISE
    assert table.cache._seams == [Seam(100, 80)]


@BOTH_MODELS
def test_after_computing_anew_nothing_is_left_of_a_cut(table: Table):
    wanted = table.piece(0, 100) + table.piece(150, 120)
    true = table.next_word_after(wanted)
    table.begin(table.piece(0, 270))
    table.cache.evaluate(wanted, silent)
    cut = divergence(true, table.next_word())

    evaluated = table.cache.evaluate(wanted, silent, ReuseOptions(exact=True))

    assert evaluated == 120
    assert table.cache.drift == 0
    assert divergence(true, table.next_word()) < min(cut, NOISE)
    assert agrees(table.cache)


def operated(table: Table) -> tuple[list[int], list[float]]:
    """A cache with two cuts, behind whose first one something else was put in; and the truth, read in batches of that size."""
    wanted = table.piece(0, 100) + table.piece(400, 20) + table.piece(150, 100) + table.piece(270, 100)
    table.begin(wanted[:100])
    table.cache.evaluate(wanted, silent, ReuseOptions(exact=True))
    true = table.next_word()
    table.begin(table.piece(0, 360))
    table.cache.evaluate(wanted, silent)
    assert table.cache.drift == 2
    return wanted, true


def test_computed_anew_it_is_the_same_to_the_last_bit(table: Table):
    wanted, true = operated(table)

    table.cache.evaluate(wanted, silent, ReuseOptions(exact=True))

    assert np.array_equal(table.next_word(), true)


def test_where_old_cells_are_in_the_way_the_last_bits_differ(table: Table, monkeypatch: pytest.MonkeyPatch):
    """Which is why they are put out of it, and what the test above would see."""
    monkeypatch.setattr(staging, "MAX_COPY_BYTES", 0)
    wanted, true = operated(table)

    table.cache.evaluate(wanted, silent, ReuseOptions(exact=True))

    assert 0 < abs(divergence(true, table.next_word())) < NOISE
    assert agrees(table.cache)


def test_what_was_not_reached_when_it_was_stopped_is_given_back_as_it_was(table: Table, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(staging, "TOKENS_PER_PIECE", 48)
    wanted, true = operated(table)
    before = [one.changed_tokens for one in table.cache.seams]

    def stop_after_one(done: int, _total: int) -> None:
        if done:
            table.engine.stop.set()

    done = table.cache.evaluate(wanted, stop_after_one, ReuseOptions(exact=True))
    table.engine.stop.clear()

    assert 0 < done < len(wanted) - 100
    assert agrees(table.cache)
    assert table.cache.tokens == wanted[:-1]  # the last is always computed
    assert [one.changed_tokens for one in table.cache.seams] == before
    assert table.cache.seams[0].position >= 100 + done
    table.cache.evaluate(wanted, silent, ReuseOptions(exact=True))
    assert np.array_equal(table.next_word(), true)


def test_computing_anew_what_was_never_cut_costs_one_token(table: Table):
    table.begin(table.piece(0, 100))

    assert table.cache.evaluate(table.piece(0, 100), silent, ReuseOptions(exact=True)) == 1


def test_what_cannot_be_given_back_is_read_again_and_never_claimed(table: Table, monkeypatch: pytest.MonkeyPatch):
    wanted, true = operated(table)
    monkeypatch.setattr(staging, "restore_sequence", lambda *_where: False)

    table.cache.evaluate(wanted, lambda _done, _total: table.engine.stop.set(), ReuseOptions(exact=True))
    table.engine.stop.clear()

    monkeypatch.undo()
    assert table.cache.length < len(wanted) - 1
    assert agrees(table.cache)
    assert table.cache.tokens == wanted[: table.cache.length]
    table.cache.evaluate(wanted, silent, ReuseOptions(exact=True))
    assert np.array_equal(table.next_word(), true)


def test_without_surgery_only_the_beginning_before_the_first_cut_is_reused(table: Table):
    table.begin(table.piece(0, 250))
    table.cache.evaluate(table.piece(0, 100) + table.piece(150, 100), silent)
    wanted = table.piece(0, 100) + table.piece(150, 100) + table.piece(400, 10)

    evaluated = table.cache.evaluate(wanted, silent, ReuseOptions(surgery=False))

    assert evaluated == 110
    assert table.cache.drift == 0


def test_a_stretch_below_the_minimum_is_computed_again(table: Table):
    table.begin(table.piece(0, 250))

    evaluated = table.cache.evaluate(table.piece(0, 100) + table.piece(150, 100), silent, ReuseOptions(min_run_length=101))

    assert evaluated == 100
    assert table.cache.drift == 0


def test_so_many_cuts_are_allowed_and_one_more_computes_all_of_it_anew(table: Table):
    notes = [table.piece(400 + 3 * number, 3) for number in range(MAX_SEAMS + 1)]
    parts = [table.piece(36 * number, 36) for number in range(MAX_SEAMS + 2)]
    noted = [token for part, note in zip(parts, [*notes, []], strict=True) for token in part + note]
    whole = [token for part in parts for token in part]
    table.begin(noted)

    most = table.cache.evaluate(whole[:36] + notes[0] + whole[36:] + [7], silent)
    allowed = table.cache.drift
    anew = table.cache.evaluate(whole, silent)

    assert (most, allowed) == (1, MAX_SEAMS)
    assert anew == len(whole) - 36
    assert table.cache.drift == 0
    assert agrees(table.cache)


@pytest.mark.parametrize("exact", [False, True], ids=["putting in", "anew"])
def test_a_stop_between_batches_loses_nothing_that_was_cached(table: Table, exact: bool):
    old, put_in, said = table.piece(0, 70), table.piece(250, 90), table.piece(70, 180)
    wanted = old + put_in + said + [7]
    table.begin(old + said)
    if exact:
        table.cache.evaluate(wanted, silent)

    def stop_after_one(done: int, _total: int) -> None:
        if done:
            table.engine.stop.set()

    done = table.cache.evaluate(wanted, stop_after_one, ReuseOptions(exact=exact))
    table.engine.stop.clear()
    held = list(table.cache._tokens)
    is_whole = agrees(table.cache)
    evaluated = table.cache.evaluate(wanted, silent)

    assert is_whole
    assert len(held) >= len(old + said)
    assert held == (wanted if exact else old + put_in[:done] + said)[: len(held)]
    assert evaluated <= len(wanted) - len(held) + 1
    assert table.cache._tokens == wanted


def test_a_stop_in_the_middle_of_anything_leaves_one_story(table: Table):
    dice = random.Random(5)
    tokens = table.piece(0, 260)
    started = time.perf_counter()
    table.begin(tokens)
    reading_seconds = time.perf_counter() - started

    for _round in range(14):
        place, size = dice.randrange(20, len(tokens)), dice.randrange(50)
        new = table.piece(dice.randrange(300), dice.randrange(50))
        tokens = (tokens[:place] + new + tokens[place + (size if len(tokens) > 200 else 0) :])[:400]
        timer = threading.Timer(dice.random() * reading_seconds / 3, table.engine.stop.set)
        timer.start()
        table.cache.evaluate(tokens, silent, ReuseOptions(exact=dice.random() < 0.3))
        timer.cancel()
        timer.join()
        table.engine.stop.clear()
        assert agrees(table.cache)
    table.cache.evaluate(tokens, silent, ReuseOptions(exact=True))
    said = table.next_word()

    assert table.cache._tokens == tokens
    assert divergence(table.next_word_after(tokens), said) < NOISE


def test_a_full_context_is_computed_anew_without_room_to_spare(table: Table):
    wanted = table.piece(0, 330) + table.piece(0, 300)
    table.begin([*table.piece(0, 40), 7, 8, 9, *wanted[40:]])
    table.cache.evaluate(wanted, silent)
    before = table.cache.drift

    evaluated = table.cache.evaluate(wanted, silent, ReuseOptions(exact=True))

    assert before == 1
    assert evaluated == len(wanted) - 40
    assert agrees(table.cache)


def test_quiet_jobs_cut_nothing(table: Table):
    beginning, closing = STORY[:200], STORY[200:]
    for prompt in (f"{beginning} And then. {closing}", f"{beginning}{closing}"):
        job = Generate(1, prompt, GREEDY, 1, priority=RequestPriority.BACKGROUND)
        usage = table.engine.generate(job, silent, lambda _text: None)

    assert usage.drift == 0
    assert usage.evaluated_tokens > table.engine.count([closing])[0] - 2


def test_a_reply_says_how_often_the_cache_was_cut(table: Table):
    table.engine.stop.clear()
    note = "<|im_start|>system\nIt is late in the evening, and it rains.<|im_end|>\n"
    asked = "Who counted the pears, and why did she do it twice? Tell me in one short sentence, and then tell me the rest."
    reported = f"<|im_start|>user\n{STORY}<|im_end|>\n<|im_start|>assistant\nA fine story.<|im_end|>\n"
    prompts = [f"{reported}{late}<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n" for late in (note, "")]

    for prompt in prompts:
        usage = table.engine.generate(Generate(1, prompt, GREEDY, 4), silent, lambda _text: None)

    assert usage.drift == 1
    assert usage.evaluated_tokens < 10
