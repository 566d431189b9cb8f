"""Quiet work in a worker process: it answers in JSON, makes way for the chat, and leaves the chat's cache alone."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from lethe_app.domain.model import LoadOptions, ModelFile, StopReason, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError, ModelOutOfMemory, PromptTooLong
from lethe_app.llm.client import ModelClient
from lethe_app.llm.protocol import Chunk, Done, Generate, PrefillProgress, RequestPriority
from tests.llm.model_files import load_engine

SAMPLER = SamplerPreset(name="test", temperature=0)
TITLE = json.dumps({"type": "object", "properties": {"title": {"type": "string", "maxLength": 30}}, "required": ["title"]})
LONG = json.dumps({"type": "object", "properties": {"text": {"type": "string", "minLength": 900}}, "required": ["text"]})
FIRST = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"


async def load(client: ModelClient, path: Path, **options: int) -> None:
    file = ModelFile(path=path, name=path.stem, size=0, architecture="test")
    await client.load(file, LoadOptions(**options), lambda _fraction: None)  # type: ignore[arg-type]


async def hear(
    client: ModelClient, prompt: str, most: int = 100, on_prefill: Callable[[], None] = lambda: None, **wishes: object
) -> tuple[str, Usage]:
    text, usage = "", Usage()
    async with aclosing(client.generate(prompt, SAMPLER, most, **wishes)) as reports:  # type: ignore[arg-type]
        async for report in reports:
            if isinstance(report, PrefillProgress):
                on_prefill()
            elif isinstance(report, Chunk):
                text += report.text
            elif isinstance(report, Done):
                usage = report.usage
    return text, usage


async def begun(client: ModelClient, prompt: str, **wishes: object) -> asyncio.Task[tuple[str, Usage]]:
    """A quiet job that is certainly running: its first report came."""
    running = asyncio.Event()
    work = hear(client, prompt, 500, running.set, priority=RequestPriority.BACKGROUND, **wishes)
    task = asyncio.create_task(work)
    await running.wait()
    return task


@pytest.fixture
async def starter(starter_model: Path) -> AsyncIterator[ModelClient]:
    client = ModelClient()
    await load(client, starter_model, context=1024)
    yield client
    await client.close()


async def test_scripted_answers_go_to_jobs_with_a_schema_only(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("Hello.", answers=['{"title": "One"}', '{"title": "Two"}']))

    received = [(await hear(client, "x", schema=TITLE, priority=RequestPriority.BACKGROUND))[0] for _ in range(3)]
    reply, _usage = await hear(client, "x")

    assert received == ['{"title": "One"}', '{"title": "Two"}', "{}"]
    assert reply == "Hello."


async def test_the_chat_ends_a_quiet_job_that_runs_and_goes_first(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("Hello.", answers=["word " * 500, '{"title": "Later"}'], delay=0.02))
    quiet = await begun(client, "work", schema=TITLE)

    reply, usage = await hear(client, "hello")
    _text, ended = await quiet

    assert (reply, usage.reason) == ("Hello.", StopReason.END)
    assert ended.reason is StopReason.PREEMPTED
    assert ended.reply_tokens < 500


async def test_an_answer_that_was_cut_off_is_given_again(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("Hello.", answers=['{"title": ' + "word " * 200 + "}"], delay=0.005))
    quiet = await begun(client, "work", schema=TITLE)
    await hear(client, "hello")
    await quiet

    text, usage = await hear(client, "work", most=1000, schema=TITLE, priority=RequestPriority.BACKGROUND)

    assert usage.reason is StopReason.END
    assert text.count("word") == 200


@pytest.mark.parametrize("requested", ["prefill", "count"])
async def test_whatever_is_waited_for_ends_quiet_work(client: ModelClient, echo_model: Callable[..., Path], requested: str):
    await load(client, echo_model(answers=["word " * 500], delay=0.05))
    quiet = await begun(client, "work", schema=TITLE)

    await (client.prefill("a b c") if requested == "prefill" else client.count(["a b c"]))
    _text, ended = await quiet

    assert ended.reason is StopReason.PREEMPTED


async def test_quiet_work_makes_nobody_stop(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("word" + " word" * 39, answers=['{"title": "One"}'], delay=0.01))
    chat = asyncio.create_task(hear(client, "hello"))
    await asyncio.sleep(0.1)

    text, quiet = await hear(client, "work", schema=TITLE, priority=RequestPriority.BACKGROUND)
    _reply, usage = await chat

    assert (usage.reason, usage.reply_tokens) == (StopReason.END, 40)
    assert (quiet.reason, text) == (StopReason.END, '{"title": "One"}')


async def test_the_chat_overtakes_quiet_jobs_that_wait(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("word " * 20, "Second.", answers=['{"title": "One"}'], delay=0.01))
    done: list[str] = []

    async def note(name: str, **wishes: object) -> None:
        await hear(client, "x", **wishes)
        done.append(name)

    first = asyncio.create_task(note("first"))
    await asyncio.sleep(0.05)
    quiet = asyncio.create_task(note("quiet", schema=TITLE, priority=RequestPriority.BACKGROUND))
    await asyncio.sleep(0.05)
    await asyncio.gather(note("second"), first, quiet)

    assert done == ["first", "second", "quiet"]


async def test_stopping_a_quiet_job_is_no_preemption(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("Hello.", answers=["word " * 500], delay=0.02))
    quiet = await begun(client, "work", schema=TITLE)

    quiet.cancel()
    with pytest.raises(asyncio.CancelledError):
        await quiet
    reply, usage = await hear(client, "hello")

    assert (reply, usage.reason) == ("Hello.", StopReason.END)


async def test_a_job_that_waits_is_ended_at_once_while_another_speaks(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model("word" + " word" * 99, "Next.", answers=['{"title": "One"}'], delay=0.01))
    chat = asyncio.create_task(hear(client, "hello"))
    await asyncio.sleep(0.1)
    waiting = asyncio.create_task(hear(client, "work", schema=TITLE, priority=RequestPriority.BACKGROUND))
    await asyncio.sleep(0.1)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    ended_first = not chat.done()
    _text, usage = await chat

    assert ended_first
    assert usage.reply_tokens == 100


async def test_the_quiet_context_is_never_longer_than_allowed(client: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model(answers=["{}"]), background_context=10)

    with pytest.raises(PromptTooLong, match="10"):
        await hear(client, "a " * 20, schema=TITLE, priority=RequestPriority.BACKGROUND)
    _text, usage = await hear(client, "a " * 20)

    assert usage.reason is StopReason.END


async def test_a_schema_that_is_none_is_refused(client: ModelClient, starter: ModelClient, echo_model: Callable[..., Path]):
    await load(client, echo_model())

    for each in (client, starter):
        with pytest.raises(ModelError, match="schema"):
            await hear(each, "x", schema="{", priority=RequestPriority.BACKGROUND)
    with pytest.raises(ModelError, match="schema"):
        await hear(starter, "x", schema='{"$ref": "https://example.org/schema.json"}')


async def test_resting_with_nothing_loaded_is_no_trouble(client: ModelClient):
    await client.free_background_context()

    assert not client.is_running


async def test_the_starter_model_keeps_to_a_schema(starter: ModelClient):
    text, usage = await hear(starter, FIRST, schema=TITLE, priority=RequestPriority.BACKGROUND)

    assert list(json.loads(text)) == ["title"]
    assert len(json.loads(text)["title"]) <= 30
    assert usage.reason is StopReason.END


async def test_a_quiet_job_leaves_the_chats_cache_as_it_was(starter: ModelClient):
    follow_up = FIRST + "Paris.<|im_end|>\n<|im_start|>user\nAnd of Italy?<|im_end|>\n<|im_start|>assistant\n"
    await hear(starter, FIRST)
    _text, without = await hear(starter, follow_up)
    await hear(starter, "Something else entirely.", most=5)
    await hear(starter, FIRST)

    _text, quiet = await hear(
        starter, "<|im_start|>user\nName a river.<|im_end|>\n", schema=TITLE, priority=RequestPriority.BACKGROUND
    )
    _text, with_quiet = await hear(starter, follow_up)

    assert quiet.reply_tokens > 0
    assert with_quiet.evaluated_tokens == without.evaluated_tokens < without.prompt_tokens


async def test_a_preempted_quiet_job_leaves_the_chats_cache_as_it_was(starter: ModelClient):
    await hear(starter, FIRST)
    again = FIRST + "Paris.<|im_end|>\n<|im_start|>user\nThanks.<|im_end|>\n"
    _text, before = await hear(starter, again, most=1)
    await hear(starter, FIRST)
    quiet = await begun(starter, "<|im_start|>user\nTell me of a river.<|im_end|>\n<|im_start|>assistant\n", schema=LONG)

    _text, after = await hear(starter, again, most=1)
    _text, ended = await quiet

    assert ended.reason is StopReason.PREEMPTED
    assert after.evaluated_tokens == before.evaluated_tokens


async def test_what_a_preempted_job_has_read_it_need_not_read_again(starter: ModelClient):
    long = "The river flows on and on past the mill. " * 80
    chat: asyncio.Task[object] | None = None
    async with aclosing(starter.generate(long, SAMPLER, 5, schema=TITLE, priority=RequestPriority.BACKGROUND)) as reports:
        async for report in reports:
            if isinstance(report, PrefillProgress) and report.done > 0 and chat is None:
                chat = asyncio.create_task(hear(starter, FIRST, most=1))
            elif isinstance(report, Done):
                first = report.usage
    assert chat is not None
    await chat

    _text, again = await hear(starter, long, most=5, schema=TITLE, priority=RequestPriority.BACKGROUND)

    assert first.reason is StopReason.PREEMPTED
    assert again.evaluated_tokens <= again.prompt_tokens - first.evaluated_tokens
    assert first.evaluated_tokens > 0


async def test_quiet_work_goes_on_after_a_rest(starter: ModelClient):
    first, _usage = await hear(starter, FIRST, schema=TITLE, priority=RequestPriority.BACKGROUND)
    await starter.free_background_context()

    again, usage = await hear(starter, FIRST, schema=TITLE, priority=RequestPriority.BACKGROUND)

    assert again == first
    assert usage.evaluated_tokens == usage.prompt_tokens


def test_without_memory_for_it_quiet_work_is_refused_and_the_chat_lives_on(
    starter_model: Path, monkeypatch: pytest.MonkeyPatch
):
    engine = load_engine(starter_model, LoadOptions(context=512))
    room = psutil.virtual_memory()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: room._replace(available=1_000_000))

    with pytest.raises(ModelOutOfMemory, match="background tasks"):
        engine.generate(
            Generate(1, FIRST, SAMPLER, 5, priority=RequestPriority.BACKGROUND), lambda *_: None, lambda _text: None
        )
    usage = engine.generate(Generate(2, FIRST, SAMPLER, 5), lambda *_: None, lambda _text: None)
    engine.close()

    assert usage.reply_tokens > 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere all of the cache is in memory from the start")
def test_quiet_work_leaves_room_for_the_rest_of_the_chat(starter_model: Path, monkeypatch: pytest.MonkeyPatch):
    """512 tokens of the starter model's cache are 12 MB, the logits of a batch 25 MB; the chat's 4096 tokens are 94 MB."""
    engine = load_engine(starter_model, LoadOptions(context=4096, background_context=512, batch=128))
    room = psutil.virtual_memory()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: room._replace(available=80_000_000))

    with pytest.raises(ModelOutOfMemory, match="background tasks"):
        engine.generate(
            Generate(1, FIRST, SAMPLER, 5, priority=RequestPriority.BACKGROUND), lambda *_: None, lambda _text: None
        )
    monkeypatch.setattr(psutil, "virtual_memory", lambda: room._replace(available=160_000_000))
    usage = engine.generate(
        Generate(2, FIRST, SAMPLER, 5, priority=RequestPriority.BACKGROUND), lambda *_: None, lambda _text: None
    )
    engine.close()

    assert usage.reply_tokens > 0


async def test_the_starter_model_tells_what_could_come_next(starter: ModelClient):
    words = await starter.score_next_tokens("The cat sat on the", 30)

    logits = [logit for _word, logit in words.words]
    assert len(words.words) == 30
    assert logits == sorted(logits, reverse=True)
    assert all(logit <= logits[-1] for logit, _count in words.rest)
    assert {" couch", " floor", " edge", " bed", " table", " mat", " ground"} & {word for word, _logit in words.words}
