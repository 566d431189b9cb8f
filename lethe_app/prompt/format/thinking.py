"""Tells a model's thinking from what it says, while the reply streams in and markers arrive in pieces."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


class Markers(NamedTuple):
    """A pair that encloses thinking. Written without the white space around it."""

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
"""Thinking markers of the model families we know."""
ANSWER_HEADERS = (HARMONY_ANSWER, "<|START_RESPONSE|>")
"""What some models write before an answer without thinking."""


class Split(NamedTuple):
    """What one piece of a reply brought."""

    thought: str
    said: str


def find_markers(text: str) -> Markers | None:
    """The first pair of the table whose start is spelled in `text`, such as a template."""
    return next((pair for pair in MARKERS if pair.start in text), None)


def pair(start: str | None, end: str | None) -> Markers | None:
    """The two as somebody gave them; one alone encloses nothing."""
    return Markers(start, end) if start and end and start.strip() and end.strip() else None


def opens_thought(prompt: str, start: str = "") -> bool:
    """Does the prompt itself end inside a thought?"""
    tail = prompt[-80:].rstrip()
    return any(tail.endswith(marker) for marker in _with_own(Markers(start.strip(), ""), start=True))


def closed_thought(prompt: str, end: str, start: str = "") -> str:
    """The prompt of a model that shall answer at once: an open thought is closed, an open harmony reply begins its answer."""
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
    """Feed it the pieces of one reply in order, then `finish`.

    Only a marker at the very beginning counts; later ones are part of what is said. `start` and `end` add a pair of one's own.
    """

    starts_in_thought: bool = False
    start: str = ""
    end: str = ""
    unclosed: bool = False
    """The reply ended inside a thought."""

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
        """The thinking, when nothing else came: better shown as the reply than lost."""
        return "" if self._has_said else "".join(self._thoughts).strip()

    def feed(self, piece: str) -> Split:
        """What can be told apart by now; the rest is held until more comes."""
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
        """What was held back; nothing may be fed afterwards."""
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
    """How many characters at the end of `text` may be the beginning of an end marker."""
    longest = min(len(text), max(len(end) for end in ends) - 1)
    return next((length for length in range(longest, 0, -1) if any(end.startswith(text[-length:]) for end in ends)), 0)
