"""Flow layout: widgets from left to right, wrapped into the next line like words."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget, QWidgetItem


class FlowLayout(QLayout):
    """Layout with height for width. Widgets keep their preferred width; a line is as high as its highest widget."""

    def __init__(self, parent: QWidget | None = None, *, margin: int = 0, spacing: int = 8) -> None:
        super().__init__(parent)
        self.setContentsMargins(margin, margin, margin, margin)
        self.setSpacing(spacing)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def insert_widget(self, index: int, widget: QWidget) -> None:
        """Insert `widget` at index `index`."""
        self.addChildWidget(widget)
        self._items.insert(index, QWidgetItem(widget))
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange_items(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange_items(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange_items(self, rect: QRect, *, move: bool) -> int:
        content_rect = rect.marginsRemoved(self.contentsMargins())
        x, y, line_height = content_rect.x(), content_rect.y(), 0
        row: list[tuple[QLayoutItem, QRect]] = []
        for item in self._items:
            if item.isEmpty():  # a hidden widget takes no space
                continue
            hint = item.sizeHint().expandedTo(item.minimumSize())
            if line_height and x + hint.width() > content_rect.x() + content_rect.width():
                _set_row_geometry(row if move else (), line_height)
                x, y, line_height, row = content_rect.x(), y + line_height + self.spacing(), 0, []
            row.append((item, QRect(QPoint(x, y), QSize(min(hint.width(), max(content_rect.width(), 1)), hint.height()))))
            x += hint.width() + self.spacing()
            line_height = max(line_height, hint.height())
        _set_row_geometry(row if move else (), line_height)
        margins = self.contentsMargins()
        return y + line_height - rect.y() + margins.bottom()


class WrappingRow(FlowLayout):
    """Row of widgets that asks for the width of a single line, and wraps where it gets less."""

    def sizeHint(self) -> QSize:
        shown = [item.sizeHint().expandedTo(item.minimumSize()) for item in self._items if not item.isEmpty()]
        width = sum(size.width() for size in shown) + self.spacing() * max(0, len(shown) - 1)
        return QSize(width, max((size.height() for size in shown), default=0))


def _set_row_geometry(row: Iterable[tuple[QLayoutItem, QRect]], height: int) -> None:
    """Set the geometry of one line, with lower widgets centred vertically."""
    for item, rect in row:
        item.setGeometry(rect.translated(0, (height - rect.height()) // 2))
