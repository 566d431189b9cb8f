"""Line with the persona's mood, in the words of the prompt, and a button to the page where it is edited."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from lethe_app.ui.chat.memory_card_parts import wrapped
from lethe_app.ui.core.palette import SPACE_2, SPACE_4


class MoodLine(QFrame):
    """Label and button; hidden while there is no text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.setAccessibleName(self.tr("Mood"))
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
        """Connect the button to the action of a page and show it; without this call the button stays hidden."""
        self.more.clicked.connect(page.trigger)
        self.more.setToolTip(f"{page.text()}  {page.shortcut().toString()}".rstrip())
        self.more.setAccessibleName(page.text())
        self.more.show()

    def say(self, words: str) -> None:
        """Show the mood; an empty text hides the line."""
        self.words.setText(words)
        self.setVisible(bool(words))
