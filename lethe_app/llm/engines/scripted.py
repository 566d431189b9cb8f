"""Scripted engine for tests and demonstrations: it returns the replies of a JSON file, one per request, word by word.

The script is `{"replies": [...], "answers": [...], "delay": seconds per word, "crash_after": words, "context": tokens,
"template": "..."}`; every field is optional. When the replies are used up, it repeats the last line of the prompt; jobs with
a schema get the answers instead, and then empty objects.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from lethe_app.domain.model import LoadOptions, ModelFacts, ModelFile, NextWords, SamplingStep, StopReason, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError, ModelUnreadable, PromptTooLong
from lethe_app.llm.engines.stop_strings import StopStrings
from lethe_app.llm.kv_cache.diff import common_prefix_length, plan_reuse
from lethe_app.llm.kv_cache.edits import Seam, compute_seams, has_too_many_edits
from lethe_app.llm.kv_cache.saved_state import SavedState
from lethe_app.llm.kv_cache.session_switch import SessionSwitcher
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.models.fingerprint import fingerprint
from lethe_app.llm.protocol import Generate, Prefill, RequestPriority

WORD = re.compile(r"\s*\S+|\s+")


class ScriptedReplies(BaseModel, extra="forbid"):
    """Replies of the scripted engine and the faults it simulates."""

    replies: list[str] = []
    answers: list[str] = []
    """JSON texts for jobs that carry a schema; an answer whose job was stopped is returned again."""
    delay: float = 0.0
    reading_delay: float = 0.0
    """Seconds spent on evaluating a prompt, in steps of 0.01 s."""
    crash_after: int = -1
    """Words after which the process exits abruptly; -1 for never."""
    context: int = 8192
    template: str = ""


class EchoEngine:
    """Engine that counts words as tokens and keeps the last prompt, so that cache reuse and seams show in its usage figures."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._script = ScriptedReplies()
        self._reply_index = 0
        self._answer_index = 0
        self._context_size = {RequestPriority.CHAT: 0, RequestPriority.BACKGROUND: 0}
        self._cached_words: dict[RequestPriority, list[str]] = {RequestPriority.CHAT: [], RequestPriority.BACKGROUND: []}
        self._seams: list[Seam] = []
        self._state_store = StateStore("")
        self._session_switcher = SessionSwitcher(self._state_store, self)

    def load(self, file: ModelFile, options: LoadOptions, progress: Callable[[float], None]) -> ModelFacts:
        path = file.path
        try:
            self._script = ScriptedReplies.model_validate(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, ValidationError) as error:
            raise ModelUnreadable(f"{path.name} is not a script: {error}") from error
        progress(1.0)
        context = options.context or self._script.context
        self._context_size = {
            RequestPriority.CHAT: context,
            RequestPriority.BACKGROUND: min(context, options.background_context),
        }
        self._state_store = StateStore(f"{fingerprint(path)} {context}")
        self._session_switcher = SessionSwitcher(self._state_store, self)
        return ModelFacts(
            context=context,
            threads=1,
            template=self._script.template,
            bos="",
            eos="<|im_end|>",
            adds_bos=False,
            control_tokens=("<|im_start|>", "<|im_end|>"),
            can_shift=True,
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(WORD.findall(text)) for text in texts]

    def generate(self, job: Generate, on_prefill: Callable[[int, int], None], on_text: Callable[[str], None]) -> Usage:
        words = WORD.findall(job.prompt)
        if len(words) >= self._context_size[job.priority]:
            raise PromptTooLong(f"The prompt has {len(words)} tokens, the model holds {self._context_size[job.priority]}.")
        started_at = time.monotonic()
        evaluated = self._evaluate(words, job.priority, on_prefill, job)
        prefilled_at = time.monotonic()
        count, reason = self._emit_reply(self._next_answer(job) if job.schema else self._next_reply(job.prompt), job, on_text)
        if job.schema and reason is not StopReason.STOPPED:
            self._answer_index += 1
        drift = len(self._seams) if job.priority is RequestPriority.CHAT else 0
        return Usage(len(words), evaluated, count, prefilled_at - started_at, time.monotonic() - prefilled_at, reason, drift)

    def score_next_tokens(self, prompt: str, limit: int) -> NextWords:
        """Return the words of the next reply, each likelier than the one after it, and 500 others with one equal logit."""
        line = self._script.replies[self._reply_index] if self._reply_index < len(self._script.replies) else prompt
        words = dict.fromkeys(word.strip() for word in WORD.findall(line))
        return NextWords(tuple((word, -float(index)) for index, word in enumerate([*words][:limit])), ((-9.0, 500),))

    def prefill(self, job: Prefill) -> Usage:
        words = WORD.findall(job.prompt)
        evaluated = self._evaluate(words, RequestPriority.CHAT, lambda _done, _total: None, job)
        return Usage(len(words), evaluated, drift=len(self._seams))

    def prepare_next_turn(self) -> None:
        """Do nothing: there is no end token to evaluate."""

    def preview_sampling(self, preset: SamplerPreset, candidates: NextWords) -> tuple[SamplingStep, ...]:
        # Only a process that shows a preview imports llama.cpp for it.
        from lethe_app.llm.engines.llama_sampling import preview_sampling  # noqa: PLC0415

        return preview_sampling(preset, candidates)

    def save_state(self, min_new_tokens: int, is_closing: bool = False) -> None:
        self._session_switcher.save_state(min_new_tokens)
        if is_closing:
            self._state_store.wait_until_written(self.stop.is_set)

    def delete_states(self, folder: Path, name_part: str, deletion_number: int | None = None) -> None:
        self._state_store.delete(folder, name_part, deletion_number)

    @property
    def tokens(self) -> list[int]:
        """Token ids of the chat cache."""
        return token_ids(self._cached_words[RequestPriority.CHAT])

    @property
    def seams(self) -> Sequence[Seam]:
        """Seams of the chat cache."""
        return self._seams

    def capture_state(self) -> SavedState | None:
        """Return the cached words as JSON, in place of a KV cache."""
        return SavedState(self.tokens, tuple(self._seams), json.dumps(self._cached_words[RequestPriority.CHAT]).encode())

    def restore_state(self, state: SavedState) -> bool:
        self._cached_words[RequestPriority.CHAT], self._seams = json.loads(state.data), list(state.seams)
        return True

    def free_background_context(self) -> None:
        self._cached_words[RequestPriority.BACKGROUND] = []

    def close(self) -> None:
        self._cached_words = {RequestPriority.CHAT: [], RequestPriority.BACKGROUND: []}
        self._seams = []

    def _evaluate(
        self, words: list[str], priority: RequestPriority, on_progress: Callable[[int, int], None], job: Generate | Prefill
    ) -> int:
        """Plan the reuse as the real engine does and return the number of words evaluated; a stopped job leaves the cache
        unchanged.
        """
        if priority is RequestPriority.CHAT:
            target = token_ids(words)
            self._session_switcher.switch_session(
                job.state_location, target, lambda cached, _seams: common_prefix_length(cached, target)
            )
        cached, seams = self._cached_words[priority], self._seams if priority is RequestPriority.CHAT else []
        runs = plan_reuse(token_ids(cached), token_ids(words), job.reuse.min_run_length)
        planned_seams = compute_seams(seams, runs)
        recompute = not job.reuse.surgery or job.reuse.exact or has_too_many_edits(planned_seams, self._context_size[priority])
        if priority is RequestPriority.CHAT and not recompute and len(runs) > 1:
            reused, seams = sum(run.length for run in runs), planned_seams
        else:
            seam_positions = [seam.position for seam in seams if recompute]
            reused = min([common_prefix_length(cached, words), *seam_positions])
            seams = [seam for seam in seams if seam.position < reused]
        self._simulate_prefill(len(words) - reused, on_progress)
        if not self.stop.is_set():
            self._cached_words[priority] = words
            if priority is RequestPriority.CHAT:
                self._seams = seams
                self._session_switcher.record_prefill()
        return len(words) - reused

    def _simulate_prefill(self, tokens: int, on_progress: Callable[[int, int], None]) -> None:
        on_progress(0, tokens)
        deadline = time.monotonic() + self._script.reading_delay
        while time.monotonic() < deadline and not self.stop.is_set():
            self.stop.wait(0.01)
        on_progress(tokens, tokens)

    def _next_answer(self, job: Generate) -> str:
        try:
            json.loads(job.schema)
        except ValueError as error:
            raise ModelError(f"This JSON schema cannot be converted to a grammar: {error}.") from error
        return self._script.answers[self._answer_index] if self._answer_index < len(self._script.answers) else "{}"

    def _next_reply(self, prompt: str) -> str:
        if self._reply_index < len(self._script.replies):
            self._reply_index += 1
            return self._script.replies[self._reply_index - 1]
        lines = [line for line in prompt.splitlines() if line and not line.startswith("<|im_")]
        return f"You said: {lines[-1] if lines else ''}"

    def _emit_reply(self, reply: str, job: Generate, on_text: Callable[[str], None]) -> tuple[int, StopReason]:
        stops = StopStrings(job.stop)
        for count, word in enumerate(WORD.findall(reply)):
            if self.stop.is_set():
                return count, StopReason.STOPPED
            if count == self._script.crash_after:
                os._exit(9)
            if count == job.max_tokens:
                return count, StopReason.LENGTH
            if text := stops.feed(word):
                on_text(text)
            if stops.is_matched:
                return count + 1, StopReason.END
            self.stop.wait(self._script.delay)
        if text := stops.flush():
            on_text(text)
        return len(WORD.findall(reply)), StopReason.STOPPED if self.stop.is_set() else StopReason.END


def token_ids(words: Sequence[str]) -> list[int]:
    """Return a token id for each word: its CRC-32 halved, so that it fits a signed 32-bit integer."""
    return [zlib.crc32(word.encode()) >> 1 for word in words]
