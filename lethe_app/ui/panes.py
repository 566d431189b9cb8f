"""Lays out the window: sidebar beside the chat where there is room, and as a drawer over it where there is not."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEasingCurve, QPoint, QPropertyAnimation, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSplitter, QVBoxLayout, QWidget

from lethe_app.ui.palette import MOTION_MS
from lethe_app.ui.sidebar import WIDTH
from lethe_app.ui.theme import Theme

DRAWER_BELOW = 720
"""Window width in pixels under which the sidebar is a drawer."""


class Panes(QWidget):
    """A splitter that further panes can join; the first of them leaves it when the window is narrow."""

    sidebar_shown = Signal(bool)
    """Is the sidebar there, or must a button call it?"""
    covered = Signal()
    """Something was laid over the panes; whoever wants to lie on top lifts itself."""

    def __init__(self, theme: Theme, sidebar: QWidget, chat: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._sidebar = theme, sidebar
        self._wanted = True
        self._narrow = False
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(sidebar)
        self.splitter.addWidget(chat)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([WIDTH, 1280 - WIDTH])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.splitter)
        self._scrim = Scrim(self)
        self._scrim.hide()
        self._scrim.pressed.connect(self.close_drawer)
        self._slide = QPropertyAnimation(sidebar, b"pos", self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)

    @property
    def is_narrow(self) -> bool:
        return self._narrow

    @property
    def is_drawer_open(self) -> bool:
        return self._narrow and not self._scrim.isHidden()

    def toggle_sidebar(self) -> None:
        """Open or close the drawer, or hide the sidebar for readers who want the words alone."""
        if self._narrow:
            self.close_drawer() if self.is_drawer_open else self.open_drawer()
        else:
            self._wanted = not self._wanted
            self._sidebar.setVisible(self._wanted)
            self.sidebar_shown.emit(self._wanted)

    def reveal_sidebar(self) -> None:
        """Make sure that the sidebar can be seen."""
        if self._narrow:
            self.open_drawer()
        elif not self._wanted:
            self.toggle_sidebar()

    def open_drawer(self) -> None:
        if not self._narrow or self.is_drawer_open:
            return
        self._scrim.setGeometry(self.rect())
        self._scrim.show()
        self._scrim.raise_()
        self._sidebar.setGeometry(0, 0, WIDTH, self.height())
        self._sidebar.show()
        self._sidebar.raise_()
        self.covered.emit()
        self._slide.stop()
        if not self._theme.reduced_motion:
            self._slide.setDuration(MOTION_MS)
            self._slide.setStartValue(QPoint(-WIDTH, 0))
            self._slide.setEndValue(QPoint(0, 0))
            self._slide.start()

    def close_drawer(self) -> None:
        """Nothing happens where the sidebar is no drawer."""
        if self.is_drawer_open:
            self._slide.stop()
            self._scrim.hide()
            self._sidebar.hide()

    def state(self) -> QByteArray:
        """Widths of the panes, to be given to `restore` at the next start."""
        return self.splitter.saveState()

    def restore(self, state: QByteArray) -> None:
        self.splitter.restoreState(state)
        self.splitter.setHandleWidth(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < DRAWER_BELOW
        if narrow != self._narrow:
            self._narrow = narrow
            self._leave_splitter() if narrow else self._join_splitter()
        elif self.is_drawer_open:
            self._scrim.setGeometry(self.rect())
            self._sidebar.resize(WIDTH, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.is_drawer_open:
            self.close_drawer()
        else:
            super().keyPressEvent(event)

    def _leave_splitter(self) -> None:
        self._sidebar.setParent(self)
        self._sidebar.hide()
        self._mark(drawer=True)
        self.sidebar_shown.emit(False)

    def _join_splitter(self) -> None:
        self._slide.stop()
        self._scrim.hide()
        self.splitter.insertWidget(0, self._sidebar)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([WIDTH, self.width() - WIDTH])
        self._sidebar.setVisible(self._wanted)
        self._mark(drawer=False)
        self.sidebar_shown.emit(self._wanted)

    def _mark(self, *, drawer: bool) -> None:
        self._sidebar.setProperty("drawer", drawer)
        self._sidebar.style().unpolish(self._sidebar)
        self._sidebar.style().polish(self._sidebar)


class Scrim(QFrame):
    """A veil over the chat while the drawer is open; a click on it closes the drawer."""

    pressed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("scrim")

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        self.pressed.emit()
