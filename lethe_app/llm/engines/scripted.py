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

from pydantic import BaseModel, ConfigDict, ValidationError

from lethe_app.domain.model import LoadOptions, NextWords, StopReason, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import ModelError, ModelUnreadable, PromptTooLong
from lethe_app.llm.engines.stop_strings import StopStrings
from lethe_app.llm.kv_cache.diff import plan
from lethe_app.llm.kv_cache.edits import Seam, is_too_much, rejoin
from lethe_app.llm.kv_cache.saved_state import SavedState
from lethe_app.llm.kv_cache.session_switch import Resuming
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.models.fingerprint import fingerprint
from lethe_app.llm.protocol import Forget, Generate, Keep, ModelFacts, ReadAhead, RequestPriority, Weigh

WORD = re.compile(r"\s*\S+|\s+")


class Script(BaseModel):
    """Replies of the scripted engine and the faults it simulates."""

    model_config = ConfigDict(extra="forbid")

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
        self._script = Script()
        self._said = 0
        self._answered = 0
        self._room = {RequestPriority.CHAT: 0, RequestPriority.QUIET: 0}
        self._cached: dict[RequestPriority, list[str]] = {RequestPriority.CHAT: [], RequestPriority.QUIET: []}
        self._joints: list[Seam] = []
        self._shelf = StateStore("")
        self._resuming = Resuming(self._shelf, self)

    def load(self, path: Path, options: LoadOptions, progress: Callable[[float], None]) -> ModelFacts:
        try:
            self._script = Script.model_validate(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, ValidationError) as error:
            raise ModelUnreadable(f"{path.name} is not a script: {error}") from error
        progress(1.0)
        context = options.context or self._script.context
        self._room = {RequestPriority.CHAT: context, RequestPriority.QUIET: min(context, options.quiet_context)}
        self._shelf = StateStore(f"{fingerprint(path)} {context}")
        self._resuming = Resuming(self._shelf, self)
        return ModelFacts(
            context=context,
            threads=1,
            template=self._script.template,
            bos="",
            eos="<|im_end|>",
            adds_bos=False,
            control_tokens=("<|im_start|>", "<|im_end|>"),
            end_tokens=("<|im_end|>",),
            can_rewind=True,
            can_shift=True,
        )

    def count(self, text: str) -> int:
        return len(WORD.findall(text))

    def generate(self, job: Generate, reading: Callable[[int, int], None], say: Callable[[str], None]) -> Usage:
        words = WORD.findall(job.prompt)
        if len(words) >= self._room[job.lane]:
            raise PromptTooLong(f"The prompt has {len(words)} tokens, the model holds {self._room[job.lane]}.")
        started = time.monotonic()
        evaluated = self._evaluate(words, job.lane, reading, job)
        read = time.monotonic()
        count, reason = self._speak(self._next_answer(job) if job.schema else self._next_reply(job.prompt), job, say)
        if job.schema and reason is not StopReason.STOPPED:
            self._answered += 1
        drift = len(self._joints) if job.lane is RequestPriority.CHAT else 0
        return Usage(len(words), evaluated, count, read - started, time.monotonic() - read, reason, drift)

    def weigh(self, job: Weigh) -> NextWords:
        """Return the words of the next reply, each likelier than the one after it, and 500 others with one equal logit."""
        line = self._script.replies[self._said] if self._said < len(self._script.replies) else job.prompt
        words = dict.fromkeys(word.strip() for word in WORD.findall(line))
        return NextWords(tuple((word, -float(place)) for place, word in enumerate([*words][: job.most])), ((-9.0, 500),))

    def read_ahead(self, job: ReadAhead) -> Usage:
        words = WORD.findall(job.prompt)
        evaluated = self._evaluate(words, RequestPriority.CHAT, lambda _done, _total: None, job)
        return Usage(len(words), evaluated, drift=len(self._joints))

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise ModelError("A script has no meaning.")

    def embed_tokens(self, texts: Sequence[str]) -> list[TextEmbedding]:
        raise ModelError("A script has no meaning.")

    def prepare_next_turn(self) -> None:
        """Do nothing: there is no end token to evaluate."""

    def save_state(self, job: Keep) -> None:
        self._resuming.put_away(job.least)
        if job.parting:
            self._shelf.wait(self.stop.is_set)

    def delete_states(self, job: Forget) -> None:
        self._shelf.delete(job.folder, job.part, job.number)

    @property
    def tokens(self) -> list[int]:
        """Token ids of the chat cache."""
        return numbers(self._cached[RequestPriority.CHAT])

    @property
    def joints(self) -> Sequence[Seam]:
        """Seams of the chat cache."""
        return self._joints

    def bookmark(self) -> SavedState | None:
        """Return the cached words as JSON, in place of a KV cache."""
        return SavedState(self.tokens, tuple(self._joints), json.dumps(self._cached[RequestPriority.CHAT]).encode())

    def put_back(self, mark: SavedState) -> bool:
        self._cached[RequestPriority.CHAT], self._joints = json.loads(mark.data), list(mark.joints)
        return True

    def rest(self) -> None:
        self._cached[RequestPriority.QUIET] = []

    def close(self) -> None:
        self._cached = {RequestPriority.CHAT: [], RequestPriority.QUIET: []}
        self._joints = []

    def _evaluate(
        self, words: list[str], lane: RequestPriority, reading: Callable[[int, int], None], job: Generate | ReadAhead
    ) -> int:
        """Plan the reuse as the real engine does and return the number of words evaluated; a stopped job leaves the cache
        unchanged.
        """
        if lane is RequestPriority.CHAT:
            wanted = numbers(words)
            self._resuming.take_up(job.kept_at, wanted, lambda held, _joints: shared(held, wanted))
        cached, joints = self._cached[lane], self._joints if lane is RequestPriority.CHAT else []
        runs = plan(numbers(cached), numbers(words), job.shortest)
        planned = rejoin(joints, runs)
        anew = not job.surgery or (isinstance(job, ReadAhead) and job.exact) or is_too_much(planned, self._room[lane])
        if lane is RequestPriority.CHAT and not anew and len(runs) > 1:
            kept, joints = sum(run.length for run in runs), planned
        else:
            clean = [joint.place for joint in joints if anew]
            kept = min([shared(cached, words), *clean])
            joints = [joint for joint in joints if joint.place < kept]
        self._read(len(words) - kept, reading)
        if not self.stop.is_set():
            self._cached[lane] = words
            if lane is RequestPriority.CHAT:
                self._joints = joints
                self._resuming.has_read()
        return len(words) - kept

    def _read(self, tokens: int, reading: Callable[[int, int], None]) -> None:
        reading(0, tokens)
        until = time.monotonic() + self._script.reading_delay
        while time.monotonic() < until and not self.stop.is_set():
            self.stop.wait(0.01)
        reading(tokens, tokens)

    def _next_answer(self, job: Generate) -> str:
        try:
            json.loads(job.schema)
        except ValueError as error:
            raise ModelError(f"This JSON schema cannot be converted to a grammar: {error}.") from error
        return self._script.answers[self._answered] if self._answered < len(self._script.answers) else "{}"

    def _next_reply(self, prompt: str) -> str:
        if self._said < len(self._script.replies):
            self._said += 1
            return self._script.replies[self._said - 1]
        heard = [line for line in prompt.splitlines() if line and not line.startswith("<|im_")]
        return f"You said: {heard[-1] if heard else ''}"

    def _speak(self, reply: str, job: Generate, say: Callable[[str], None]) -> tuple[int, StopReason]:
        stops = StopStrings(job.stop)
        for count, word in enumerate(WORD.findall(reply)):
            if self.stop.is_set():
                return count, StopReason.STOPPED
            if count == self._script.crash_after:
                os._exit(9)
            if count == job.max_tokens:
                return count, StopReason.LENGTH
            if text := stops.feed(word):
                say(text)
            if stops.hit:
                return count + 1, StopReason.END
            self.stop.wait(self._script.delay)
        if text := stops.rest():
            say(text)
        return len(WORD.findall(reply)), StopReason.STOPPED if self.stop.is_set() else StopReason.END


def numbers(words: Sequence[str]) -> list[int]:
    """Return a token id for each word: its CRC-32 halved, so that it fits a signed 32-bit integer."""
    return [zlib.crc32(word.encode()) >> 1 for word in words]


def shared(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the length of the common prefix of two lists."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
