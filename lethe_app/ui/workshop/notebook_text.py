"""The text of a notebook as it stands in its file, in a field that takes all the room there is."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from lethe_app.ui.dialogs import Asking
from lethe_app.ui.palette import SPACE_1
from lethe_app.ui.workshop.prose_field import ProseField


class NotebookText(ProseField):
    """Scrolls instead of growing."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent=parent)
        self.setMinimumHeight(0)
        self.setMaximumHeight(16777215)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def fit(self) -> None:
        """It has the height that is left for it."""


class Titling(Asking):
    """Asks for the title of a notebook."""

    def __init__(self, parent: QWidget, title: str, button: str, text: str = "") -> None:
        super().__init__(parent, title, button)
        self.field = QLineEdit(text)
        self.field.setMaxLength(80)
        self.field.setMinimumWidth(320)
        label = QLabel(self.tr("Title"))
        label.setProperty("field", True)
        label.setBuddy(self.field)
        self.field.setAccessibleName(self.tr("Title of the notebook"))
        column = QVBoxLayout()
        column.setSpacing(SPACE_1)
        column.addWidget(label)
        column.addWidget(self.field)
        self.column.addLayout(column)
        self.field.textChanged.connect(self._judge)
        self.field.selectAll()
        self.field.setFocus()
        self._judge(text)

    @property
    def text(self) -> str:
        return self.field.text().strip()

    def _judge(self, text: str) -> None:
        self.primary.setEnabled(bool(text.strip()))
