"""Paint what QTextDocument does not: code boxes, quote bars, table lines, bullets, and the chip with the number of memories."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QTextBlock

from lethe_app.ui.core.formatting import format_recall_counts
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import RADIUS_CONTROL, SPACE_1, SPACE_2
from lethe_app.ui.transcript.markdown.blocks import Block, BlockKind
from lethe_app.ui.transcript.painting.document import MessageDocument, copy_button_rect
from lethe_app.ui.transcript.painting.message_layout import CHIP_ICON_SIZE, MessageLayout
from lethe_app.ui.transcript.painting.style import COPY_SIZE, INDENT, QUOTE_INDENT, MessageStyle, with_opacity


def draw_decorations(painter: QPainter, document: MessageDocument, style: MessageStyle, clip: QRectF) -> None:
    """Paint the decorations below the text, in document coordinates."""
    if not document.has_decorations:
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(style.border, 1))
    painter.setBrush(style.code_box)
    for rect, code in document.list_code_boxes():
        if rect.intersects(clip):
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CONTROL, RADIUS_CONTROL)
            if code:
                icon_rect = copy_button_rect(rect).toRect().adjusted(SPACE_2, SPACE_2, -SPACE_2, -SPACE_2)
                load_icon("copy", style.palette.muted, COPY_SIZE).paint(painter, icon_rect)
    for rect, tops in document.list_table_rects():
        for number, top in enumerate(tops[1:]):
            line = QRectF(rect.left(), round(top), rect.width(), 1)
            painter.fillRect(line, style.border if number else style.quote_bar)
    for rect in _quote_bars(document):
        painter.fillRect(rect, style.quote_bar)
    _draw_rules_and_markers(painter, document, style, clip.adjusted(-INDENT * 2, 0, 0, 0))


def _draw_rules_and_markers(painter: QPainter, document: MessageDocument, style: MessageStyle, clip: QRectF) -> None:
    for block, lines, text_block in document.list_block_rects():
        if not lines.intersects(clip):
            continue
        if block.kind is BlockKind.RULE:
            left = style.left_of(block)
            top = round(text_block.layout().position().y())
            painter.fillRect(QRectF(left, top, document.text_document.textWidth() - left, 1), style.border)
        if block.marker:
            _draw_marker(painter, style, block, lines, text_block)


def _quote_bars(document: MessageDocument) -> Iterator[QRectF]:
    """Yield a bar for each level of each quote, from its first line to its last."""
    open_bars: list[QRectF] = []
    for block, lines, _ in document.list_block_rects():
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


def draw_memory_chip(painter: QPainter, message_layout: MessageLayout, style: MessageStyle, *, is_highlighted: bool) -> None:
    """Paint the chip with what was recalled below a reply. With memories it is amber, their colour in the whole window."""
    rect, counts = message_layout.chip_rect, message_layout.annotations.recalled
    colour, icon = (
        (style.palette.amber, "remembered") if counts.memories or counts.irrelevant else (style.palette.muted, "book")
    )
    if is_highlighted:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_opacity(colour, 0.14))
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    icon_rect = QRect(rect.left() + SPACE_2, rect.center().y() - CHIP_ICON_SIZE // 2, CHIP_ICON_SIZE, CHIP_ICON_SIZE)
    load_icon(icon, colour, CHIP_ICON_SIZE).paint(painter, icon_rect)
    painter.setFont(style.small_font)
    painter.setPen(QColor(colour))
    text_rect = rect.adjusted(SPACE_2 + CHIP_ICON_SIZE + SPACE_1, 0, 0, 0)
    painter.drawText(
        text_rect,
        Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
        format_recall_counts(counts),
    )
