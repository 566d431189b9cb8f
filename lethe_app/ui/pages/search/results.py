"""List of search results below headings, painted with highlighted matches."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QStyleOptionViewItem

from lethe_app.domain.list_items import HitKind, Mark, SearchHit
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_6
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.widgets.line_list import LINE_ROLE, Index, Line, LineList, LinePainter, column_rect

ACTION_ASTERISKS = re.compile(r"(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)")
"""Asterisks that open or close an action, as in *smiles*; those inside of words are kept."""


def text_as_displayed(hit: SearchHit) -> tuple[str, list[Mark]]:
    """Return text and marks of a message without the asterisks around actions, which the transcript does not show either."""
    if hit.kind is not HitKind.MESSAGE:
        return hit.text, list(hit.marks)
    asterisk_positions = [position for match in ACTION_ASTERISKS.finditer(hit.text) for position in range(*match.span())]
    text = ACTION_ASTERISKS.sub("", hit.text)
    ends = [(start, start + length) for start, length in hit.marks]
    shifted = [
        (start - bisect_left(asterisk_positions, start), end - bisect_left(asterisk_positions, end)) for start, end in ends
    ]
    return text, [(start, end - start) for start, end in shifted]


def direction_option(text: str) -> QTextOption:
    """Return the text option for the direction of the first strongly directional character; right-to-left text is
    right-aligned.
    """
    direction = next(
        (bidi_class for character in text if (bidi_class := unicodedata.bidirectional(character)) in {"L", "R", "AL"}), "L"
    )
    if direction == "L":
        return QTextOption()
    option = QTextOption(Qt.AlignmentFlag.AlignRight)
    option.setTextDirection(Qt.LayoutDirection.RightToLeft)
    return option


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 code units, in which QTextLayout counts positions."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


HIT_LINES = 2
"""Lines of text shown per result."""


@dataclass(frozen=True)
class ResultLine(Line):
    """Line of the list: a hit, or a heading."""

    build_detail: Callable[[], str]
    """Return the text beside the line; called on painting only, because few of hundreds of lines are visible."""
    hit: SearchHit | None = None

    @property
    def detail(self) -> str:
        return self.build_detail()

    @property
    def record_key(self) -> Hashable | None:
        return self.hit

    @property
    def can_open(self) -> bool:
        return self.hit is not None

    @property
    def accessible_text(self) -> str:
        return f"{self.detail}: {text_as_displayed(self.hit)[0]}" if self.hit is not None else f"{self.text}, {self.detail}"


class ResultList(LineList[ResultLine]):
    """List of results. Enter or a click opens a hit; Up on the first one focuses the search field."""

    up_pressed = Signal()
    """Up was pressed on the first hit."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(theme, name)
        self.setItemDelegate(_Painter(theme, self))

    @property
    def current(self) -> SearchHit | None:
        """The selected hit."""
        return self.current_line.hit if self.current_line is not None else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        first = next((row for row, line in enumerate(self.lines) if line.can_open), 0)
        if event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= first:
            self.up_pressed.emit()
        else:
            super().keyPressEvent(event)


class _Painter(LinePainter):
    """Delegate with one height for headings and one for hits, so that thousands of lines are laid out without measuring
    text.
    """

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line, width = index.data(LINE_ROLE), self._view.viewport().width()
        height = QFontMetrics(option.font).lineSpacing()
        if not line.can_open:
            return QSize(width, height + SPACE_6)
        return QSize(width, height + HIT_LINES * self._line_height(option.font) + 2 * SPACE_2 + SPACE_1)

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, line: ResultLine) -> None:
        if line.hit is None:
            font = QFont(option.font)
            font.setWeight(QFont.Weight.DemiBold)
            self._paint_heading(painter, option, font, self._theme.palette.text, line.text, line.detail)
        else:
            self._paint_background(painter, option, shows_current=True)
            self._paint_hit(painter, option, line, line.hit)

    def _paint_hit(self, painter: QPainter, option: QStyleOptionViewItem, line: ResultLine, hit: SearchHit) -> None:
        palette, area = self._theme.palette, column_rect(option.rect).adjusted(0, SPACE_2, 0, -SPACE_2)
        metrics = QFontMetrics(option.font)
        painter.setPen(QColor(palette.muted))
        painter.setFont(option.font)
        detail = metrics.elidedText(line.detail, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignTop, detail)
        painter.setPen(QColor(palette.text))
        top = area.top() + metrics.lineSpacing() + SPACE_1
        self._draw_hit_text(painter, option.font, hit, QRect(area.left(), top, area.width(), area.bottom() - top))

    def _draw_hit_text(self, painter: QPainter, font: QFont, hit: SearchHit, area: QRect) -> None:
        """Draw a hit's text with highlighted matches in two lines, elided at the end."""
        prose, palette = self._prose_font(font), self._theme.palette
        mark = QTextCharFormat()
        mark.setBackground(QColor(mix_colours(palette.background, palette.water, 0.28)))
        mark.setFontWeight(QFont.Weight.DemiBold)
        (text, marks), metrics = text_as_displayed(hit), QFontMetrics(prose)
        layout = QTextLayout(text, prose)
        layout.setTextOption(direction_option(text))
        formats = []
        for start, length in marks:
            part = QTextLayout.FormatRange()
            part.start, part.length, part.format = utf16_length(text[:start]), utf16_length(text[start : start + length]), mark
            formats.append(part)
        layout.setFormats(formats)
        layout.beginLayout()
        for number in range(HIT_LINES):
            row = layout.createLine()
            if not row.isValid():
                break
            row.setLineWidth(area.width())
            row.setPosition(QPointF(0, number * self._line_height(font)))
            if number == HIT_LINES - 1 and row.textStart() + row.textLength() < utf16_length(text):
                ellipsis_width = metrics.horizontalAdvance("…")
                row.setLineWidth(area.width() - ellipsis_width)
                is_leftward = layout.textOption().textDirection() == Qt.LayoutDirection.RightToLeft
                row.setPosition(QPointF(ellipsis_width if is_leftward else 0, row.y()))
                text_rect = row.naturalTextRect()
                painter.setFont(prose)
                end = QPointF(
                    text_rect.left() - ellipsis_width if is_leftward else text_rect.right(), row.y() + metrics.ascent()
                )
                painter.drawText(QPointF(area.topLeft()) + end, "…")
        layout.endLayout()
        layout.draw(painter, QPointF(area.topLeft()))

    def _line_height(self, font: QFont) -> int:
        return QFontMetrics(self._prose_font(font)).height() + 1
