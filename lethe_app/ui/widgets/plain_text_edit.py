"""Plain text field that stays responsive with very long lines, which Qt lays out in time quadratic in their length."""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QPlainTextEdit

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
    """Field for plain text only. What is set, pasted, copied and read is the text without the breaks in its long lines."""

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
