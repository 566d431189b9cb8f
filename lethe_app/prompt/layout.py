"""Placement of texts that change every turn: late in the prompt, where they cost least, or where other programs put them.

The KV cache is reused as long as the prompt begins as before. Notes in the system prompt change its beginning, so that
everything after them is evaluated again every turn: at 8k tokens a turn then evaluates 26 times as much
(docs/benchmarks.md). Notes among the messages have the messages after them evaluated again. The next speaker of a group is
named late in every layout, so that all personas share the prompt before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import NotePlacement, PromptNote, PromptPart, PromptSpan, PromptTurn


@dataclass(frozen=True)
class PlacedTurn:
    """Turn at its final position, with its content as spans."""

    role: str
    spans: tuple[PromptSpan, ...]
    name: str = ""

    @property
    def to_turn(self) -> PromptTurn:
        """Return the turn without the division into spans."""
        return PromptTurn(self.role, "".join(span.text for span in self.spans), self.name)


@dataclass(frozen=True)
class PromptPieces:
    """Prompt pieces before they are arranged."""

    head: Sequence[PromptSpan]
    """System prompt."""
    history: Sequence[PromptTurn]
    """History that is kept, without the newest user message."""
    tail: Sequence[PromptTurn]
    """Turns from the newest user message on."""
    notes: Sequence[PromptNote]
    title: str
    """Heading of the notes."""
    continue_last: bool = False
    """True if the last turn of the tail is to be continued, so that nothing may follow it."""
    speaker: str = ""
    """In a group, the line that names the next speaker."""


def arrange_turns(layout: PromptLayout, pieces: PromptPieces) -> list[PlacedTurn]:
    """Return all turns in prompt order."""
    last = [note for note in pieces.notes if note.placement is NotePlacement.LAST]
    others = [note for note in pieces.notes if note.placement is not NotePlacement.LAST]
    turns = _arrange_turns(layout, replace(pieces, notes=others))
    index = len(turns) - 1 if pieces.continue_last else len(turns)
    return [*turns[:index], *_place_single_notes(last), *turns[index:]]


def _arrange_turns(layout: PromptLayout, pieces: PromptPieces) -> list[PlacedTurn]:
    system = [PlacedTurn("system", tuple(pieces.head))] if pieces.head else []
    old, tail = place_turns(pieces.history, PromptPart.HISTORY), place_turns(pieces.tail, PromptPart.MESSAGE)
    speaker = [PlacedTurn("system", (PromptSpan(PromptPart.SPEAKER, pieces.speaker),))] if pieces.speaker else []
    if layout is PromptLayout.SYSTEM:
        note_spans = _titled_spans(pieces.notes, pieces.title)
        single = _place_single_notes([note for note in pieces.notes if not is_titled(note)])
        gap = [PromptSpan(PromptPart.MEMORIES, "\n\n")] if pieces.head and note_spans else []
        head = (*pieces.head, *gap, *note_spans)
        return [*([PlacedTurn("system", head)] if head else []), *old, *single, *speaker, *tail]
    if layout is PromptLayout.DEPTH and pieces.tail and pieces.tail[0].role == "user":
        return [*system, *_insert_at_depth(pieces, old), *speaker, *tail]
    notes = [*place_notes(pieces.notes, pieces.title), *speaker]
    if pieces.tail and pieces.tail[0].role == "user":
        return [*system, *old, *notes, *tail]
    # Nothing may follow a turn that the model continues, so the notes stand before it.
    closing = tail if pieces.continue_last else []
    return [*system, *old, *([] if closing else tail), *notes, *closing]


def place_turns(turns: Sequence[PromptTurn], part: PromptPart) -> list[PlacedTurn]:
    """Return turns whose whole content belongs to one part, or those of earlier sessions to that of their session."""
    return [
        PlacedTurn(
            turn.role, (PromptSpan(PromptPart.EARLIER if turn.session else part, turn.content, turn.session),), turn.name
        )
        for turn in turns
    ]


def place_notes(notes: Sequence[PromptNote], title: str) -> list[PlacedTurn]:
    """Return the notes under the heading as one turn, then each other as its own turn, in ascending `order`."""
    note_spans = _titled_spans(notes, title)
    single = [note for note in notes if not is_titled(note)]
    return [*([PlacedTurn("system", tuple(note_spans))] if note_spans else []), *_place_single_notes(single)]


def is_titled(note: PromptNote) -> bool:
    """Return whether a note stands under the heading of the memories."""
    return note.role == "system" and note.placement is NotePlacement.TITLED


def _insert_at_depth(pieces: PromptPieces, history: Sequence[PlacedTurn]) -> list[PlacedTurn]:
    """Insert each note `depth` messages above the newest one; above the whole history if that is shorter."""
    turns = list(history)
    depths = {min(note.depth, len(history)) for note in pieces.notes}
    for depth in sorted(depths):  # the nearest first, so that places above are not moved
        notes = [note for note in pieces.notes if min(note.depth, len(history)) == depth]
        index = len(history) - depth
        turns[index:index] = place_notes(notes, pieces.title)
    return turns


def _titled_spans(notes: Sequence[PromptNote], title: str) -> list[PromptSpan]:
    texts = [note.text for note in _sort_notes(notes) if is_titled(note)]
    lines = [line for line in (title, *texts) if line] if texts else []
    return [PromptSpan(PromptPart.MEMORIES, f"\n{line}" if index else line) for index, line in enumerate(lines)]


def _place_single_notes(notes: Sequence[PromptNote]) -> list[PlacedTurn]:
    return [PlacedTurn(note.role, (PromptSpan(note.part, note.text),)) for note in _sort_notes(notes)]


def _sort_notes(notes: Sequence[PromptNote]) -> list[PromptNote]:
    return sorted(notes, key=lambda note: (-note.depth, note.order))
