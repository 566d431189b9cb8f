"""Worker process of one model: a listening thread reads requests and sets the stop flag, the main thread computes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections import deque
from dataclasses import replace
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from lethe_app.domain.model import StopReason, Usage
from lethe_app.errors import LetheError, ModelError, ModelOutOfMemory
from lethe_app.heap import release_unused_memory, use_one_heap
from lethe_app.llm.engines.engine import Engine, GeneratesText, StopFlag
from lethe_app.llm.engines.registry import ENGINE_KINDS
from lethe_app.llm.kv_cache.reuse import ReuseOptions
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
    StopRequest,
    WorkerReport,
)

NO_TEXT = "This model generates no text."
NO_EMBEDDINGS = "This model cannot create embeddings."
CACHE_METHODS = frozenset({"free_background_context", "save_state", "delete_states"})
"""Methods without which an engine has nothing to free, save or delete."""
SMALLER_MODEL_ADVICE = "Choose a smaller model or context size."
IDLE_SECONDS = 5.0
"""Seconds without a request after which the process returns memory that it no longer uses."""


class RequestQueue:
    """Queue between the listening thread, which enqueues and stops requests, and the computing thread, which takes and
    finishes them. The stop flag `stop_flag` ends the request that was taken.
    """

    def __init__(self, stop_flag: StopFlag) -> None:
        self._stop_flag = stop_flag
        self._queues: dict[RequestPriority, deque[Request[Any]]] = {
            RequestPriority.CHAT: deque(),
            RequestPriority.BACKGROUND: deque(),
        }
        self._running: Request[Any] | None = None
        self._was_preempted = False
        self._changed = threading.Condition()

    @property
    def was_preempted(self) -> bool:
        """Whether the running job was preempted by a chat request."""
        with self._changed:
            return self._was_preempted

    def enqueue(self, request: Request[Any]) -> None:
        """Queue a request; a chat request stops a background job that is running."""
        priority = priority_of(request)
        with self._changed:
            self._queues[priority].append(request)
            if (
                priority is RequestPriority.CHAT
                and self._running is not None
                and priority_of(self._running) is RequestPriority.BACKGROUND
            ):
                # A job that its own requester has stopped already was not preempted.
                self._was_preempted = self._was_preempted or not self._stop_flag.is_set()
                self._stop_flag.set()
            self._changed.notify()

    def stop(self, job: int) -> bool:
        """Stop a job. Return True if it was still queued: it then never runs, and the caller must send its last report."""
        with self._changed:
            if self._running is not None and self._running.job == job:
                self._stop_flag.set()
                return False
            for queue in self._queues.values():
                queued = [request for request in queue if request.job == job]
                if queued:
                    queue.remove(queued[0])
                    return True
            return False  # it has just ended by itself

    def wait(self, seconds: float) -> bool:
        """Wait for a request for at most `seconds`; return whether there is one."""
        with self._changed:
            return self._changed.wait_for(lambda: any(self._queues.values()), seconds)

    def wait_for_next(self) -> Request[Any]:
        """Wait for the next request and return it with the stop flag cleared."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._queues.values()))
            queue = self._queues[RequestPriority.CHAT] or self._queues[RequestPriority.BACKGROUND]
            self._running = queue.popleft()
            self._was_preempted = False
            self._stop_flag.clear()
            return self._running

    def mark_answered(self) -> None:
        """Mark the taken request as answered."""
        with self._changed:
            self._running = None


def priority_of(request: Request[Any]) -> RequestPriority:
    """Return the priority of a request. Whatever is not background work counts as CHAT, because its sender waits; exact
    recomputation of a cached prompt is background work.
    """
    match request:
        case Prefill(reuse=ReuseOptions(exact=True)):
            return RequestPriority.BACKGROUND
        case Generate(priority=priority) | Call(priority=priority):
            return priority
        case _:
            return RequestPriority.CHAT


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
                case Call(method="delete_states"):
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

    def _answer(self, request: Request[Any]) -> None:
        job = request.job
        try:
            done = Done(job, self._generate(request)) if isinstance(request, Generate) else Answer(job, self._compute(request))
            self._send(done)
        except LetheError as error:
            self._send(JobFailed(job, type(error).__name__, error.message, error.remedy))
        except MemoryError:
            self._send(
                JobFailed(job, ModelOutOfMemory.__name__, "There is not enough memory for this model.", SMALLER_MODEL_ADVICE)
            )
        except Exception as error:  # the program must hear of any failure in here, as one of its own errors
            self._send(JobFailed(job, ModelError.__name__, f"The engine failed: {type(error).__name__}: {error}"))

    def _generate(self, request: Generate) -> Usage:
        job, engine = request.job, self._engine
        if not isinstance(engine, GeneratesText):
            raise ModelError(NO_TEXT)
        usage = engine.generate(
            request,
            on_prefill=lambda done, total: self._send(PrefillProgress(job, done, total)),
            on_text=lambda text: self._send(Chunk(job, text)),
        )
        if usage.reason is StopReason.STOPPED and self._queue.was_preempted:
            return replace(usage, reason=StopReason.PREEMPTED)
        return usage

    def _compute(self, request: Request[Any]) -> object:
        """Return the value that answers a request; None if there is none. Raise ModelError if the engine cannot compute it."""
        match request:
            case Load(job=job, file=file, options=options):
                return self._engine.load(file, options, lambda part: self._send(LoadProgress(job, part)))
            case Call(method=name, arguments=arguments):
                pass
            case _:
                name, arguments = "prefill", (request,)
        method = getattr(self._engine, name, None)
        if method is None and name not in CACHE_METHODS:
            raise ModelError(NO_EMBEDDINGS if name.startswith("embed") else NO_TEXT)
        return method(*arguments) if method is not None else None

    def _send(self, report: WorkerReport) -> None:
        """Send a report, from either thread. If the pipe is broken, the listening thread notices it and ends the process."""
        with contextlib.suppress(BrokenPipeError, OSError), self._send_lock:
            self._pipe.send(report)
