"""Painting of a laid out message: day separator, avatar, name and time, thinking, text and annotations."""

from __future__ import annotations

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
    QTextCharFormat,
    QTextCursor,
)

from lethe_app.domain.clock import now
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import AVATAR, RADIUS_CARD, SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.transcript.avatars import Avatars, Faces
from lethe_app.ui.transcript.dates import clock_words, day_words, local_day
from lethe_app.ui.transcript.model.feedback import PICTURES
from lethe_app.ui.transcript.painting.decorations import draw_chip, draw_marks
from lethe_app.ui.transcript.painting.document import MessageDocument
from lethe_app.ui.transcript.painting.message_layout import DAY_ROOM, THOUGHTS_INDENT, MessageSheet, header_height
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import AVATAR_ROOM

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter


def tr(text: str) -> str:
    """Translate a text in the context "Message"."""
    return QCoreApplication.translate("Message", text)


@dataclass
class PaintState:
    """State of a message that is not part of its layout."""

    selection: tuple[int, int] | None = None
    """Selected range of the text; None if nothing is selected."""
    focused: bool = False
    editing: bool = False
    chosen: bool = False
    """True if the memory panel shows this reply."""
    actions: bool = False
    """True if the action buttons are shown below the message, which then show the number of the alternative."""
    dots: int = 3
    """Number of highlighted dots of an awaited reply."""
    words: str = ""
    """Text beside the dots of an awaited reply."""
    visible: QRectF | None = None
    """Part of the viewport to paint, in viewport coordinates; None for all."""


THUMB = 14
"""Size of the rating's icon beside the time of a reply."""


class MessagePainter:
    """Painter of messages in one style."""

    def __init__(self, style: MessageStyle, avatars: Avatars) -> None:
        self.style = style
        self._faces = Faces(style, avatars)

    def draw(self, painter: QPainter, sheet: MessageSheet, left: int, top: int, moment: PaintState) -> None:
        """Paint a message whose text column begins at `left`, `top` in the viewport."""
        painter.save()
        painter.translate(left, top)
        if sheet.day:
            self._draw_day(painter, sheet.width, sheet.day)
        if moment.focused:
            self._draw_ring(painter, sheet)
        if not sheet.is_note:
            self._draw_head(painter, sheet)
        if sheet.has_thoughts:
            self._draw_thoughts(painter, sheet)
        if sheet.waiting:
            self._draw_waiting(painter, sheet, moment)
        elif not moment.editing:
            clip = QRectF(-AVATAR_ROOM, -top, sheet.width + AVATAR_ROOM, 1e6)
            if moment.visible is not None:
                clip = moment.visible.translated(-left, -top)
            self._draw_document(painter, sheet.document, QPointF(0, sheet.prose_top), clip, moment.selection)
        self._draw_foot(painter, sheet, moment)
        painter.restore()

    def _draw_foot(self, painter: QPainter, sheet: MessageSheet, moment: PaintState) -> None:
        if sheet.is_stopped:
            self._draw_small(painter, QRect(0, sheet.mark_top + 2, sheet.width, self.style.line), tr("stopped"), LEFT)
        if sheet.sources is not None and not moment.editing:
            painter.translate(0, sheet.sources_top)
            sheet.sources.draw(painter)
            painter.translate(0, -sheet.sources_top)
        if sheet.tools is not None and not moment.editing:
            painter.translate(0, sheet.tools_top)
            sheet.tools.draw(painter)
            painter.translate(0, -sheet.tools_top)
        if sheet.memories and not moment.editing:
            draw_chip(painter, sheet, self.style, chosen=moment.chosen)
        if sheet.alternatives[1] > 1 and not (sheet.growing or moment.actions or moment.editing):
            self._draw_alternatives(painter, sheet)

    def _draw_small(self, painter: QPainter, rect: QRect, words: str, where: Qt.AlignmentFlag) -> None:
        painter.setFont(self.style.small_font)
        painter.setPen(self.style.muted)
        painter.drawText(rect, where, words)

    def _draw_day(self, painter: QPainter, width: int, day: date) -> None:
        words = day_words(day, local_day(now()))
        rect = QRect(-AVATAR_ROOM, 0, AVATAR_ROOM + width, DAY_ROOM - SPACE_4)
        self._draw_small(painter, rect, words, CENTRE)
        half = QFontMetrics(self.style.small_font).horizontalAdvance(words) // 2 + SPACE_4
        painter.setPen(QPen(self.style.border, 1))
        middle, line = rect.center().x(), rect.center().y() + 1
        painter.drawLine(rect.left(), line, middle - half, line)
        painter.drawLine(middle + half, line, width - 1, line)

    def _draw_ring(self, painter: QPainter, sheet: MessageSheet) -> None:
        edge = SPACE_2
        rect = QRectF(-AVATAR_ROOM - edge, sheet.header_top - edge, sheet.width + AVATAR_ROOM + 2 * edge, 0)
        rect.setBottom(sheet.height - 1)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.style.focus, 1.5))
        painter.drawRoundedRect(rect, RADIUS_CARD, RADIUS_CARD)

    def _draw_head(self, painter: QPainter, sheet: MessageSheet) -> None:
        message = sheet.message
        if message is None:
            return
        top = sheet.header_top
        face = self._faces.get(message.speaker, sheet.name, painter.device().devicePixelRatioF())
        painter.drawPixmap(-AVATAR_ROOM, top + 1, face)
        metrics = QFontMetrics(self.style.name_font)
        baseline = top + metrics.ascent()
        clock = clock_words(message.time) if not sheet.growing or message.content else ""
        small = QFontMetrics(self.style.small_font)
        room = sheet.width - small.horizontalAdvance(clock) - SPACE_4 - (THUMB + SPACE_2 if sheet.verdict else 0)
        name = metrics.elidedText(sheet.name, Qt.TextElideMode.ElideRight, room)
        painter.setFont(self.style.name_font)
        painter.setPen(self.style.text)
        painter.drawText(0, baseline, name)
        painter.setFont(self.style.small_font)
        painter.setPen(self.style.muted)
        after = metrics.horizontalAdvance(name) + SPACE_2 + 2
        painter.drawText(after, baseline, clock)
        if sheet.verdict is not None:
            left, side = after + small.horizontalAdvance(clock) + SPACE_2, THUMB
            place = QRect(left, baseline - small.ascent() // 2 - side // 2 + 1, side, side)
            icon(PICTURES[sheet.verdict], self.style.palette.muted, side).paint(painter, place)

    def _draw_thoughts(self, painter: QPainter, sheet: MessageSheet) -> None:
        top, line, side = sheet.thoughts_top, self.style.line, 16
        colour = self.style.palette.muted
        icon("thought", colour, side).paint(painter, QRect(0, top + (line - side) // 2, side, side))
        words = tr("Thinking…") if sheet.waiting else tr("Thoughts · {count} words").format(count=sheet.thoughts_words)
        left = side + SPACE_2
        self._draw_small(painter, QRect(left, top, sheet.width, line), words, LEFT)
        left += QFontMetrics(self.style.small_font).horizontalAdvance(words) + SPACE_1
        arrow = "chevron-down" if sheet.thoughts_open else "chevron-right"
        icon(arrow, colour, 14).paint(painter, QRect(left, top + (line - 14) // 2, 14, 14))
        if sheet.thoughts is not None:
            height = sheet.thoughts.height
            painter.fillRect(QRectF(side / 2 - 1, sheet.thoughts_text_top, 2, height), self.style.quote_bar)
            clip = QRectF(0, 0, sheet.width, sheet.height)
            self._draw_document(painter, sheet.thoughts, QPointF(THOUGHTS_INDENT, sheet.thoughts_text_top), clip, None)

    def _draw_document(
        self, painter: QPainter, document: MessageDocument, at: QPointF, clip: QRectF, selected: tuple[int, int] | None
    ) -> None:
        painter.save()
        painter.translate(at)
        clip = clip.translated(-at)
        draw_marks(painter, document, self.style, clip)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = clip
        context.palette.setColor(QPalette.ColorRole.Text, self.style.text)
        if selected is not None:
            context.selections = [self._selection(document, *selected)]
        document.text.documentLayout().draw(painter, context)
        painter.restore()

    def _selection(self, document: MessageDocument, start: int, end: int) -> QAbstractTextDocumentLayout.Selection:
        made = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(document.text)
        cursor.setPosition(max(0, min(start, document.end)))
        cursor.setPosition(max(0, min(end, document.end)), QTextCursor.MoveMode.KeepAnchor)
        look = QTextCharFormat()
        look.setBackground(self.style.selection)
        look.setForeground(self.style.text)  # muted words and links would be too faint on it
        made.cursor, made.format = cursor, look
        return made

    def _draw_waiting(self, painter: QPainter, sheet: MessageSheet, moment: PaintState) -> None:
        rect = sheet.waiting_rect
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for dot in range(3):
            colour = QColor(self.style.muted)
            colour.setAlphaF(0.9 if dot < moment.dots else 0.3)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(rect.left() + 4 + dot * 10, rect.center().y()), 2.5, 2.5)
        if moment.words:
            self._draw_small(painter, rect.adjusted(40, 0, 0, 0), moment.words, LEFT)

    def _draw_alternatives(self, painter: QPainter, sheet: MessageSheet) -> None:
        shown, count = sheet.alternatives
        rect = QRect(sheet.foot_left, sheet.foot_top, sheet.width, 24)
        self._draw_small(painter, rect, f"‹ {shown}/{count} ›", LEFT)

    def draw_placeholder(self, painter: QPainter, left: int, top: int, width: int, height: int) -> None:
        """Paint the shape of a message that is being loaded."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.style.placeholder)
        painter.drawEllipse(left - AVATAR_ROOM, top, AVATAR, AVATAR)
        head = header_height(self.style)
        painter.drawRoundedRect(left, top + 4, 96, 8, 4, 4)
        lines = min(3, max(1, (height - head - SPACE_4) // self.style.line))
        for line in range(lines):
            share = (0.92, 0.78, 0.55)[line]
            painter.drawRoundedRect(QRectF(left, top + head + 6 + line * self.style.line, width * share, 8), 4, 4)

    def draw_empty(self, painter: QPainter, area: QRect, title: str, text: str) -> None:
        """Paint the text for a session without messages."""
        painter.setFont(self.style.name_font)
        painter.setPen(self.style.text)
        middle = area.center().y()
        width = min(420, area.width() - 2 * SPACE_4)
        left = area.center().x() - width // 2
        painter.drawText(QRect(left, middle - 60, width, 40), CENTRE, title)
        painter.setFont(self.style.font)
        painter.setPen(self.style.muted)
        below = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(QRect(left, middle - 16, width, area.height() // 2), below, text)
