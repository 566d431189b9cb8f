"""The recognition process: it starts at the first use, answers in order, is left when idle, and restarted after a crash."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lethe_app.speech.recognition.client import RecognitionClient
from lethe_app.speech.recognition.protocol import (
    ListeningEnded,
    RecogniserLoaded,
    RecognitionFailed,
    RecognitionReport,
    SpeechEnded,
    SpeechStarted,
    SpeechText,
)
from tests.speech.recognition.sounds import chunks, silence, tone

ENDS = ListeningEnded | RecognitionFailed


class Heard:
    """The reports of one stream."""

    def __init__(self) -> None:
        self.reports: list[RecognitionReport] = []
        self.changed = asyncio.Event()

    def __call__(self, report: RecognitionReport) -> None:
        self.reports.append(report)
        self.changed.set()

    async def wait_for(self, kind: type) -> object:
        while not any(isinstance(report, kind) for report in self.reports):
            self.changed.clear()
            await self.changed.wait()
        return next(report for report in self.reports if isinstance(report, kind))

    @property
    def final_texts(self) -> list[str]:
        return [report.text for report in self.reports if isinstance(report, SpeechText) and report.is_final]


@pytest.fixture
def script(tmp_path: Path):
    def write(*texts: str, **more: object) -> Path:
        path = tmp_path / f"script{len(list(tmp_path.iterdir()))}.json"
        path.write_text(json.dumps({"texts": texts, **more}), encoding="utf-8")
        return path

    return write


@pytest.fixture
async def client(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RecognitionClient]:
    monkeypatch.setattr(RecognitionClient, "start_method", "forkserver")
    result = RecognitionClient("scripted")
    yield result
    await result.close()


async def hear(client: RecognitionClient, path: Path, pcm: bytes, language: str = "auto") -> Heard:
    heard = Heard()
    client.start_listening(path, language, 800, heard)
    for chunk in chunks(pcm):
        client.send_audio(chunk)
    client.finish_listening()
    await heard.wait_for(ENDS)
    return heard


async def test_what_is_said_while_the_process_starts_is_heard(client: RecognitionClient, script):
    assert not client.is_running

    heard = await hear(client, script("hello there"), tone(1) + silence(1))

    assert heard.final_texts == ["hello there"]
    kinds = [type(report) for report in heard.reports if not isinstance(report, SpeechText | RecogniserLoaded)]
    assert kinds == [SpeechStarted, SpeechEnded, ListeningEnded]


async def test_each_pause_ends_a_segment_and_the_rest_comes_when_the_stream_is_finished(client: RecognitionClient, script):
    heard = await hear(client, script("one", "two", "three"), (tone(1) + silence(1)) * 2 + tone(1))

    assert heard.final_texts == ["one", "two", "three"]


async def test_provisional_texts_grow_before_the_final_one(client: RecognitionClient, script):
    heard = Heard()
    client.start_listening(script("one two three four five"), "auto", 800, heard)
    await heard.wait_for(RecogniserLoaded)
    while not any(isinstance(report, SpeechText) for report in heard.reports):
        client.send_audio(tone(0.1))
        await asyncio.sleep(0.01)
    client.finish_listening()
    await heard.wait_for(ListeningEnded)

    texts = [report for report in heard.reports if isinstance(report, SpeechText)]
    assert not texts[0].is_final
    assert "one two three four five".startswith(texts[0].text)
    assert heard.final_texts == ["one two three four five"]


async def test_the_chosen_language_is_passed_on(client: RecognitionClient, script):
    heard = await hear(client, script("guten Tag"), tone(1), language="de")

    assert [report.language for report in heard.reports if isinstance(report, SpeechText)][-1] == "de"


async def test_silence_gives_no_text(client: RecognitionClient, script):
    heard = await hear(client, script("Thank you."), silence(3))

    assert heard.final_texts == []


async def test_a_cancelled_stream_reports_nothing_more(client: RecognitionClient, script):
    path, cancelled = script("one", "two"), Heard()
    client.start_listening(path, "auto", 800, cancelled)
    client.send_audio(tone(1))
    client.cancel_listening()
    cancelled.reports.clear()

    heard = await hear(client, path, tone(1))

    assert cancelled.reports == []
    assert len(heard.final_texts) == 1


async def test_a_stream_that_is_being_recognised_ends_while_the_next_one_is_heard(
    client: RecognitionClient, script, tmp_path: Path
):
    gate = tmp_path / "gate"
    path, first = script("one", "two", waits_for=str(gate)), Heard()
    client.start_listening(path, "auto", 800, first)
    client.send_audio(tone(1))
    client.finish_listening()

    second = Heard()
    client.start_listening(path, "auto", 800, second)
    client.send_audio(tone(1))
    client.finish_listening()
    await second.wait_for(SpeechStarted)
    assert first.final_texts == []
    await asyncio.to_thread(gate.touch)
    await second.wait_for(ListeningEnded)

    assert (first.final_texts, second.final_texts) == (["one"], ["two"])
    assert isinstance(first.reports[-1], ListeningEnded)


async def test_another_model_is_loaded_into_the_same_process(client: RecognitionClient, script):
    await hear(client, script("first"), tone(1))
    process = client._process

    heard = await hear(client, script("second"), tone(1))

    assert (heard.final_texts, client._process) == (["second"], process)


async def test_an_unreadable_model_ends_the_stream_with_an_error_and_can_be_replaced(
    client: RecognitionClient, script, tmp_path: Path
):
    heard = await hear(client, tmp_path / "missing.json", tone(1))

    assert isinstance(heard.reports[-1], RecognitionFailed)
    assert not client.is_listening
    assert (await hear(client, script("after all"), tone(1))).final_texts == ["after all"]


async def test_a_crash_is_reported_and_the_next_stream_starts_another_process(client: RecognitionClient, script):
    heard = await hear(client, script("one", dies_at=0), tone(1))

    failure = heard.reports[-1]
    assert isinstance(failure, RecognitionFailed)
    assert (failure.kind, failure.message) == ("RecognitionCrashed", "Speech recognition stopped working.")
    assert (await hear(client, script("again"), tone(1))).final_texts == ["again"]


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be halted there")
async def test_a_process_that_hangs_does_not_block_who_sends_it_sound(client: RecognitionClient, script):
    path = script("one", "two")
    await hear(client, path, tone(1))
    heard = Heard()
    client.start_listening(path, "auto", 800, heard)
    os.kill(client._process.pid, signal.SIGSTOP)
    for chunk in chunks(silence(30) + tone(1)):  # ten times what the pipe holds
        client.send_audio(chunk)
    client.finish_listening()
    os.kill(client._process.pid, signal.SIGCONT)

    await heard.wait_for(ListeningEnded)
    assert heard.final_texts == ["two"]


async def test_the_process_ends_when_it_is_idle(script, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(RecognitionClient, "start_method", "forkserver")
    client = RecognitionClient("scripted", idle_seconds=0.05)
    path = script("one")
    await hear(client, path, tone(1))
    while client.is_running:  # noqa: ASYNC110 - the client says so to nobody
        await asyncio.sleep(0.01)

    assert (await hear(client, path, tone(1))).final_texts == ["one"]
    await client.close()
    assert not client.is_running
