"""Line with the persona's mood, in the words of the prompt, and a button to the page where it is edited."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from lethe_app.ui.chat.memory_card_parts import create_selectable_label
from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.widgets.layouts import build_row


class MoodLine(QFrame):
    """Label and button; hidden while there is no text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.setAccessibleName(self.tr("Mood"))
        self.mood_label = create_selectable_label("", "small")
        self.page_button = QPushButton(self.tr("Mind"))
        self.page_button.setProperty("small", True)
        self.page_button.hide()
        build_row(
            (self.mood_label, 1),
            (self.page_button, 0, Qt.AlignmentFlag.AlignVCenter),
            spacing=SPACE_2,
            margins=(SPACE_4, SPACE_2, SPACE_2, SPACE_2),
            parent=self,
        )
        self.hide()

    def set_page_action(self, page_action: QAction) -> None:
        """Connect the button to the action of a page and show it; without this call the button stays hidden."""
        self.page_button.clicked.connect(page_action.trigger)
        set_button_tooltip(self.page_button, f"{page_action.text()}  {page_action.shortcut().toString()}".rstrip())
        self.page_button.show()

    def show_mood(self, text: str) -> None:
        """Show the mood; an empty text hides the line."""
        self.mood_label.setText(text)
        self.setVisible(bool(text))
