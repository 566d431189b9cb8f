"""Dialogs of the page of notebooks."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.dialogs.dialogs import QuestionDialog


class NotebookTitleDialog(QuestionDialog):
    """Dialog that asks for the title of a notebook."""

    def __init__(self, parent: QWidget, title: str, button: str, text: str = "") -> None:
        super().__init__(parent, title, button)
        self.field = QLineEdit(text)
        self.field.setMaxLength(80)
        self.field.setMinimumWidth(320)
        label = QLabel(self.tr("Title"))
        label.setProperty("field", True)
        label.setBuddy(self.field)
        self.field.setAccessibleName(self.tr("Notebook title"))
        column = QVBoxLayout()
        column.setSpacing(SPACE_1)
        column.addWidget(label)
        column.addWidget(self.field)
        self.column.addLayout(column)
        self.field.textChanged.connect(self._update_primary)
        self.field.selectAll()
        self.field.setFocus()
        self._update_primary(text)

    @property
    def entered_title(self) -> str:
        return self.field.text().strip()

    def _update_primary(self, text: str) -> None:
        self.primary.setEnabled(bool(text.strip()))
