"""Layout of one message: the place of each part, and the documents with its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from math import ceil

from PySide6.QtCore import QCoreApplication, QPoint, QPointF, QRect, QRectF
from PySide6.QtGui import QFontMetrics

from lethe_app.domain.chat import Message, Role
from lethe_app.ui.core.formatting import format_recall_counts
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6, SPACE_8
from lethe_app.ui.transcript.markdown.blocks import parse_message
from lethe_app.ui.transcript.markdown.incremental_markdown import IncrementalMarkdown
from lethe_app.ui.transcript.model.annotations import ReplyAnnotations
from lethe_app.ui.transcript.painting.document import MessageDocument
from lethe_app.ui.transcript.painting.reply_lists import SourceList, ToolList
from lethe_app.ui.transcript.painting.style import MessageStyle

FOOTER_HEIGHT = 32
"""Space below the text, in which the action buttons appear."""
INFO_LINE_HEIGHT = 22
"""Additional space for the line with the number of the alternative or the chip, so that the gap below it is as wide as
others.
"""
DAY_SEPARATOR_HEIGHT = SPACE_8 + SPACE_6
"""Height of the day separator."""
CHIP_MIN_HEIGHT, CHIP_ICON_SIZE = 24, 13
"""Minimum height of the memory chip, and the size of its icon."""
THOUGHTS_INDENT = SPACE_4 + SPACE_2


def header_height(style: MessageStyle) -> int:
    """Return the height of the line with name and time."""
    return round(style.pixels * 1.5)


def estimate_height(style: MessageStyle, width: int, length: int) -> int:
    """Return the estimated height of a message of `length` characters, for rows that were never in view.

    It is only as good as the scroll bar needs: the messages of `tests/bench/long_chat.py` are 15 % taller on average, because
    they have gaps between paragraphs.
    """
    lines = max(1, ceil(length * style.letter_width * 1.08 / width))
    return header_height(style) + lines * style.line_height + FOOTER_HEIGHT


def continue_label() -> str:
    """Return the text of the link that continues a reply."""
    return QCoreApplication.translate("Message", "Continue")


class PointerTarget(Enum):
    """Part of a message that reacts to the pointer: all but `TEXT` to a click."""

    LINK = "link"
    CODE = "code"
    THOUGHTS = "thoughts"
    TOOLS = "tools"
    CONTINUE = "continue"
    MEMORY_CHIP = "memory chip"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class LayoutState:
    """What the layout of a message depends on, besides the message itself."""

    editor_height: int = 0
    """Height of the editor that covers the text; 0 if there is none."""
    are_thoughts_open: bool = False
    are_tools_open: bool = False
    can_continue: bool = False
    """True if a click on “Continue” continues the reply."""
    annotations: ReplyAnnotations = field(default_factory=ReplyAnnotations)


class MessageLayout:
    """Layout of one message, in pixels from the top left of its text column; avatars are left of it."""

    def __init__(self, style: MessageStyle, width: int) -> None:
        self.style, self.width = style, width
        self.message: Message | None = None
        self.day: date | None = None
        self.is_growing = False
        self.is_waiting = False
        self.state = LayoutState()
        self.source_list: SourceList | None = None
        self.tool_list: ToolList | None = None
        self.thoughts_document: MessageDocument | None = None
        self._laid_out_text: tuple[str, bool] | None = None
        """Text that is laid out, and whether it breaks off."""
        self._thinking = ""
        self._content_parser: IncrementalMarkdown | None = None
        self._thinking_parser = IncrementalMarkdown()
        self.document = MessageDocument(style, width)
        self.thoughts_top = self.thoughts_text_top = self.prose_top = self.end_mark_top = self.footer_top = self.height = 0
        self.sources_top = self.tools_top = 0

    @property
    def is_note(self) -> bool:
        """Return whether the message is of the system or a tool; it has no header."""
        return self.message is not None and self.message.role in {Role.SYSTEM, Role.TOOL}

    @property
    def has_thoughts(self) -> bool:
        return bool(self._thinking)

    @property
    def is_stopped(self) -> bool:
        """Return whether the reply was stopped before it was complete."""
        return self.message is not None and not self.is_growing and not self.message.current.complete

    @property
    def end_mark(self) -> str:
        """Return the text below a reply that is not whole: it was stopped, or cut off at its maximum length."""
        if self.is_stopped:
            return QCoreApplication.translate("Message", "Stopped")
        is_cut = self.message is not None and not self.is_growing and self.message.current.is_cut
        return QCoreApplication.translate("Message", "Cut off at the maximum length") if is_cut else ""

    @property
    def continue_rect(self) -> QRect:
        """Return the clickable “Continue” beside the end mark; empty if the reply cannot be continued."""
        if not self.end_mark or not self.state.can_continue:
            return QRect()
        metrics = QFontMetrics(self.style.small_font)
        left = metrics.horizontalAdvance(self.end_mark) + SPACE_3
        return QRect(left, self.end_mark_top + 2, metrics.horizontalAdvance(continue_label()) + SPACE_1, self.style.line_height)

    @property
    def is_incomplete(self) -> bool:
        """Return whether the text is incomplete, for now or for good."""
        return self.is_growing or self.is_stopped

    @property
    def thoughts_word_count(self) -> int:
        return len(self._thinking.split())

    @property
    def annotations(self) -> ReplyAnnotations:
        """Return the annotations below the text."""
        return self.state.annotations

    def set_message(self, message: Message, content: str, thinking: str, day: date | None, is_growing: bool) -> None:
        """Show a message with its current text; text that is laid out already is kept."""
        if self.message is None and message.role in {Role.SYSTEM, Role.TOOL}:
            self.document = MessageDocument(self.style, self.width, is_muted=True)
        self.message, self.day, self._thinking = message, day, thinking.strip()
        if is_growing and self._content_parser is None:
            self._content_parser = IncrementalMarkdown()
        self.is_growing, self.is_waiting = is_growing, is_growing and not content.strip()
        if (content, self.is_incomplete) != self._laid_out_text:
            self._laid_out_text = (content, self.is_incomplete)
            blocks = (
                self._content_parser.parse_text(content)
                if self._content_parser and is_growing
                else parse_message(content, is_incomplete=self.is_incomplete)
            )
            self.document.set_blocks(blocks)
        if not is_growing:
            self._content_parser = None
        self.compute_layout()

    def set_width(self, width: int) -> None:
        """Lay the message out in another width."""
        if width != self.width:
            self.width = width
            self.document.set_width(width)
            self.compute_layout()

    def compute_layout(self) -> None:
        """Compute the place of every part."""
        top = self.header_top
        if not self.is_note:
            top += header_height(self.style)
        if self.has_thoughts:
            top = self._layout_thoughts(top)
        self.prose_top = top
        text_height = self.style.line_height if self.is_waiting else self.state.editor_height or self.document.height
        self.end_mark_top = top + text_height
        self.sources_top = self.end_mark_top + (self.style.line_height if self.end_mark else 0)
        self.source_list = self.tool_list = None
        if self.annotations.web_lookup is not None and not self.is_waiting:
            self.source_list = SourceList(self.style, self.width, self.annotations.web_lookup)
        self.tools_top = self.sources_top + (self.source_list.height if self.source_list else 0)
        if self.annotations.tool_results and not self.is_waiting:
            is_open = self.state.are_tools_open
            self.tool_list = ToolList(self.style, self.width, self.annotations.tool_results, is_open=is_open)
        text_bottom = self.tools_top + (self.tool_list.height if self.tool_list else 0)
        self.footer_top = text_bottom + 2
        has_info_line = self.alternatives[1] > 1 or self.annotations.recalled.total > 0
        self.height = text_bottom + (INFO_LINE_HEIGHT if has_info_line else 0) + FOOTER_HEIGHT

    def _layout_thoughts(self, top: int) -> int:
        self.thoughts_top = top
        top += self.style.line_height + SPACE_1
        if self.state.are_thoughts_open:
            width = self.width - THOUGHTS_INDENT
            if self.thoughts_document is None:
                self.thoughts_document = MessageDocument(self.style, width, is_muted=True)
            self.thoughts_document.set_width(width)
            self.thoughts_document.set_blocks(
                self._thinking_parser.parse_text(self._thinking, is_incomplete=self.is_incomplete)
            )
            self.thoughts_text_top = top
            top += self.thoughts_document.height + SPACE_3
        else:
            self.thoughts_document = None
        return top

    @property
    def header_top(self) -> int:
        """Return the top of the header, which is below the day separator."""
        return DAY_SEPARATOR_HEIGHT if self.day else 0

    @property
    def thoughts_rect(self) -> QRect:
        """Return the clickable line that expands the thinking; empty if there is none."""
        return QRect(0, self.thoughts_top, min(self.width, 220), self.style.line_height) if self.has_thoughts else QRect()

    @property
    def tools_rect(self) -> QRect:
        """Return the clickable line that expands the tool calls; empty if there is none."""
        return self.tool_list.header_rect.translated(0, self.tools_top) if self.tool_list else QRect()

    @property
    def prose_rect(self) -> QRect:
        return QRect(0, self.prose_top, self.width, max(self.document.height, self.style.line_height))

    @property
    def chip_rect(self) -> QRect:
        """Return the rectangle of the memory chip, at the left below the text; empty without memories."""
        if not self.annotations.recalled.total:
            return QRect()
        text_width = QFontMetrics(self.style.small_font).horizontalAdvance(format_recall_counts(self.annotations.recalled))
        height = max(CHIP_MIN_HEIGHT, round(self.style.pixels * 1.6))
        return QRect(-SPACE_2, self.footer_top - 1, text_width + CHIP_ICON_SIZE + SPACE_1 + 2 * SPACE_2, height)

    @property
    def footer_left(self) -> int:
        """Return the left edge of the rest of the line with the chip."""
        return self.chip_rect.right() + SPACE_2 if self.annotations.recalled.total else 0

    def position_at(self, x: float, y: float) -> int:
        """Return the text position nearest to a point."""
        if y < self.prose_top:
            return 0
        if y > self.prose_top + self.document.height:
            return self.document.end_position
        return self.document.position_at(QPointF(max(x, 0), y - self.prose_top))

    def link_at(self, x: float, y: float) -> str:
        """Return the address of the link or source at a point; empty if there is none."""
        if self.source_list is not None and y >= self.sources_top:
            return self.source_list.address_at(x, y - self.sources_top)
        is_in_text = QRectF(self.prose_rect).contains(QPointF(x, y))
        return self.document.link_at(QPointF(x, y - self.prose_top)) if is_in_text else ""

    def code_at(self, x: float, y: float) -> str:
        """Return the code that the button at a point copies; empty if there is none."""
        return "" if self.state.editor_height else self.document.code_at(QPointF(x, y - self.prose_top))

    def target_at(self, x: float, y: float) -> PointerTarget | None:
        """Return what is at a point; None for the space between."""
        if self.link_at(x, y):
            return PointerTarget.LINK
        if self.code_at(x, y):
            return PointerTarget.CODE
        rects = {
            PointerTarget.THOUGHTS: self.thoughts_rect,
            PointerTarget.TOOLS: self.tools_rect,
            PointerTarget.CONTINUE: self.continue_rect,
            PointerTarget.MEMORY_CHIP: self.chip_rect,
            PointerTarget.TEXT: self.prose_rect,
        }
        return next((target for target, rect in rects.items() if rect.contains(QPoint(int(x), int(y)))), None)

    @property
    def links(self) -> list[str]:
        """Return the distinct addresses in the text and in the sources."""
        return list(dict.fromkeys([*self.document.list_links(), *(self.source_list.addresses if self.source_list else [])]))

    @property
    def alternatives(self) -> tuple[int, int]:
        """Return the number of the alternative on display, from 1, and the number of alternatives."""
        if self.message is None:
            return 1, 1
        count = len(self.message.alternatives)
        return min(self.message.shown + 1, count), count
