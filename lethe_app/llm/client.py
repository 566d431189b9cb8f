"""Client of a model's worker process: starts it, sends requests, receives reports, detects a crash and terminates it."""

from __future__ import annotations

import asyncio
import itertools
from array import array
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from lethe_app import errors
from lethe_app.domain.model import LoadedModel, LoadOptions, ModelFile, NextWords, SamplingStep, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import LetheError, ModelError, ModelMissing
from lethe_app.llm.engines import worker
from lethe_app.llm.engines.registry import ENGINE_KINDS, kind_name
from lethe_app.llm.kv_cache.reuse import DEFAULT_OPTIONS, ReuseOptions
from lethe_app.llm.kv_cache.session_switch import MIN_NEW_TOKENS
from lethe_app.llm.protocol import (
    Answer,
    Call,
    Chunk,
    Done,
    Generate,
    JobFailed,
    Load,
    LoadProgress,
    Prefill,
    PrefillProgress,
    Request,
    RequestPriority,
    StateLocation,
    StopRequest,
    Value,
    WorkerReport,
)
from lethe_app.llm.worker_exit import crash_error
from lethe_app.process_client import ProcessClient


def report_crash(inboxes: Mapping[int, asyncio.Queue[WorkerReport]], error: ModelError) -> None:
    """Report the end of the process to every request that waits for an answer."""
    for job, inbox in inboxes.items():
        inbox.put_nowait(JobFailed(job, type(error).__name__, error.message, error.remedy))


SAVE_TIMEOUT = 2.0
"""Seconds that closing the program may spend on saving the KV cache."""
PROGRESS_REPORTS = LoadProgress | PrefillProgress | Chunk
"""Reports that others of the same job follow."""


class ModelClient(ProcessClient):
    """Client of one model in one worker process, of a chat model or one that embeds texts. Use it from one event loop, and
    close it before that loop closes.
    """

    def __init__(self, *, embeds_texts: bool = False) -> None:
        super().__init__()
        self._embeds_texts = embeds_texts
        self._jobs = itertools.count(1)
        self._inboxes: dict[int, asyncio.Queue[WorkerReport]] = {}
        self._may_have_state = False
        """True if a prompt with a state location was evaluated, so that there may be a state to save."""
        self._is_loading = False
        self._on_crash: Callable[[ModelError], None] | None = None

    async def load(
        self,
        file: ModelFile,
        options: LoadOptions,
        progress: Callable[[float], None],
        on_crash: Callable[[ModelError], None] | None = None,
    ) -> LoadedModel:
        """Start a worker process and load `file` into it; a process that runs already is terminated first. Raise ModelError.

        `on_crash` is called if the process ends without a request of this client.
        """
        await self.close()
        self._on_crash = on_crash
        kind = kind_name(file.path, embeds_texts=self._embeds_texts)
        self._start_process(worker.run, "model", kind)
        request = Load(next(self._jobs), file, options)
        self._is_loading = True
        try:
            async with aclosing(self._stream_reports(request)) as reports:
                async for report in reports:
                    if isinstance(report, LoadProgress):
                        progress(report.fraction)
                    elif isinstance(report, Answer):
                        return LoadedModel(file, options, ENGINE_KINDS[kind].capabilities, **vars(report.value))
        finally:
            self._is_loading = False
        raise ModelError(f"The engine returned no information about {file.name}.")

    async def generate(
        self,
        prompt: str,
        sampler: SamplerPreset,
        max_tokens: int,
        stop: Sequence[str] = (),
        grammar: str = "",
        schema: str = "",
        priority: RequestPriority = RequestPriority.CHAT,
        *,
        reuse: ReuseOptions = DEFAULT_OPTIONS,
        state_location: StateLocation | None = None,
        is_complete: Callable[[], bool] = lambda: False,
    ) -> AsyncGenerator[PrefillProgress | Chunk | Done]:
        """Generate a reply to `prompt`; with a `schema`, JSON that conforms to it.

        Closing the generator stops the job and waits for its end, after which the next request finds an idle engine. A
        background job ends with `StopReason.PREEMPTED` as soon as a chat request arrives. `Usage.drift` counts the seams of
        reused edits. The session's saved state is loaded from `state_location`, and the cache is saved there when another
        session follows. The job is stopped as soon as `is_complete` returns true for the text so far; `Done` still comes.
        """
        job, stops = next(self._jobs), tuple(stop)
        request = Generate(job, prompt, sampler, max_tokens, stops, grammar, schema, priority, reuse, state_location)
        self._may_have_state |= state_location is not None
        async with aclosing(self._stream_reports(request)) as reports:
            async for report in reports:
                if isinstance(report, PrefillProgress | Chunk | Done):
                    yield report
                    if isinstance(report, Chunk) and is_complete():
                        self._send(StopRequest(job))

    async def prefill(
        self, prompt: str, *, reuse: ReuseOptions = DEFAULT_OPTIONS, state_location: StateLocation | None = None
    ) -> Usage:
        """Prefill the beginning of the next prompt. Cancelling frees the model at once and keeps the batches evaluated so
        far. After an exact one, `Usage.drift` is 0.
        """
        request = Prefill(next(self._jobs), prompt, reuse, state_location)
        self._may_have_state |= state_location is not None
        return await self._request(request)

    async def save_state(self, min_new_tokens: int = MIN_NEW_TOKENS, *, time_limit: float | None = None) -> None:
        """Save the KV-cache state of the open session if at least `min_new_tokens` tokens are new since the last save.

        By default this is background work, and the file is written while other requests run. With `time_limit` (seconds) it
        takes chat priority, and the file is written or the attempt abandoned when this returns. Without a running process or
        a prompt with a state location nothing happens; errors are ignored, because the state only saves time.
        """
        if self.is_running and self._may_have_state:
            is_closing = time_limit is not None
            priority = RequestPriority.CHAT if is_closing else RequestPriority.BACKGROUND
            call: Coroutine[Any, Any, None] = self._call("save_state", min_new_tokens, is_closing, priority=priority)
            with suppress(TimeoutError, LetheError):
                async with asyncio.timeout(time_limit):
                    await call

    async def delete_states(self, folder: Path, name_part: str, deletion_number: int | None = None) -> None:
        """Delete the saved states in `folder` whose names contain `name_part`, and keep the worker from writing queued ones
        later.
        """
        if self.is_running:
            with suppress(LetheError):  # a process that is gone writes nothing
                await self._call("delete_states", folder, name_part, deletion_number)

    async def free_background_context(self) -> None:
        """Free the context of background jobs after those that are queued; does nothing if no model is loaded."""
        if self.is_running:
            await self._call("free_background_context", priority=RequestPriority.BACKGROUND)

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text by the model's own tokenizer; waits while a reply is being generated."""
        return await self._call("count", tuple(texts))

    async def score_next_tokens(self, prompt: str, limit: int) -> NextWords:
        """Return the most likely next tokens after `prompt`, `limit` of them one by one; empty if the job was preempted."""
        return await self._call("score_next_tokens", prompt, limit, priority=RequestPriority.BACKGROUND)

    async def preview_sampling(self, preset: SamplerPreset, candidates: NextWords) -> tuple[SamplingStep, ...]:
        """Return the probabilities of `candidates` before the samplers of `preset` and after each of them, by llama.cpp itself.

        No model is needed: without a process one is started that stays without. Raise ModelError.
        """
        if not self.is_running:
            self._start_process(worker.run, "model", "llama")
        return await self._call("preview_sampling", preset, candidates)

    async def embed(self, texts: Sequence[str]) -> list[array[float]]:
        """Return one unit vector (float32) per text; only if the client embeds texts."""
        vectors: list[bytes] = await self._call("embed", tuple(texts))
        return [array("f", vector) for vector in vectors]

    async def embed_tokens(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Return the embedding of each text, the same vector as from `embed`, and of each of its tokens, from one pass of
        the model.
        """
        return await self._call("embed_tokens", tuple(texts))

    async def close(self) -> None:
        """Terminate the worker process and its reader thread; pending requests raise ModelCrashed, even when this call is
        cancelled.
        """
        self._may_have_state = False
        termination = self._begin_termination()
        if termination is None:
            return
        inboxes = dict(self._inboxes)  # a process that is started meanwhile has requests of its own
        # The shield lets the termination finish even if this coroutine is cancelled; otherwise a process with gigabytes of
        # weights would be left behind.
        try:
            await asyncio.shield(termination)
        finally:
            report_crash(inboxes, crash_error())

    async def _call(self, method: str, *arguments: object, priority: RequestPriority = RequestPriority.CHAT) -> Value:
        """Call a method of the engine, and return what it returns. Raise ModelError."""
        return await self._request(Call[Value](next(self._jobs), method, arguments, priority))

    async def _request(self, request: Request[Value]) -> Value:
        """Send a request and return the value of its answer. Raise ModelError if another report ends the job."""
        async with aclosing(self._stream_reports(request)) as reports:
            async for report in reports:
                if isinstance(report, Answer):
                    value: Value = report.value
                    return value
        raise ModelError(f"The engine did not answer the request “{type(request).__name__}”.")

    async def _stream_reports(self, request: Request[Any]) -> AsyncGenerator[WorkerReport]:
        """Send a request and yield its reports, up to and including the last. Raise ModelCrashed or the error the worker
        reported.
        """
        inbox: asyncio.Queue[WorkerReport] = asyncio.Queue()
        self._inboxes[request.job] = inbox
        ended = False
        try:
            self._send(request)
            while not ended:
                report = await inbox.get()
                ended = not isinstance(report, PROGRESS_REPORTS)
                if isinstance(report, JobFailed):
                    raise getattr(errors, report.kind, ModelError)(report.message, report.remedy)
                yield report
        finally:
            if not ended:  # its last report is awaited, so that the next request finds an idle engine
                with suppress(LetheError):
                    self._send(StopRequest(request.job))
                    while isinstance(await inbox.get(), PROGRESS_REPORTS):
                        pass
            del self._inboxes[request.job]

    def _send(self, request: Request[Any]) -> None:
        if self._pipe is None:
            raise ModelMissing("No model is loaded.", "Choose a model.")
        try:
            self._pipe.send(request)
        except OSError as error:
            raise crash_error() from error

    def _deliver(self, report: WorkerReport) -> None:
        if inbox := self._inboxes.get(report.job):
            inbox.put_nowait(report)

    def _handle_exit(self, exit_code: int | None) -> None:
        """Notify all pending requests and the caller of `load`."""
        error = crash_error(exit_code, self._error_output, is_loading=self._is_loading)
        report_crash(self._inboxes, error)
        if self._on_crash is not None:
            self._on_crash(error)
