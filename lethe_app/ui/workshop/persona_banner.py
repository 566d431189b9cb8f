"""A quiet strip under the head of the editor for what the user should know or decide, but not at once."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from lethe_app.ui.palette import SPACE_2, SPACE_3, SPACE_4


class Banner(QFrame):
    """Hidden until something is said, and again once a button was pressed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._words = QLabel()
        self._words.setWordWrap(True)
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._buttons = QWidget()
        self._row = QHBoxLayout(self._buttons)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(SPACE_2)
        line = QHBoxLayout(self)
        line.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        line.setSpacing(SPACE_3)
        line.addWidget(self._words, 1)
        line.addWidget(self._buttons)
        self.hide()

    def say(self, words: str, *buttons: tuple[str, Callable[[], object]]) -> None:
        """Title of each button and what it does; without any there is one that closes the strip."""
        self._words.setText(words)
        self.setAccessibleName(words)
        while (item := self._row.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for title, action in buttons or ((self.tr("Fine"), self.hide),):
            button = QPushButton(title)
            button.setProperty("filled", True)
            button.clicked.connect(self.hide)
            button.clicked.connect(lambda _checked=False, action=action: action())
            self._row.addWidget(button)
        self.show()
