"""List of lines in a centred column of text, with headings between them."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QListView

from lethe_app.ui.core.palette import PROSE_WIDTH, SPACE_3, SPACE_4, SPACE_8
from lethe_app.ui.core.theme import Theme

MAX_EMPTY_TEXT_WIDTH = 560
"""Maximum width of the text of an empty list, in pixels."""


class LineList(QListView):
    """List view in which Enter or a click opens a line; the text `empty_text` is shown while there are none.

    Lines are laid out in batches, so that a long list does not block the window. Subclasses open lines in `_open_index`.
    """

    def __init__(self, model: QAbstractItemModel, theme: Theme, accessible_name: str) -> None:
        super().__init__()
        self._theme = theme
        self.empty_text = ""
        self.setModel(model)
        self.setAccessibleName(accessible_name)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.clicked.connect(self._open_index)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def _open_index(self, index: QModelIndex) -> None:
        """Open the line at `index`, unless it is a heading."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self._open_index(self.currentIndex())
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page handles it
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.model().rowCount():
            paint_empty_text(self, self._theme, self.empty_text)


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
