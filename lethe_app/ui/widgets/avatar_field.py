"""Field for a persona's avatar in the editor, with buttons to choose and to remove an image."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.labels import build_small_label

AVATAR_SIZE = 96
"""Diameter of the avatar in pixels."""


class AvatarField(QWidget):
    """Show an avatar and emit the user's requests; images are read and stored by the receiver of the signals."""

    pick_requested = Signal()
    remove_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._avatar_label = QLabel()
        self._avatar_label.setFixedSize(AVATAR_SIZE, AVATAR_SIZE)
        self.choose_button = QPushButton(self.tr("Choose image…"))
        self.choose_button.clicked.connect(self.pick_requested)
        self.remove_button = QPushButton(self.tr("Remove image"))
        self.remove_button.clicked.connect(self.remove_requested)
        self.setFocusProxy(self.choose_button)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        for button in (self.choose_button, self.remove_button):
            button.setProperty("filled", True)
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout()
        column.setSpacing(SPACE_1)
        column.addStretch(1)
        column.addLayout(buttons)
        column.addWidget(build_small_label(self.tr("PNG, JPEG or WebP from this computer; you can crop it afterwards.")))
        column.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_4)
        row.addWidget(self._avatar_label, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(column, 1)
        self.apply_theme()

    def show_avatar(self, pixmap: QPixmap, accessible_name: str, *, is_custom: bool) -> None:
        """Show an avatar; `accessible_name` is its accessible name. The remove button is only visible if `is_custom`, not for a
        letter avatar.
        """
        self._avatar_label.setPixmap(pixmap)
        self._avatar_label.setAccessibleName(accessible_name)
        self.remove_button.setVisible(is_custom)

    def apply_theme(self) -> None:
        self.choose_button.setIconSize(BUTTON_ICON_SIZE)
        self.choose_button.setIcon(load_button_icon("user", self._theme.palette.text))
