"""Separation of a model's thinking from its answer while the reply is streamed and markers arrive in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


class ThinkingMarkers(NamedTuple):
    """Pair of markers that enclose thinking, without surrounding white space."""

    start: str
    end: str


HARMONY_ANSWER = "<|channel|>final<|message|>"
MARKERS = (
    ThinkingMarkers("<think>", "</think>"),
    ThinkingMarkers("<thinking>", "</thinking>"),
    ThinkingMarkers("<thought>", "</thought>"),
    ThinkingMarkers("<reasoning>", "</reasoning>"),
    ThinkingMarkers("<reflection>", "</reflection>"),
    ThinkingMarkers("<seed:think>", "</seed:think>"),
    ThinkingMarkers("[THINK]", "[/THINK]"),
    ThinkingMarkers("<|channel>thought", "<channel|>"),
    ThinkingMarkers("<|channel|>analysis<|message|>", "<|end|><|start|>assistant" + HARMONY_ANSWER),
    ThinkingMarkers(
        "<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>commentary to="
    ),  # it asks for a tool
    ThinkingMarkers("<|START_THINKING|>", "<|END_THINKING|>"),
    ThinkingMarkers("◁think▷", "◁/think▷"),
)
"""Thinking markers of known model families."""
ANSWER_HEADERS = (HARMONY_ANSWER, "<|START_RESPONSE|>")
"""Headers that some models write before an answer without thinking."""


class ThinkingSplit(NamedTuple):
    """Thinking and answer text in one piece of a reply."""

    thought: str
    answer: str


def find_markers(text: str) -> ThinkingMarkers | None:
    """Return the first known pair whose start marker occurs in `text`, for example in a chat template."""
    return next((pair for pair in MARKERS if pair.start in text), None)


def opens_thought(prompt: str, start: str = "") -> bool:
    """Return whether the prompt itself ends with a start marker, so that the reply begins inside a thought."""
    tail = prompt[-80:].rstrip()
    return any(marker and tail.endswith(marker) for marker in (start.strip(), *(pair.start for pair in MARKERS)))


def close_thought(prompt: str, end: str, start: str = "") -> str:
    """Return the prompt of a model that must answer at once: an open thought is closed, and an open Harmony reply begins its
    final channel.
    """
    if prompt.endswith("<|start|>assistant"):
        return prompt + HARMONY_ANSWER
    return f"{prompt.rstrip()}\n\n{end}\n\n" if end and opens_thought(prompt, start) else prompt


class _Stage(Enum):
    OPENING = auto()
    THOUGHT = auto()
    ANSWER = auto()
    TEXT = auto()


@dataclass
class ThinkingSplitter:
    """Incremental splitter of one reply: call `feed` with its pieces in order, then `finish`.

    Only a marker at the very beginning counts; later ones are part of the answer. `start` and `end` add a custom pair.
    """

    starts_in_thought: bool = False
    start: str = ""
    end: str = ""

    def __post_init__(self) -> None:
        start, end = self.start.strip(), self.end.strip()
        self._pairs = (ThinkingMarkers(start, end), *MARKERS) if start and end else MARKERS
        self._ends = tuple(dict.fromkeys(one for one in (end, *(pair.end for pair in MARKERS)) if one))
        self._stage = _Stage.OPENING
        self._buffer = ""
        self._thoughts: list[str] = []
        self._has_answer = False

    @property
    def only_thought(self) -> str:
        """Return the thinking if there was no answer; the caller shows it as the reply, so that it is not lost."""
        return "" if self._has_answer else "".join(self._thoughts).strip()

    def feed(self, piece: str) -> ThinkingSplit:
        """Return what can be classified so far; text that may be part of a marker is held back."""
        self._buffer += piece
        thought = answer = ""
        stage = None
        while stage is not self._stage:
            stage = self._stage
            if stage is _Stage.OPENING:
                self._read_opening()
            elif stage is _Stage.THOUGHT:
                thought += self._read_thought()
            elif stage is _Stage.ANSWER:
                self._skip_whitespace()
            else:
                answer, self._buffer = answer + self._buffer, ""
        return self._record(thought, answer)

    def finish(self) -> ThinkingSplit:
        """Return the text held back. Nothing may be fed afterwards."""
        remaining, self._buffer = self._buffer, ""
        if self._stage is _Stage.THOUGHT or (self._stage is _Stage.OPENING and self.starts_in_thought):
            return self._record(remaining.rstrip(), "")
        return self._record("", "" if self._stage is _Stage.ANSWER else remaining)

    def _record(self, thought: str, answer: str) -> ThinkingSplit:
        if thought:
            self._thoughts.append(thought)
        self._has_answer = self._has_answer or bool(answer.strip())
        return ThinkingSplit(thought, answer)

    def _read_opening(self) -> None:
        text = self._buffer.lstrip()
        starts = [pair.start for pair in self._pairs]
        openers = [*starts, *ANSWER_HEADERS]
        if not text or any(len(text) < len(opener) and opener.startswith(text) for opener in openers):
            return
        # The longest match wins: a custom start marker may be a prefix of a known one.
        opener = max((opener for opener in openers if text.startswith(opener)), key=len, default="")
        if opener in ANSWER_HEADERS:
            self._buffer, self._stage = text[len(opener) :], _Stage.ANSWER
        elif opener:
            self._ends = tuple(pair.end for pair in self._pairs if pair.start == opener)
            self._buffer, self._stage = text[len(opener) :].lstrip(), _Stage.THOUGHT
        elif self.starts_in_thought:
            self._buffer, self._stage = text, _Stage.THOUGHT
        else:
            self._stage = _Stage.TEXT

    def _read_thought(self) -> str:
        if not self._thoughts:
            self._buffer = self._buffer.lstrip()
        ends = [(position, end) for end in self._ends if (position := self._buffer.find(end)) >= 0]
        if ends:
            position, end = min(ends)
            thought = self._buffer[:position].rstrip()
            self._buffer, self._stage = self._buffer[position + len(end) :], _Stage.ANSWER
            return thought
        certain_length = len(self._buffer) - partial_marker_length(self._buffer, self._ends)
        certain_length = len(self._buffer[:certain_length].rstrip())
        thought, self._buffer = self._buffer[:certain_length], self._buffer[certain_length:]
        return thought

    def _skip_whitespace(self) -> None:
        self._buffer = self._buffer.lstrip()
        if self._buffer:
            self._stage = _Stage.TEXT


def partial_marker_length(text: str, markers: Sequence[str]) -> int:
    """Return how many characters at the end of `text` may be the beginning of a marker."""
    longest = min(len(text), max(map(len, markers)) - 1)
    return next((length for length in range(longest, 0, -1) if any(one.startswith(text[-length:]) for one in markers)), 0)
