"""Layout of the window: sidebar, chat and memory panel side by side, or laid over the chat if the window is narrow."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEasingCurve, QPoint, QPropertyAnimation, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QSplitter, QWidget

from lethe_app.ui.core.actions import typed_text
from lethe_app.ui.core.palette import MOTION_MS, SPACE_8
from lethe_app.ui.core.theme import Theme, set_style_properties
from lethe_app.ui.shell.sidebar import SIDEBAR_WIDTH
from lethe_app.ui.widgets.layouts import build_column


class Scrim(QFrame):
    """Shade over the chat that intercepts mouse events while a pane lies over it."""

    pressed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("scrim")

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        self.pressed.emit()


DRAWER_MAX_WIDTH = 720
"""Window width in pixels below which the sidebar is a drawer, and the right panel lies over the chat."""
ALL_PANES_MIN_WIDTH = 1000
"""Window width in pixels below which the open right panel takes the sidebar's place, so that the chat keeps its width."""
PANEL_WIDTH, PANEL_MIN_WIDTH, PANEL_MAX_WIDTH = 328, 316, 440
"""Default, minimum and maximum width of the right panel, in pixels."""
RESTORE_WIDTH = 2400
"""Width in pixels at which all panes fit in their stored widths."""


class WindowPanes(QWidget):
    """Splitter with up to three panes; as the window becomes narrower, first the panel and then the sidebar leave it."""

    sidebar_shown = Signal(bool)
    """True if the sidebar is in the splitter; False if a button must open it."""
    panel_shown = Signal(bool)
    """True if the right panel is visible."""
    text_typed = Signal(str)
    """Emitted with text that was typed while the focus was on a widget that does not take any."""
    overlay_shown = Signal()
    """Emitted after something was laid over the panes; widgets that should be on top raise themselves."""

    def __init__(
        self,
        theme: Theme,
        sidebar: QWidget,
        chat: QWidget,
        panel: QWidget,
        *,
        is_panel_enabled: bool,
    ) -> None:
        """Arrange the panes; `is_panel_enabled` is whether the right panel was open when the window was closed."""
        super().__init__()
        self._theme, self._sidebar, self._chat, self._panel = theme, sidebar, chat, panel
        self._is_sidebar_enabled, self._is_panel_enabled = True, is_panel_enabled
        self._is_narrow = False
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(sidebar)
        self.splitter.addWidget(chat)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([SIDEBAR_WIDTH, 1280 - SIDEBAR_WIDTH])
        build_column(self.splitter, parent=self)
        self._scrim = Scrim(self)
        self._scrim.hide()
        self._scrim.pressed.connect(self._close_overlays)
        self._slide = QPropertyAnimation(sidebar, b"pos", self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.setDuration(MOTION_MS)
        self._sidebar_width = SIDEBAR_WIDTH
        self.splitter.splitterMoved.connect(self._on_splitter_moved)
        panel.setMinimumWidth(PANEL_MIN_WIDTH)
        panel.setMaximumWidth(PANEL_MAX_WIDTH)
        self._add_panel_to_splitter()

    # Sidebar

    @property
    def is_narrow(self) -> bool:
        """Return whether sidebar and panel lie over the chat while they are open."""
        return self._is_narrow

    @property
    def is_drawer_open(self) -> bool:
        return self._is_narrow and not self._sidebar.isHidden()

    def toggle_sidebar(self) -> None:
        """Open or close the drawer, or show or hide the sidebar in the splitter."""
        if self._is_narrow:
            self.close_drawer() if self.is_drawer_open else self.open_drawer()
        elif self._is_sidebar_displaced and self._is_sidebar_enabled:
            self.close_panel()
        else:
            self._is_sidebar_enabled = not self._is_sidebar_enabled
            self._update_sidebar()

    def show_sidebar(self) -> None:
        """Make the sidebar visible."""
        if self._is_narrow:
            self.open_drawer()
        elif self._sidebar.isHidden():
            self.toggle_sidebar()

    @property
    def _is_sidebar_displaced(self) -> bool:
        """Return whether the right panel takes the sidebar's place."""
        return self.is_panel_open and not self._is_narrow and self.width() < ALL_PANES_MIN_WIDTH

    def _update_sidebar(self) -> None:
        """Show the sidebar in the splitter if the user wants it and there is space."""
        is_shown = self._is_sidebar_enabled and not self._is_sidebar_displaced
        if not self._is_narrow and is_shown == self._sidebar.isHidden():
            self._sidebar.setVisible(is_shown)
            self.sidebar_shown.emit(is_shown)

    def open_drawer(self) -> None:
        if not self._is_narrow or self.is_drawer_open:
            return
        self._close_overlays()
        self._show_over_chat(self._sidebar, QRect(0, 0, SIDEBAR_WIDTH, self.height()), -SIDEBAR_WIDTH)

    def close_drawer(self) -> None:
        """Close the drawer; does nothing if the sidebar is in the splitter."""
        if self.is_drawer_open:
            self._slide.stop()
            self._scrim.hide()
            self._sidebar.hide()

    # Right panel

    @property
    def is_panel_enabled(self) -> bool:
        """Return whether the user wants the panel to be open beside the chat."""
        return self._is_panel_enabled

    @property
    def is_panel_open(self) -> bool:
        return not self._panel.isHidden()

    def toggle_panel(self) -> None:
        self.close_panel() if self.is_panel_open else self.open_panel()

    def open_panel(self) -> None:
        """Open the panel beside the chat, or over it in a narrow window."""
        if self.is_panel_open:
            return
        self._is_panel_enabled = True
        if self._is_narrow:
            self.close_drawer()
            self._show_over_chat(self._panel, self._overlay_geometry(), self.width())
        else:
            self._panel.show()
            self._update_sidebar()
            self._restore_panel_width()
        self.panel_shown.emit(True)

    def close_panel(self) -> None:
        if not self.is_panel_open:
            return
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self._panel.isAncestorOf(focus)
        self._is_panel_enabled = False
        self._slide.stop()
        self._panel.hide()
        self._scrim.hide()
        self._update_sidebar()
        if had_focus:
            self._chat.setFocus()
        self.panel_shown.emit(False)

    def _overlay_geometry(self) -> QRect:
        """Return the geometry of the panel over the chat."""
        width = min(PANEL_WIDTH, max(PANEL_MIN_WIDTH, self.width() - SPACE_8))
        return QRect(self.width() - width, 0, width, self.height())

    def _restore_panel_width(self) -> None:
        """Give the panel its width at the expense of the chat, not of the sidebar."""
        sizes = self.splitter.sizes()
        if len(sizes) == 3 and sizes[2] < PANEL_MIN_WIDTH:
            self.splitter.setSizes([sizes[0], max(1, sum(sizes) - sizes[0] - PANEL_WIDTH), PANEL_WIDTH])

    # Overlays

    def _show_over_chat(self, pane: QWidget, geometry: QRect, start: int) -> None:
        """Show a pane over the shaded chat; it slides in from the position `start`."""
        self._scrim.setGeometry(self.rect())
        self._scrim.show()
        self._scrim.raise_()
        pane.setGeometry(geometry)
        pane.show()
        pane.raise_()
        self.overlay_shown.emit()
        self._slide.stop()
        if not self._theme.reduced_motion:
            self._slide.setTargetObject(pane)
            self._slide.setStartValue(QPoint(start, 0))
            self._slide.setEndValue(geometry.topLeft())
            self._slide.start()

    def _close_overlays(self) -> None:
        self.close_drawer()
        if self._is_narrow:
            self.close_panel()

    def save_state(self) -> QByteArray:
        """Return the widths of the panes, for `restore_state` at the next start."""
        return self.splitter.saveState()

    def restore_state(self, state: QByteArray) -> None:
        self.splitter.resize(RESTORE_WIDTH, self.splitter.height())  # nobody has to give way before the window is laid out
        self.splitter.restoreState(state)
        self._sidebar_width = self.splitter.sizes()[0]
        self.splitter.setHandleWidth(1)
        if self.is_panel_open and not self._is_narrow:
            self._restore_panel_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < DRAWER_MAX_WIDTH
        if is_narrow != self._is_narrow:
            was_panel_open, self._is_narrow = self.is_panel_open, is_narrow
            self._slide.stop()
            self._leave_splitter() if is_narrow else self._return_to_splitter()
            if was_panel_open != self.is_panel_open:
                self.panel_shown.emit(self.is_panel_open)
        elif is_narrow:
            self._scrim.setGeometry(self.rect())
            if self.is_drawer_open:
                self._sidebar.resize(SIDEBAR_WIDTH, self.height())
            if self.is_panel_open:
                self._slide.stop()
                self._panel.setGeometry(self._overlay_geometry())
        self._update_sidebar()
        self._restore_sidebar_width()

    def _leave_splitter(self) -> None:
        """Take sidebar and panel out of the splitter and hide them; from now on they are opened over the chat."""
        for pane in (self._panel, self._sidebar):
            pane.setParent(self)
            pane.hide()
        set_style_properties(self._panel, over=True)
        set_style_properties(self._sidebar, drawer=True)
        self.sidebar_shown.emit(False)

    def _return_to_splitter(self) -> None:
        self._scrim.hide()
        self._add_panel_to_splitter()
        self.splitter.insertWidget(0, self._sidebar)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([SIDEBAR_WIDTH, self.width() - SIDEBAR_WIDTH])
        is_shown = self._is_sidebar_enabled and not self._is_sidebar_displaced
        self._sidebar.setVisible(is_shown)
        set_style_properties(self._sidebar, drawer=False)
        self.sidebar_shown.emit(is_shown)

    def _add_panel_to_splitter(self) -> None:
        self.splitter.addWidget(self._panel)
        self.splitter.setStretchFactor(self.splitter.count() - 1, 0)
        self._panel.setVisible(self._is_panel_enabled)
        set_style_properties(self._panel, over=False)
        if self._is_panel_enabled:
            self._restore_panel_width()

    def _on_splitter_moved(self) -> None:
        if not self._is_narrow:
            self._sidebar_width = self.splitter.sizes()[0]

    def _restore_sidebar_width(self) -> None:
        """Restore the user's width of the sidebar if it was squeezed and there is enough space again."""
        width, *others = self.splitter.sizes()
        missing = self._sidebar_width - width
        if not self._is_narrow and width and missing > 0 and others[0] - missing >= self._chat.minimumSizeHint().width():
            self.splitter.setSizes([self._sidebar_width, others[0] - missing, *others[1:]])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and (self.is_drawer_open or (self._is_narrow and self.is_panel_open)):
            self._close_overlays()
        elif text := typed_text(event):
            self.text_typed.emit(text)
        else:
            super().keyPressEvent(event)
