"""List and detail side by side, or by turns where there is no room for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QSplitter, QStackedWidget, QToolButton, QWidget

from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme, interface_font_size
from lethe_app.ui.widgets.layouts import build_column, build_row

if TYPE_CHECKING:
    from lethe_app.ui.widgets.table import Table

MIN_WIDTH_FOR_BOTH = 700
"""Minimum width in pixels at which both are shown, at the default text size."""


class ListDetailPanes(QSplitter):
    """Splitter of a table, or of a widget that contains it, and the detail of its current row.

    In a narrow window one of them is shown: a click or Enter on a row shows the detail, its back button or Esc the table.
    Index 0 of the detail is its placeholder, which never takes the place of the table, and is hidden beside an empty one.
    """

    detail_in_front = Signal(bool)
    """Emitted with True when the detail has taken the place of the table, and with False when it no longer does."""

    def __init__(self, theme: Theme, table: Table[Any], detail: QStackedWidget, list_view: QWidget | None = None) -> None:
        """Create the panes; `list_view` contains the table if it does not stand alone."""
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._table, self._detail = theme, table, detail
        self._list_view = list_view if list_view is not None else table
        self._is_detail_chosen = False
        self.back_button = QToolButton()
        self.back_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.back_button.setIconSize(BUTTON_ICON_SIZE)
        text = self.tr("Back to list")
        self.back_button.setText(text)
        set_button_tooltip(self.back_button, self.tr("Back to list  Esc"), text)
        self.back_button.clicked.connect(lambda _checked=False: self.show_list())
        self._bar, self._side = QFrame(), QWidget()
        self._bar.hide()
        build_row(self.back_button, 1, margins=(SPACE_2, SPACE_1, SPACE_2, 0), parent=self._bar)
        build_column(self._bar, (detail, 1), parent=self._side)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self.addWidget(self._list_view)
        self.addWidget(self._side)
        self.setStretchFactor(0, 1)
        # Connected before any slot of the page, which may focus a field of the detail: a hidden one would not take it.
        table.opened.connect(lambda _row: self.show_detail())
        table.clicked.connect(self._on_clicked)
        for signal in (table.table_model.modelReset, table.table_model.rowsInserted, table.table_model.rowsRemoved):
            signal.connect(self._update_layout)
        detail.currentChanged.connect(lambda _index: self._update_layout())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    @property
    def is_narrow(self) -> bool:
        """True if there is no room for both."""
        return self.width() < MIN_WIDTH_FOR_BOTH * interface_font_size(self._theme.prose_size) / 13

    @property
    def is_detail_in_front(self) -> bool:
        """True if the detail is shown in place of the table."""
        return self.is_narrow and self._is_detail_chosen and self._detail.currentIndex() > 0

    def show_detail(self) -> None:
        """Show the detail, as soon as there is one, in place of the table if there is no room for both."""
        self._is_detail_chosen = True
        self._update_layout()

    def show_list(self, *, take_focus: bool = True) -> None:
        """Show the table, and give it the focus unless the user is typing elsewhere."""
        self._is_detail_chosen = False
        self._update_layout()
        if take_focus:
            self._table.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_layout()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.is_detail_in_front:
            self.show_list()
        else:
            super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        # With a key held down, the click adds a row to the selection or takes it out; a check box is only checked.
        is_checkable = bool(index.flags() & Qt.ItemFlag.ItemIsUserCheckable)
        if QApplication.keyboardModifiers() == Qt.KeyboardModifier.NoModifier and not is_checkable:
            self.show_detail()

    def _update_layout(self, *_changed: object) -> None:
        is_narrow, is_detail_in_front = self.is_narrow, self.is_detail_in_front
        had_focus = self._table.hasFocus()
        has_content = bool(self._table.table_model.row_total) or self._detail.currentIndex() > 0
        self._side.setVisible(is_detail_in_front or (has_content and not is_narrow))
        self._list_view.setVisible(not is_detail_in_front)
        if is_detail_in_front != (not self._bar.isHidden()):  # the bar is shown exactly while the detail is in front
            self._bar.setVisible(is_detail_in_front)
            self.detail_in_front.emit(is_detail_in_front)
        if had_focus and is_detail_in_front:
            self.back_button.setFocus()

    def _apply_theme(self) -> None:
        self.back_button.setIcon(load_icon("chevron-left", self._theme.palette.text))
        self._update_layout()
