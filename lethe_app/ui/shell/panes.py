"""Layout of the window: sidebar, chat and memory panel side by side, or laid over the chat if the window is narrow."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEasingCurve, QPoint, QPropertyAnimation, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QSplitter, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import MOTION_MS, SPACE_8
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.shell.sidebar import WIDTH


class Scrim(QFrame):
    """Shade over the chat that intercepts mouse events while a pane lies over it."""

    pressed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("scrim")

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        self.pressed.emit()


DRAWER_BELOW = 720
"""Window width in pixels below which the sidebar is a drawer."""
PANEL_BESIDE = 1000
"""Window width in pixels from which the right panel is beside the chat."""
PANEL, PANEL_LEAST, PANEL_MOST = 328, 316, 440
"""Default, minimum and maximum width of the right panel, in pixels."""
AMPLE = 2400
"""Width in pixels at which all panes fit in their stored widths."""


class WindowPanes(QWidget):
    """Splitter with up to three panes; as the window becomes narrower, first the panel and then the sidebar leave it."""

    sidebar_shown = Signal(bool)
    """True if the sidebar is in the splitter; False if a button must open it."""
    panel_shown = Signal(bool)
    """True if the right panel is visible."""
    covered = Signal()
    """Emitted after something was laid over the panes; widgets that should be on top raise themselves."""

    def __init__(self, theme: Theme, sidebar: QWidget, chat: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._sidebar, self._chat = theme, sidebar, chat
        self._panel: QWidget | None = None
        self._wanted, self._panel_wanted = True, False
        self._narrow, self._is_over = False, False
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
        self._scrim.pressed.connect(self._uncover)
        self._slide = self._sliding(sidebar)
        self._sidebar_width = WIDTH
        self.splitter.splitterMoved.connect(self._moved)

    def _sliding(self, pane: QWidget) -> QPropertyAnimation:
        slide = QPropertyAnimation(pane, b"pos", self)
        slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        return slide

    # Sidebar

    @property
    def is_narrow(self) -> bool:
        return self._narrow

    @property
    def is_drawer_open(self) -> bool:
        return self._narrow and not self._sidebar.isHidden()

    def toggle_sidebar(self) -> None:
        """Open or close the drawer, or show or hide the sidebar in the splitter."""
        if self._narrow:
            self.close_drawer() if self.is_drawer_open else self.open_drawer()
        else:
            self._wanted = not self._wanted
            self._sidebar.setVisible(self._wanted)
            self.sidebar_shown.emit(self._wanted)

    def reveal_sidebar(self) -> None:
        """Make the sidebar visible."""
        if self._narrow:
            self.open_drawer()
        elif not self._wanted:
            self.toggle_sidebar()

    def open_drawer(self) -> None:
        if not self._narrow or self.is_drawer_open:
            return
        self._uncover()
        self._cover()
        self._sidebar.setGeometry(0, 0, WIDTH, self.height())
        self._sidebar.show()
        self._sidebar.raise_()
        self.covered.emit()
        self._let_in(self._slide, -WIDTH, 0)

    def close_drawer(self) -> None:
        """Close the drawer; does nothing if the sidebar is in the splitter."""
        if self.is_drawer_open:
            self._slide.stop()
            self._scrim.hide()
            self._sidebar.hide()

    # Right panel

    def set_panel(self, panel: QWidget, *, wanted: bool) -> None:
        """Add the right panel; `wanted` is whether it was open when the window was closed."""
        self._panel, self._panel_wanted = panel, wanted
        self._panel_slide = self._sliding(panel)
        panel.setMinimumWidth(PANEL_LEAST)
        panel.setMaximumWidth(PANEL_MOST)
        self._join_panel()

    @property
    def panel_wanted(self) -> bool:
        """Return whether the user wants the panel to be open beside the chat."""
        return self._panel_wanted

    @property
    def is_panel_open(self) -> bool:
        return self._panel is not None and not self._panel.isHidden()

    @property
    def is_panel_over(self) -> bool:
        """Return whether the panel lies over the chat, or would if it were open."""
        return self._is_over

    def toggle_panel(self) -> None:
        self.close_panel() if self.is_panel_open else self.open_panel()

    def open_panel(self) -> None:
        """Open the panel beside the chat, or over it in a narrow window."""
        if self._panel is None or self.is_panel_open:
            return
        self._panel_wanted = True
        if self._is_over:
            self._lay_over(self._panel)
        else:
            self._panel.show()
            self._share_out()
        self.panel_shown.emit(True)

    def close_panel(self) -> None:
        if self._panel is None or not self.is_panel_open:
            return
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self._panel.isAncestorOf(focus)
        self._panel_wanted = False
        self._panel_slide.stop()
        self._panel.hide()
        self._scrim.hide()
        if had_focus:
            self._chat.setFocus()
        self.panel_shown.emit(False)

    def _lay_over(self, panel: QWidget) -> None:
        self.close_drawer()
        if self._narrow:
            self._cover()
        panel.setGeometry(*self._over())
        panel.show()
        panel.raise_()
        self.covered.emit()
        self._let_in(self._panel_slide, self.width(), panel.x())

    def _over(self) -> tuple[int, int, int, int]:
        """Return the geometry of the panel over the chat."""
        width = min(PANEL, max(PANEL_LEAST, self.width() - SPACE_8))
        return self.width() - width, 0, width, self.height()

    def _share_out(self) -> None:
        """Give the panel its width at the expense of the chat, not of the sidebar."""
        sizes = self.splitter.sizes()
        if len(sizes) == 3 and sizes[2] < PANEL_LEAST:
            self.splitter.setSizes([sizes[0], max(1, sum(sizes) - sizes[0] - PANEL), PANEL])

    def _join_panel(self) -> None:
        if self._panel is None:
            return
        self._panel_slide.stop()
        self.splitter.addWidget(self._panel)
        self.splitter.setStretchFactor(self.splitter.count() - 1, 0)
        self._panel.setVisible(self._panel_wanted)
        self._mark(self._panel, over=False)
        if self._panel_wanted:
            self._share_out()

    def _part_panel(self) -> None:
        """Take the panel out of the splitter and hide it; from now on it is opened over the chat."""
        if self._panel is None:
            return
        self._panel.setParent(self)
        self._panel.hide()
        self._mark(self._panel, over=True)

    # Overlays

    def _let_in(self, slide: QPropertyAnimation, start: int, end: int) -> None:
        slide.stop()
        if not self._theme.reduced_motion:
            slide.setDuration(MOTION_MS)
            slide.setStartValue(QPoint(start, 0))
            slide.setEndValue(QPoint(end, 0))
            slide.start()

    def _cover(self) -> None:
        self._scrim.setGeometry(self.rect())
        self._scrim.show()
        self._scrim.raise_()

    def _uncover(self) -> None:
        self.close_drawer()
        if self._is_over:
            self.close_panel()

    def state(self) -> QByteArray:
        """Return the widths of the panes, for `restore` at the next start."""
        return self.splitter.saveState()

    def restore(self, state: QByteArray) -> None:
        self.splitter.resize(AMPLE, self.splitter.height())  # nobody has to give way before the window is laid out
        self.splitter.restoreState(state)
        self._sidebar_width = self.splitter.sizes()[0]
        self.splitter.setHandleWidth(1)
        if self.is_panel_open and not self._is_over:
            self._share_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._follow_panel()
        narrow = self.width() < DRAWER_BELOW
        if narrow != self._narrow:
            self._narrow = narrow
            self._leave_splitter() if narrow else self._join_splitter()
        elif self.is_drawer_open:
            self._scrim.setGeometry(self.rect())
            self._sidebar.resize(WIDTH, self.height())
        self._widen_sidebar()

    def _moved(self) -> None:
        if not self._narrow:
            self._sidebar_width = self.splitter.sizes()[0]

    def _widen_sidebar(self) -> None:
        """Restore the user's width of the sidebar if it was squeezed and there is enough space again."""
        width, *others = self.splitter.sizes()
        missing = self._sidebar_width - width
        if not self._narrow and width and missing > 0 and others[0] - missing >= self._chat.minimumSizeHint().width():
            self.splitter.setSizes([self._sidebar_width, others[0] - missing, *others[1:]])

    def _follow_panel(self) -> None:
        over = self.width() < PANEL_BESIDE
        if over != self._is_over:
            was_open, self._is_over = self.is_panel_open, over
            self._part_panel() if over else self._join_panel()
            if was_open != self.is_panel_open:
                self.panel_shown.emit(self.is_panel_open)
        elif over and self._panel is not None and self.is_panel_open:
            self._panel_slide.stop()
            self._panel.setGeometry(*self._over())
            if not self._scrim.isHidden():
                self._scrim.setGeometry(self.rect())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and (self.is_drawer_open or (self._is_over and self.is_panel_open)):
            self._uncover()
        else:
            super().keyPressEvent(event)

    def _leave_splitter(self) -> None:
        self._sidebar.setParent(self)
        self._sidebar.hide()
        self._mark(self._sidebar, drawer=True)
        if self._is_over:
            self.close_panel()
        self.sidebar_shown.emit(False)

    def _join_splitter(self) -> None:
        self._slide.stop()
        self._scrim.hide()
        self.splitter.insertWidget(0, self._sidebar)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([WIDTH, self.width() - WIDTH])
        self._sidebar.setVisible(self._wanted)
        self._mark(self._sidebar, drawer=False)
        self.sidebar_shown.emit(self._wanted)

    def _mark(self, pane: QWidget, **marks: bool) -> None:
        for name, value in marks.items():
            pane.setProperty(name, value)
        pane.style().unpolish(pane)
        pane.style().polish(pane)
