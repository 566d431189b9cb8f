"""List of lines in a centred column of text, with headings between them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from lethe_app.ui.core.palette import PROSE_WIDTH, RADIUS_CONTROL, SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_8
from lethe_app.ui.core.theme import Theme, mix_colours

MAX_EMPTY_TEXT_WIDTH = 560
"""Maximum width of the text of an empty list, in pixels."""
LINE_ROLE = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Line:
    """Line of a list, or a heading above others."""

    text: str

    @property
    def record_key(self) -> Hashable | None:
        """Return what identifies the record of the line when the list is filled again; None for a heading."""
        return None

    @property
    def can_open(self) -> bool:
        """Return whether the line leads somewhere; the arrow keys pass over the others."""
        return False

    @property
    def accessible_text(self) -> str:
        """Return what is read aloud."""
        return self.text


LineType = TypeVar("LineType", bound=Line)


class LineModel(QAbstractListModel):
    """List model of lines in display order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: list[Any] = []

    def fill(self, lines: Sequence[Line]) -> None:
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line: Line = self.lines[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return line.accessible_text
        return line if role == LINE_ROLE else line.text if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or not self.lines[index.row()].can_open:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class LineList(QListView, Generic[LineType]):
    """List view in which Enter or a click opens a line; the text `empty_text` is shown while there are none.

    Lines are laid out in batches, so that a long list does not block the window.
    """

    opened = Signal(object)
    """Line that was opened."""

    def __init__(self, theme: Theme, accessible_name: str) -> None:
        super().__init__()
        self._theme = theme
        self._model = LineModel(self)
        self.empty_text = ""
        self.setModel(self._model)
        self.setAccessibleName(accessible_name)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.clicked.connect(self._open_index)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    @property
    def lines(self) -> list[LineType]:
        """Return the lines in display order; do not modify the list."""
        return self._model.lines

    @property
    def current_line(self) -> LineType | None:
        """Return the line that is current; None if none is."""
        return self.line_at(self.currentIndex())

    def line_at(self, index: QModelIndex) -> LineType | None:
        """Return the line at an index; None if there is none."""
        line: LineType | None = index.data(LINE_ROLE)
        return line

    def fill(self, lines: Sequence[LineType], *, keeps_place: bool = False) -> None:
        """Show other lines. The record that was current stays so; if it is gone, the first one is, or with `keeps_place` the
        one now at its place or the last. While none is current, `keeps_place` makes one so only in a focused list.
        """
        current, place = self.current_line, self.currentIndex().row() if keeps_place else 0
        self._model.fill(lines)
        if current is None and keeps_place and not self.hasFocus():
            return
        records = [row for row, line in enumerate(lines) if line.record_key is not None]
        key = current.record_key if current is not None else None
        same = [row for row in records if lines[row].record_key == key]
        chosen = [*same, *(row for row in records if row >= place), *records[-1:]]
        self.select_line(chosen[0] if chosen else -1)
        if chosen[:1] == records[:1]:
            self.scrollToTop()  # so that its heading is visible

    def select_line(self, row: int) -> None:
        """Make the line with this index current."""
        self.setCurrentIndex(self._model.index(row))

    def _open_index(self, index: QModelIndex) -> None:
        line = self.line_at(index)
        if line is not None and line.can_open:
            self.opened.emit(line)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self._open_index(self.currentIndex())
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page handles it
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.lines:
            paint_empty_text(self, self._theme, self.empty_text)


class LinePainter(QStyledItemDelegate):
    """Delegate that paints lines in a centred column of text, as in the chat. Subclasses paint a line in `paint_line`."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint_line(painter, option, index.data(LINE_ROLE))
        painter.restore()

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, line: Any) -> None:  # noqa: ANN401 - any kind of line
        """Paint a line."""

    def _prose_font(self, font: QFont) -> QFont:
        prose_font = QFont(font)
        prose_font.setPixelSize(self._theme.prose_size)
        return prose_font

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem, *, shows_current: bool) -> None:
        """Paint what is below the text of the line under the pointer, of the focused and, if it `shows_current`, the current
        one.
        """
        palette, area = self._theme.palette, column_rect(option.rect).adjusted(-SPACE_2, 0, SPACE_2, 0)
        fill = ""
        if shows_current and option.state & QStyle.StateFlag.State_Selected:
            fill = mix_colours(palette.background, palette.water, 0.12)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            fill = mix_colours(palette.background, palette.text, 0.05)
        paint_row_background(painter, area, fill, palette.water if option.state & QStyle.StateFlag.State_HasFocus else "")

    def _paint_heading(
        self, painter: QPainter, option: QStyleOptionViewItem, font: QFont, colour: str, text: str, detail: str = ""
    ) -> None:
        """Paint a heading, with a detail at the right end."""
        area, small = column_rect(option.rect).adjusted(0, 0, 0, -SPACE_1), QFontMetrics(option.font)
        detail_width = min(small.horizontalAdvance(detail) + SPACE_1, area.width() // 2) if detail else 0
        text_width = area.width() - (detail_width + SPACE_4 if detail else 0)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        title = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, text_width)
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom, title)
        painter.setFont(option.font)
        painter.setPen(QColor(self._theme.palette.muted))
        shown = small.elidedText(detail, Qt.TextElideMode.ElideRight, detail_width)
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight, shown)


def paint_row_background(painter: QPainter, area: QRect, fill: str, outline: str = "") -> None:
    """Paint the rounded background of a row and an outline within it in these colours; an empty one is not painted."""
    if fill:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(area, RADIUS_CONTROL, RADIUS_CONTROL)
    if outline:
        painter.setPen(QPen(QColor(outline), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), RADIUS_CONTROL, RADIUS_CONTROL)


def column_rect(rect: QRect) -> QRect:
    """Return the centred column of text in a row."""
    width = min(PROSE_WIDTH, rect.width() - 2 * SPACE_4)
    return QRect(rect.left() + (rect.width() - width) // 2, rect.top(), width, rect.height())


def paint_empty_text(view: QAbstractScrollArea, theme: Theme, text: str) -> None:
    """Paint a text into a list that has no rows; its first paragraph is a title if others follow after an empty line."""
    title, _, explanation = text.partition("\n\n")
    flags = int(Qt.AlignmentFlag.AlignHCenter) | int(Qt.TextFlag.TextWordWrap)
    painter = QPainter(view.viewport())
    area = view.viewport().rect().adjusted(SPACE_8, SPACE_8, -SPACE_8, -SPACE_8)
    if area.width() > MAX_EMPTY_TEXT_WIDTH:
        area.setLeft(area.left() + (area.width() - MAX_EMPTY_TEXT_WIDTH) // 2)
        area.setWidth(MAX_EMPTY_TEXT_WIDTH)
    if explanation:
        font = QFont(view.font())
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(QColor(theme.palette.text))
        painter.drawText(balance_lines(painter, area, flags, title), flags, title)
        area.setTop(area.top() + painter.boundingRect(area, flags, title).height() + SPACE_3)
        painter.setFont(view.font())
    painter.setPen(QColor(theme.palette.muted))
    for paragraph in (explanation or title).split("\n"):
        painter.drawText(balance_lines(painter, area, flags, paragraph), flags, paragraph)
        height = painter.boundingRect(area, flags, paragraph).height()
        area.setTop(area.top() + max(height, painter.fontMetrics().lineSpacing()))
    painter.end()


def balance_lines(painter: QPainter, area: QRect, flags: int, text: str) -> QRect:
    """Return the narrowest part of `area`, centred, in which the text has no more lines, so that its lines are about equally
    long and none holds a single word.
    """
    height = painter.boundingRect(area, flags, text).height()
    too_narrow, width = 0, area.width()
    while width - too_narrow > 1:
        middle = (too_narrow + width) // 2
        needed = painter.boundingRect(QRect(0, 0, middle, area.height()), flags, text)
        if needed.height() > height or needed.width() > middle:
            too_narrow = middle
        else:
            width = middle
    return QRect(area.left() + (area.width() - width) // 2, area.top(), width, area.height())
