"""Paint what QTextDocument does not: code boxes, quote bars, table lines, bullets, and the chip with the number of memories."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QTextBlock

from lethe_app.ui.core.formatting import recalled_in_words
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import RADIUS_CONTROL, SPACE_1, SPACE_2
from lethe_app.ui.transcript.markdown.blocks import Block, BlockKind
from lethe_app.ui.transcript.painting.document import MessageDocument
from lethe_app.ui.transcript.painting.message_layout import CHIP_SIGN, MessageSheet
from lethe_app.ui.transcript.painting.style import CODE_PAD, INDENT, QUOTE_INDENT, MessageStyle, clear

OPTICAL = 5
"""Offset of the top of code boxes: text is low in lines of fixed height, so the box begins a little lower too."""


def draw_marks(painter: QPainter, document: MessageDocument, style: MessageStyle, clip: QRectF) -> None:
    """Paint the decorations below the text, in document coordinates."""
    if not document.has_marks:
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(style.border, 1))
    painter.setBrush(style.code_box)
    for rect in _code_boxes(document):
        if rect.intersects(clip):
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CONTROL, RADIUS_CONTROL)
    for rect, tops in document.tables():
        for number, top in enumerate(tops[1:]):
            line = QRectF(rect.left(), round(top), rect.width(), 1)
            painter.fillRect(line, style.border if number else style.quote_bar)
    for rect in _quote_bars(document):
        painter.fillRect(rect, style.quote_bar)
    _draw_markers(painter, document, style, clip.adjusted(-INDENT * 2, 0, 0, 0))


def _draw_markers(painter: QPainter, document: MessageDocument, style: MessageStyle, clip: QRectF) -> None:
    for block, lines, text_block in document.laid_out():
        if not lines.intersects(clip):
            continue
        if block.kind is BlockKind.RULE:
            left = style.left_of(block)
            top = round(text_block.layout().position().y())
            painter.fillRect(QRectF(left, top, document.text.textWidth() - left, 1), style.border)
        if block.marker:
            _draw_marker(painter, style, block, lines, text_block)


def _code_boxes(document: MessageDocument) -> Iterator[QRectF]:
    """Yield one rectangle around the lines of each code block."""
    top = 0.0
    for block, lines, _ in document.laid_out():
        if block.kind is BlockKind.CODE:
            if block.edges[0]:
                top = lines.top() - CODE_PAD + OPTICAL
            if block.edges[1]:
                left = MessageStyle.left_of(block)
                yield QRectF(left, top, document.text.textWidth() - left, lines.bottom() + CODE_PAD + 1 - top)


def _quote_bars(document: MessageDocument) -> Iterator[QRectF]:
    """Yield a bar for each level of each quote, from its first line to its last."""
    open_bars: list[QRectF] = []
    for block, lines, _ in document.laid_out():
        while len(open_bars) > block.quote:
            yield open_bars.pop()
        for level, bar in enumerate(open_bars):
            open_bars[level] = QRectF(bar.left(), bar.top(), bar.width(), lines.bottom() - bar.top())
        new = range(len(open_bars), block.quote)
        open_bars.extend(QRectF(level * QUOTE_INDENT, lines.top(), 2, lines.height()) for level in new)
    yield from open_bars


def _draw_marker(painter: QPainter, style: MessageStyle, block: Block, lines: QRectF, text_block: QTextBlock) -> None:
    painter.setFont(style.font)
    painter.setPen(style.muted)
    first = text_block.layout().lineAt(0)
    baseline = lines.top() + first.y() + first.ascent()
    width = QFontMetricsF(style.font).horizontalAdvance(block.marker)
    right_to_left = text_block.textDirection() == Qt.LayoutDirection.RightToLeft
    left = lines.right() + SPACE_2 if right_to_left else MessageStyle.left_of(block) - SPACE_2 - width
    painter.drawText(QPointF(left, baseline), block.marker)


def draw_chip(painter: QPainter, sheet: MessageSheet, style: MessageStyle, *, chosen: bool) -> None:
    """Paint the chip with the number of recalled memories below a reply. It is amber, the colour of memory in the whole
    window.
    """
    rect, amber = sheet.chip_rect, style.palette.amber
    if chosen:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(clear(amber, 0.14))
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    sign = QRect(rect.left() + SPACE_2, rect.center().y() - CHIP_SIGN // 2, CHIP_SIGN, CHIP_SIGN)
    icon("remembered", amber, CHIP_SIGN).paint(painter, sign)
    painter.setFont(style.small_font)
    painter.setPen(QColor(amber))
    words = rect.adjusted(SPACE_2 + CHIP_SIGN + SPACE_1, 0, 0, 0)
    painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, recalled_in_words(sheet.memories))
