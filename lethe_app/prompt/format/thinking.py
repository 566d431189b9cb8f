"""Separation of a model's thinking from its answer while the reply is streamed and markers arrive in pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lethe_app.prompt.speaker_labels import LabelFilter


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
    ThinkingMarkers("<analysis>", "</analysis>"),
    ThinkingMarkers("<thoughts>", "</thoughts>"),
    ThinkingMarkers("<reason>", "</reason>"),
    ThinkingMarkers("<scratchpad>", "</scratchpad>"),
    ThinkingMarkers("<|thinking|>", "<|/thinking|>"),
    ThinkingMarkers("<|begin_of_thought|>", "<|end_of_thought|>"),
)
"""Thinking markers of known model families."""
ANSWER_HEADERS = (HARMONY_ANSWER, "<|START_RESPONSE|>")
"""Headers that some models write before an answer without thinking."""


class ThinkingSplit(NamedTuple):
    """Thinking and answer text in one piece of a reply."""

    thought: str = ""
    answer: str = ""
    is_correction: bool = False
    """True if what was returned as answer text before was thinking; it is repeated in `thought`."""


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


@dataclass
class ThinkingSplitter:
    """Incremental splitter of one reply: call `feed` with its pieces in order, then `finish`.

    A marker in the middle of a line is part of the answer unless the reply began with a thought. Text above an end marker
    without a start marker is a thought if an answer follows it. `start` and `end` add a custom pair; `labels` tell which
    name may stand before a thought.
    """

    starts_in_thought: bool = False
    start: str = ""
    end: str = ""
    labels: LabelFilter = field(default_factory=LabelFilter)

    def __post_init__(self) -> None:
        start, end = self.start.strip(), self.end.strip()
        pairs = (ThinkingMarkers(start, end), *MARKERS) if start and end else MARKERS
        self._ends = tuple(one for one in (end, *(pair.end for pair in MARKERS), *ANSWER_HEADERS) if one)
        # The longest match wins: a custom start marker may be a prefix of a known one.
        self._markers = sorted((*(pair.start for pair in pairs), *self._ends), key=len, reverse=True)
        self._marker = re.compile("|".join(map(re.escape, self._markers)), re.IGNORECASE)
        self._end = re.compile("|".join(map(re.escape, self._ends)), re.IGNORECASE)
        self._ends_by_start = {
            one.start.casefold(): re.compile(
                "|".join(re.escape(pair.end) for pair in pairs if pair.start == one.start), re.IGNORECASE
            )
            for one in pairs
        }
        self._buffer = self._thought = self._answer = ""
        self._is_new_thought, self._is_behind_thought, self._is_corrected = True, False, False
        # State: reads from the buffer; returns whether there may be more to read.
        self._read: Callable[[], bool] = self._read_opening

    @property
    def only_thought(self) -> str:
        """Return the thinking if there was no answer; the caller shows it as the reply, so that it is not lost."""
        return "" if self._answer.strip() else self._thought.strip()

    def feed(self, piece: str) -> ThinkingSplit:
        """Return what can be classified so far; text that may be part of a marker is held back."""
        self._buffer, self._is_corrected = self._buffer + piece, False
        thought, answer = len(self._thought), len(self._answer)
        while self._read():
            pass
        return ThinkingSplit(self._thought[thought:], self._answer[answer * (not self._is_corrected) :], self._is_corrected)

    def finish(self) -> ThinkingSplit:
        """Return the text held back. Nothing may be fed afterwards."""
        remaining, self._buffer = self._buffer, ""
        thought, answer = len(self._thought), len(self._answer)
        late_start = self._marker.match(remaining) if self._read == self._read_text else None
        if late_start and not self._answer.rpartition("\n")[2].strip():
            self._begin_thought(late_start[0], "")
            remaining = remaining[late_start.end() :]
        if self._read == self._read_thought or self.starts_in_thought:
            self._add_thought(remaining)
        else:
            self._answer += remaining.lstrip() if self._is_behind_thought else remaining
        return ThinkingSplit(self._thought[thought:], self._answer[answer:])

    def _begin_thought(self, start: str, rest: str) -> None:
        self._end = self._ends_by_start[start.casefold()]
        self._buffer, self._read, self._is_new_thought = rest, self._read_thought, True

    def _add_thought(self, text: str) -> None:
        """Add to the thought, a later one below a blank line; white space around it is left out."""
        text = text.strip() if self._is_new_thought else text.rstrip()
        if text:
            self._thought += ("\n\n" if self._thought and self._is_new_thought else "") + text
            self._is_new_thought = False

    def _end_thought(self, rest: str) -> bool:
        self._buffer, self._read = rest, self._read_opening
        self._is_behind_thought, self.starts_in_thought = True, False
        return True

    def _read_opening(self) -> bool:
        """Read the beginning of the reply, or what is behind a thought."""
        text = self._buffer.lstrip()
        name = self.labels.own.match(text)
        rest = text[name.end() :].lstrip() if name else text
        is_cut = any(len(rest) < len(one) and one.casefold().startswith(rest.casefold()) for one in self._markers)
        if is_cut or self.labels.may_begin(text):
            return False
        marker = self._marker.match(rest)
        if marker and marker[0].casefold() in self._ends_by_start:
            self._begin_thought(marker[0], rest[marker.end() :])
        elif marker:
            self._end_thought(rest[marker.end() :])
        else:
            self._buffer = text if self.starts_in_thought or self._is_behind_thought else self._buffer
            self._read = self._read_thought if self.starts_in_thought else self._read_text
        return True

    def _read_thought(self) -> bool:
        end = self._end.search(self._buffer)
        length = end.start() if end else len(self._buffer) - partial_marker_length(self._buffer, self._ends)
        thought = self._buffer[:length].rstrip()
        self._add_thought(thought)
        self._buffer = self._buffer[len(thought) :]
        return end is not None and self._end_thought(end.string[end.end() :])

    def _read_text(self) -> bool:
        marker = self._marker.search(self._buffer)
        length = marker.start() if marker else len(self._buffer) - partial_marker_length(self._buffer, self._markers)
        self._answer, self._buffer = self._answer + self._buffer[:length], self._buffer[length:]
        if marker is None:
            return False
        rest, is_start = self._buffer[len(marker[0]) :], marker[0].casefold() in self._ends_by_start
        is_quoted = self._answer.endswith(("`", '"', "'", "“", "«", "「")) or self._answer.count("```") % 2 == 1
        if is_start and not is_quoted and (self._thought or not self._answer.rpartition("\n")[2].strip()):
            if self._ends_by_start[marker[0].casefold()].search(rest) is None:
                return False  # it is text if it never ends
            self._begin_thought(marker[0], rest)
        elif is_start or is_quoted or self._marker.search(self._answer):
            self._answer, self._buffer = self._answer + marker[0], rest
        else:
            self._buffer, self._read = rest, self._read_behind_lone_end
        return True

    def _read_behind_lone_end(self) -> bool:
        if not self._buffer.strip():
            return False
        self._is_new_thought, self._is_corrected = True, True
        self._add_thought(self._answer)
        self._answer = ""
        return self._end_thought(self._buffer)


def partial_marker_length(text: str, markers: Sequence[str]) -> int:
    """Return how many characters at the end of `text` may be the beginning of a marker."""
    longest = min(len(text), max(map(len, markers)) - 1)
    end, beginnings = text[-longest:].casefold() if longest else "", [one.casefold() for one in markers]
    return next((n for n in range(len(end), 0, -1) if any(one.startswith(end[-n:]) for one in beginnings)), 0)
