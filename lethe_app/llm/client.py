"""The program's end of the pipe to a model's process: starts it, speaks with it, notices its death, and ends it."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import threading
from array import array
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from lethe_app import errors
from lethe_app.domain.model import LoadedModel, LoadOptions, ModelFile, NextWords, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import LetheError, ModelCrashed, ModelError, ModelMissing
from lethe_app.llm.engines import worker
from lethe_app.llm.kv_cache.diff import SHORTEST
from lethe_app.llm.kv_cache.session_switch import LEAST_NEW
from lethe_app.llm.protocol import (
    Chunk,
    Counted,
    Died,
    Done,
    Embed,
    Embedded,
    EmbedTokens,
    Forget,
    Generate,
    JobFailed,
    Keep,
    KeptAt,
    Load,
    Loaded,
    LoadProgress,
    PrefillProgress,
    ReadAhead,
    Report,
    Request,
    RequestPriority,
    Rest,
    StopRequest,
    Tokenize,
    TokensEmbedded,
    Weigh,
    WeighReply,
)

RESTART = "Restart the model to go on."
FAREWELL_SECONDS = 2.0
"""How long a process may take to end by itself before it is killed."""


def end(process: BaseProcess, reader: threading.Thread) -> None:
    """Terminate a process that holds nothing but memory, and wait for it and for the thread that listened to it."""
    process.terminate()
    process.join(FAREWELL_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    reader.join()


def crash(died: Died) -> ModelCrashed:
    """Why a process most likely ended, in a sentence."""
    if died.exit_code == -9:  # SIGKILL, which Windows does not know
        return ModelCrashed("The system ended the model, most likely because memory ran out.", RESTART)
    code = "" if died.exit_code is None else f" (code {died.exit_code})"
    return ModelCrashed(f"The model stopped working{code}. Everything said so far is safe.", RESTART)


def translate(refused: JobFailed) -> LetheError:
    """The error that happened in the child, as the same class here."""
    kind = getattr(errors, refused.kind, ModelError)
    return kind(refused.message, refused.remedy)


PARTING_SECONDS = 2.0
"""How long closing may take for the sake of the next time."""
LAST_WORDS = Loaded | Done | Counted | WeighReply | Embedded | TokensEmbedded | JobFailed | Died
"""After one of these a job has nothing more to say."""


class ModelClient:
    """One model in one child process. Use it from one event loop; close it before that loop closes."""

    def __init__(self, kind: str = "llama") -> None:
        self._kind = kind
        self._jobs = itertools.count(1)
        self._inboxes: dict[int, asyncio.Queue[Report | Died]] = {}
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._reader: threading.Thread | None = None
        self._holds_something = False
        """Was anything read that can be kept?"""
        self.on_death: Callable[[ModelCrashed], None] | None = None
        """Told when the process ends without being asked to."""

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_alive()

    async def load(self, file: ModelFile, options: LoadOptions, progress: Callable[[float], None]) -> LoadedModel:
        """Start a process and load `file` into it; a model loaded before is ended first. Raises ModelError."""
        await self.close()
        self._start()
        request = Load(next(self._jobs), file.path, options)
        async with aclosing(self._reports(request)) as reports:
            async for report in reports:
                if isinstance(report, LoadProgress):
                    progress(report.fraction)
                elif isinstance(report, Loaded):
                    return LoadedModel(file=file, options=options, **vars(report.facts))
        raise ModelError(f"The engine said nothing about {file.name}.")

    async def generate(
        self,
        prompt: str,
        sampler: SamplerPreset,
        max_tokens: int,
        stop: Sequence[str] = (),
        grammar: str = "",
        schema: str = "",
        lane: RequestPriority = RequestPriority.CHAT,
        *,
        surgery: bool = True,
        shortest: int = SHORTEST,
        kept_at: KeptAt | None = None,
    ) -> AsyncGenerator[PrefillProgress | Chunk | Done]:
        """Continue `prompt`, with a `schema` as JSON that obeys it.

        Closing the generator stops the model and waits until it did; then it can be asked again. A quiet job ends with
        `StopReason.PREEMPTED` as soon as anything else is asked of the model. With `surgery`, where the model can shift,
        what stands behind pieces cut out of the last prompt is reused as well if it has `shortest` tokens; `Usage.drift`
        counts such cuts. What was read of a conversation before is fetched from where it is `kept_at`, and put there when
        another one follows.
        """
        job, stops = next(self._jobs), tuple(stop)
        request = Generate(job, prompt, sampler, max_tokens, stops, grammar, schema, lane, surgery, shortest, kept_at)
        self._holds_something |= kept_at is not None
        async with aclosing(self._reports(request)) as reports:
            async for report in reports:
                if isinstance(report, PrefillProgress | Chunk | Done):
                    yield report

    async def read_ahead(
        self,
        prompt: str,
        *,
        surgery: bool = True,
        shortest: int = SHORTEST,
        exact: bool = False,
        kept_at: KeptAt | None = None,
    ) -> Usage:
        """Evaluate the beginning of the next prompt. Cancelling it frees the model at once; what was read stays read.

        With `exact`, everything behind the first cut is computed anew, after which `Usage.drift` is 0. Cancelled on the way,
        the rest stays as it was.
        """
        request = ReadAhead(next(self._jobs), prompt, surgery, shortest, exact, kept_at)
        self._holds_something |= kept_at is not None
        async with aclosing(self._reports(request)) as reports:
            async for report in reports:
                if isinstance(report, Done):
                    return report.usage
        raise ModelError("The engine did not read ahead.")

    async def save_state(self, least: int = LEAST_NEW, *, within: float | None = None) -> None:
        """Write what was read of the conversation to where it is kept, if at least so many tokens are new.

        It is quiet work, and written while others already use the model; `within` so many seconds it comes first, and is
        on the disk or given up when this returns. Nothing happens where nothing was read, and no failure matters.
        """
        if self.is_running and self._holds_something:
            request = Keep(next(self._jobs), least, parting=within is not None)
            with suppress(TimeoutError, LetheError):
                await asyncio.wait_for(self._answer(request), within)

    async def delete_states(self, folder: Path, part: str, number: int | None = None) -> None:
        """See to it that nothing is kept in a folder under a name with that part, nor written there later."""
        if self.is_running:
            with suppress(LetheError):  # a process that is gone writes nothing
                await self._answer(Forget(next(self._jobs), folder, part, number))

    async def rest(self) -> None:
        """Free the memory that quiet jobs hold, after those that wait; nothing happens where no model is loaded."""
        if self.is_running:
            await self._answer(Rest(next(self._jobs)))

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by the model's own tokenizer; waits while a reply is being generated."""
        async with aclosing(self._reports(Tokenize(next(self._jobs), tuple(texts)))) as reports:
            async for report in reports:
                if isinstance(report, Counted):
                    return list(report.counts)
        raise ModelError("The engine did not count.")

    async def weigh(self, prompt: str, most: int) -> NextWords:
        """What could follow `prompt`; nothing where something else was asked of the model meanwhile."""
        async with aclosing(self._reports(Weigh(next(self._jobs), prompt, most))) as reports:
            async for report in reports:
                if isinstance(report, WeighReply):
                    return report.words
        return NextWords(())

    async def embed(self, texts: Sequence[str]) -> list[array[float]]:
        """A unit vector per text, from a client of the kind `embed`."""
        async with aclosing(self._reports(Embed(next(self._jobs), tuple(texts)))) as reports:
            async for report in reports:
                if isinstance(report, Embedded):
                    return [array("f", vector) for vector in report.vectors]
        raise ModelError("The engine gave no vectors.")

    async def embed_tokens(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Each text as a whole, the same vector as `embed` gives, and token by token, in one pass through the model."""
        async with aclosing(self._reports(EmbedTokens(next(self._jobs), tuple(texts)))) as reports:
            async for report in reports:
                if isinstance(report, TokensEmbedded):
                    return list(report.meanings)
        raise ModelError("The engine gave no vectors.")

    async def close(self) -> None:
        """End the process and the reader thread; waiting jobs end with ModelCrashed, also when this is cancelled."""
        process, pipe, reader = self._process, self._pipe, self._reader
        self._process = self._pipe = self._reader = None
        self._holds_something = False
        if process is None or pipe is None or reader is None:
            return
        ending = asyncio.ensure_future(asyncio.to_thread(end, process, reader))
        ending.add_done_callback(lambda _ended: pipe.close())
        try:
            await asyncio.shield(ending)
        finally:
            self._tell_all(Died())

    async def _answer(self, request: Request) -> None:
        """Wait for the last word."""
        async with aclosing(self._reports(request)) as reports:
            async for _report in reports:
                pass

    async def _reports(self, request: Request) -> AsyncGenerator[Report]:
        """Send a request and yield what comes back for it, ending after the last report."""
        inbox: asyncio.Queue[Report | Died] = asyncio.Queue()
        self._inboxes[request.job] = inbox
        ended = False
        try:
            self._send(request)
            while not ended:
                report = await inbox.get()
                ended = isinstance(report, LAST_WORDS)
                if isinstance(report, Died):
                    raise crash(report)
                if isinstance(report, JobFailed):
                    raise translate(report)
                yield report
        finally:
            if not ended:
                await self._stop(request.job, inbox)
            del self._inboxes[request.job]

    async def _stop(self, job: int, inbox: asyncio.Queue[Report | Died]) -> None:
        """Ask the job to end and wait for its last word, so that the next request finds an idle engine."""
        with suppress(LetheError):
            self._send(StopRequest(job))
            while not isinstance(await inbox.get(), LAST_WORDS):
                pass

    def _send(self, request: Request) -> None:
        if self._pipe is None:
            raise ModelMissing("No model is loaded.", "Choose a model.")
        try:
            self._pipe.send(request)
        except OSError as error:
            raise crash(Died()) from error

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(target=worker.run, args=(theirs, self._kind), daemon=True, name="lethe-model")
        self._process.start()
        theirs.close()
        self._pipe = ours
        loop = asyncio.get_running_loop()
        self._reader = threading.Thread(target=self._read, args=(ours, self._process, loop), daemon=True, name="model-reports")
        self._reader.start()

    def _read(self, pipe: Connection, process: BaseProcess, loop: asyncio.AbstractEventLoop) -> None:
        """Thread: hand every report to the event loop, until the process is gone."""
        try:
            while True:
                loop.call_soon_threadsafe(self._deliver, pipe.recv())
        except (EOFError, OSError):
            process.join(FAREWELL_SECONDS)
            with suppress(RuntimeError):  # the loop is closed: nobody waits for the news
                loop.call_soon_threadsafe(self._bury, pipe, process.exitcode)

    def _deliver(self, report: Report) -> None:
        if inbox := self._inboxes.get(report.job):
            inbox.put_nowait(report)

    def _bury(self, pipe: Connection, exit_code: int | None) -> None:
        """The process ended; unless we ended it ourselves, everybody who waits is told."""
        if pipe is not self._pipe:
            return
        self._process = self._pipe = self._reader = None
        pipe.close()
        died = Died(exit_code)
        self._tell_all(died)
        if self.on_death is not None:
            self.on_death(crash(died))

    def _tell_all(self, died: Died) -> None:
        for inbox in self._inboxes.values():
            inbox.put_nowait(died)
