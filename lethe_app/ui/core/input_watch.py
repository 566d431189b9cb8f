"""Input of the user in any window of the program."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWindow
from PySide6.QtWidgets import QPlainTextEdit

INPUT_EVENTS = frozenset(
    {
        QEvent.Type.KeyPress,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.Wheel,
        QEvent.Type.TouchBegin,
        QEvent.Type.TabletPress,
        QEvent.Type.InputMethod,
    }
)
"""Events that count as input; a mouse move counts only if the position has changed."""


SHOWS_DICTATION = "shows_dictation"
"""Property of a field in which dictation shows words as an input method would."""


def is_composing(field: QPlainTextEdit) -> bool:
    """Return whether an input method composes a word in the field; Enter and arrow keys then belong to it."""
    return bool(field.textCursor().block().layout().preeditAreaText()) and not field.property(SHOWS_DICTATION)


class InputWatch(QObject):
    """Event filter on the program's windows, which receive each key and click once, unlike the widgets below them."""

    active = Signal()
    """Emitted at each input, and when another window gets the focus, such as a dialog."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._mouse_position = QPointF()
        self._windows: list[QWindow] = []
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        self._application = application
        application.focusWindowChanged.connect(self._on_focus_changed)
        for window in application.topLevelWindows():
            self._watch_window(window)

    def close(self) -> None:
        """Stop watching."""
        self._application.focusWindowChanged.disconnect(self._on_focus_changed)
        for window in self._windows:
            window.removeEventFilter(self)
        self._windows.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in INPUT_EVENTS or (event.type() == QEvent.Type.MouseMove and self._has_moved(event)):
            self.active.emit()
        return False

    def _has_moved(self, event: QEvent) -> bool:
        """Return whether the mouse was moved. Qt also sends move events for a still mouse when something moves below it."""
        if not isinstance(event, QMouseEvent) or event.globalPosition() == self._mouse_position:
            return False
        self._mouse_position = event.globalPosition()
        return True

    def _on_focus_changed(self, window: QWindow | None) -> None:
        if window is not None:
            self._watch_window(window)
            self.active.emit()

    def _watch_window(self, window: QWindow) -> None:
        if window not in self._windows:
            window.installEventFilter(self)
            window.destroyed.connect(lambda: self._windows.remove(window) if window in self._windows else None)
            self._windows.append(window)
