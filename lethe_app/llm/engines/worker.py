"""Worker process of one model: a listening thread reads requests and sets the stop flag, the main thread computes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from dataclasses import replace
from multiprocessing.connection import Connection
from types import ModuleType

from lethe_app.domain.model import StopReason, Usage
from lethe_app.errors import LetheError, ModelError, ModelOutOfMemory
from lethe_app.heap import release_unused_memory, use_one_heap
from lethe_app.llm.engines.engine import (
    EmbedsTexts,
    Engine,
    GeneratesText,
    HasBackgroundContext,
    ReturnsLogits,
    SavesCacheState,
)
from lethe_app.llm.engines.registry import ENGINE_KINDS
from lethe_app.llm.engines.request_queue import RequestQueue, priority_of
from lethe_app.llm.protocol import (
    Chunk,
    DeleteStates,
    Done,
    Embed,
    Embedded,
    EmbedTokens,
    Generate,
    JobFailed,
    Load,
    Loaded,
    LoadProgress,
    NextTokenScores,
    Prefill,
    PrefillProgress,
    PreviewSampling,
    ReleaseBackground,
    Report,
    Request,
    RequestPriority,
    SamplingPreviewed,
    SaveState,
    ScoreNextTokens,
    StopRequest,
    Tokenize,
    TokensCounted,
    TokensEmbedded,
)

NO_TEXT = "This model generates no text."
SMALLER_MODEL_ADVICE = "Choose a smaller model or context size."
IDLE_SECONDS = 5.0
"""Seconds without a request after which the process returns memory that it no longer uses."""


def run(pipe: Connection, kind: str) -> None:
    """Serve requests until the pipe ends, which also happens when the main process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is meant for the program, which then closes the pipe
    use_one_heap()
    skip_high_level_api()
    worker = Worker(pipe, ENGINE_KINDS[kind].create_engine())
    threading.Thread(target=worker.listen, daemon=True, name="requests").start()
    worker.serve()


def skip_high_level_api() -> None:
    """Keep llama-cpp-python from loading its high-level API, which brings numpy, jinja2 and a disk cache: 15 MB in each worker
    process and half of the time it takes to start. The engines call the low-level API only.
    """
    sys.modules.setdefault("llama_cpp.llama", ModuleType("llama_cpp.llama"))


class Worker:
    """Carry out one request at a time, chat requests before background work; `StopRequest` bypasses the queue."""

    def __init__(self, pipe: Connection, engine: Engine) -> None:
        self._pipe = pipe
        self._engine = engine
        self._queue = RequestQueue(engine.stop)
        self._send_lock = threading.Lock()

    def listen(self) -> None:
        """Read the pipe in a thread of its own. A stop of the running job sets the flag; a job still in the queue is ended
        here.
        """
        while True:
            try:
                request = self._pipe.recv()
            except (EOFError, OSError):
                self._engine.stop.set()
                os._exit(0)  # nobody is left to answer; the computing thread may be deep in native code
            match request:
                case StopRequest(job=job):
                    if self._queue.stop(job):
                        self._send(Done(job, Usage(reason=StopReason.STOPPED)))
                # Answered by the listening thread: a deleted state that is still queued must not reach the disk while a long
                # reply is generated.
                case DeleteStates():
                    self._answer(request)
                case _:
                    self._queue.enqueue(request)

    def serve(self) -> None:
        """Take and answer requests for ever. Runs in the main thread, which alone calls llama.cpp."""
        while True:
            if not self._queue.wait(IDLE_SECONDS):
                release_unused_memory()
            request = self._queue.wait_for_next()
            self._answer(request)
            is_reply = isinstance(request, Generate) and priority_of(request) is RequestPriority.CHAT
            if is_reply and isinstance(self._engine, GeneratesText):
                self._engine.prepare_next_turn()
            self._queue.mark_answered()

    def _answer(self, request: Request) -> None:
        job = request.job
        try:
            self._send(self._execute(request))
        except LetheError as error:
            self._send(JobFailed(job, type(error).__name__, error.message, error.remedy))
        except MemoryError:
            self._send(
                JobFailed(job, ModelOutOfMemory.__name__, "There is not enough memory for this model.", SMALLER_MODEL_ADVICE)
            )
        except Exception as error:  # the program must hear of any failure in here, as one of its own errors
            self._send(JobFailed(job, ModelError.__name__, f"The engine failed: {type(error).__name__}: {error}"))

    def _execute(self, request: Request) -> Report:
        job = request.job
        match request:
            case Load(file=file, options=options):
                return Loaded(job, self._engine.load(file, options, lambda part: self._send(LoadProgress(job, part))))
            case Generate() | Prefill():
                return Done(job, self._evaluate(request))
            case Tokenize(texts=texts):
                return TokensCounted(job, tuple(self._engine.count(text) for text in texts))
            case ScoreNextTokens() | Embed() | EmbedTokens():
                return self._compute(request)
            case PreviewSampling(preset=preset, candidates=candidates):
                # Only a process that shows a preview imports llama.cpp for it.
                from lethe_app.llm.engines.llama_sampling import preview_sampling  # noqa: PLC0415

                return SamplingPreviewed(job, preview_sampling(preset, candidates))
            case ReleaseBackground() | SaveState() | DeleteStates():
                return self._execute_optional(request)
            case StopRequest():
                raise AssertionError("stops never reach the queue")

    def _evaluate(self, request: Generate | Prefill) -> Usage:
        job, engine = request.job, self._engine
        if not isinstance(engine, GeneratesText):
            raise ModelError(NO_TEXT)
        if isinstance(request, Prefill):
            return engine.prefill(request)
        usage = engine.generate(
            request,
            on_prefill=lambda done, total: self._send(PrefillProgress(job, done, total)),
            on_text=lambda text: self._send(Chunk(job, text)),
        )
        if usage.reason is StopReason.STOPPED and self._queue.was_preempted:
            return replace(usage, reason=StopReason.PREEMPTED)
        return usage

    def _execute_optional(self, request: ReleaseBackground | SaveState | DeleteStates) -> Report:
        """Carry out a request that only some engines support; the others have nothing to do."""
        engine = self._engine
        if isinstance(request, ReleaseBackground) and isinstance(engine, HasBackgroundContext):
            engine.free_background_context()
        elif isinstance(request, SaveState) and isinstance(engine, SavesCacheState):
            engine.save_state(request)
        elif isinstance(request, DeleteStates) and isinstance(engine, SavesCacheState):
            engine.delete_states(request)
        return Done(request.job, Usage())

    def _compute(self, request: ScoreNextTokens | Embed | EmbedTokens) -> Report:
        """Carry out a request whose result is logits or vectors. Raise ModelError if the engine does not support it."""
        if isinstance(request, ScoreNextTokens):
            if not isinstance(self._engine, ReturnsLogits):
                raise ModelError(NO_TEXT)
            return NextTokenScores(request.job, self._engine.score_next_tokens(request))
        if not isinstance(self._engine, EmbedsTexts):
            raise ModelError("This model cannot create embeddings.")
        if isinstance(request, Embed):
            return Embedded(request.job, tuple(self._engine.embed(request.texts)))
        return TokensEmbedded(request.job, tuple(self._engine.embed_tokens(request.texts)))

    def _send(self, report: Report) -> None:
        """Send a report, from either thread. If the pipe is broken, the listening thread notices it and ends the process."""
        with contextlib.suppress(BrokenPipeError, OSError), self._send_lock:
            self._pipe.send(report)
