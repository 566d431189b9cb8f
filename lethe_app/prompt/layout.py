"""Placement of texts that change every turn: late in the prompt, where they cost least, or where other programs put them.

What has a depth chosen by its author, a World Info entry “at depth 4” or a character's note, stands there also in the late
layout. A character's note costs no waiting, because the prompt up to the user's next message is prefilled with it; an entry has
the messages below it evaluated again, and therefore stands lower where these are long.
The KV cache is reused as long as the prompt begins as before. Notes in the system prompt change its beginning, so that
everything after them is evaluated again every turn: at 8k tokens a turn then evaluates 26 times as much
(docs/benchmarks.md). Notes among the messages have the messages after them evaluated again. The next speaker of a group is
named late in every layout, so that all personas share the prompt before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile

from lethe_app.config.options import PromptLayout
from lethe_app.domain.prompt import NotePlacement, PromptNote, PromptPart, PromptSpan, PromptTurn

MAX_CHARACTERS_BELOW = 2_000
"""Characters of messages below a World Info entry at a depth in the late layout, about 500 tokens."""


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
    ordered = sorted(pieces.notes, key=lambda note: (-note.depth, note.order))
    others = [note for note in ordered if note.placement is not NotePlacement.LAST]
    # Such as a persona's post-history instructions (services/prompting/assembler.py).
    last = place_notes([note for note in ordered if note.placement is NotePlacement.LAST], "")
    old, tail = place_turns(pieces.history, PromptPart.HISTORY), place_turns(pieces.tail, PromptPart.MESSAGE)
    speaker = [PlacedTurn("system", (PromptSpan(PromptPart.SPEAKER, pieces.speaker),))] if pieces.speaker else []
    head, is_answer = tuple(pieces.head), bool(pieces.tail) and pieces.tail[0].role == "user"
    if layout is PromptLayout.LATE and any(note.keeps_depth for note in others):
        fixed, others = _split_fixed(others, len(tail), _affordable_depth(old))
        old = _insert_at_depth(fixed, old, pieces.title)
    if layout is PromptLayout.DEPTH and is_answer:
        body = [*_insert_at_depth(others, old, pieces.title), *speaker]
    else:
        notes = place_notes(others, pieces.title)
        if layout is PromptLayout.SYSTEM and any(map(is_titled, others)):
            titled, *notes = notes
            gap = [PromptSpan(PromptPart.MEMORIES, "\n\n")] if head else []
            head = (*head, *gap, *titled.spans)
        body = [*old, *notes, *speaker]
        # Nothing may follow a turn that the model continues, so the notes stand before it.
        if layout is not PromptLayout.SYSTEM and not is_answer and not pieces.continue_last:
            body, tail = [*old, *tail, *notes, *speaker], []
    turns = [*([PlacedTurn("system", head)] if head else []), *body, *tail]
    index = len(turns) - 1 if pieces.continue_last else len(turns)
    return [*turns[:index], *last, *turns[index:]]


def _split_fixed(notes: Sequence[PromptNote], below: int, limit: int) -> tuple[list[PromptNote], list[PromptNote]]:
    """Return the notes that stand among the old messages at a depth of their own, and all others.

    Such a depth counts all messages below, of which `below` are not old. World Info stands not above `limit` old messages.
    """
    fixed, others = list[PromptNote](), list[PromptNote]()
    for note in notes:
        depth = max(note.depth - below, 0) if note.keeps_depth else 0
        depth = depth if note.placement is NotePlacement.ALONE else min(depth, limit)
        (fixed if depth else others).append(replace(note, depth=depth) if depth else note)
    return fixed, others


def _affordable_depth(history: Sequence[PlacedTurn]) -> int:
    """Return how many of the newest messages have no more characters than may be evaluated again in every turn."""
    lengths = accumulate(sum(len(span.text) for span in turn.spans) for turn in reversed(history))
    return sum(1 for _length in takewhile(lambda length: length <= MAX_CHARACTERS_BELOW, lengths))


def place_turns(turns: Sequence[PromptTurn], part: PromptPart) -> list[PlacedTurn]:
    """Return turns whose whole content belongs to one part, or those of earlier sessions to that of their session."""
    return [
        PlacedTurn(
            turn.role, (PromptSpan(PromptPart.EARLIER if turn.session else part, turn.content, turn.session),), turn.name
        )
        for turn in turns
    ]


def place_notes(notes: Sequence[PromptNote], title: str) -> list[PlacedTurn]:
    """Return the notes under the heading as one turn, then each other as its own turn, in their order."""
    texts = [note.text for note in notes if is_titled(note)]
    lines = [line for line in (title, *texts) if line] if texts else []
    spans = tuple(PromptSpan(PromptPart.MEMORIES, f"\n{line}" if index else line) for index, line in enumerate(lines))
    single = [PlacedTurn(note.role, (PromptSpan(note.part, note.text),)) for note in notes if not is_titled(note)]
    return [PlacedTurn("system", spans), *single] if spans else single


def is_titled(note: PromptNote) -> bool:
    """Return whether a note stands under the heading of the memories."""
    return note.role == "system" and note.placement is NotePlacement.TITLED


def _insert_at_depth(notes: Sequence[PromptNote], history: Sequence[PlacedTurn], title: str) -> list[PlacedTurn]:
    """Insert each note at its depth above the newest message; above the whole history if that is shorter."""
    turns = list(history)
    depths = {min(note.depth, len(history)) for note in notes}
    for depth in sorted(depths):  # the nearest first, so that places above are not moved
        index = len(history) - depth
        turns[index:index] = place_notes([note for note in notes if min(note.depth, len(history)) == depth], title)
    return turns
