"""Structured output in the background: send task prompts to the loaded model while it is idle, and parse its JSON answers."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from contextvars import ContextVar
from typing import TypeVar

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.llm_schemas.chunking import split_into_portions
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.model import LoadedModel, StopReason
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError, ModelMissing, PromptTooLong
from lethe_app.llm.client import ModelClient
from lethe_app.llm.protocol import Chunk, Done, PrefillProgress, RequestPriority
from lethe_app.prompt.control_tokens import ControlTokenFilter
from lethe_app.prompt.format.instruct import RendererChoice
from lethe_app.prompt.task_prompts import TaskPrompt, TaskPrompts

T = TypeVar("T", bound=LlmAnswer)
WAIT = 0.2
"""Seconds between two checks whether the model is free."""
TEMPERATURES = (0.1, 0.4, 0.7)
"""Temperatures of the first try and of the retries; a higher one may yield another wording."""
SEED = 11
MARGIN = 24
"""Tokens kept free, because the sum over parts counted one by one may be lower than the count of the whole."""
MIN_CONTENT_TOKENS = 64
"""Tokens of material below which a task prompt is useless."""
REST_AFTER = 30.0
"""Seconds without a task prompt after which the model's context for background jobs is freed; the next one allocates it
again.
"""
LOG = logging.getLogger(__name__)
_SITTING: ContextVar[int] = ContextVar("sitting", default=0)
_METER: ContextVar[Callable[[int], None] | None] = ContextVar("meter", default=None)


@contextmanager
def metered(add: Callable[[int], None]) -> Iterator[None]:
    """Report the tokens of every task prompt sent in this context, evaluated and generated, to `add`."""
    token = _METER.set(add)
    try:
        yield
    finally:
        _METER.reset(token)


@contextmanager
def reseeded(sitting: int) -> Iterator[None]:
    """Use other seeds for the task prompts sent in this context; 0 is the default seed."""
    token = _SITTING.set(sitting)
    try:
        yield
    finally:
        _SITTING.reset(token)


def called(answer: type[LlmAnswer]) -> str:
    """Return the name of an answer class in words: “own thoughts”."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", answer.__name__).lower()


class AnswerUnusable(ModelError):
    """Raised when no answer of the model could be parsed, after several tries."""


class StructuredOutput:
    """Client for task prompts, one at a time, in the model's context for background jobs: replies to the user never wait for
    it and keep their KV cache.
    """

    def __init__(
        self,
        client: ModelClient,
        task_prompts: TaskPrompts,
        ready: Callable[[], LoadedModel | None],
        form: Callable[[LoadedModel], Awaitable[RendererChoice]],
        count: Callable[[list[str]], Awaitable[list[int]]],
        busy: Callable[[], bool],
        rest_after: float = REST_AFTER,
    ) -> None:
        """Create the client. `ready` returns the loaded model, `form` its chat template; while `busy` returns True nothing
        is begun.
        """
        self._client = client
        self._task_prompts = task_prompts
        self._ready = ready
        self._form = form
        self._count = count
        self._busy = busy
        self._rest_after = rest_after
        self._desk = asyncio.Lock()
        self._waiting = 0
        """Number of task prompts that are waiting or in progress."""
        self._alarm: asyncio.TimerHandle | None = None
        self._resting: asyncio.Task[None] | None = None
        self._control_filter: tuple[LoadedModel | None, ControlTokenFilter] = (None, ControlTokenFilter(()))

    @property
    def model(self) -> LoadedModel | None:
        """Return the loaded model; None if there is none."""
        return self._ready()

    async def ask(self, task: str | TaskPrompt, answer: type[T], **material: str) -> T:
        """Return the model's answer to a task prompt whose placeholders are filled with `material`. Cancelling frees the
        model at once.

        A task prompt is given by the name of its file, or as a parsed object.

        Wait until the model is free, and begin again if a reply preempted it. Raise AnswerUnusable after three unusable
        answers, and any other ModelError: no model, prompt too long, out of memory, crashed process.
        """
        with self._at_work():
            async with self._desk:
                return await self._answered(task, answer, material)

    async def room(self, task: str | TaskPrompt, answer: type[LlmAnswer], **material: str) -> int:
        """Return the number of tokens that the placeholders not given in `material` may take together. Raise ModelError."""
        model = self._loaded()
        gaps = dict.fromkeys(self._errand(task).placeholders, "")
        (fixed,) = await self._count([await self._prompt(model, task, gaps | material)])
        return min(model.options.background_context, model.context) - fixed - answer.max_tokens - MARGIN

    async def portions(
        self,
        task: str | TaskPrompt,
        answer: type[LlmAnswer],
        lines: Sequence[Utterance],
        most: int = 0,
        spare: int = 0,
        overlap: int = 0,
        **material: str,
    ) -> list[list[Utterance]]:
        """Split all of `lines` into portions that the task prompt can take, with at most `most` lines each unless that is 0.

        `spare` tokens are kept free for material that is not known yet. Each portion repeats up to `overlap` lines of the
        one before. Raise PromptTooLong if the model's context is too short for this task prompt.
        """
        room = await self.room(task, answer, **material) - spare
        if room < MIN_CONTENT_TOKENS:
            raise PromptTooLong("The context size is too small for this task.", "Choose a larger context size.")
        return await split_into_portions(lines, room, self._count, most, overlap)

    async def count(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return await self._count(texts)

    async def _answered(self, task: str | TaskPrompt, answer: type[T], material: dict[str, str]) -> T:
        tries = 0
        while True:
            await self._wait()
            text, reason = await self._hear(task, answer, material, tries)
            if reason in {StopReason.PREEMPTED, StopReason.STOPPED}:
                await asyncio.sleep(WAIT)
                continue
            try:
                return answer.parse(text)
            except ValueError as problem:
                LOG.info("errand %s, try %d: %s", self._errand(task).name, tries + 1, type(problem).__name__)
                tries += 1
                if tries == len(TEMPERATURES):
                    raise AnswerUnusable(f"The model gave no usable {called(answer)}.") from problem

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Schedule the release of the background context for when no task prompt has been sent for a while."""
        self._waiting += 1
        if self._alarm is not None:
            self._alarm.cancel()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._alarm = asyncio.get_running_loop().call_later(self._rest_after, self._rest)

    def _rest(self) -> None:
        self._resting = asyncio.get_running_loop().create_task(self._give_back())

    async def _give_back(self) -> None:
        with suppress(ModelError):  # it ended meanwhile, and holds nothing any more
            await self._client.free_background_context()

    async def _wait(self) -> None:
        while self._busy():  # noqa: ASYNC110 - a turn of the chat sets no event, and nobody waits for this
            await asyncio.sleep(WAIT)

    def _errand(self, task: str | TaskPrompt) -> TaskPrompt:
        return task if isinstance(task, TaskPrompt) else self._task_prompts.load_prompt(task)

    def _loaded(self) -> LoadedModel:
        model = self._ready()
        if model is None:
            raise ModelMissing("No model is loaded.")
        return model

    async def _prompt(self, model: LoadedModel, task: str | TaskPrompt, material: dict[str, str]) -> str:
        if self._control_filter[0] is not model:
            self._control_filter = (
                model,
                ControlTokenFilter(model.control_tokens),
            )  # takes a while with thousands of control tokens
        control_filter = self._control_filter[1]
        turns = self._errand(task).build_turns({gap: control_filter(text) for gap, text in material.items()})
        return (await self._form(model)).renderer.render(turns, thinking=False)

    async def _hear(
        self, task: str | TaskPrompt, answer: type[LlmAnswer], material: dict[str, str], tries: int
    ) -> tuple[str, StopReason]:
        """Return the model's answer and why it ended. No stop strings are used: the schema ends the answer, and they may
        occur in it.
        """
        prompt = await self._prompt(self._loaded(), task, material)
        sitting = _SITTING.get()
        warmth = TEMPERATURES[min(tries + sitting, len(TEMPERATURES) - 1)]  # nearly cold, another seed changes nothing
        seed = SEED + tries + len(TEMPERATURES) * sitting
        sampler = SamplerPreset(name="clerk", temperature=warmth, top_p=0.9, seed=seed)
        said: list[str] = []
        read, written, reason = 0, 0, StopReason.STOPPED
        stream = self._client.generate(
            prompt, sampler, answer.max_tokens, schema=answer.schema_text(), priority=RequestPriority.BACKGROUND
        )
        try:
            async with aclosing(stream) as reports:
                async for report in reports:
                    if isinstance(report, PrefillProgress):
                        read = report.done
                    elif isinstance(report, Chunk):
                        said.append(report.text)
                    elif isinstance(report, Done):
                        usage = report.usage
                        read, written, reason = usage.evaluated_tokens, usage.reply_tokens, usage.reason
        finally:
            if meter := _METER.get():
                meter(read + (written or len(said)))  # of an answer that was cut off, each piece was a token or so
        return "".join(said), reason


async def _at_leisure() -> None:
    """Do nothing; default of `hurry`."""


class TaskModelAdapter:
    """Adapter of `StructuredOutput` to the interface of a task context (`AnswerModel`, `TaskModel`)."""

    def __init__(self, structured_output: StructuredOutput, hurry: Callable[[], Awaitable[object]] = _at_leisure) -> None:
        """Create the adapter. `hurry` is awaited before every task prompt that the user waits for; it ends other background
        work in progress.
        """
        self._structured_output, self._hurry = structured_output, hurry

    async def ask(self, errand: str, answer: type[T], **material: str) -> T:
        """Return the model's answer to a task prompt. Raise ModelError."""
        await self._hurry()
        return await self._structured_output.ask(errand, answer, **material)

    async def room(self, errand: str, answer: type[LlmAnswer], **material: str) -> int:
        """Return the number of tokens for the placeholders that `material` does not fill."""
        return await self._structured_output.room(errand, answer, **material)

    async def count(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return await self._structured_output.count(texts)
