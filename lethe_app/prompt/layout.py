"""Where in a prompt stands what is only true for this turn: late, where it costs nothing, or where other programs put it.

A model keeps what it has read as long as the prompt begins as before. Notes in the system prompt change its beginning, so that
everything behind is read again every turn; notes among the messages have the messages behind them read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.domain.prompt import Note, Turn
from lethe_app.settings import PromptLayout


@dataclass(frozen=True)
class Pieces:
    """A prompt before it is put in order."""

    head: str
    """The system prompt."""
    old: Sequence[Turn]
    """The history that is kept, without the newest user message."""
    tail: Sequence[Turn]
    """From the newest user message on."""
    notes: Sequence[Note]
    title: str
    """What stands above the notes."""
    continue_last: bool = False
    """The last turn of the tail is to be continued, so nothing may stand behind it."""


def arrange(layout: PromptLayout, pieces: Pieces) -> list[Turn]:
    """All turns in the order in which the model reads them."""
    system = [Turn("system", pieces.head)] if pieces.head else []
    if layout is PromptLayout.SYSTEM:
        head = "\n\n".join(part for part in (pieces.head, _told(pieces.notes, pieces.title)) if part)
        return [*([Turn("system", head)] if head else []), *pieces.old, *_spoken(pieces.notes), *pieces.tail]
    if layout is PromptLayout.DEPTH and pieces.tail and pieces.tail[0].role == "user":
        return [*system, *_at_depth(pieces), *pieces.tail]
    notes = turns_of(pieces.notes, pieces.title)
    if pieces.tail and pieces.tail[0].role == "user":
        return [*system, *pieces.old, *notes, *pieces.tail]
    closing = pieces.tail if pieces.continue_last else ()
    return [*system, *pieces.old, *(() if closing else pieces.tail), *notes, *closing]


def turns_of(notes: Sequence[Note], title: str) -> list[Turn]:
    """The system's notes as one turn, those that somebody seems to say each by itself; the higher order stands later."""
    text = _told(notes, title)
    return [*([Turn("system", text)] if text else []), *_spoken(notes)]


def _at_depth(pieces: Pieces) -> list[Turn]:
    """Each note so many messages above the newest one as it asks for; where the history is shorter, above all of it."""
    old = list(pieces.old)
    depths = {min(note.depth, len(old)) for note in pieces.notes}
    for depth in sorted(depths):  # the nearest first, so that places above are not moved
        there = [note for note in pieces.notes if min(note.depth, len(pieces.old)) == depth]
        place = len(pieces.old) - depth
        old[place:place] = turns_of(there, pieces.title)
    return old


def _told(notes: Sequence[Note], title: str) -> str:
    told = [note.text for note in _in_order(notes) if note.role == "system"]
    return "\n".join(part for part in (title, *told) if part) if told else ""


def _spoken(notes: Sequence[Note]) -> list[Turn]:
    return [Turn(note.role, note.text) for note in _in_order(notes) if note.role != "system"]


def _in_order(notes: Sequence[Note]) -> list[Note]:
    return sorted(notes, key=lambda note: (-note.depth, note.order))
