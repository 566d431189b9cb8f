"""The child process that holds one model: a thread reads requests and raises the stop flag, the main thread computes."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
from multiprocessing.connection import Connection

from lethe_app.errors import LetheError, ModelError, ModelOutOfMemory
from lethe_app.llm.engine import Engine
from lethe_app.llm.protocol import (
    Chunk,
    Counted,
    Done,
    Embed,
    Embedded,
    EmbedTokens,
    Generate,
    Load,
    Loaded,
    LoadProgress,
    ReadAhead,
    Reading,
    Refused,
    Report,
    Request,
    Stop,
    Tokenize,
    TokensEmbedded,
)

SMALLER = "Choose a smaller model or context."


def run(pipe: Connection, kind: str) -> None:
    """Serve requests until the pipe ends, which also happens when the program that started us is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is meant for the program, which then closes the pipe
    worker = Worker(pipe, make_engine(kind))
    threading.Thread(target=worker.listen, daemon=True, name="requests").start()
    worker.serve()


def make_engine(kind: str) -> Engine:
    """`llama` speaks, `embed` gives vectors, `echo` plays a script; each is imported only where it is used."""
    if kind == "echo":
        from lethe_app.llm.echo import EchoEngine  # noqa: PLC0415

        return EchoEngine()
    if kind == "embed":
        from lethe_app.llm.llama_embedding import EmbeddingEngine  # noqa: PLC0415

        return EmbeddingEngine()
    from lethe_app.llm.llama import LlamaEngine  # noqa: PLC0415

    return LlamaEngine()


class Worker:
    """Takes one request after the other; a `Stop` overtakes them all."""

    def __init__(self, pipe: Connection, engine: Engine) -> None:
        self._pipe = pipe
        self._engine = engine
        self._requests: queue.Queue[Request] = queue.Queue()
        self._running = 0
        self._stopped: set[int] = set()
        self._guard = threading.Lock()

    def listen(self) -> None:
        """Thread: read the pipe. A stop for the running job raises the flag, one for a waiting job is remembered."""
        while True:
            try:
                request = self._pipe.recv()
            except (EOFError, OSError):
                self._engine.stop.set()
                os._exit(0)  # nobody is left to answer; the computing thread may be deep in native code
            if isinstance(request, Stop):
                self._stop(request.job)
            else:
                self._requests.put(request)

    def _stop(self, job: int) -> None:
        with self._guard:
            if job == self._running:
                self._engine.stop.set()
            else:
                self._stopped.add(job)

    def serve(self) -> None:
        while True:
            request = self._requests.get()
            with self._guard:
                self._running = request.job
                self._engine.stop.clear()
                if request.job in self._stopped:
                    self._stopped.discard(request.job)
                    self._engine.stop.set()
            self._answer(request)
            if isinstance(request, Generate):
                self._engine.settle()
            with self._guard:
                self._running = 0

    def _answer(self, request: Request) -> None:
        job = request.job
        try:
            self._send(self._carry_out(request))
        except LetheError as error:
            self._send(Refused(job, type(error).__name__, error.message, error.remedy))
        except MemoryError:
            self._send(Refused(job, ModelOutOfMemory.__name__, "There is not enough memory for this model.", SMALLER))
        except Exception as error:  # the program must hear of any failure in here, as one of its own errors
            self._send(Refused(job, ModelError.__name__, f"The engine failed: {type(error).__name__}: {error}"))

    def _carry_out(self, request: Request) -> Report:
        job = request.job
        match request:
            case Load(path=path, options=options):
                return Loaded(job, self._engine.load(path, options, lambda part: self._send(LoadProgress(job, part))))
            case Generate():
                usage = self._engine.generate(
                    request,
                    reading=lambda done, total: self._send(Reading(job, done, total)),
                    say=lambda text: self._send(Chunk(job, text)),
                )
                return Done(job, usage)
            case ReadAhead(prompt=prompt):
                return Done(job, self._engine.read_ahead(prompt))
            case Tokenize(texts=texts):
                return Counted(job, tuple(self._engine.count(text) for text in texts))
            case Embed(texts=texts):
                return Embedded(job, tuple(self._engine.embed(texts)))
            case EmbedTokens(texts=texts):
                return TokensEmbedded(job, tuple(self._engine.embed_tokens(texts)))
            case Stop():
                raise AssertionError("stops never reach the queue")

    def _send(self, report: Report) -> None:
        with contextlib.suppress(BrokenPipeError, OSError):  # the listening thread notices and ends the process
            self._pipe.send(report)
