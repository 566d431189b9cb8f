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
from lethe_app.prompt.task_prompts import TaskPrompt, TaskPrompts
from lethe_app.services.prompting.assembler import ChatFormat
from lethe_app.services.scheduling.loop import IdleTimer

T = TypeVar("T", bound=LlmAnswer)
POLL_INTERVAL = 0.2
"""Seconds between two checks whether the model is free."""
TEMPERATURES = (0.1, 0.4, 0.7)
"""Temperatures of the first try and of the retries; a higher one may yield another wording."""
SEED = 11
MARGIN = 24
"""Tokens kept free, because the sum over parts counted one by one may be lower than the count of the whole."""
MIN_CONTENT_TOKENS = 64
"""Tokens of the placeholders below which a task prompt is useless."""
RELEASE_AFTER = 20.0
"""Seconds without a task prompt after which the model's context for background jobs is freed; the next one allocates it
again, which takes a few hundredths of a second.
"""
SMALL_RELEASE_AFTER = 1.0
"""The same on a small computer: at once, but not between two task prompts of the same work."""
LOG = logging.getLogger(__name__)
_ATTEMPT: ContextVar[int] = ContextVar("attempt", default=0)
_METER: ContextVar[Callable[[int], None] | None] = ContextVar("meter", default=None)


@contextmanager
def meter_tokens(add: Callable[[int], None]) -> Iterator[None]:
    """Report the tokens of every task prompt sent in this context, evaluated and generated, to `add`."""
    token = _METER.set(add)
    try:
        yield
    finally:
        _METER.reset(token)


@contextmanager
def use_other_seeds(attempt: int) -> Iterator[None]:
    """Use other seeds for the task prompts sent in this context; 0 is the default seed."""
    token = _ATTEMPT.set(attempt)
    try:
        yield
    finally:
        _ATTEMPT.reset(token)


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
        get_model: Callable[[], LoadedModel | None],
        load_format: Callable[[LoadedModel], Awaitable[ChatFormat]],
        count: Callable[[list[str]], Awaitable[list[int]]],
        is_busy: Callable[[], bool] | None,
        release_after: float = RELEASE_AFTER,
    ) -> None:
        """Create the client. `get_model` returns the loaded model, `load_format` its chat format; while `is_busy` returns
        True nothing is begun. None is for task prompts that the user waits for: they end other background work in progress.
        """
        self._client = client
        self._task_prompts = task_prompts
        self._get_model = get_model
        self._load_format = load_format
        self.count = count
        """Return the number of tokens of each text."""
        self._is_busy = is_busy
        self._release_after = release_after
        self._lock = asyncio.Lock()
        self._context = IdleTimer(self._release_context)

    @property
    def model(self) -> LoadedModel | None:
        """Return the loaded model; None if there is none."""
        return self._get_model()

    async def ask(self, task_prompt: str | TaskPrompt, answer: type[T], **values: str) -> T:
        """Return the model's answer to a task prompt whose placeholders are filled with `values`. Cancelling frees the
        model at once.

        A task prompt is given by the name of its file, or as a parsed object.

        Wait until the model is free, and begin again if a reply preempted it. Raise AnswerUnusable after three unusable
        answers, and any other ModelError: no model, prompt too long, out of memory, crashed process.
        """
        with self._context.in_use(self._release_delay):
            async with self._lock:
                return await self._ask_until_valid(task_prompt, answer, values)

    async def free_tokens(self, task_prompt: str | TaskPrompt, answer: type[LlmAnswer], **values: str) -> int:
        """Return the number of tokens that the placeholders not given in `values` may take together. Raise ModelError."""
        model = self._require_model()
        empty_values = dict.fromkeys(self.load_prompt(task_prompt).placeholders, "")
        (prompt_tokens,) = await self.count([await self._render_prompt(model, task_prompt, empty_values | values)])
        return min(model.options.background_context, model.context) - prompt_tokens - answer.max_tokens - MARGIN

    async def split_to_fit(
        self,
        task: str | TaskPrompt,
        answer: type[LlmAnswer],
        lines: Sequence[Utterance],
        max_lines: int = 0,
        reserved_tokens: int = 0,
        overlap: int = 0,
        **values: str,
    ) -> list[list[Utterance]]:
        """Split `lines` into portions that fit into the task prompt, with at most `max_lines` lines each unless that is 0.

        `reserved_tokens` are kept free for content that is not known yet. Each portion repeats up to `overlap` lines of the
        previous one. Raise PromptTooLong if the model's context is too short for this task prompt.
        """
        available_tokens = await self.free_tokens(task, answer, **values) - reserved_tokens
        if available_tokens < MIN_CONTENT_TOKENS:
            raise PromptTooLong("The context size is too small for this task.", "Choose a larger context size.")
        return await split_into_portions(lines, available_tokens, self.count, max_lines, overlap)

    async def _ask_until_valid(self, task: str | TaskPrompt, answer: type[T], values: dict[str, str]) -> T:
        tries = 0
        while True:
            await self._wait_until_free()
            text, reason = await self._generate_answer(task, answer, values, tries)
            if reason in {StopReason.PREEMPTED, StopReason.STOPPED}:
                await asyncio.sleep(POLL_INTERVAL)
                continue
            try:
                return answer.parse(text)
            except ValueError as error:
                LOG.info("task prompt %s, try %d: %s", self.load_prompt(task).name, tries + 1, type(error).__name__)
                tries += 1
                if tries == len(TEMPERATURES):
                    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", answer.__name__).lower()  # “own thoughts”
                    raise AnswerUnusable(f"The model gave no usable {kind}.") from error

    def _release_delay(self) -> float:
        model = self._get_model()
        is_small = model is not None and model.options.saves_memory
        return min(self._release_after, SMALL_RELEASE_AFTER) if is_small else self._release_after

    async def _release_context(self) -> None:
        with suppress(ModelError):  # it ended meanwhile, and holds nothing any more
            await self._client.free_background_context()

    async def _wait_until_free(self) -> None:
        if self._is_busy is None:
            await self._client.count(["."])  # a request of the user, which preempts a background request
        while self._is_busy is not None and self._is_busy():  # noqa: ASYNC110 - a turn of the chat sets no event, and nobody waits for this
            await asyncio.sleep(POLL_INTERVAL)

    def load_prompt(self, task: str | TaskPrompt) -> TaskPrompt:
        """Return a task prompt; the user's own instead of the shipped one. Raise FileError."""
        return task if isinstance(task, TaskPrompt) else self._task_prompts.load_prompt(task)

    def _require_model(self) -> LoadedModel:
        if self.model is None:
            raise ModelMissing("No model is loaded.")
        return self.model

    async def _render_prompt(self, model: LoadedModel, task: str | TaskPrompt, values: dict[str, str]) -> str:
        chat_format = await self._load_format(model)
        turns = self.load_prompt(task).build_turns(
            {placeholder: chat_format.control_filter(text) for placeholder, text in values.items()}
        )
        return chat_format.choice.renderer.render(turns, thinking=False)

    async def _generate_answer(
        self, task: str | TaskPrompt, answer: type[LlmAnswer], values: dict[str, str], tries: int
    ) -> tuple[str, StopReason]:
        """Return the model's answer and why it ended. No stop strings are used: the schema ends the answer, and they may
        occur in it.
        """
        prompt = await self._render_prompt(self._require_model(), task, values)
        attempt = _ATTEMPT.get()
        temperature = TEMPERATURES[min(tries + attempt, len(TEMPERATURES) - 1)]  # nearly cold, another seed changes nothing
        seed = SEED + tries + len(TEMPERATURES) * attempt
        sampler = SamplerPreset(name="task", temperature=temperature, top_p=0.9, seed=seed)
        pieces: list[str] = []
        evaluated, generated, reason = 0, 0, StopReason.STOPPED
        stream = self._client.generate(
            prompt, sampler, answer.max_tokens, schema=answer.schema_text(), priority=RequestPriority.BACKGROUND
        )
        try:
            async with aclosing(stream) as reports:
                async for report in reports:
                    if isinstance(report, PrefillProgress):
                        evaluated = report.done
                    elif isinstance(report, Chunk):
                        pieces.append(report.text)
                    elif isinstance(report, Done):
                        usage = report.usage
                        evaluated, generated, reason = usage.evaluated_tokens, usage.reply_tokens, usage.reason
        finally:
            if meter := _METER.get():
                meter(evaluated + (generated or len(pieces)))  # of an answer that was cut off, each piece was a token or so
        return "".join(pieces), reason
