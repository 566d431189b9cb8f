"""Painting of a laid out message: day separator, avatar, name and time, thinking, text and annotations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from PySide6.QtCore import QCoreApplication, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFontMetrics,
    QPainter,
    QPalette,
    QPen,
    QPixmap,
    QTextCharFormat,
    QTextCursor,
)

from lethe_app.domain.clock import now
from lethe_app.ui.core.avatars import UNDECIDED_SPEAKER
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_day, format_time, local_day
from lethe_app.ui.core.palette import AVATAR, RADIUS_CARD, SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.transcript.model.annotations import RATING_ICONS
from lethe_app.ui.transcript.painting.decorations import draw_decorations, draw_memory_chip
from lethe_app.ui.transcript.painting.document import MessageDocument
from lethe_app.ui.transcript.painting.message_layout import (
    DAY_SEPARATOR_HEIGHT,
    THOUGHTS_INDENT,
    MessageLayout,
    continue_label,
    header_height,
)
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import AVATAR_COLUMN_WIDTH

AvatarSource = Callable[[str, str], QPixmap]
"""Return the avatar of a speaker with a name: the picture, or the initial of the name."""
ALIGN_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
ALIGN_CENTRE = Qt.AlignmentFlag.AlignCenter


def tr(text: str) -> str:
    """Translate a text in the context "Message"."""
    return QCoreApplication.translate("Message", text)


@dataclass(frozen=True, slots=True)
class PaintState:
    """State in which a message is painted, but on which its layout does not depend."""

    selection: tuple[int, int] | None = None
    """Selected range of the text; None if nothing is selected."""
    is_focused: bool = False
    is_edited: bool = False
    """True if an editor covers the text."""
    is_highlighted: bool = False
    """True if the memory panel shows this reply."""
    has_actions: bool = False
    """True if the action buttons are shown below the message, which then show the number of the alternative."""
    dot_count: int = 3
    """Number of highlighted dots of an awaited reply."""
    waiting_text: str = ""
    """Text beside the dots of an awaited reply."""
    clip: QRectF | None = None
    """Part of the viewport to paint, in viewport coordinates; None for all."""


RATING_ICON_SIZE = 14
"""Size of the rating's icon beside the time of a reply."""


class MessagePainter:
    """Painter of messages in one style."""

    def __init__(self, style: MessageStyle, avatars: AvatarSource) -> None:
        self.style, self._avatars = style, avatars

    def draw_message(
        self, painter: QPainter, message_layout: MessageLayout, left: int, top: int, paint_state: PaintState
    ) -> None:
        """Paint a message whose text column begins at `left`, `top` in the viewport."""
        painter.save()
        painter.translate(left, top)
        if message_layout.day:
            self._draw_day_separator(painter, message_layout.width, message_layout.day)
        if paint_state.is_focused:
            self._draw_focus_frame(painter, message_layout)
        if not message_layout.is_note:
            self._draw_header(painter, message_layout)
        if message_layout.has_thoughts:
            self._draw_thoughts(painter, message_layout)
        if message_layout.is_waiting:
            self._draw_waiting_dots(painter, message_layout, paint_state)
        elif not paint_state.is_edited:
            clip = QRectF(-AVATAR_COLUMN_WIDTH, -top, message_layout.width + AVATAR_COLUMN_WIDTH, 1e6)
            if paint_state.clip is not None:
                clip = paint_state.clip.translated(-left, -top)
            origin = QPointF(0, message_layout.prose_top)
            self._draw_document(painter, message_layout.document, origin, clip, paint_state.selection)
        self._draw_footer(painter, message_layout, paint_state)
        painter.restore()

    def _draw_footer(self, painter: QPainter, message_layout: MessageLayout, paint_state: PaintState) -> None:
        if message_layout.end_mark:
            self._draw_end_mark(painter, message_layout)
        lists = (message_layout.source_list, message_layout.sources_top), (message_layout.tool_list, message_layout.tools_top)
        for reply_list, top in lists:
            if reply_list is not None and not paint_state.is_edited:
                painter.translate(0, top)
                reply_list.draw(painter)
                painter.translate(0, -top)
        if message_layout.annotations.recalled.total and not paint_state.is_edited:
            draw_memory_chip(painter, message_layout, self.style, is_highlighted=paint_state.is_highlighted)
        is_number_covered = message_layout.is_growing or paint_state.has_actions or paint_state.is_edited
        number, count = message_layout.alternatives
        if count > 1 and not is_number_covered:
            rect = QRect(message_layout.footer_left, message_layout.footer_top, message_layout.width, 24)
            self._draw_small_text(painter, rect, f"‹ {number}/{count} ›", ALIGN_LEFT)

    def _draw_end_mark(self, painter: QPainter, message_layout: MessageLayout) -> None:
        rect = QRect(0, message_layout.end_mark_top + 2, message_layout.width, self.style.line_height)
        self._draw_small_text(painter, rect, message_layout.end_mark, ALIGN_LEFT)
        if not message_layout.continue_rect.isEmpty():
            painter.setPen(self.style.water)
            painter.drawText(message_layout.continue_rect, ALIGN_LEFT, continue_label())

    def _draw_small_text(self, painter: QPainter, rect: QRect, text: str, alignment: Qt.AlignmentFlag) -> None:
        painter.setFont(self.style.small_font)
        painter.setPen(self.style.muted)
        painter.drawText(rect, alignment, text)

    def _draw_day_separator(self, painter: QPainter, width: int, day: date) -> None:
        label = format_day(day, local_day(now()))
        rect = QRect(-AVATAR_COLUMN_WIDTH, 0, AVATAR_COLUMN_WIDTH + width, DAY_SEPARATOR_HEIGHT - SPACE_4)
        self._draw_small_text(painter, rect, label, ALIGN_CENTRE)
        half_gap = QFontMetrics(self.style.small_font).horizontalAdvance(label) // 2 + SPACE_4
        painter.setPen(QPen(self.style.border, 1))
        middle, line = rect.center().x(), rect.center().y() + 1
        painter.drawLine(rect.left(), line, middle - half_gap, line)
        painter.drawLine(middle + half_gap, line, width - 1, line)

    def _draw_focus_frame(self, painter: QPainter, message_layout: MessageLayout) -> None:
        left, top = -AVATAR_COLUMN_WIDTH, message_layout.header_top
        rect = QRectF(QPointF(left, top), QPointF(message_layout.width, message_layout.height - 1))
        rect.adjust(-SPACE_2, -SPACE_2, SPACE_2, 0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.style.focus, 1.5))
        painter.drawRoundedRect(rect, RADIUS_CARD, RADIUS_CARD)

    def _draw_header(self, painter: QPainter, message_layout: MessageLayout) -> None:
        message = message_layout.message
        if message is None:
            return
        top = message_layout.header_top
        # The names of all who may answer would give the initial of the first.
        shown_name = UNDECIDED_SPEAKER if message.speaker == UNDECIDED_SPEAKER else message.speaker_name
        painter.drawPixmap(-AVATAR_COLUMN_WIDTH, top + 1, self._avatars(message.speaker, shown_name))
        metrics = QFontMetrics(self.style.name_font)
        baseline = top + metrics.ascent()
        time_text = format_time(message.time) if not message_layout.is_growing or message.content else ""
        small_metrics = QFontMetrics(self.style.small_font)
        name_width = (
            message_layout.width
            - small_metrics.horizontalAdvance(time_text)
            - SPACE_4
            - (RATING_ICON_SIZE + SPACE_2 if message_layout.annotations.rating else 0)
        )
        name = metrics.elidedText(message.speaker_name, Qt.TextElideMode.ElideRight, name_width)
        painter.setFont(self.style.name_font)
        painter.setPen(self.style.text)
        painter.drawText(0, baseline, name)
        painter.setFont(self.style.small_font)
        painter.setPen(self.style.muted)
        time_left = metrics.horizontalAdvance(name) + SPACE_2 + 2
        painter.drawText(time_left, baseline, time_text)
        if message_layout.annotations.rating is not None:
            left, side = time_left + small_metrics.horizontalAdvance(time_text) + SPACE_2, RATING_ICON_SIZE
            icon_rect = QRect(left, baseline - small_metrics.ascent() // 2 - side // 2 + 1, side, side)
            load_icon(RATING_ICONS[message_layout.annotations.rating], self.style.palette.muted, side).paint(painter, icon_rect)

    def _draw_thoughts(self, painter: QPainter, message_layout: MessageLayout) -> None:
        top, line, icon_size = message_layout.thoughts_top, self.style.line_height, 16
        colour = self.style.palette.muted
        load_icon("thought", colour, icon_size).paint(painter, QRect(0, top + (line - icon_size) // 2, icon_size, icon_size))
        heading = (
            tr("Thinking…")
            if message_layout.is_waiting
            else tr("Thoughts · {count} words").format(count=message_layout.thoughts_word_count)
        )
        left = icon_size + SPACE_2
        self._draw_small_text(painter, QRect(left, top, message_layout.width, line), heading, ALIGN_LEFT)
        left += QFontMetrics(self.style.small_font).horizontalAdvance(heading) + SPACE_1
        arrow = "chevron-down" if message_layout.state.are_thoughts_open else "chevron-right"
        load_icon(arrow, colour, 14).paint(painter, QRect(left, top + (line - 14) // 2, 14, 14))
        if message_layout.thoughts_document is not None:
            height = message_layout.thoughts_document.height
            painter.fillRect(QRectF(icon_size / 2 - 1, message_layout.thoughts_text_top, 2, height), self.style.quote_bar)
            clip = QRectF(0, 0, message_layout.width, message_layout.height)
            origin = QPointF(THOUGHTS_INDENT, message_layout.thoughts_text_top)
            self._draw_document(painter, message_layout.thoughts_document, origin, clip, None)

    def _draw_document(
        self, painter: QPainter, document: MessageDocument, origin: QPointF, clip: QRectF, selected: tuple[int, int] | None
    ) -> None:
        painter.save()
        painter.translate(origin)
        clip = clip.translated(-origin)
        draw_decorations(painter, document, self.style, clip)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = clip
        context.palette.setColor(QPalette.ColorRole.Text, self.style.text)
        if selected is not None:
            context.selections = [self._create_selection(document, *selected)]
        document.text_document.documentLayout().draw(painter, context)
        painter.restore()

    def _create_selection(self, document: MessageDocument, start: int, end: int) -> QAbstractTextDocumentLayout.Selection:
        selection = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(document.text_document)
        cursor.setPosition(max(0, min(start, document.end_position)))
        cursor.setPosition(max(0, min(end, document.end_position)), QTextCursor.MoveMode.KeepAnchor)
        text_format = QTextCharFormat()
        text_format.setBackground(self.style.selection)
        text_format.setForeground(self.style.text)  # muted text and links would be too faint on it
        selection.cursor, selection.format = cursor, text_format
        return selection

    def _draw_waiting_dots(self, painter: QPainter, message_layout: MessageLayout, paint_state: PaintState) -> None:
        rect = QRect(0, message_layout.prose_top, message_layout.width, self.style.line_height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for dot in range(3):
            colour = QColor(self.style.muted)
            colour.setAlphaF(0.9 if dot < paint_state.dot_count else 0.3)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(rect.left() + 4 + dot * 10, rect.center().y()), 2.5, 2.5)
        if paint_state.waiting_text:
            self._draw_small_text(painter, rect.adjusted(40, 0, 0, 0), paint_state.waiting_text, ALIGN_LEFT)

    def draw_placeholder(self, painter: QPainter, left: int, top: int, width: int, height: int) -> None:
        """Paint the shape of a message that is being loaded."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.style.placeholder)
        painter.drawEllipse(left - AVATAR_COLUMN_WIDTH, top, AVATAR, AVATAR)
        text_offset = header_height(self.style)
        painter.drawRoundedRect(left, top + 4, 96, 8, 4, 4)
        lines = min(3, max(1, (height - text_offset - SPACE_4) // self.style.line_height))
        for line in range(lines):
            share = (0.92, 0.78, 0.55)[line]
            painter.drawRoundedRect(QRectF(left, top + text_offset + 6 + line * self.style.line_height, width * share, 8), 4, 4)

    def draw_empty_session(self, painter: QPainter, area: QRect, title: str, text: str) -> None:
        """Paint the text for a session without messages."""
        painter.setFont(self.style.name_font)
        painter.setPen(self.style.text)
        middle = area.center().y()
        width = min(420, area.width() - 2 * SPACE_4)
        left = area.center().x() - width // 2
        painter.drawText(QRect(left, middle - 60, width, 40), ALIGN_CENTRE, title)
        painter.setFont(self.style.font)
        painter.setPen(self.style.muted)
        below = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(QRect(left, middle - 16, width, area.height() // 2), below, text)
