"""Separation of a model's thinking from its answer while the reply is streamed and markers arrive in pieces."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


class Markers(NamedTuple):
    """Pair of markers that enclose thinking, without surrounding white space."""

    start: str
    end: str


HARMONY_ANSWER = "<|channel|>final<|message|>"
MARKERS = (
    Markers("<think>", "</think>"),
    Markers("<thinking>", "</thinking>"),
    Markers("<thought>", "</thought>"),
    Markers("<reasoning>", "</reasoning>"),
    Markers("<reflection>", "</reflection>"),
    Markers("<seed:think>", "</seed:think>"),
    Markers("[THINK]", "[/THINK]"),
    Markers("<|channel>thought", "<channel|>"),
    Markers("<|channel|>analysis<|message|>", "<|end|><|start|>assistant" + HARMONY_ANSWER),
    Markers("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>commentary to="),  # it asks for a tool
    Markers("<|START_THINKING|>", "<|END_THINKING|>"),
    Markers("◁think▷", "◁/think▷"),
)
"""Thinking markers of known model families."""
ANSWER_HEADERS = (HARMONY_ANSWER, "<|START_RESPONSE|>")
"""Headers that some models write before an answer without thinking."""


class Split(NamedTuple):
    """Thinking and answer text in one piece of a reply."""

    thought: str
    said: str


def find_markers(text: str) -> Markers | None:
    """Return the first known pair whose start marker occurs in `text`, for example in a chat template."""
    return next((pair for pair in MARKERS if pair.start in text), None)


def pair(start: str | None, end: str | None) -> Markers | None:
    """Return the two markers as a pair; None if either is missing or blank."""
    return Markers(start, end) if start and end and start.strip() and end.strip() else None


def opens_thought(prompt: str, start: str = "") -> bool:
    """Return whether the prompt itself ends with a start marker, so that the reply begins inside a thought."""
    tail = prompt[-80:].rstrip()
    return any(tail.endswith(marker) for marker in _with_own(Markers(start.strip(), ""), start=True))


def closed_thought(prompt: str, end: str, start: str = "") -> str:
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
    SAID = auto()


@dataclass
class ThinkingSplitter:
    """Incremental splitter of one reply: call `feed` with its pieces in order, then `finish`.

    Only a marker at the very beginning counts; later ones are part of the answer. `start` and `end` add a custom pair.
    """

    starts_in_thought: bool = False
    start: str = ""
    end: str = ""
    unclosed: bool = False
    """True if the reply ended inside a thought."""

    def __post_init__(self) -> None:
        self._own = Markers(self.start.strip(), self.end.strip())
        self._pairs = (self._own, *MARKERS) if self._own.start and self._own.end else MARKERS
        self._ends = _with_own(self._own, start=False)
        self._stage = _Stage.OPENING
        self._held = ""
        self._thoughts: list[str] = []
        self._has_said = False

    @property
    def only_thought(self) -> str:
        """Return the thinking if there was no answer; the caller shows it as the reply, so that it is not lost."""
        return "" if self._has_said else "".join(self._thoughts).strip()

    def feed(self, piece: str) -> Split:
        """Return what can be classified so far; text that may be part of a marker is held back."""
        self._held += piece
        thought = said = ""
        stage = None
        while stage is not self._stage:
            stage = self._stage
            if stage is _Stage.OPENING:
                self._read_opening()
            elif stage is _Stage.THOUGHT:
                thought += self._read_thought()
            elif stage is _Stage.ANSWER:
                self._read_gap()
            else:
                said, self._held = said + self._held, ""
        return self._note(thought, said)

    def finish(self) -> Split:
        """Return the text held back. Nothing may be fed afterwards."""
        held, self._held = self._held, ""
        if self._stage is _Stage.THOUGHT or (self._stage is _Stage.OPENING and self.starts_in_thought):
            self.unclosed = True
            return self._note(held.rstrip(), "")
        return self._note("", "" if self._stage is _Stage.ANSWER else held)

    def _note(self, thought: str, said: str) -> Split:
        if thought:
            self._thoughts.append(thought)
        self._has_said = self._has_said or bool(said.strip())
        return Split(thought, said)

    def _read_opening(self) -> None:
        text = self._held.lstrip()
        starts = [pair.start for pair in self._pairs]
        openers = [*starts, *ANSWER_HEADERS]
        if not text or any(len(text) < len(opener) and opener.startswith(text) for opener in openers):
            return
        # The longest match wins: a custom start marker may be a prefix of a known one.
        opener = max((opener for opener in openers if text.startswith(opener)), key=len, default="")
        if opener in ANSWER_HEADERS:
            self._held, self._stage = text[len(opener) :], _Stage.ANSWER
        elif opener:
            self._ends = tuple(pair.end for pair in self._pairs if pair.start == opener)
            self._held, self._stage = text[len(opener) :].lstrip(), _Stage.THOUGHT
        elif self.starts_in_thought:
            self._held, self._stage = text, _Stage.THOUGHT
        else:
            self._stage = _Stage.SAID

    def _read_thought(self) -> str:
        if not self._thoughts:
            self._held = self._held.lstrip()
        places = [(place, end) for end in self._ends if (place := self._held.find(end)) >= 0]
        if places:
            place, end = min(places)
            thought = self._held[:place].rstrip()
            self._held, self._stage = self._held[place + len(end) :], _Stage.ANSWER
            return thought
        free = len(self._held) - _length_of_possible_end(self._held, self._ends)
        free = len(self._held[:free].rstrip())
        thought, self._held = self._held[:free], self._held[free:]
        return thought

    def _read_gap(self) -> None:
        self._held = self._held.lstrip()
        if self._held:
            self._stage = _Stage.SAID


def _with_own(own: Markers, *, start: bool) -> tuple[str, ...]:
    index = 0 if start else 1
    return tuple(dict.fromkeys(pair[index] for pair in (own, *MARKERS) if pair[index]))


def _length_of_possible_end(text: str, ends: tuple[str, ...]) -> int:
    """Return how many characters at the end of `text` may be the beginning of an end marker."""
    longest = min(len(text), max(len(end) for end in ends) - 1)
    return next((length for length in range(longest, 0, -1) if any(end.startswith(text[-length:]) for end in ends)), 0)
