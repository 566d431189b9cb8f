"""Cache of the layouts of recently viewed messages; of all others only a height is kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from uuid import UUID

from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.painting.message_layout import MessageSheet, guess_height
from lethe_app.ui.transcript.painting.style import MessageStyle

KEPT = 240
"""Maximum number of cached layouts."""


class Sheets:
    """LRU cache of message layouts, with the state that does not belong to a message: expanded parts and the editor."""

    def __init__(self, style: MessageStyle, width: int = 1) -> None:
        self.style, self.width = style, width
        self._kept: OrderedDict[UUID, MessageSheet] = OrderedDict()
        self._open_thoughts: set[UUID] = set()
        self._open_tools: set[UUID] = set()
        self.editing: UUID | None = None
        """Id of the message that is being edited."""
        self.editor_height = 0

    def __len__(self) -> int:
        return len(self._kept)

    def restyle(self, style: MessageStyle) -> None:
        """Set another style and discard all layouts."""
        self.style = style
        self._kept.clear()

    def clear(self) -> None:
        """Discard layouts and expanded parts, because another session is on display."""
        self._kept.clear()
        self._open_thoughts.clear()
        self._open_tools.clear()

    def get(self, model: ChatModel, row: int) -> MessageSheet | None:
        """Return the up-to-date layout of a row; None while its message is not loaded."""
        message = model.message(row)
        if message is None:
            return None
        sheet = self._kept.get(message.id)
        if sheet is None:
            sheet = self._kept[message.id] = MessageSheet(self.style, self.width)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(message.id)
        self._bring_up_to_date(model, row, sheet)
        return sheet

    def _bring_up_to_date(self, model: ChatModel, row: int, sheet: MessageSheet) -> None:
        message, day, growing = model.message(row), model.day_begun(row), model.is_growing(row)
        if message is None:
            return
        editor = self.editor_height if message.id == self.editing else 0
        is_open, memories, told = message.id in self._open_thoughts, model.marks.count_of(row), model.marks.looked_up(row)
        settled = sheet.message is message and sheet.day == day and not growing and not sheet.growing
        known = sheet.editor_height, sheet.thoughts_open, sheet.memories, sheet.looked_up, sheet.done, sheet.done_open
        done, done_open = model.marks.tools.results_of(message.id), message.id in self._open_tools
        # Layout is skipped if nothing has changed, because `get` is called whenever a row is measured or painted.
        if not settled or known != (editor, is_open, memories, told, done, done_open):
            sheet.done, sheet.done_open = done, done_open
            sheet.editor_height, sheet.thoughts_open, sheet.memories, sheet.looked_up = editor, is_open, memories, told
            said, thought = model.text_of(row)
            sheet.show(message, said, thought, day, growing)
        sheet.verdict = model.marks.thumbs.rating_of(row)
        sheet.set_width(self.width)

    def toggle_tools(self, message_id: UUID) -> None:
        self._open_tools ^= {message_id}

    def toggle_thoughts(self, message_id: UUID) -> None:
        self._open_thoughts ^= {message_id}

    def are_thoughts_open(self, message_id: UUID) -> bool:
        return message_id in self._open_thoughts

    def guesses(self, model: ChatModel) -> Iterator[int]:
        """Return the estimated heights of all rows."""
        return (self.guess(model, row) for row in range(model.rowCount()))

    def guess(self, model: ChatModel, row: int) -> int:
        """Return the estimated height of a row."""
        return guess_height(self.style, self.width, model.outline(row).length)
