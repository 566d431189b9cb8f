"""Layout of one message: the place of each part, and the documents with its text."""

from __future__ import annotations

from datetime import date
from math import ceil

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QFontMetrics

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.chat import Message, Role
from lethe_app.domain.tools import ToolResult
from lethe_app.services.web.chat_lookup import LookedUp
from lethe_app.ui.core.formatting import recalled_in_words
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6, SPACE_8
from lethe_app.ui.transcript.markdown.blocks import read
from lethe_app.ui.transcript.markdown.streaming import GrowingProse
from lethe_app.ui.transcript.painting.document import MessageDocument
from lethe_app.ui.transcript.painting.source_list import SourceList
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.painting.tool_list import ToolList

FOOT = 32
"""Space below the text, in which the action buttons appear."""
CHOICE_ROOM = 22
"""Additional space for the line with the number of the alternative or the chip, so that the gap below it is as wide as
others.
"""
DAY_ROOM = SPACE_8 + SPACE_6
"""Height of the day separator."""
CHIP, CHIP_SIGN = 24, 13
"""Minimum height of the memory chip, and the size of its icon."""
THOUGHTS_INDENT = SPACE_4 + SPACE_2


def header_height(style: MessageStyle) -> int:
    """Return the height of the line with name and time."""
    return round(style.pixels * 1.5)


def guess_height(style: MessageStyle, width: int, length: int) -> int:
    """Return the estimated height of a message of `length` characters."""
    lines = max(1, ceil(length * style.letter * 1.08 / width))
    return header_height(style) + lines * style.line + FOOT


class MessageSheet:
    """Layout of one message, in pixels from the top left of its text column; avatars are left of it."""

    def __init__(self, style: MessageStyle, width: int) -> None:
        self.style, self.width = style, width
        self.message: Message | None = None
        self.day: date | None = None
        self.growing = False
        self.waiting = False
        self.thoughts_open = False
        self.editor_height = 0
        self.memories = 0
        """Number of memories recalled for the reply."""
        self.verdict: ReplyRating | None = None
        """The user's rating of the alternative on display."""
        self.looked_up: LookedUp | None = None
        self.sources: SourceList | None = None
        self.done: tuple[ToolResult, ...] = ()
        """Tool results of the reply."""
        self.done_open = False
        self.tools: ToolList | None = None
        self.thoughts: MessageDocument | None = None
        self._said: tuple[str, bool] | None = None
        """Text that is laid out, and whether it breaks off."""
        self._thought = ""
        self._stream: GrowingProse | None = None
        self._thought_stream = GrowingProse()
        self.document = MessageDocument(style, width)
        self.thoughts_top = self.thoughts_text_top = self.prose_top = self.mark_top = self.foot_top = self.height = 0
        self.sources_top = self.tools_top = 0

    @property
    def is_note(self) -> bool:
        """Return whether the message is of the system or a tool; it has no header."""
        return self.message is not None and self.message.role in {Role.SYSTEM, Role.TOOL}

    @property
    def has_thoughts(self) -> bool:
        return bool(self._thought)

    @property
    def is_stopped(self) -> bool:
        """Return whether the reply was stopped before it was complete."""
        return self.message is not None and not self.growing and not self.message.current.complete

    @property
    def breaks_off(self) -> bool:
        """Return whether the text is incomplete, for now or for good."""
        return self.growing or self.is_stopped

    @property
    def thoughts_words(self) -> int:
        return len(self._thought.split())

    def show(self, message: Message, said: str, thought: str, day: date | None, growing: bool) -> None:
        """Show a message in its current state; text that is laid out already is kept."""
        if self.message is None and message.role in {Role.SYSTEM, Role.TOOL}:
            self.document = MessageDocument(self.style, self.width, quiet=True)
        self.message, self.day, self._thought = message, day, thought.strip()
        if growing and self._stream is None:
            self._stream = GrowingProse()
        self.growing, self.waiting = growing, growing and not said.strip()
        if (said, self.breaks_off) != self._said:
            self._said = (said, self.breaks_off)
            blocks = self._stream.read(said) if self._stream and growing else read(said, breaks_off=self.breaks_off)
            self.document.show(blocks)
        if not growing:
            self._stream = None
        self.arrange()

    def set_width(self, width: int) -> None:
        """Lay the message out in another width."""
        if width != self.width:
            self.width = width
            self.document.set_width(width)
            self.arrange()

    def arrange(self) -> None:
        """Compute the place of every part."""
        top = self.header_top
        if not self.is_note:
            top += header_height(self.style)
        if self.has_thoughts:
            top = self._arrange_thoughts(top)
        self.prose_top = top
        if self.editor_height:
            self.mark_top = top + self.editor_height
        else:
            self.mark_top = top + self.document.height
        if self.waiting:
            self.mark_top = top + self.style.line
        self.sources_top = self.mark_top + (self.style.line if self.is_stopped else 0)
        self.sources = SourceList(self.style, self.width, self.looked_up) if self.looked_up and not self.waiting else None
        self.tools_top = self.sources_top + (self.sources.height if self.sources else 0)
        shown = bool(self.done) and not self.waiting
        self.tools = ToolList(self.style, self.width, self.done, is_open=self.done_open) if shown else None
        self.foot_top = self.tools_top + (self.tools.height if self.tools else 0) + 2
        self.height = self.foot_top - 2 + (CHOICE_ROOM if self.alternatives[1] > 1 or self.memories else 0) + FOOT

    def _arrange_thoughts(self, top: int) -> int:
        self.thoughts_top = top
        top += self.style.line + SPACE_1
        if self.thoughts_open:
            width = self.width - THOUGHTS_INDENT
            if self.thoughts is None:
                self.thoughts = MessageDocument(self.style, width, quiet=True)
            self.thoughts.set_width(width)
            self.thoughts.show(self._thought_stream.read(self._thought, breaks_off=self.breaks_off))
            self.thoughts_text_top = top
            top += self.thoughts.height + SPACE_3
        else:
            self.thoughts = None
        return top

    @property
    def header_top(self) -> int:
        """Return the top of the header, which is below the day separator."""
        return DAY_ROOM if self.day else 0

    @property
    def thoughts_rect(self) -> QRect:
        """Return the clickable line that expands the thinking; empty if there is none."""
        return QRect(0, self.thoughts_top, min(self.width, 220), self.style.line) if self.has_thoughts else QRect()

    @property
    def tools_rect(self) -> QRect:
        """Return the clickable line that expands the tool calls; empty if there is none."""
        return self.tools.head.translated(0, self.tools_top) if self.tools else QRect()

    @property
    def prose_rect(self) -> QRect:
        return QRect(0, self.prose_top, self.width, max(self.document.height, self.style.line))

    @property
    def waiting_rect(self) -> QRect:
        return QRect(0, self.prose_top, self.width, self.style.line)

    @property
    def chip_rect(self) -> QRect:
        """Return the rectangle of the memory chip, at the left below the text; empty without memories."""
        if not self.memories:
            return QRect()
        words = QFontMetrics(self.style.small_font).horizontalAdvance(recalled_in_words(self.memories))
        height = max(CHIP, round(self.style.pixels * 1.6))
        return QRect(-SPACE_2, self.foot_top - 1, words + CHIP_SIGN + SPACE_1 + 2 * SPACE_2, height)

    @property
    def foot_left(self) -> int:
        """Return the left edge of the rest of the line with the chip."""
        return self.chip_rect.right() + SPACE_2 if self.memories else 0

    def position_at(self, x: float, y: float) -> int:
        """Return the text position nearest to a point."""
        if y < self.prose_top:
            return 0
        if y > self.prose_top + self.document.height:
            return self.document.end
        return self.document.position_at(QPointF(max(x, 0), y - self.prose_top))

    def link_at(self, x: float, y: float) -> str:
        """Return the address of the link or source at a point; empty if there is none."""
        if self.sources is not None and y >= self.sources_top:
            return self.sources.address_at(x, y - self.sources_top)
        inside = QRectF(self.prose_rect).contains(QPointF(x, y))
        return self.document.link_at(QPointF(x, y - self.prose_top)) if inside else ""

    @property
    def links(self) -> list[str]:
        """Return the distinct addresses in the text and in the sources."""
        return list(dict.fromkeys([*self.document.links(), *(self.sources.addresses if self.sources else [])]))

    @property
    def alternatives(self) -> tuple[int, int]:
        """Return the number of the alternative on display, from 1, and the number of alternatives."""
        if self.message is None:
            return 1, 1
        count = len(self.message.alternatives)
        return min(self.message.shown + 1, count), count

    @property
    def name(self) -> str:
        """Return the display name of the speaker."""
        return self.message.speaker_name if self.message else ""
