"""Text of a notebook: rendered Markdown, and the field in which it is edited."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QSizePolicy, QTextEdit, QWidget

from lethe_app.ui.core.labels.dates import spell_out_dates
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.widgets.text_area import TextAreaField

LINE_MARKS = frozenset("-*+#>|")
"""Characters with which the user begins a line of another kind."""


class NotebookText(TextAreaField):
    """Text field that scrolls instead of growing with its text, and begins a line with “- ” as notebooks need it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent=parent)
        self.setMinimumHeight(0)
        # Qt's QWIDGETSIZE_MAX, which stands for no maximum.
        self.setMaximumHeight(16777215)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def adjust_height(self) -> None:
        """Do nothing: the layout decides the height."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        cursor = self.textCursor()
        begins_line = not cursor.hasSelection() and not cursor.block().text().strip()
        if begins_line and event.text().isprintable() and event.text().strip() and event.text() not in LINE_MARKS:
            self.insertPlainText("- ")
        super().keyPressEvent(event)

    def move_to_end(self) -> None:
        """Move the cursor to the end, unless it was placed somewhere: before the title nothing is to be typed."""
        if not self.textCursor().position():
            self.moveCursor(QTextCursor.MoveOperation.End)


LINE_HEIGHT_PERCENT = 120


class NotebookReader(QTextEdit):
    """Read-only text. A double click, Enter or F2 asks for the editor. Images are not loaded, neither from disk nor from the
    internet.
    """

    edit_requested = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(SPACE_4)
        self._text = ""

    def set_text(self, text: str) -> None:
        """Render the Markdown `text`; HTML in it is shown as text."""
        if text != self._text:
            self._text = text
            self.document().setMarkdown(spell_out_dates(text), QTextDocument.MarkdownFeature.MarkdownNoHTML)
            self._format_blocks()

    def _format_blocks(self) -> None:
        """Set headings in the sizes of the window, and more space between the lines than Qt's renderer leaves."""
        block = self.document().begin()
        while block.isValid():
            cursor = QTextCursor(block)
            layout = block.blockFormat()
            layout.setLineHeight(LINE_HEIGHT_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            layout.setBottomMargin(SPACE_2 if block.blockFormat().headingLevel() else SPACE_1)
            cursor.setBlockFormat(layout)
            if block.blockFormat().headingLevel():
                cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
                heading = QTextCharFormat()
                heading.setProperty(QTextFormat.Property.FontSizeAdjustment, 1 if layout.headingLevel() == 1 else 0)
                cursor.mergeCharFormat(heading)
            block = block.next()

    def loadResource(self, _kind: int, _name: QUrl | str) -> Any:  # noqa: ANN401 - a resource of any kind, or none
        return None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2}:
            self.edit_requested.emit()
        else:
            super().keyPressEvent(event)

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        self.edit_requested.emit()
