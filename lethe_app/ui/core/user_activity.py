"""Tells the services that the user is here: keys, clicks, the wheel, a moved mouse, words in the writing field."""

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


class Presence(QObject):
    """Listens at the windows themselves, through which every key and click comes once, and not at every widget."""

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
        """Nobody tells any more."""
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
        """Qt also tells of a mouse that lies still, when something moves under it."""
        if not isinstance(event, QMouseEvent) or event.globalPosition() == self._mouse:
            return False
        self._mouse = event.globalPosition()
        return True

    def _came(self, window: QWindow | None) -> None:
        """A window of ours has the focus now, such as a dialog."""
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
