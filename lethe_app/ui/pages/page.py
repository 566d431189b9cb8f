"""Frame that all pages share: back button, title, buttons of the page, and undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QUndoStack
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.routes import Route
from lethe_app.ui.core.theme import Theme, text_colour_on_accent
from lethe_app.ui.pages.undo_commands import UndoGuard
from lethe_app.ui.widgets.buttons import IconButton, build_button
from lethe_app.ui.widgets.flow_layout import FlowLayout, WrappingRow
from lethe_app.ui.widgets.labels import ElidedLabel
from lethe_app.ui.widgets.layouts import build_column, build_row

if TYPE_CHECKING:
    from lethe_app.ui.pages.page_tabs import PageTabs


HEAD_HEIGHT = 52
"""Minimum height of the head in pixels, if its buttons stand beside the title."""


class Page(QFrame):
    """Page that covers the conversation. Esc or the back button leaves it, unless `confirm_leave` objects.

    Subclasses add their widgets to `body` and buttons by `add_button`; every change is a command on the `undo` stack.
    """

    back_requested = Signal()
    """Emitted when the user wants to go back."""
    name_changed = Signal()
    """Emitted when the accessible name has changed, which is also the title of the window."""

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(title)
        self.theme = theme
        self.undo_stack = QUndoStack(self)
        self._undo_guards: list[UndoGuard] = []
        self._icon_updates: list[Callable[[], None]] = []
        text, name = self.tr("Back  Esc"), self.tr("Back")
        self.back = IconButton(theme, "chevron-left", text, accessible_name=name, colour=attrgetter("text"))
        self.back.clicked.connect(self.back_requested)
        self.title = ElidedLabel(min_width=120)
        self.title.setProperty("title", True)
        self.title.set_full_text(title)
        self.subtitle = ElidedLabel()
        self.subtitle.setProperty("quiet", True)
        self._undo_button = IconButton(theme, "undo", self.tr("Undo"))
        self._undo_button.clicked.connect(self.undo_stack.undo)
        self._redo_button = IconButton(theme, "redo", self.tr("Redo"))
        self._redo_button.clicked.connect(self.undo_stack.redo)
        self._tabs_row = FlowLayout(spacing=SPACE_2)
        self._tabs_row.setContentsMargins(SPACE_2, 0, SPACE_4, 0)
        self.body = build_column()
        self._build_head()
        build_column(self._head, self._tabs_row, (self.body, 1), parent=self)
        self.undo_stack.canUndoChanged.connect(self._update_undo_buttons)
        self.undo_stack.canRedoChanged.connect(self._update_undo_buttons)
        self.undo_stack.undoTextChanged.connect(self._update_undo_buttons)
        theme.changed.connect(self.apply_theme)
        self._update_undo_buttons()

    def _build_head(self) -> None:
        self._head = QFrame()
        self._head.setObjectName("header")
        self._head.setMinimumHeight(HEAD_HEIGHT)
        self._head_buttons = QWidget()
        self._head_buttons.installEventFilter(self)
        self._buttons = WrappingRow(self._head_buttons, spacing=SPACE_2)
        buttons = (self._head_buttons, 0, Qt.AlignmentFlag.AlignVCenter)
        items = (self.back, self.title, (self.subtitle, 1), self._undo_button, self._redo_button, buttons)
        self._head_row = build_row(*items, spacing=SPACE_3)
        margins = (SPACE_2, SPACE_2, SPACE_4, SPACE_2)
        self._head_column = build_column(self._head_row, spacing=SPACE_2, margins=margins, parent=self._head)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_buttons()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._place_buttons()  # a text of the head has changed
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._head_buttons and event.type() == QEvent.Type.LayoutRequest:
            self._place_buttons()  # a button was shown, hidden or renamed; a widget of fixed size does not tell its parent
        return super().eventFilter(watched, event)

    def _place_buttons(self) -> None:
        """Move the page's buttons below the title in a narrow window, in several lines where one is too short, so that none
        of their texts is cut off.
        """
        stack_buttons = (self._undo_button, self._redo_button)
        title_row = (self.back, self.title, self.subtitle, *(button for button in stack_buttons if button.isVisibleTo(self)))
        margins = self._head_column.contentsMargins()
        hint = self._head_buttons.sizeHint()
        needed_width = margins.left() + margins.right() + hint.width()
        needed_width += (
            sum(max(widget.minimumSizeHint().width(), widget.minimumWidth()) + SPACE_3 for widget in title_row) + SPACE_3
        )
        were_below = self._head_column.indexOf(self._head_buttons) >= 0
        are_below = needed_width > self.width()
        if were_below and not are_below:
            self._head_column.removeWidget(self._head_buttons)
            self._head_row.addWidget(self._head_buttons, 0, Qt.AlignmentFlag.AlignVCenter)
        elif are_below and not were_below:
            self._head_row.removeWidget(self._head_buttons)
            self._head_column.addWidget(self._head_buttons, 0, Qt.AlignmentFlag.AlignRight)
        free_width = self.width() - margins.left() - margins.right()
        width = min(hint.width(), free_width) if are_below else hint.width()
        self._head_buttons.setFixedSize(width, self._buttons.heightForWidth(width))
        # An explicit minimum replaces that of the layout: a page that is too high would press two rows into the height of one.
        self._head.setMinimumHeight(max(HEAD_HEIGHT, self._head_column.minimumSize().height()))

    def add_tabs(self, bars: Sequence[PageTabs]) -> None:
        """Show the tabs of the group to which the page belongs below the head, and beside or below them those of its
        sections.
        """
        for bar in bars:
            self._tabs_row.addWidget(bar)

    # For subclasses

    def add_button(self, title: str, slot: Callable[[], object], icon_name: str = "", *, primary: bool = False) -> QPushButton:
        """Add a button at the right end of the head; `icon_name` is the name of an icon."""
        button = build_button(title, primary=primary)
        button.clicked.connect(lambda _checked=False: slot())
        if icon_name:
            button.setIconSize(BUTTON_ICON_SIZE)

            def apply_icon() -> None:
                palette = self.theme.palette
                colour = text_colour_on_accent(palette) if primary else palette.text
                button.setIcon(load_button_icon(icon_name, colour, palette.muted))

            self._icon_updates.append(apply_icon)
            apply_icon()
        self._buttons.addWidget(button)
        return button

    @property
    def persona_id(self) -> str:
        """Return the unique name of the persona that the page is about; empty if it is about none."""
        return ""

    def choose_persona(self, persona_id: str) -> None:
        """Choose the persona that the page is about, if it is about one."""

    async def confirm_leave(self) -> bool:
        """Return whether the page may be closed; a page with unsaved work asks the user here."""
        return True

    def first_focus_widget(self) -> QWidget:
        """Return the widget that gets the focus when the page is opened."""
        return self.back

    def show_route(self, route: Route) -> None:
        """Select what the route names; called when the page is opened or returned to by a route."""

    def is_showing(self, route: Route) -> bool:
        """Return whether the page shows what the route leads to, although it was opened by a route with another key."""
        del route
        return False

    def apply_theme(self) -> None:
        """Apply the colours and text size of a theme that was chosen while the page is open."""
        for update_icon in self._icon_updates:
            update_icon()

    def guard_undo(self, *forms: QWidget) -> None:
        """Let the keys of undo and redo in the fields of forms, whose changes are commands on the undo stack, use this stack
        instead of the fields' own.
        """
        self._undo_guards += map(UndoGuard, forms)

    def close_page(self) -> None:
        """Disconnect from services and the focus; called once before the page is deleted."""
        for guard in self._undo_guards:
            guard.stop_watching()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.back_requested.emit()
        else:
            super().keyPressEvent(event)

    def _update_undo_buttons(self) -> None:
        can_undo, can_redo = self.undo_stack.canUndo(), self.undo_stack.canRedo()
        for button, is_enabled, tooltip in (
            (self._undo_button, can_undo, self.tr("Undo {what}  Ctrl+Z").format(what=self.undo_stack.undoText())),
            (self._redo_button, can_redo, self.tr("Redo {what}  Ctrl+Shift+Z").format(what=self.undo_stack.redoText())),
        ):
            button.setEnabled(is_enabled)
            button.setVisible(can_undo or can_redo)
            button.setToolTip(" ".join(tooltip.split(" ")))
