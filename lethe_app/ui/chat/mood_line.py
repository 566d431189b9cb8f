"""One quiet line that says how she feels, in the words that her prompt is told, and leads to where that can be changed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from lethe_app.ui.chat.memory_card_parts import wrapped
from lethe_app.ui.core.palette import SPACE_2, SPACE_4


class MoodLine(QFrame):
    """Not there at all where there is nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.setAccessibleName(self.tr("How she feels"))
        self.words = wrapped("", small=True)
        self.more = QPushButton(self.tr("Mind"))
        self.more.setProperty("small", True)
        self.more.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_4, SPACE_2, SPACE_2, SPACE_2)
        row.setSpacing(SPACE_2)
        row.addWidget(self.words, 1)
        row.addWidget(self.more, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def lead_to(self, page: QAction) -> None:
        """Where the words lead; without a page they lead nowhere."""
        self.more.clicked.connect(page.trigger)
        self.more.setToolTip(f"{page.text()}  {page.shortcut().toString()}".rstrip())
        self.more.setAccessibleName(page.text())
        self.more.show()

    def say(self, words: str) -> None:
        """Empty: nothing."""
        self.words.setText(words)
        self.setVisible(bool(words))
