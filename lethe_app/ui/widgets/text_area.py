"""Text area that grows with its text between a minimum and a maximum height; Tab moves the focus to the next field."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget


class ProseField(QPlainTextEdit):
    """Text area. `edited` is emitted for every change by the user, never by `set_text`."""

    edited = Signal(str)
    focused = Signal(bool)

    def __init__(self, name: str, least: int = 3, most: int = 14, parent: QWidget | None = None) -> None:
        """Set up the field. `least` and `most` are its minimum and maximum height in lines."""
        super().__init__(parent)
        self._least, self._most = least, most
        self._silent = False
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._changed)
        self.fit()

    @property
    def text(self) -> str:
        return self.toPlainText()

    def set_text(self, text: str) -> None:
        """Show `text` without emitting `edited`; the cursor keeps its position as far as possible."""
        if text == self.toPlainText():
            return
        place = self.textCursor().position()
        self._silent = True
        self.setPlainText(text)
        self._silent = False
        cursor = self.textCursor()
        cursor.setPosition(min(place, self.document().characterCount() - 1))  # in Qt's units, of which some letters are two
        self.setTextCursor(cursor)
        self.fit()

    def fit(self) -> None:
        """Adjust the height to the text."""
        line = self.fontMetrics().lineSpacing()
        wanted = round(self.document().size().height())  # a plain text document counts lines
        lines = min(max(wanted, self._least), self._most)
        margins = self.contentsMargins()
        around = 2 * round(self.document().documentMargin()) + margins.top() + margins.bottom() + 14
        self.setFixedHeight(lines * line + around)

    def sizeHint(self) -> QSize:
        return QSize(320, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focused.emit(False)

    def _changed(self) -> None:
        self.fit()
        if not self._silent:
            self.edited.emit(self.toPlainText())
