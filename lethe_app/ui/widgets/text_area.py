"""Plain text fields: one that stays responsive with very long lines, and the text area of forms, which grows with its text."""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData, QSize, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

MAX_LINE_LENGTH = 8_000
"""Maximum number of characters of a line as it is laid out; longer ones are shown as several."""
_SOFT_BREAK = "\U000e01ef\n"
"""End of a line that goes on in the next one: an invisible character that no text uses, and the break. It is part of the
document, but of no text that goes in or comes out.
"""
_LONG_LINE = re.compile(rf"[^\n]{{{MAX_LINE_LENGTH - 200}}}(?:[^\n]{{0,199}}[ \t]|[^\n]{{200}})(?=[^\n])")


def _break_long_lines(text: str) -> str:
    return _LONG_LINE.sub(lambda match: match.group() + _SOFT_BREAK, text) if len(text) > MAX_LINE_LENGTH else text


def _join_broken_lines(text: str) -> str:
    return text.replace(_SOFT_BREAK, "").replace(_SOFT_BREAK[0], "")


class PlainTextEdit(QPlainTextEdit):
    """Field for plain text only that stays responsive with very long lines, which Qt lays out in quadratic time. What is set,
    pasted, copied and read is the text without the breaks in its long lines.
    """

    def toPlainText(self) -> str:
        return _join_broken_lines(super().toPlainText())

    def setPlainText(self, text: str) -> None:
        super().setPlainText(_break_long_lines(text))

    @property
    def is_blank(self) -> bool:
        """Return whether the text is empty or only white space; its first words tell."""
        block = self.document().begin()
        while block.isValid() and not block.text().strip():
            block = block.next()
        return not block.isValid()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept only text."""
        return source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste plain text only."""
        if source.hasText():
            self.insert_normalized_text(source.text())

    def insert_normalized_text(self, text: str) -> None:
        """Insert text at the cursor, with normalised line ends."""
        text = _break_long_lines(text.replace("\r\n", "\n").replace("\u2029", "\n"))
        first_length, last_length = text.find("\n") % (len(text) + 1), len(text) - text.rfind("\n")
        before = self.textCursor().positionInBlock()
        after = self.textCursor().block().length() - 1 - before
        opening = _SOFT_BREAK if before and before + first_length > MAX_LINE_LENGTH else ""
        closing = _SOFT_BREAK if after and last_length + after > MAX_LINE_LENGTH else ""
        self.insertPlainText(f"{opening}{text}{closing}")
        self.ensureCursorVisible()

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(_join_broken_lines(self.textCursor().selection().toPlainText()))
        return data


class TextAreaField(PlainTextEdit):
    """Text area that grows between a minimum and a maximum height; Tab moves the focus to the next field. `edited` is emitted
    for every change by the user, never by `set_text`.
    """

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
