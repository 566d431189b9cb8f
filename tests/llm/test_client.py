"""Speaking with a model that lives in another process, on the scripted engine."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import aclosing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from lethe_app.domain.model import LoadOptions, ModelFile, NextWords, StopReason
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelCrashed, ModelError, ModelMissing, ModelOutOfMemory, ModelUnreadable
from lethe_app.llm.client import ModelClient
from lethe_app.llm.kv_cache.reuse import ReuseOptions
from lethe_app.llm.protocol import Chunk
from tests.llm.engines.test_background_jobs import hear

SAMPLER = SamplerPreset(name="test")


def described(path: Path) -> ModelFile:
    return ModelFile(path=path, name=path.stem, size=path.stat().st_size if path.exists() else 0, architecture="echo")


async def load(client: ModelClient, path: Path, on_crash: Callable[[ModelCrashed], None] | None = None) -> None:
    await client.load(described(path), LoadOptions(), lambda _fraction: None, on_crash)


async def test_a_reply_arrives_in_pieces_and_ends_with_its_cost(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("The river remembers you."))

    text, usage = await hear(client, "Hello there")

    assert text == "The river remembers you."
    assert usage.prompt_tokens == 2
    assert usage.reply_tokens == 4
    assert usage.reason is StopReason.END


async def test_in_tests_a_process_is_forked_from_one_that_has_its_modules(client: ModelClient, echo_model: Callable[..., Path]):
    """It takes a tenth of the time, thousands of times; see tests/conftest.py."""
    await load(client, echo_model("one"))

    assert type(client._process).__name__ == "ForkServerProcess"


async def test_a_prompt_that_grows_at_its_end_is_not_read_again(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("one", "two"))
    await hear(client, "a b c d e")

    _text, usage = await hear(client, "a b c d e f g")

    assert (usage.prompt_tokens, usage.evaluated_tokens, usage.reused_tokens) == (7, 2, 5)


async def test_closing_the_stream_stops_the_model_and_it_answers_again(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("word " * 1000, "second", delay=0.01))
    async with aclosing(client.generate("go", SAMPLER, 1000)) as reports:
        async for report in reports:
            if isinstance(report, Chunk):
                break
        began = time.monotonic()
    stopped_in = time.monotonic() - began

    text, _usage = await hear(client, "again")

    assert stopped_in < 2  # the whole reply would take ten seconds
    assert text == "second"


async def test_stop_works_while_the_prompt_is_still_being_read(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("late", "second", reading_delay=30))
    began = time.monotonic()
    async with aclosing(client.generate("go", SAMPLER, 10)) as reports:
        async for _report in reports:
            break

    assert time.monotonic() - began < 10  # the prompt would take thirty seconds


async def test_the_length_limit_ends_the_reply(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("word " * 300))

    _text, usage = await hear(client, "x")

    assert usage.reply_tokens == 100
    assert usage.reason is StopReason.LENGTH


async def test_a_crash_in_the_middle_is_one_clear_error_and_a_new_load_brings_the_model_back(
    client: ModelClient, echo_model: Callable[..., Path]
):
    deaths: list[ModelCrashed] = []
    await load(client, echo_model("one two three four", crash_after=2), deaths.append)

    with pytest.raises(ModelCrashed, match="The conversation so far is saved"):
        await hear(client, "x")
    await load(client, echo_model("back again"), deaths.append)
    text, _usage = await hear(client, "x")

    assert text == "back again"
    assert len(deaths) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows ends processes differently")
@pytest.mark.parametrize(
    ("number", "kind", "reason"),
    [
        (signal.SIGSEGV, ModelCrashed, r"memory access error \(SIGSEGV\)"),
        (signal.SIGABRT, ModelCrashed, r"error of its own \(SIGABRT\)"),
        (signal.SIGBUS, ModelCrashed, "drive was unplugged"),
        (signal.SIGTERM, ModelCrashed, "Another program ended the model"),
        (signal.SIGILL, ModelError, "instruction that this processor does not have"),
    ],
)
async def test_the_signal_that_ended_a_process_is_the_reason_given(
    client: ModelClient, echo_model: Callable[..., Path], number: int, kind: type[ModelError], reason: str
):
    await load(client, echo_model("word " * 500, delay=0.01))
    (process,) = multiprocessing.active_children()

    asyncio.get_running_loop().call_later(0.2, os.kill, process.pid, number)

    with pytest.raises(kind, match=reason):
        await hear(client, "x")


def abort(pipe: Connection, _kind: str) -> None:
    """End as the engine does when an assertion fails, while it loads."""
    os.write(2, b"loading\nGGML_ASSERT(n_vocab > 0) failed\n")
    pipe.recv()
    os.abort()


def starve(pipe: Connection, _kind: str) -> None:
    """End as C++ does without memory."""
    pipe.recv()
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def miss_a_library(_pipe: Connection, _kind: str) -> None:
    raise ImportError("libgomp.so.1: cannot open shared object file")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows keeps the error output of a process")
@pytest.mark.parametrize(
    ("death", "kind", "reason"),
    [
        (abort, ModelUnreadable, r"SIGABRT\): GGML_ASSERT\(n_vocab > 0\) failed"),
        (starve, ModelOutOfMemory, "memory ran out"),
        (miss_a_library, ModelUnreadable, "libgomp"),
    ],
)
async def test_what_a_process_wrote_last_is_the_reason_and_another_file_the_advice(
    client: ModelClient,
    echo_model: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    death: Callable[..., None],
    kind: type[ModelError],
    reason: str,
):
    monkeypatch.setattr("lethe_app.llm.engines.worker.run", death)

    with pytest.raises(kind, match=reason) as error:
        await load(client, echo_model("one"))

    assert "hoose" in error.value.remedy


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows ends processes differently")
async def test_a_killed_process_is_named_as_memory_trouble(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("word " * 500, delay=0.01))
    (process,) = multiprocessing.active_children()
    assert process.pid is not None

    asyncio.get_running_loop().call_later(0.2, os.kill, process.pid, signal.SIGKILL)

    with pytest.raises(ModelCrashed, match="memory ran out"):
        await hear(client, "x")


async def test_asking_with_nothing_loaded_says_so(client: ModelClient):
    with pytest.raises(ModelMissing):
        await client.count(["text"])


async def test_a_broken_file_is_refused_by_name(client: ModelClient, tmp_path: Path):
    broken = tmp_path / "broken.json"
    broken.write_bytes(b"\x00\x01")

    with pytest.raises(ModelUnreadable, match=r"broken\.json"):
        await load(client, broken)


async def test_counts_come_back_in_order(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model())

    assert await client.count(["a b", "", "a b c"]) == [2, 0, 3]


async def test_closing_ends_the_process_and_whoever_waits(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("word " * 500, delay=0.05))
    waiting = asyncio.ensure_future(hear(client, "x"))
    await asyncio.sleep(0.1)
    (process,) = multiprocessing.active_children()

    await client.close()

    assert not process.is_alive()
    with pytest.raises(ModelCrashed):
        await waiting


async def test_whoever_waits_is_told_although_closing_was_cancelled(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("word " * 2000, delay=0.05))
    reply = asyncio.create_task(hear(client, "Go on"))
    await asyncio.sleep(0.2)

    closing = asyncio.create_task(client.close())
    await asyncio.sleep(0)
    closing.cancel()

    with pytest.raises(ModelCrashed):
        await asyncio.wait_for(reply, 20)
    with pytest.raises(asyncio.CancelledError):
        await closing


async def test_a_note_that_is_gone_is_cut_out_and_then_computed_anew(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model())
    reported, said = (" ".join(f"{name}{number}" for number in range(60)) for name in ("told", "said"))
    noted, plain = f"{reported} a note {said}", f"{reported} {said}"
    await hear(client, noted)

    _text, cut = await hear(client, f"{plain} more")
    anew = await client.prefill(f"{plain} more", reuse=ReuseOptions(exact=True))
    await hear(client, noted)
    _text, whole = await hear(client, plain, reuse=ReuseOptions(surgery=False))

    assert (cut.evaluated_tokens, cut.drift) == (1, 1)
    assert (anew.evaluated_tokens, anew.drift) == (61, 0)
    assert (whole.evaluated_tokens, whole.drift) == (60, 0)


async def test_samplers_are_previewed_without_a_model(client: ModelClient):
    steps = await client.preview_sampling(SamplerPreset(name="x", top_k=1), NextWords((("a", 2.0), ("b", 1.0))))

    assert [(step.sampler, step.kept_count) for step in steps] == [("", 2), ("top-k", 1), ("temp-ext", 1)]


async def test_a_preview_works_while_the_process_of_the_one_before_ends(client: ModelClient):
    candidates = NextWords((("a", 2.0), ("b", 1.0)))
    await client.preview_sampling(SAMPLER, candidates)

    _closed, steps = await asyncio.gather(client.close(), client.preview_sampling(SAMPLER, candidates))

    assert steps[-1].kept_count == 2


async def test_a_model_tells_what_could_come_next(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("Green doors open."))

    words = await client.score_next_tokens("She saw", 2)

    assert [word for word, _logit in words.words] == ["Green", "doors"]
    assert words.rest
