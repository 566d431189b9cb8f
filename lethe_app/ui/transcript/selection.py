"""Text selection in the transcript, within one message or across several."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from lethe_app.ui.transcript.markdown.blocks import plain
from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.painting.layout_cache import Sheets

WHOLE = 1 << 30
"""Position beyond the end of every message."""


@dataclass(frozen=True, slots=True)
class TextPosition:
    """Position in the laid out text of a message."""

    message: UUID
    position: int


class TextSelection:
    """Range between two positions, anchor and head, which may be in different messages and in either order."""

    def __init__(self) -> None:
        self._anchor: TextPosition | None = None
        self._head: TextPosition | None = None

    def clear(self) -> None:
        self._anchor = self._head = None

    def start_at(self, place: TextPosition) -> None:
        """Start an empty selection."""
        self._anchor = self._head = place

    def extend(self, place: TextPosition) -> None:
        """Move the head of the selection; the anchor stays."""
        self._head = place
        self._anchor = self._anchor or place

    def select(self, message: UUID, start: int, end: int) -> None:
        """Select a range within one message."""
        self._anchor, self._head = TextPosition(message, start), TextPosition(message, end)

    @property
    def is_empty(self) -> bool:
        return self._anchor == self._head

    def _ends(self, model: ChatModel) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Return row and position of start and end, in order; None if empty or a message is gone."""
        if self._anchor is None or self._head is None or self.is_empty:
            return None
        anchor, head = model.row_of(self._anchor.message), model.row_of(self._head.message)
        if anchor is None or head is None:
            return None
        ends = sorted(((anchor, self._anchor.position), (head, self._head.position)))
        return ends[0], ends[1]

    def range_in(self, model: ChatModel, row: int) -> tuple[int, int] | None:
        """Return the selected range of a row; its end may be beyond that of the text. None if nothing is selected there."""
        ends = self._ends(model)
        if ends is None or not ends[0][0] <= row <= ends[1][0]:
            return None
        return ends[0][1] if row == ends[0][0] else 0, ends[1][1] if row == ends[1][0] else WHOLE

    def text(self, model: ChatModel, sheets: Sheets) -> str:
        """Return the selected text; with the speakers' names if it spans several messages."""
        ends = self._ends(model)
        if ends is None:
            return ""
        rows = range(ends[0][0], ends[1][0] + 1)
        parts = [(row, self._text_in(model, sheets, row)) for row in rows]
        if len(rows) == 1:
            return parts[0][1]
        named = [(message.speaker_name, words) for row, words in parts if words and (message := model.message(row))]
        return "\n\n".join(f"{name}: {words}" if name else words for name, words in named)

    def _text_in(self, model: ChatModel, sheets: Sheets, row: int) -> str:
        span = self.range_in(model, row)
        if span is None or model.message(row) is None:
            return ""
        if span == (0, WHOLE):
            return plain(model.text_of(row)[0])
        sheet = sheets.get(model, row)
        return sheet.document.plain_text(span[0], min(span[1], sheet.document.end)) if sheet else ""
