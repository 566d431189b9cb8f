"""Apply the appearance settings (theme, text size, motion, hidden messages) to the window, and store changes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QFont, QFontInfo
from PySide6.QtWidgets import QApplication, QStyle

from lethe_app.config.options import ProseFont
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.theme import PROSE_SIZE

if TYPE_CHECKING:
    from lethe_app.config.settings import Settings
    from lethe_app.services.preferences import Preferences
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.chat_view import ChatView

MIN_TEXT_SIZE, MAX_TEXT_SIZE = 12, 24
"""Limits of the text size in pixels."""


class AppearanceController(Controller):
    """Applies the appearance settings whenever they change. It also writes those that the next first paint needs, before the
    settings are read, to the window's own file.
    """

    def __init__(self, window: MainWindow, view: ChatView, preferences: Preferences) -> None:
        super().__init__(window)
        self._view, self._preferences = view, preferences
        self._prose_font: tuple[str, int] | None = None
        self._unsubscribers.append(preferences.changed.add(self.apply_settings))
        self._actions.connect(
            larger_text=lambda: self.resize_text(1),
            smaller_text=lambda: self.resize_text(-1),
            reset_text_size=lambda: self.save_settings(font_size=PROSE_SIZE),
            show_hidden_messages=lambda: self.save_settings(show_hidden=not preferences.current.show_hidden),
        )
        self._theme.changed.connect(self._apply_palette)
        self._apply_palette()
        self.apply_settings(preferences.current)

    @property
    def settings(self) -> Settings:
        """Return the current settings."""
        return self._preferences.current

    def apply_settings(self, settings: Settings) -> None:
        """Apply `settings` to window, transcript and theme."""
        theme = self._theme
        theme.reduced_motion = settings.reduced_motion or not has_system_animations()
        theme.apply_choice(settings.theme.value, settings.font_size)
        self._view.set_reduced_motion(theme.reduced_motion)
        prose = (serif_family() if settings.prose_font is ProseFont.SERIF else "", settings.font_size)
        if prose != self._prose_font:  # setting the font lays out every message again
            self._prose_font = prose
            self._view.set_prose_font(*prose)
        self._view.background_image.set_image(settings.background)
        self._view.chat_model.set_show_hidden(settings.show_hidden)
        for key, value in (("theme", settings.theme.value), ("text", settings.font_size), ("welcomed", settings.welcomed)):
            self._window.store_window_value(key, value)

    def _apply_palette(self) -> None:
        self._view.set_message_palette(self._theme.palette)
        self._window.store_window_value("palette", self._theme.palette.name)

    def save_settings(self, **values: object) -> None:
        """Store new values of settings; `apply_settings` is called when they are stored."""
        self._tasks.start_task(self._preferences.set(**values))

    def resize_text(self, step: int) -> None:
        """Change the text size by `step` pixels, within the limits."""
        size = self._preferences.current.font_size + step
        self.save_settings(font_size=min(MAX_TEXT_SIZE, max(MIN_TEXT_SIZE, size)))

    def close(self) -> None:
        """Disconnect from settings and theme."""
        super().close()
        self._theme.changed.disconnect(self._apply_palette)


def serif_family() -> str:
    """Return the name of the serif font family that the system provides."""
    font = QFont("Georgia")
    font.setStyleHint(QFont.StyleHint.Serif)
    return QFontInfo(font).family()


def has_system_animations() -> bool:
    """Return whether animations are enabled on the desktop."""
    return QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) != 0
