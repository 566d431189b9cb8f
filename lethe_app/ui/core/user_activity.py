"""Report of the user's input to the services, which measure idle time: keys, clicks, wheel, mouse moves and drafts."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWindow

from lethe_app.services.scheduling.idle import Idleness
from lethe_app.ui.chat.composer import Composer

SIGNS = frozenset(
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


class Presence(QObject):
    """Event filter on the program's windows, which receive each key and click once, unlike the widgets below them."""

    def __init__(self, window: QWindow | None, composer: Composer, idleness: Idleness, parent: QObject) -> None:
        super().__init__(parent)
        self._idleness = idleness
        self._composer = composer
        self._mouse = QPointF()
        self._watched: list[QWindow] = []
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        self._application = application
        application.focusWindowChanged.connect(self._came)
        composer.text.textChanged.connect(self._written)
        self._watch(window)
        idleness.watch()
        self._written()

    def close(self) -> None:
        """Remove the event filters and stop reporting."""
        self._application.focusWindowChanged.disconnect(self._came)
        self._composer.text.textChanged.disconnect(self._written)
        for window in self._watched:
            window.removeEventFilter(self)
        self._watched.clear()
        self._idleness.look_away()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in SIGNS or (event.type() == QEvent.Type.MouseMove and self._has_moved(event)):
            self._idleness.touch()
        return False

    def _has_moved(self, event: QEvent) -> bool:
        """Return whether the mouse was moved. Qt also sends move events for a still mouse when something moves below it."""
        if not isinstance(event, QMouseEvent) or event.globalPosition() == self._mouse:
            return False
        self._mouse = event.globalPosition()
        return True

    def _came(self, window: QWindow | None) -> None:
        """Follow the focus to another window of the program, such as a dialog."""
        if window is not None:
            self._idleness.touch()
            self._watch(window)

    def _watch(self, window: QWindow | None) -> None:
        if window is not None and window not in self._watched:
            window.installEventFilter(self)
            window.destroyed.connect(lambda: self._watched.remove(window) if window in self._watched else None)
            self._watched.append(window)

    def _written(self) -> None:
        self._idleness.compose(words=not self._composer.text.document().isEmpty())
