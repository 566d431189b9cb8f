"""Report of the user's input to the services, which measure idle time: keys, clicks, wheel, mouse moves and drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWindow

from lethe_app.ui.controllers.controller import Controller

if TYPE_CHECKING:
    from lethe_app.services.scheduling.loop import Idleness
    from lethe_app.ui.shell.main_window import MainWindow

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


class UserActivity(Controller):
    """Event filter on the program's windows, which receive each key and click once, unlike the widgets below them."""

    def __init__(self, window: MainWindow, idleness: Idleness) -> None:
        super().__init__(window)
        self._idleness = idleness
        self._draft_field = window.chat.composer.draft_field
        self._mouse_position = QPointF()
        self._watched_windows: list[QWindow] = []
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        self._application = application
        application.focusWindowChanged.connect(self._on_focus_window_changed)
        self._draft_field.textChanged.connect(self._on_draft_changed)
        self._watch_window(window.windowHandle())
        idleness.start_watching()
        self._on_draft_changed()

    def close(self) -> None:
        """Remove the event filters and stop reporting."""
        super().close()
        self._application.focusWindowChanged.disconnect(self._on_focus_window_changed)
        self._draft_field.textChanged.disconnect(self._on_draft_changed)
        for window in self._watched_windows:
            window.removeEventFilter(self)
        self._watched_windows.clear()
        self._idleness.stop_watching()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in INPUT_EVENTS or (event.type() == QEvent.Type.MouseMove and self._has_moved(event)):
            self._idleness.record_action()
        return False

    def _has_moved(self, event: QEvent) -> bool:
        """Return whether the mouse was moved. Qt also sends move events for a still mouse when something moves below it."""
        if not isinstance(event, QMouseEvent) or event.globalPosition() == self._mouse_position:
            return False
        self._mouse_position = event.globalPosition()
        return True

    def _on_focus_window_changed(self, window: QWindow | None) -> None:
        """Follow the focus to another window of the program, such as a dialog."""
        if window is not None:
            self._idleness.record_action()
            self._watch_window(window)

    def _watch_window(self, window: QWindow | None) -> None:
        if window is not None and window not in self._watched_windows:
            window.installEventFilter(self)
            window.destroyed.connect(lambda: self._watched_windows.remove(window) if window in self._watched_windows else None)
            self._watched_windows.append(window)

    def _on_draft_changed(self) -> None:
        self._idleness.set_composing(has_text=not self._draft_field.document().isEmpty())
