"""Sidebar with personas and sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from lethe_app.ui.core.icons import BEFORE_WORDS, icon, icon_before_words
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.shell.actions import hint, keys_of, title_of
from lethe_app.ui.shell.activity_list import ActivityButton
from lethe_app.ui.shell.sidebar_model import PersonaRow, SessionRow, SidebarModel

WIDTH = 264
LEAST, MOST = 220, 360


class Sidebar(QFrame):
    """Search field, new session button, list and gear menu. It emits the user's requests and changes nothing itself."""

    persona_chosen = Signal(str)
    session_chosen = Signal(str)
    new_wanted = Signal(str)
    """Id of the persona; empty for the current one."""
    rename_wanted = Signal(str, str)
    delete_wanted = Signal(str)
    edit_wanted = Signal(str)
    duplicate_wanted = Signal(str)
    give_wanted = Signal(str)
    """Like `edit_wanted` and `duplicate_wanted`, with the id of the persona."""

    def __init__(self, theme: Theme, clock: Callable[[], datetime], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setMinimumWidth(LEAST)
        self.setMaximumWidth(MOST)
        self.setAccessibleName(self.tr("Personas and conversations"))
        self._theme = theme
        self._glass: QAction | None = None
        self._place = ("", 0)
        self.model = SidebarModel(clock, self)
        self.model.rename_wanted.connect(self.rename_wanted)
        self._build_top()
        self._build_list()
        self._build_bottom()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, SPACE_3, 0, SPACE_2)
        column.setSpacing(SPACE_2)
        column.addLayout(self._top)
        column.addWidget(self.list, 1)
        column.addWidget(self.nothing, 1)
        column.addLayout(self._below)
        column.addLayout(self._bottom)
        theme.changed.connect(self.dress)

    def _build_top(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setAccessibleName(title_of("search"))
        self.search.setToolTip(hint("search"))
        self.search.textChanged.connect(self._search)
        self.search.returnPressed.connect(self._open_first)
        self.new = QPushButton(title_of("new"))
        self.new.setProperty("row", True)
        self.new.setToolTip(hint("new"))
        self.new.clicked.connect(lambda: self.new_wanted.emit(""))
        self._top = QVBoxLayout()
        self._top.setContentsMargins(SPACE_3, 0, SPACE_3, 0)
        self._top.setSpacing(SPACE_1)
        self._top.addWidget(self.search)
        self._top.addWidget(self.new)

    def _build_list(self) -> None:
        self.list = _List(self)
        self.list.setModel(self.model)
        self.list.setAccessibleName(self.tr("Personas and conversations"))
        self.list.clicked.connect(self._open)
        self.list.entered_on.connect(self._open)
        self.list.delete_pressed.connect(self._delete)
        self.list.customContextMenuRequested.connect(self._show_menu)
        self.model.modelAboutToBeReset.connect(self._remember_place)
        self.model.rearranged.connect(self._restore_place)
        self.nothing = QLabel(self.tr("No matches."))
        self.nothing.setProperty("quiet", True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.nothing.hide()

    def _build_bottom(self) -> None:
        self.add = QPushButton(title_of("new_persona"))
        self.add.setProperty("row", True)
        self.add.setToolTip(hint("new_persona"))
        self._below = QVBoxLayout()
        self._below.setContentsMargins(SPACE_3, 0, SPACE_3, 0)
        self._below.addWidget(self.add)
        self.gear = QToolButton()
        self.gear.setIconSize(QSize(ICON, ICON))
        self.gear.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.gear.setAccessibleName(self.tr("Settings"))
        self.gear.setToolTip(self.tr("Settings"))
        self._bottom = QHBoxLayout()
        self._bottom.setContentsMargins(SPACE_3, 0, SPACE_3, 0)
        self._bottom.addWidget(self.gear)
        self.activity = ActivityButton(self._theme)
        self._bottom.addWidget(self.activity, 1)
        self._bottom.addStretch(0)

    def dress(self) -> None:
        """Set the icons; called after the first paint, so that rendering them does not delay it."""
        if self._glass is None:
            self._glass = self._finish()
        palette = self._theme.palette
        self._glass.setIcon(icon("search", palette.muted))
        self.new.setIcon(icon_before_words("plus", palette.text))
        self.new.setIconSize(BEFORE_WORDS)
        self.add.setIcon(icon_before_words("plus", palette.muted))
        self.add.setIconSize(BEFORE_WORDS)
        self.gear.setIcon(icon("settings", palette.muted))
        self._fit()
        self.list.viewport().update()

    def _fit(self) -> None:
        """Make the sidebar at least as wide as its two buttons, whose width depends on the text size."""
        for button in (self.new, self.add):
            button.ensurePolished()
        widest = max(self.new.sizeHint().width(), self.add.sizeHint().width())
        self.setMinimumWidth(min(max(LEAST, widest + 2 * SPACE_3), MOST))

    def _finish(self) -> QAction:
        """Set up what the first paint does not need: the delegate of the list, and the buttons inside the search field."""
        from lethe_app.ui.shell.sidebar_delegate import SidebarDelegate  # noqa: PLC0415 - there are no rows to paint before

        self.list.setItemDelegate(SidebarDelegate(self._theme, self.list))
        self.search.setClearButtonEnabled(True)
        return self.search.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)

    # Content

    def set_personas(self, personas: list[PersonaRow]) -> None:
        self.model.set_personas(personas)

    def set_sessions(self, persona_id: str, sessions: list[SessionRow]) -> None:
        self.model.set_sessions(persona_id, sessions)

    def set_open(self, persona_id: str, guid: str) -> None:
        self.model.set_open(persona_id, guid)
        index = self.model.index_of(f"session {guid}")
        if index.isValid() and not self.list.hasFocus():
            self.list.setCurrentIndex(index)
            self.list.scrollTo(index)

    # User actions

    def focus_list(self) -> None:
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not self.list.currentIndex().isValid() and self.model.rowCount():
            self.list.setCurrentIndex(self.model.index(0))

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _search(self, text: str) -> None:
        self.model.set_wanted(text)
        empty = self.model.is_searching and self.model.rowCount() == 0
        self.list.setVisible(not empty)
        self.nothing.setVisible(empty)

    def _open_first(self) -> None:
        rows = [self.model.index(number) for number in range(self.model.rowCount())]
        sessions = [index for index in rows if isinstance(self.model.row_at(index), SessionRow)]
        for index in (sessions or rows)[:1]:
            self._open(index)
            self.search.clear()

    def _open(self, index: QModelIndex) -> None:
        row = self.model.row_at(index)
        if isinstance(row, SessionRow):
            self.session_chosen.emit(row.guid)
        elif isinstance(row, PersonaRow):
            self.persona_chosen.emit(row.persona_id)

    def _delete(self, index: QModelIndex) -> None:
        row = self.model.row_at(index)
        if isinstance(row, SessionRow):
            self.delete_wanted.emit(row.guid)

    def _show_menu(self, point: QPoint) -> None:
        index = self.list.indexAt(point)
        if index.isValid():
            menu = self.menu_for(index)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.list.viewport().mapToGlobal(point))

    def menu_for(self, index: QModelIndex) -> QMenu:
        """Return the context menu of the row at `index`."""
        menu = QMenu(self)
        row = self.model.row_at(index)
        palette = self._theme.palette
        if isinstance(row, SessionRow):
            menu.addAction(self.tr("Open"), lambda: self.session_chosen.emit(row.guid))
            edit = menu.addAction(icon("edit", palette.muted), self.tr("Rename"), lambda: self.list.edit(index))
            edit.setShortcut(keys_of("rename"))
            ask = partial(self.delete_wanted.emit, row.guid)
            delete = menu.addAction(icon("trash", palette.muted), self.tr("Delete…"), ask)
            delete.setShortcut(keys_of("delete"))
        elif isinstance(row, PersonaRow):
            title = self.tr("New conversation with {name}").format(name=row.name)
            menu.addAction(icon("plus", palette.muted), title, lambda: self.new_wanted.emit(row.persona_id))
            menu.addAction(icon("edit", palette.muted), self.tr("Edit…"), lambda: self.edit_wanted.emit(row.persona_id))
            duplicate = partial(self.duplicate_wanted.emit, row.persona_id)
            menu.addAction(icon("copy", palette.muted), self.tr("Duplicate"), duplicate)
            menu.addAction(icon("export", palette.muted), self.tr("Export…"), partial(self.give_wanted.emit, row.persona_id))
        return menu

    def _remember_place(self) -> None:
        row = self.model.row_at(self.list.currentIndex())
        self._place = (row.key if row is not None else "", self.list.verticalScrollBar().value())

    def _restore_place(self) -> None:
        key, scrolled = self._place
        index = self.model.index_of(key)
        if index.isValid():
            self.list.setCurrentIndex(index)
        self.list.verticalScrollBar().setValue(scrolled)


class _List(QListView):
    """List view that opens a row on a click or Enter, renames on F2 and requests deletion on Del."""

    entered_on = Signal(QModelIndex)
    delete_pressed = Signal(QModelIndex)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)  # rows light up under the mouse
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setResizeMode(QListView.ResizeMode.Adjust)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.state() != QAbstractItemView.State.EditingState:
            self.entered_on.emit(self.currentIndex())
        elif event.key() in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.delete_pressed.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)
