"""Gives Ctrl+Z to the page instead of the field that has the focus, which would undo only what happened in itself."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget

UNDOERS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)


class UndoGuard(QObject):
    """Stands before every field of `page` that gets the focus, so that the window's own shortcuts see these keys."""

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self._application = application
        application.focusChanged.connect(self._follow)

    def close(self) -> None:
        self._application.focusChanged.disconnect(self._follow)

    def _follow(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self._page.isAncestorOf(new):
            new.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        is_ours = any(event.matches(keys) for keys in UNDOERS)
        if is_ours:
            event.ignore()
        return is_ours
