"""Command palette: finds actions and settings by typed words, their synonyms included, and runs the selected one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QInputMethodEvent, QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from lethe_app.config.settings import Settings
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.actions import (
    ACTION_SPECS,
    KEYS_ONLY,
    RENAMED_ACTIONS,
    SESSION_ONLY,
    Actions,
    action_shortcut,
    action_title,
)
from lethe_app.ui.core.labels.fields import field_title, translate_text
from lethe_app.ui.core.palette import SPACE_2, SPACE_3
from lethe_app.ui.core.routes import Route, SearchRoute, SettingsRoute
from lethe_app.ui.core.search_terms import action_search_text, setting_search_text
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.core.word_search import SearchText, rank_items
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column
from lethe_app.ui.widgets.line_list import paint_row_background

WIDTH, HEIGHT, TOP = 560, 420, 72
HINT_ROLE, AVAILABLE_ROLE = Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2
NAVIGATION_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


MAX_RECENT = 5
"""Maximum number of commands listed first because they were used last."""
MOST_USEFUL = (
    "new",
    "settings",
    "persona_editor",
    "overview",
    "memories",
    "conversations",
    "search_everything",
    "models",
    "model_manager",
    "worlds",
    "import_files",
    "user_personas",
    "documents",
    "mind",
    "incognito",
    "presets",
    "keyboard_shortcuts",
)
"""Actions listed next, before all others, as long as nothing was typed."""


@dataclass(frozen=True)
class Command:
    """Row of the palette: an action with its shortcut, or a setting."""

    name: str
    """Name of the action or setting; empty for the search in everything."""
    title: str
    hint: str
    """Text at the right: the shortcut, the section of the settings, or why the action is not available."""
    run: Callable[[], object]
    is_available: bool = True


class CommandPalette(QFrame):
    """Popup over the window; it closes when an action is chosen or the focus leaves it."""

    command_run = Signal(list)
    """Emitted with the names of the commands used last, the newest first, after one of them has changed the order."""

    def __init__(
        self,
        theme: Theme,
        actions: Actions,
        open_route: Callable[[Route], None],
        recent_names: Sequence[str],
        parent_widget: QWidget,
    ) -> None:
        """Create the palette, hidden; `open_route` opens a page, `recent_names` are the commands used last."""
        super().__init__(parent_widget)
        self.setObjectName("palette")
        self.setAccessibleName(action_title("palette"))
        self._theme, self._actions, self._open_route = theme, actions, open_route
        self._recent_names = [RENAMED_ACTIONS.get(name, name) for name in recent_names]
        self._commands: list[tuple[Command, SearchText]] = []
        self._shown_commands: list[Command] = []
        self._previous_focus: QWidget | None = None
        self._is_composing = False
        self.search_field = QLineEdit()
        self.search_field.setPlaceholderText(self.tr("Search commands and settings"))
        self.search_field.setAccessibleName(action_title("palette"))
        self.search_field.textChanged.connect(self._filter_commands)
        self.search_field.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self.command_list = QListView()
        self.command_list.setModel(self._model)
        self.command_list.setItemDelegate(_Painter(theme, self.command_list))
        self.command_list.setAccessibleName(self.tr("Commands"))
        self.command_list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.command_list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.command_list.clicked.connect(lambda index: self._trigger_command(index.row()))
        self.empty_label = create_text_label(
            self.tr(
                "No command or setting is called that. Try a word for what you want to change, such as “voice”, “theme” or "
                "“memory”, or search everything you wrote:"
            ),
            "quiet",
        )
        self.empty_label.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        build_column(
            self.search_field,
            self.empty_label,
            (self.command_list, 1),
            spacing=SPACE_2,
            margins=(SPACE_3, SPACE_3, SPACE_3, SPACE_2),
            parent=self,
        )
        self.hide()

    def open_palette(self) -> None:
        """List all actions that are available now, and show the palette."""
        self._previous_focus = self.window().focusWidget()
        names = [spec.name for spec in ACTION_SPECS if spec.name != "palette" and spec.name not in KEYS_ONLY]
        self._commands = [
            (self._build_command(name), action_search_text(name)) for name in names if is_connected(self._actions[name])
        ]
        self.search_field.clear()
        self._filter_commands("")
        parent_widget = self.parentWidget()
        assert parent_widget is not None
        width = min(WIDTH, parent_widget.width() - 32)
        height = min(HEIGHT, parent_widget.height() - TOP - 32)
        chrome_height = 2 * SPACE_2 + SPACE_3 + self.search_field.sizeHint().height()
        height -= (height - chrome_height) % max(self.command_list.sizeHintForRow(0), 1)  # no row is seen only in part
        self.setGeometry(
            QRect(QPoint((parent_widget.width() - width) // 2, min(TOP, parent_widget.height() // 8)), QSize(width, height))
        )
        self.show()
        self.raise_()
        self.search_field.setFocus()

    def _build_command(self, name: str) -> Command:
        action = self._actions[name]
        if action.isEnabled():
            return Command(name, action_title(name), action_shortcut(name), action.trigger)
        in_conversation = name in SESSION_ONLY and not action.isVisible()
        reason = self.tr("only in a conversation") if in_conversation else self.tr("not available now")
        return Command(name, action_title(name), reason, action.trigger, is_available=False)

    def close_palette(self) -> None:
        """Close the palette and give the focus back to the widget that had it before."""
        if not self.isHidden():
            self.hide()
            if self._previous_focus is not None:
                with suppress(RuntimeError):  # deleted since, such as the field in which a name was edited
                    self._previous_focus.setFocus()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        if isinstance(event, QInputMethodEvent):
            self._is_composing = bool(event.preeditString())
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()  # otherwise Esc would trigger the window's shortcut that stops a reply
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and not self._is_composing:
            return self._handle_key(event)
        return False

    def _handle_key(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape:
            self.close_palette()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._trigger_command(self.command_list.currentIndex().row())
        elif event.key() in NAVIGATION_KEYS:
            self.command_list.keyPressEvent(event)
            self._announce_command()
        else:
            return False
        return True

    def _filter_commands(self, text: str) -> None:
        self._shown_commands = self._find_commands(text)
        self._model.clear()
        for command in self._shown_commands:
            item = QStandardItem(command.title)
            item.setData(command.hint, HINT_ROLE)
            item.setData(command.is_available, AVAILABLE_ROLE)
            item.setData(f"{command.title} {command.hint}".strip(), Qt.ItemDataRole.AccessibleTextRole)
            self._model.appendRow(item)
        self.command_list.setCurrentIndex(self._model.index(0, 0))
        self.empty_label.setVisible(len(self._shown_commands) == 1 and bool(text.strip()))
        self._announce_command()

    def _announce_command(self) -> None:
        """Announce the current row, which screen readers do not notice, because the focus stays in the search field."""
        if self.isVisible():
            announce(self, str(self.command_list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)))

    def _find_commands(self, text: str) -> list[Command]:
        """Return the actions and settings that match the text, then a search for the text in everything. Without a text,
        return the commands used last, then all actions that are available, the most useful first.
        """
        if not text.strip():
            return self._list_first_commands()
        search = Command(
            "",
            self.tr("Search everything for “{text}”").format(text=text.strip()),
            "",
            lambda: self._open_route(SearchRoute(text.strip())),
        )
        return [*rank_items([*self._commands, *self._list_settings()], text), search]

    def _list_first_commands(self) -> list[Command]:
        known = {command.name: command for command, _text in [*self._commands, *self._list_settings()]}
        actions = [command.name for command, _text in self._commands]
        names = dict.fromkeys([*self._recent_names, *MOST_USEFUL, *actions])
        return [known[name] for name in names if name in known and known[name].is_available]

    def _list_settings(self) -> list[tuple[Command, SearchText]]:
        def build_command(name: str) -> Command:
            title, section = field_title(Settings, name), translate_text(str(Settings.option(name, "section")))
            hint = f"{action_title('settings')} › {section}"
            return Command(f"settings/{name}", title, hint, lambda: self._open_route(SettingsRoute(name)))

        return [(build_command(name), setting_search_text(name)) for name in Settings.visible_names()]

    def _trigger_command(self, row: int) -> None:
        if 0 <= row < len(self._shown_commands):
            command = self._shown_commands[row]
            if not command.is_available:
                return
            self.close_palette()
            if command.name:
                others = [name for name in self._recent_names if name != command.name]
                self._recent_names = [command.name, *others][:MAX_RECENT]
                self.command_run.emit(self._recent_names)
            command.run()


def is_connected(action: QAction) -> bool:
    """Return whether a slot is connected to the action."""
    # The prefix 2 is what Qt's SIGNAL() macro puts before a signature; `receivers` expects it.
    return action.receivers("2triggered(bool)") > 0


class _Painter(QStyledItemDelegate):
    """Delegate that paints the title at the left and the hint at the right."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # type: ignore[override]  # Qt passes no persistent index
        return QSize(super().sizeHint(option, index).width(), option.fontMetrics.height() + 16)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]  # see above
        palette = self._theme.palette
        rect = option.rect
        painter.save()
        if index.row() == self.parent().currentIndex().row():  # type: ignore[union-attr]  # the list
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_row_background(painter, rect, mix_colours(palette.raised, palette.water, 0.22))
        inside = rect.adjusted(SPACE_3, 0, -SPACE_3, 0)
        painter.setFont(option.font)
        hint = str(index.data(HINT_ROLE) or "")
        max_width = inside.width() - (option.fontMetrics.horizontalAdvance(hint) + SPACE_3 if hint else 0)
        painter.setPen(QColor(palette.text if index.data(AVAILABLE_ROLE) else palette.muted))
        title = option.fontMetrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, max_width)
        painter.drawText(inside, int(Qt.AlignmentFlag.AlignVCenter), title)
        painter.setPen(QColor(palette.muted))
        painter.drawText(inside, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), hint)
        painter.restore()
