"""Field for a persona's avatar in the editor, with buttons to choose and to remove an image."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row

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
        for button in (self.choose_button, self.remove_button):
            button.setProperty("filled", True)
        hint = build_small_label(self.tr("PNG, JPEG or WebP from this computer; you can crop it afterwards."))
        buttons = build_row(self.choose_button, self.remove_button, 1, spacing=SPACE_2)
        column = build_column(1, buttons, hint, 1, spacing=SPACE_1)
        build_row((self._avatar_label, 0, Qt.AlignmentFlag.AlignVCenter), (column, 1), spacing=SPACE_4, parent=self)
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
