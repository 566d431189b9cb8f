"""Text selection in the transcript, within one message or across several."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from lethe_app.ui.transcript.markdown.blocks import strip_formatting
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.painting.layout_cache import LayoutCache

END_OF_MESSAGE = 1 << 30
"""Position beyond the end of every message."""


@dataclass(frozen=True, slots=True)
class TextPosition:
    """Position in the laid out text of a message."""

    message_id: UUID
    position: int


class TextSelection:
    """Range between two positions, anchor and head, which may be in different messages and in either order."""

    def __init__(self) -> None:
        self._anchor: TextPosition | None = None
        self._head: TextPosition | None = None

    def clear(self) -> None:
        self._anchor = self._head = None

    def start_at(self, position: TextPosition) -> None:
        """Start an empty selection."""
        self._anchor = self._head = position

    def extend_to(self, position: TextPosition) -> None:
        """Move the head of the selection; the anchor stays."""
        self._head = position
        self._anchor = self._anchor or position

    def select_range(self, message_id: UUID, start: int, end: int) -> None:
        """Select a range within one message."""
        self._anchor, self._head = TextPosition(message_id, start), TextPosition(message_id, end)

    @property
    def is_empty(self) -> bool:
        return self._anchor == self._head

    def _ordered_ends(self, model: ChatModel) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Return row and position of start and end, in order; None if empty or a message is gone."""
        if self._anchor is None or self._head is None or self.is_empty:
            return None
        anchor, head = model.row_of(self._anchor.message_id), model.row_of(self._head.message_id)
        if anchor is None or head is None:
            return None
        ends = sorted(((anchor, self._anchor.position), (head, self._head.position)))
        return ends[0], ends[1]

    def range_in(self, model: ChatModel, row: int) -> tuple[int, int] | None:
        """Return the selected range of a row; its end may be beyond that of the text. None if nothing is selected there."""
        ends = self._ordered_ends(model)
        if ends is None or not ends[0][0] <= row <= ends[1][0]:
            return None
        return ends[0][1] if row == ends[0][0] else 0, ends[1][1] if row == ends[1][0] else END_OF_MESSAGE

    def extract_text(self, model: ChatModel, layout_cache: LayoutCache) -> str:
        """Return the selected text; with the speakers' names if it spans several messages."""
        ends = self._ordered_ends(model)
        if ends is None:
            return ""
        rows = range(ends[0][0], ends[1][0] + 1)
        parts = [(row, self._extract_row_text(model, layout_cache, row)) for row in rows]
        if len(rows) == 1:
            return parts[0][1]
        texts_by_speaker = [(message.speaker_name, text) for row, text in parts if text and (message := model.message(row))]
        return "\n\n".join(f"{name}: {text}" if name else text for name, text in texts_by_speaker)

    def _extract_row_text(self, model: ChatModel, layout_cache: LayoutCache, row: int) -> str:
        span = self.range_in(model, row)
        if span is None or model.message(row) is None:
            return ""
        if span == (0, END_OF_MESSAGE):
            return strip_formatting(model.text_of(row)[0])
        message_layout = layout_cache.get_layout(model, row)
        return (
            message_layout.document.extract_text(span[0], min(span[1], message_layout.document.end_position))
            if message_layout
            else ""
        )
