"""Sidebar with personas and sessions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from lethe_app.ui.core.accessibility import announce, name_field_buttons, set_button_tooltip
from lethe_app.ui.core.actions import action_shortcut, action_title, action_tooltip
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon, load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.shell.activity_list import ActivityButton
from lethe_app.ui.shell.sidebar_model import PersonaRow, SessionRow, SidebarModel
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.layouts import build_column, build_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from lethe_app.ui.core.theme import Theme

SIDEBAR_WIDTH = 264
MIN_WIDTH, MAX_WIDTH = 220, 360
PERSONA_COMMANDS = {
    "new": ("plus", str(QT_TRANSLATE_NOOP("Sidebar", "New conversation with {name}"))),
    "incognito": ("incognito", ""),
    "persona_editor": ("edit", str(QT_TRANSLATE_NOOP("Sidebar", "Edit…"))),
    "duplicate_persona": ("copy", str(QT_TRANSLATE_NOOP("Sidebar", "Duplicate"))),
    "export": ("export", str(QT_TRANSLATE_NOOP("Sidebar", "Export…"))),
    "delete_persona": ("trash", str(QT_TRANSLATE_NOOP("Sidebar", "Delete…"))),
}
"""Commands in the menu of a persona, each with its icon, and its title if it is not that of the action."""


class Sidebar(QFrame):
    """Search field, new session button, list and gear menu. It emits the user's requests and changes nothing itself."""

    persona_chosen = Signal(str)
    session_chosen = Signal(str)
    rename_requested = Signal(str, str)
    command_chosen = Signal(str, str)
    """Name of a command on a persona or session, which is that of its action, and the id of the persona or session."""

    def __init__(self, theme: Theme, clock: Callable[[], datetime]) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setMinimumWidth(MIN_WIDTH)
        self.setMaximumWidth(MAX_WIDTH)
        self.setAccessibleName(self.tr("Personas and conversations"))
        self._theme = theme
        self._search_icon_action: QAction | None = None
        self._remembered_position = ("", 0)
        self.model = SidebarModel(clock, self)
        self.model.rename_requested.connect(self.rename_requested)
        self._build_top()
        self._build_list()
        self._build_bottom()
        build_column(
            self._top,
            (self.session_list, 1),
            (self.empty_label, 1),
            self._below,
            self._bottom,
            spacing=SPACE_2,
            margins=(0, SPACE_3, 0, SPACE_2),
            parent=self,
        )
        theme.changed.connect(self.apply_theme)

    def _build_top(self) -> None:
        self.search_field = QLineEdit()
        self.search_field.setPlaceholderText(self.tr("Search"))
        set_button_tooltip(self.search_field, action_tooltip("find_conversation"))
        self.search_field.textChanged.connect(self._filter_rows)
        self.search_field.returnPressed.connect(self._open_first)
        self.new_session_button = QPushButton(action_title("new"))
        self.new_session_button.setProperty("row", True)
        set_button_tooltip(self.new_session_button, action_tooltip("new"))
        self.new_session_button.clicked.connect(lambda: self.command_chosen.emit("new", ""))
        self._top = build_column(self.search_field, self.new_session_button, spacing=SPACE_1, margins=(SPACE_3, 0, SPACE_3, 0))

    def _build_list(self) -> None:
        self.session_list = _List(self)
        self.session_list.setModel(self.model)
        self.session_list.setAccessibleName(self.tr("Personas and conversations"))
        self.session_list.clicked.connect(self._open_row)
        self.session_list.row_entered.connect(self._open_row)
        self.session_list.delete_pressed.connect(self._request_deletion)
        self.session_list.customContextMenuRequested.connect(self._show_menu)
        self.model.modelAboutToBeReset.connect(self._remember_position)
        self.model.rearranged.connect(self._restore_position)
        self.empty_label = QLabel(self.tr("No matches."))
        self.empty_label.setProperty("quiet", True)
        self.empty_label.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.empty_label.hide()

    def _build_bottom(self) -> None:
        self.new_persona_button = QPushButton(action_title("new_persona"))
        self.new_persona_button.setProperty("row", True)
        set_button_tooltip(self.new_persona_button, action_tooltip("new_persona"))
        self._below = build_column(self.new_persona_button, margins=(SPACE_3, 0, SPACE_3, 0))
        self.gear_button = IconButton(self._theme, "settings", self.tr("Settings"))
        self.gear_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.activity_button = ActivityButton(self._theme)
        self._bottom = build_row(
            self.gear_button, (self.activity_button, 1), 0, spacing=SPACE_2, margins=(SPACE_3, 0, SPACE_3, 0)
        )

    def apply_theme(self) -> None:
        """Set the icons; called after the first paint, so that rendering them does not delay it."""
        if self._search_icon_action is None:
            self._search_icon_action = self._finish_build()
        palette = self._theme.palette
        self._search_icon_action.setIcon(load_icon("search", palette.muted))
        self.new_session_button.setIcon(load_button_icon("plus", palette.text))
        self.new_session_button.setIconSize(BUTTON_ICON_SIZE)
        self.new_persona_button.setIcon(load_button_icon("plus", palette.muted))
        self.new_persona_button.setIconSize(BUTTON_ICON_SIZE)
        self._adjust_min_width()
        self.session_list.viewport().update()

    def _adjust_min_width(self) -> None:
        """Make the sidebar at least as wide as its two buttons, whose width depends on the text size."""
        for button in (self.new_session_button, self.new_persona_button):
            button.ensurePolished()
        widest = max(self.new_session_button.sizeHint().width(), self.new_persona_button.sizeHint().width())
        self.setMinimumWidth(min(max(MIN_WIDTH, widest + 2 * SPACE_3), MAX_WIDTH))

    def _finish_build(self) -> QAction:
        """Set up what the first paint does not need: the delegate of the list, and the buttons inside the search field."""
        from lethe_app.ui.shell.sidebar_delegate import SidebarDelegate  # noqa: PLC0415 - there are no rows to paint before

        self.session_list.setItemDelegate(SidebarDelegate(self._theme, self.session_list))
        self.search_field.setClearButtonEnabled(True)
        search_icon_action = self.search_field.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        name_field_buttons(self.search_field)
        return search_icon_action

    # Content

    def set_open_session(self, persona_id: str, guid: str) -> None:
        self.model.set_open_session(persona_id, guid)
        index = self.model.index_of(f"session {guid}")
        if index.isValid() and not self.session_list.hasFocus():
            self.session_list.setCurrentIndex(index)
            self.session_list.scrollTo(index)

    # User actions

    def focus_list(self) -> None:
        self.session_list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not self.session_list.currentIndex().isValid() and self.model.rowCount():
            self.session_list.setCurrentIndex(self.model.index(0))

    def rename_session(self, guid: str) -> None:
        """Open the editor on the title of a session; without effect if it is not listed."""
        index = self.model.index_of(f"session {guid}")
        if index.isValid():
            self.session_list.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.session_list.setCurrentIndex(index)
            self.session_list.edit(index)

    def focus_search(self) -> None:
        self.search_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search_field.selectAll()

    def _filter_rows(self, text: str) -> None:
        self.model.set_search_text(text)
        empty = self.model.is_searching and self.model.rowCount() == 0
        self.session_list.setVisible(not empty)
        self.empty_label.setVisible(empty)
        if self.model.is_searching:
            found = format_count(self.model.rowCount(), self.tr("{n} match"), self.tr("{n} matches"))
            announce(self, self.empty_label.text() if empty else found)

    def _open_first(self) -> None:
        rows = [self.model.index(number) for number in range(self.model.rowCount())]
        sessions = [index for index in rows if isinstance(self.model.row_at(index), SessionRow)]
        for index in (sessions or rows)[:1]:
            self._open_row(index)
            self.search_field.clear()

    def _open_row(self, index: QModelIndex) -> None:
        row = self.model.row_at(index)
        if isinstance(row, SessionRow):
            self.session_chosen.emit(row.guid)
        elif isinstance(row, PersonaRow):
            self.persona_chosen.emit(row.persona_id)

    def _request_deletion(self, index: QModelIndex) -> None:
        row = self.model.row_at(index)
        if isinstance(row, SessionRow):
            self.command_chosen.emit("delete", row.guid)

    def _show_menu(self, point: QPoint) -> None:
        index = self.session_list.indexAt(point)
        if index.isValid():
            menu = self.build_menu(index)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.session_list.viewport().mapToGlobal(point))

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Return the context menu of the row at `index`."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        row = self.model.row_at(index)
        if isinstance(row, PersonaRow):
            for name, (icon_name, title) in PERSONA_COMMANDS.items():
                text = self.tr(title).format(name=row.name.replace("&", "&&")) if title else action_title(name)
                self._add_command(menu, name, icon_name, text, row.persona_id)
        elif isinstance(row, SessionRow):
            self._fill_session_menu(menu, row, index)
        return menu

    def _add_command(self, menu: QMenu, name: str, icon_name: str, title: str, row_id: str) -> QAction:
        run = partial(self.command_chosen.emit, name, row_id)
        return menu.addAction(load_icon(icon_name, self._theme.palette.muted), title, run)

    def _fill_session_menu(self, menu: QMenu, row: SessionRow, index: QModelIndex) -> None:
        menu.addAction(self.tr("Open"), lambda: self.session_chosen.emit(row.guid))
        if row.is_incognito:
            self._add_command(menu, "delete", "close", self.tr("Close…"), row.guid).setShortcut(action_shortcut("delete"))
            return
        rename_icon = load_icon("edit", self._theme.palette.muted)
        rename = menu.addAction(rename_icon, self.tr("Rename"), lambda: self.session_list.edit(index))
        rename.setShortcut(action_shortcut("rename"))
        self._add_command(menu, "export_session", "export", self.tr("Export…"), row.guid)
        end = self._add_command(menu, "end_session", "check", self.tr("End now"), row.guid)
        end.setEnabled(row.can_end)
        end.setToolTip(
            self.tr("Summarise this conversation and learn its facts without waiting")
            if row.can_end
            else self.tr("It has ended already, or you have not written in it yet")
        )
        self._add_command(menu, "delete", "trash", self.tr("Delete…"), row.guid).setShortcut(action_shortcut("delete"))

    def _remember_position(self) -> None:
        row = self.model.row_at(self.session_list.currentIndex())
        self._remembered_position = (row.key if row is not None else "", self.session_list.verticalScrollBar().value())

    def _restore_position(self) -> None:
        key, scroll_value = self._remembered_position
        index = self.model.index_of(key)
        if index.isValid():
            self.session_list.setCurrentIndex(index)
        self.session_list.verticalScrollBar().setValue(scroll_value)


class _List(QListView):
    """List view that opens a row on a click or Enter, renames on F2 and requests deletion on Del."""

    row_entered = Signal(QModelIndex)
    delete_pressed = Signal(QModelIndex)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)  # rows are highlighted under the mouse
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setResizeMode(QListView.ResizeMode.Adjust)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.state() != QAbstractItemView.State.EditingState:
            self.row_entered.emit(self.currentIndex())
        elif event.key() in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self.delete_pressed.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)
