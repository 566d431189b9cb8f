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
    QPaintEvent,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from lethe_app.domain.list_items import HitKind, Mark, SearchHit
from lethe_app.ui.core.palette import PROSE_WIDTH, RADIUS_CONTROL, SPACE_1, SPACE_2, SPACE_4, SPACE_6, SPACE_8
from lethe_app.ui.core.theme import Theme, mixed

SET_OFF = re.compile(r"(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)")
"""Asterisks that open or close an action, as in *smiles*; those inside of words are kept."""


def as_read(hit: SearchHit) -> tuple[str, list[Mark]]:
    """Return text and marks of a message without the asterisks around actions, which the transcript does not show either."""
    if hit.kind is not HitKind.MESSAGE:
        return hit.text, list(hit.marks)
    signs = [place for found in SET_OFF.finditer(hit.text) for place in range(*found.span())]
    text = SET_OFF.sub("", hit.text)
    ends = [(start, start + length) for start, length in hit.marks]
    moved = [(start - bisect_left(signs, start), end - bisect_left(signs, end)) for start, end in ends]
    return text, [(start, end - start) for start, end in moved]


def direction_of(text: str) -> QTextOption:
    """Return the text option for the direction of the first strongly directional character; right-to-left text is
    right-aligned.
    """
    strong = next((way for character in text if (way := unicodedata.bidirectional(character)) in {"L", "R", "AL"}), "L")
    if strong == "L":
        return QTextOption()
    option = QTextOption(Qt.AlignmentFlag.AlignRight)
    option.setTextDirection(Qt.LayoutDirection.RightToLeft)
    return option


def units(text: str) -> int:
    """Return the length of a text in UTF-16 code units, in which QTextLayout counts positions."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
LINES = 2
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
    is_here: bool = False
    """True if it is the conversation that is open."""


@dataclass(frozen=True)
class ResultLine:
    """Row of the list: a hit, or a heading."""

    text: str
    spell: Callable[[], str]
    """Return the text beside the row; called on painting only, because few of hundreds of rows are visible."""
    hit: SearchHit | None = None

    @property
    def detail(self) -> str:
        return self.spell()


class ResultsModel(QAbstractListModel):
    """List model of headings and hits in display order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.shown: list[ResultLine] = []

    def fill(self, lines: Sequence[ResultLine]) -> None:
        self.beginResetModel()
        self.shown = list(lines)
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if not index.isValid() or index.row() >= len(self.shown):
            return None
        line = self.shown[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{line.detail}: {as_read(line.hit)[0]}" if line.hit is not None else f"{line.text}, {line.detail}"
        return line if role == ROW else line.text if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or self.shown[index.row()].hit is None:
            return Qt.ItemFlag.NoItemFlags  # the arrow keys pass over headings
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class FoundList(QListView):
    """List of results. Enter or a click opens a hit; Up on the first one focuses the search field."""

    opened = Signal(object)
    """The `SearchHit` that was opened."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines, self._theme = ResultsModel(self), theme
        self.words = ""
        """Text shown while there are no results."""
        self.above: QWidget | None = None
        self.setModel(self.lines)
        self.setItemDelegate(_Painter(theme, self))
        self.setAccessibleName(name)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.clicked.connect(self._open)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    @property
    def current(self) -> SearchHit | None:
        """The selected hit."""
        line = self.lines.data(self.currentIndex(), ROW)
        return line.hit if isinstance(line, ResultLine) else None

    def show_lines(self, lines: Sequence[ResultLine]) -> None:
        """Show rows; the selection stays on its hit, or moves to the first one."""
        held = self.current
        self.lines.fill(lines)
        places = [place for place, line in enumerate(lines) if line.hit is not None]
        first = places[0] if places else None
        wanted = next((place for place in places if held is not None and lines[place].hit == held), first)
        if wanted is not None:
            self.setCurrentIndex(self.lines.index(wanted))
            if wanted == first:
                self.scrollToTop()

    def _open(self, index: QModelIndex) -> None:
        line = self.lines.data(index, ROW)
        if isinstance(line, ResultLine) and line.hit is not None:
            self.opened.emit(line.hit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        first = next((place for place, line in enumerate(self.lines.shown) if line.hit is not None), 0)
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.current is not None:
            self._open(self.currentIndex())
        elif event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= first and self.above is not None:
            self.above.setFocus()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page's own
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.lines.shown:
            return
        painter = QPainter(self.viewport())
        painter.setPen(QColor(self._theme.palette.muted))
        place = self.viewport().rect().adjusted(SPACE_8, SPACE_8, -SPACE_8, -SPACE_8)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter) | int(Qt.TextFlag.TextWordWrap), self.words)
        painter.end()


class _Painter(QStyledItemDelegate):
    """Delegate with one height for headings and one for hits, so that thousands of rows are laid out without measuring text."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line, width = index.data(ROW), self._view.viewport().width()
        height = QFontMetrics(option.font).lineSpacing()
        if isinstance(line, ResultLine) and line.hit is None:
            return QSize(width, height + SPACE_6)
        return QSize(width, height + LINES * self._line_height(option.font) + 2 * SPACE_2 + SPACE_1)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = index.data(ROW)
        if not isinstance(line, ResultLine):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if line.hit is None:
            self._paint_heading(painter, option, line)
        else:
            self._paint_ground(painter, option)
            self._paint_place(painter, option, line, line.hit)
        painter.restore()

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, line: ResultLine) -> None:
        area = self._column(option.rect).adjusted(0, 0, 0, -SPACE_1)
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        metrics, small = QFontMetrics(bold), QFontMetrics(option.font)
        room = min(small.horizontalAdvance(line.detail) + SPACE_1, area.width() // 2)
        title = metrics.elidedText(line.text, Qt.TextElideMode.ElideRight, area.width() - room - SPACE_4)
        painter.setFont(bold)
        painter.setPen(QColor(self._theme.palette.text))
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom, title)
        painter.setFont(option.font)
        painter.setPen(QColor(self._theme.palette.muted))
        detail = small.elidedText(line.detail, Qt.TextElideMode.ElideRight, room)
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight, detail)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        palette, area = self._theme.palette, self._column(option.rect).adjusted(-SPACE_2, 0, SPACE_2, 0)
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_current or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            ink, share = (palette.water, 0.12) if is_current else (palette.text, 0.05)
            painter.setBrush(QColor(mixed(palette.background, ink, share)))
            painter.drawRoundedRect(area, RADIUS_CONTROL, RADIUS_CONTROL)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(palette.water), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), RADIUS_CONTROL, RADIUS_CONTROL)

    def _paint_place(self, painter: QPainter, option: QStyleOptionViewItem, line: ResultLine, hit: SearchHit) -> None:
        palette, area = self._theme.palette, self._column(option.rect).adjusted(0, SPACE_2, 0, -SPACE_2)
        metrics = QFontMetrics(option.font)
        painter.setPen(QColor(palette.muted))
        painter.setFont(option.font)
        detail = metrics.elidedText(line.detail, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignTop, detail)
        painter.setPen(QColor(palette.text))
        top = area.top() + metrics.lineSpacing() + SPACE_1
        self._draw_words(painter, option.font, hit, QRect(area.left(), top, area.width(), area.bottom() - top))

    def _draw_words(self, painter: QPainter, font: QFont, hit: SearchHit, area: QRect) -> None:
        """Draw a hit's text with highlighted matches in two lines, elided at the end."""
        prose, palette = self._prose(font), self._theme.palette
        mark = QTextCharFormat()
        mark.setBackground(QColor(mixed(palette.background, palette.water, 0.28)))
        mark.setFontWeight(QFont.Weight.DemiBold)
        (text, marks), metrics = as_read(hit), QFontMetrics(prose)
        layout = QTextLayout(text, prose)
        layout.setTextOption(direction_of(text))
        formats = []
        for start, length in marks:
            span = QTextLayout.FormatRange()
            begin = units(text[:start])
            span.start, span.length, span.format = begin, units(text[: start + length]) - begin, mark
            formats.append(span)
        layout.setFormats(formats)
        layout.beginLayout()
        for number in range(LINES):
            row = layout.createLine()
            if not row.isValid():
                break
            row.setLineWidth(area.width())
            row.setPosition(QPointF(0, number * self._line_height(font)))
            if number == LINES - 1 and row.textStart() + row.textLength() < units(text):
                dots = metrics.horizontalAdvance("…")
                row.setLineWidth(area.width() - dots)
                is_leftward = layout.textOption().textDirection() == Qt.LayoutDirection.RightToLeft
                row.setPosition(QPointF(dots if is_leftward else 0, row.y()))
                words = row.naturalTextRect()
                painter.setFont(prose)
                end = QPointF(words.left() - dots if is_leftward else words.right(), row.y() + metrics.ascent())
                painter.drawText(QPointF(area.topLeft()) + end, "…")
        layout.endLayout()
        layout.draw(painter, QPointF(area.topLeft()))

    def _column(self, rect: QRect) -> QRect:
        width = min(PROSE_WIDTH, rect.width() - 2 * SPACE_4)
        return QRect(rect.left() + (rect.width() - width) // 2, rect.top(), width, rect.height())

    def _prose(self, font: QFont) -> QFont:
        made = QFont(font)
        made.setPixelSize(self._theme.prose_size)
        return made

    def _line_height(self, font: QFont) -> int:
        return QFontMetrics(self._prose(font)).height() + 1
