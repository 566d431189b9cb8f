"""List of search results below headings, painted with highlighted matches."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from lethe_app.domain.list_items import HitKind, Mark, SearchHit
from lethe_app.ui.core.palette import RADIUS_CONTROL, SPACE_1, SPACE_2, SPACE_4, SPACE_6
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.widgets.line_list import LineList, column_rect

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


Index = QModelIndex | QPersistentModelIndex
LINE_ROLE = Qt.ItemDataRole.UserRole
HIT_LINES = 2
"""Lines of text shown per result."""


@dataclass(frozen=True)
class ResultGroup:
    """Conversation, world, or memories of a persona with hits."""

    title: str
    detail: str
    """Subtitle, such as the persona and the dates."""
    when: datetime
    session: UUID | None
    hits: Sequence[SearchHit]
    is_open_session: bool = False
    """True if it is the conversation that is open."""


@dataclass(frozen=True)
class ResultLine:
    """Row of the list: a hit, or a heading."""

    text: str
    build_detail: Callable[[], str]
    """Return the text beside the row; called on painting only, because few of hundreds of rows are visible."""
    hit: SearchHit | None = None

    @property
    def detail(self) -> str:
        return self.build_detail()


class ResultsModel(QAbstractListModel):
    """List model of headings and hits in display order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.result_lines: list[ResultLine] = []

    def fill(self, lines: Sequence[ResultLine]) -> None:
        self.beginResetModel()
        self.result_lines = list(lines)
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.result_lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if not index.isValid() or index.row() >= len(self.result_lines):
            return None
        line = self.result_lines[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{line.detail}: {text_as_displayed(line.hit)[0]}" if line.hit is not None else f"{line.text}, {line.detail}"
        return line if role == LINE_ROLE else line.text if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or self.result_lines[index.row()].hit is None:
            return Qt.ItemFlag.NoItemFlags  # the arrow keys pass over headings
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class ResultList(LineList):
    """List of results. Enter or a click opens a hit; Up on the first one focuses the search field."""

    opened = Signal(object)
    """The `SearchHit` that was opened."""
    up_pressed = Signal()
    """Up was pressed on the first hit."""

    def __init__(self, theme: Theme, name: str) -> None:
        model = ResultsModel()
        super().__init__(model, theme, name)
        self.result_model = model
        self.setItemDelegate(_Painter(theme, self))

    @property
    def current(self) -> SearchHit | None:
        """The selected hit."""
        line = self.result_model.data(self.currentIndex(), LINE_ROLE)
        return line.hit if isinstance(line, ResultLine) else None

    def show_lines(self, lines: Sequence[ResultLine]) -> None:
        """Show rows; the selection stays on its hit, or moves to the first one."""
        previous = self.current
        self.result_model.fill(lines)
        hit_rows = [index for index, line in enumerate(lines) if line.hit is not None]
        first = hit_rows[0] if hit_rows else None
        row_to_select = next((index for index in hit_rows if previous is not None and lines[index].hit == previous), first)
        if row_to_select is not None:
            self.setCurrentIndex(self.result_model.index(row_to_select))
            if row_to_select == first:
                self.scrollToTop()

    def _open_index(self, index: QModelIndex) -> None:
        line = self.result_model.data(index, LINE_ROLE)
        if isinstance(line, ResultLine) and line.hit is not None:
            self.opened.emit(line.hit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        first = next((row for row, line in enumerate(self.result_model.result_lines) if line.hit is not None), 0)
        if event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= first:
            self.up_pressed.emit()
        else:
            super().keyPressEvent(event)


class _Painter(QStyledItemDelegate):
    """Delegate with one height for headings and one for hits, so that thousands of rows are laid out without measuring text."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line, width = index.data(LINE_ROLE), self._view.viewport().width()
        height = QFontMetrics(option.font).lineSpacing()
        if isinstance(line, ResultLine) and line.hit is None:
            return QSize(width, height + SPACE_6)
        return QSize(width, height + HIT_LINES * self._line_height(option.font) + 2 * SPACE_2 + SPACE_1)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = index.data(LINE_ROLE)
        if not isinstance(line, ResultLine):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if line.hit is None:
            self._paint_heading(painter, option, line)
        else:
            self._paint_background(painter, option)
            self._paint_hit(painter, option, line, line.hit)
        painter.restore()

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, line: ResultLine) -> None:
        area = column_rect(option.rect).adjusted(0, 0, 0, -SPACE_1)
        title_font = QFont(option.font)
        title_font.setWeight(QFont.Weight.DemiBold)
        metrics, small = QFontMetrics(title_font), QFontMetrics(option.font)
        detail_width = min(small.horizontalAdvance(line.detail) + SPACE_1, area.width() // 2)
        title = metrics.elidedText(line.text, Qt.TextElideMode.ElideRight, area.width() - detail_width - SPACE_4)
        painter.setFont(title_font)
        painter.setPen(QColor(self._theme.palette.text))
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom, title)
        painter.setFont(option.font)
        painter.setPen(QColor(self._theme.palette.muted))
        detail = small.elidedText(line.detail, Qt.TextElideMode.ElideRight, detail_width)
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight, detail)

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        palette, area = self._theme.palette, column_rect(option.rect).adjusted(-SPACE_2, 0, SPACE_2, 0)
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_current or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            colour, share = (palette.water, 0.12) if is_current else (palette.text, 0.05)
            painter.setBrush(QColor(mix_colours(palette.background, colour, share)))
            painter.drawRoundedRect(area, RADIUS_CONTROL, RADIUS_CONTROL)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(palette.water), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), RADIUS_CONTROL, RADIUS_CONTROL)

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
            format_range = QTextLayout.FormatRange()
            begin = utf16_length(text[:start])
            format_range.start, format_range.length, format_range.format = (
                begin,
                utf16_length(text[: start + length]) - begin,
                mark,
            )
            formats.append(format_range)
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

    def _prose_font(self, font: QFont) -> QFont:
        prose_font = QFont(font)
        prose_font.setPixelSize(self._theme.prose_size)
        return prose_font

    def _line_height(self, font: QFont) -> int:
        return QFontMetrics(self._prose_font(font)).height() + 1
