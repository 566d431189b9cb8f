"""Text area that grows with its text between a minimum and a maximum height; Tab moves the focus to the next field."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lethe_app.ui.widgets.plain_text_edit import PlainTextEdit


class TextAreaField(PlainTextEdit):
    """Text area. `edited` is emitted for every change by the user, never by `set_text`."""

    edited = Signal(str)
    focused = Signal(bool)

    def __init__(self, name: str, min_lines: int = 3, max_lines: int = 14, parent: QWidget | None = None) -> None:
        """Set up the field. `min_lines` and `max_lines` are its minimum and maximum height in lines."""
        super().__init__(parent)
        self._min_lines, self._max_lines = min_lines, max_lines
        self._is_setting_text = False
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._on_text_changed)
        self.adjust_height()

    @property
    def text(self) -> str:
        return self.toPlainText()

    def set_text(self, text: str) -> None:
        """Show `text` without emitting `edited`; the cursor keeps its position as far as possible."""
        if text == self.toPlainText():
            return
        cursor_position = self.textCursor().position()
        self._is_setting_text = True
        self.setPlainText(text)
        self._is_setting_text = False
        cursor = self.textCursor()
        cursor.setPosition(
            min(cursor_position, self.document().characterCount() - 1)
        )  # in Qt's units, of which some letters are two
        self.setTextCursor(cursor)
        self.adjust_height()

    def adjust_height(self) -> None:
        """Adjust the height to the text."""
        line_height = self.fontMetrics().lineSpacing()
        line_count = round(self.document().size().height())  # a plain text document counts lines
        lines = min(max(line_count, self._min_lines), self._max_lines)
        margins = self.contentsMargins()
        vertical_padding = 2 * round(self.document().documentMargin()) + margins.top() + margins.bottom() + 14
        self.setFixedHeight(lines * line_height + vertical_padding)

    def sizeHint(self) -> QSize:
        return QSize(320, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.adjust_height()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focused.emit(False)

    def _on_text_changed(self) -> None:
        self.adjust_height()
        if not self._is_setting_text:
            self.edited.emit(self.toPlainText())
