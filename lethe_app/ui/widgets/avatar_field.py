"""Field for a persona's avatar in the editor, with buttons to choose and to remove an image."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.ui.core.icons import BEFORE_WORDS, icon_before_words
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.page import explanation

SIZE = 96
"""Diameter of the avatar in pixels."""


class AvatarField(QWidget):
    """Show an avatar and emit the user's requests; images are read and stored by the receiver of the signals."""

    pick_wanted = Signal()
    remove_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._disc = QLabel()
        self._disc.setFixedSize(SIZE, SIZE)
        self.pick = QPushButton(self.tr("Choose image…"))
        self.pick.clicked.connect(self.pick_wanted)
        self.remove = QPushButton(self.tr("Remove image"))
        self.remove.clicked.connect(self.remove_wanted)
        self.setFocusProxy(self.pick)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        for button in (self.pick, self.remove):
            button.setProperty("filled", True)
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout()
        column.setSpacing(SPACE_1)
        column.addStretch(1)
        column.addLayout(buttons)
        column.addWidget(explanation(self.tr("PNG, JPEG or WebP from this computer; you can crop it afterwards.")))
        column.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_4)
        row.addWidget(self._disc, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(column, 1)
        self.dress()

    def show_picture(self, picture: QPixmap, words: str, *, is_own: bool) -> None:
        """Show an avatar; `words` is its accessible name. The remove button is only visible if `is_own`, not for a letter
        avatar.
        """
        self._disc.setPixmap(picture)
        self._disc.setAccessibleName(words)
        self.remove.setVisible(is_own)

    def dress(self) -> None:
        self.pick.setIconSize(BEFORE_WORDS)
        self.pick.setIcon(icon_before_words("user", self._theme.palette.text))
