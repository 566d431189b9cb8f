"""Command palette: filters all actions of the window by typed words and triggers the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction, QColor, QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from lethe_app.ui.core.palette import RADIUS_CONTROL, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme, mixed
from lethe_app.ui.shell.actions import WISHES, Actions, keys_of, title_of

WIDTH, HEIGHT, TOP = 560, 420, 72
KEYS = Qt.ItemDataRole.UserRole + 1
ARROWS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


@dataclass(frozen=True)
class Command:
    """Action with its title and shortcut."""

    title: str
    keys: str
    action: QAction


class CommandPalette(QFrame):
    """Popup over the window; it closes when an action is chosen or the focus leaves it."""

    def __init__(self, theme: Theme, actions: Actions, over: QWidget) -> None:
        super().__init__(over)
        self.setObjectName("palette")
        self.setAccessibleName(title_of("palette"))
        self._theme, self._actions = theme, actions
        self._commands: list[Command] = []
        self._shown: list[Command] = []
        self._before: QWidget | None = None
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("Search commands"))
        self.field.setAccessibleName(title_of("palette"))
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self.list = QListView()
        self.list.setModel(self._model)
        self.list.setItemDelegate(_Painter(theme, self.list))
        self.list.setAccessibleName(self.tr("Commands"))
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.clicked.connect(lambda index: self._do(index.row()))
        self.nothing = QLabel(self.tr("No matching commands."))
        self.nothing.setProperty("quiet", True)
        self.nothing.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_3, SPACE_3, SPACE_3, SPACE_2)
        column.setSpacing(SPACE_2)
        column.addWidget(self.field)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)
        self.hide()

    def open(self) -> None:
        """List all actions that are available now, and show the palette."""
        self._before = self.window().focusWidget()
        names = [wish.name for wish in WISHES if not wish.is_local and wish.name != "palette"]
        found = [(name, self._actions[name]) for name in names]
        self._commands = [
            Command(title_of(name), keys_of(name), action) for name, action in found if action.isEnabled() and is_heard(action)
        ]
        self.field.clear()
        self._filter("")
        over = self.parentWidget()
        assert over is not None
        width = min(WIDTH, over.width() - 32)
        height = min(HEIGHT, over.height() - TOP - 32)
        around = 2 * SPACE_2 + SPACE_3 + self.field.sizeHint().height()
        height -= (height - around) % max(self.list.sizeHintForRow(0), 1)  # no row is seen only in part
        self.setGeometry(QRect(QPoint((over.width() - width) // 2, min(TOP, over.height() // 8)), QSize(width, height)))
        self.show()
        self.raise_()
        self.field.setFocus()

    def close_palette(self) -> None:
        """Close the palette and give the focus back to the widget that had it before."""
        if not self.isHidden():
            self.hide()
            if self._before is not None:
                self._before.setFocus()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape:
            self.close_palette()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._do(self.list.currentIndex().row())
        elif event.key() in ARROWS:
            self.list.keyPressEvent(event)
        else:
            return False
        return True

    def _filter(self, text: str) -> None:
        self._shown = ranked(self._commands, text)
        self._model.clear()
        for command in self._shown:
            item = QStandardItem(command.title)
            item.setData(command.keys, KEYS)
            item.setData(f"{command.title} {command.keys}".strip(), Qt.ItemDataRole.AccessibleTextRole)
            self._model.appendRow(item)
        self.list.setCurrentIndex(self._model.index(0, 0))
        self.nothing.setVisible(not self._shown)

    def _do(self, row: int) -> None:
        if 0 <= row < len(self._shown):
            action = self._shown[row].action
            self.close_palette()
            action.trigger()


def is_heard(action: QAction) -> bool:
    """Return whether a slot is connected to the action."""
    # The prefix 2 is what Qt's SIGNAL() macro puts before a signature; `receivers` expects it.
    return action.receivers("2triggered(bool)") > 0


def ranked(commands: Sequence[Command], text: str) -> list[Command]:
    """Return the commands whose title contains all words, those first in which every word begins a word of the title."""
    words = text.casefold().split()
    if not words:
        return list(commands)

    def rank(command: Command) -> int | None:
        title = command.title.casefold()
        starts = title.split()
        if all(any(start.startswith(word) for start in starts) for word in words):
            return 0
        return 1 if all(word in title for word in words) else None

    found = [(rank(command), place, command) for place, command in enumerate(commands)]
    return [command for best, _place, command in sorted(entry for entry in found if entry[0] is not None)]


class _Painter(QStyledItemDelegate):
    """Delegate that paints the title at the left and the shortcut at the right."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # type: ignore[override]  # a persistent one never comes
        return QSize(super().sizeHint(option, index).width(), option.fontMetrics.height() + 16)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]  # see above
        palette = self._theme.palette
        rect = option.rect
        painter.save()
        if index.row() == self.parent().currentIndex().row():  # type: ignore[union-attr]  # the list
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(mixed(palette.raised, palette.water, 0.22)))
            painter.drawRoundedRect(rect, RADIUS_CONTROL, RADIUS_CONTROL)
        inside = rect.adjusted(SPACE_3, 0, -SPACE_3, 0)
        painter.setFont(option.font)
        keys = str(index.data(KEYS) or "")
        room = inside.width() - (option.fontMetrics.horizontalAdvance(keys) + SPACE_3 if keys else 0)
        painter.setPen(QColor(palette.text))
        title = option.fontMetrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room)
        painter.drawText(inside, int(Qt.AlignmentFlag.AlignVCenter), title)
        painter.setPen(QColor(palette.muted))
        painter.drawText(inside, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), keys)
        painter.restore()
