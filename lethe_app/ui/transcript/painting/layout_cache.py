"""Cache of the layouts of recently viewed messages; of all others only a height is kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from uuid import UUID

from lethe_app.domain.chat import Message
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.painting.message_layout import LayoutState, MessageLayout, estimate_height
from lethe_app.ui.transcript.painting.style import MessageStyle

MAX_CACHED_LAYOUTS = 240
"""Maximum number of cached layouts: those of about twenty viewports, in which a dozen messages fit."""


class LayoutCache:
    """LRU cache of message layouts, with the state that does not belong to a message: expanded parts and the editor."""

    def __init__(self, style: MessageStyle) -> None:
        self.style, self.width = style, 1
        self._layouts: OrderedDict[UUID, MessageLayout] = OrderedDict()
        self._open_thoughts: set[UUID] = set()
        self._open_tools: set[UUID] = set()
        self.edited_message_id: UUID | None = None
        """Id of the message that is being edited."""
        self.editor_height = 0
        self.offers_continue = False
        """True if the last reply can be continued here when it was stopped or cut off."""

    def __len__(self) -> int:
        return len(self._layouts)

    def set_style(self, style: MessageStyle) -> None:
        """Set another style and discard all layouts."""
        self.style = style
        self._layouts.clear()

    def clear(self) -> None:
        """Discard layouts and expanded parts, because another session is on display."""
        self._layouts.clear()
        self._open_thoughts.clear()
        self._open_tools.clear()

    def get_layout(self, model: ChatModel, row: int) -> MessageLayout | None:
        """Return the up-to-date layout of a row; None while its message is not loaded."""
        message = model.message(row)
        if message is None:
            return None
        message_layout = self._layouts.get(message.id)
        if message_layout is None:
            message_layout = self._layouts[message.id] = MessageLayout(self.style, self.width)
            while len(self._layouts) > MAX_CACHED_LAYOUTS:
                self._layouts.popitem(last=False)
        else:
            self._layouts.move_to_end(message.id)
        self._update_layout(model, row, message, message_layout)
        return message_layout

    def _update_layout(self, model: ChatModel, row: int, message: Message, message_layout: MessageLayout) -> None:
        """Lay a message out again if its text or any part of its state has changed; this is called for every measured and
        painted row.
        """
        day, is_growing = model.separator_day(row), model.is_growing(row)
        is_text_unchanged = (
            message_layout.message is message and message_layout.day == day and not is_growing and not message_layout.is_growing
        )
        state = LayoutState(
            editor_height=self.editor_height if message.id == self.edited_message_id else 0,
            are_thoughts_open=message.id in self._open_thoughts,
            are_tools_open=message.id in self._open_tools,
            can_continue=self.offers_continue and model.is_last_reply(row) and model.growing_row is None,
            annotations=model.annotations_of(row),
        )
        if not is_text_unchanged or message_layout.state != state:
            message_layout.state = state
            content, thinking = model.text_of(row)
            message_layout.set_message(message, content, thinking, day, is_growing)
        message_layout.set_width(self.width)

    def toggle_tools(self, message_id: UUID) -> None:
        self._open_tools ^= {message_id}

    def toggle_thoughts(self, message_id: UUID) -> None:
        self._open_thoughts ^= {message_id}

    def are_thoughts_open(self, message_id: UUID) -> bool:
        return message_id in self._open_thoughts

    def estimate_heights(self, model: ChatModel) -> Iterator[int]:
        """Return the estimated heights of all rows."""
        return (self.estimate_row_height(model, row) for row in range(model.rowCount()))

    def estimate_row_height(self, model: ChatModel, row: int) -> int:
        """Return the estimated height of a row."""
        return estimate_height(self.style, self.width, model.outline(row).length)
