"""Buttons of the chat header for speech: loudspeaker with its menu, and Stop while something is being spoken."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.actions import action_title, action_tooltip
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import ICON, SPACE_1
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.layouts import build_row


class _MenuButton(QToolButton):
    """Tool button whose menu is opened by the Down and the menu key as well, which Qt leaves to the mouse."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        menu = self.menu()
        if event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Menu} and menu is not None:
            menu.popup(self.mapToGlobal(self.rect().bottomLeft()))
            menu.setActiveAction(menu.actions()[0])
        else:
            super().keyPressEvent(event)


class SpeechButtons(QWidget):
    """Loudspeaker, which switches speech of the conversation on and off, and the button that stops the voice."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.stop_button = QToolButton()
        self.stop_button.setObjectName("stop_speaking")
        self.stop_button.setIconSize(QSize(ICON, ICON))
        self.stop_button.setText(action_title("stop_speaking"))
        self.stop_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        set_button_tooltip(self.stop_button, self.tr("Stop speaking  Esc"))
        self.stop_button.hide()
        self.speak_button = _MenuButton()
        self.speak_button.setObjectName("speak_replies")
        self.speak_button.setIconSize(QSize(ICON, ICON))
        self.speak_button.setCheckable(True)
        self.speak_button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        set_button_tooltip(self.speak_button, action_tooltip("speak_replies"))
        menu = QMenu(self.speak_button)
        self.style_action: QAction = menu.addAction(action_title("spoken_style"))
        self.style_action.setCheckable(True)
        self.settings_action: QAction = menu.addAction(self.tr("Speech settings"))
        self.speak_button.setMenu(menu)
        build_row(self.stop_button, self.speak_button, spacing=SPACE_1, parent=self)

    def show_mode(self, *, is_spoken: bool, has_spoken_style: bool) -> None:
        """Show whether replies of the conversation are spoken, and written in the spoken style."""
        self.speak_button.setChecked(is_spoken)
        self.style_action.setChecked(has_spoken_style)
        self.apply_theme()

    def show_speaking(self, *, is_speaking: bool) -> None:
        """Show the Stop button while something is being spoken."""
        self.stop_button.setVisible(is_speaking)

    def apply_theme(self) -> None:
        """Apply the icons of the current theme."""
        palette, is_spoken = self._theme.palette, self.speak_button.isChecked()
        icon_name = "speaker" if is_spoken else "speaker-off"
        self.speak_button.setIcon(load_icon(icon_name, palette.water if is_spoken else palette.muted))
        self.stop_button.setIcon(load_icon("stop", palette.water))
