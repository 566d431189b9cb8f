"""Editor of the text of a notebook."""

from __future__ import annotations

from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QSizePolicy, QWidget

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
