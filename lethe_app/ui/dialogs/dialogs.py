"""Small dialogs: one primary action, Enter and Esc work, and the event loop is not blocked while they are open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import QCoreApplication, QSize, Qt, qVersion
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from lethe_app.ui.core.icons import application_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.dialogs.scrolling_dialog import Tall, fitting_height, room_for
from lethe_app.ui.shell.actions import WISHES, ActionSpec, keys_of, title_of

COLUMNS_OF_KEYS, WIDEST_WISH = 3, 180


async def answered(dialog: QDialog) -> bool:
    """Show `dialog` modally to its window, wait until it is closed, and return whether it was accepted."""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    dialog.finished.connect(lambda code: None if answer.done() else answer.set_result(code))
    dialog.open()
    try:
        return await answer == QDialog.DialogCode.Accepted
    finally:
        dialog.close()
        dialog.deleteLater()


class QuestionDialog(QDialog):
    """Dialog with a title, content and two buttons: Enter activates the primary one, Esc cancels."""

    def __init__(self, parent: QWidget, title: str, button: str, *, danger: bool = False, spacing: int = SPACE_4) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.cancel = foot_button(QCoreApplication.translate("Dialog", "Cancel"), "filled", self.reject)
        self.primary = foot_button(button, "danger" if danger else "primary", self.accept)
        self.primary.setDefault(True)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(SPACE_2)
        self.buttons.addStretch(1)
        self.buttons.addWidget(self.cancel)
        self.buttons.addWidget(self.primary)
        self._tall = Tall(spacing, self._grow)
        self.column = self._tall.column
        """Layout of the content."""
        whole = QVBoxLayout(self)
        whole.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        whole.setSpacing(spacing)
        whole.addWidget(titled(title))
        whole.addWidget(self._tall, 1)
        whole.addLayout(self.buttons)

    def say(self, text: str) -> None:
        """Add a paragraph of text."""
        words = QLabel(text)
        words.setWordWrap(True)
        words.setTextFormat(Qt.TextFormat.PlainText)
        words.setMinimumWidth(372)  # not the dialog itself: its own minimum would hide that of its buttons
        self.column.addWidget(words)

    def showEvent(self, event: QShowEvent) -> None:
        self.adjustSize()
        self._grow()
        super().showEvent(event)

    def _grow(self) -> None:
        """Increase the height to that of the content: Qt does not derive a dialog's height from wrapped text in the dialog's
        width.
        """
        needed = fitting_height(self, self._tall, self.width())
        if self.height() < needed:
            self.resize(self.width(), needed)


class ConfirmDialog(QuestionDialog):
    """Confirmation of an action that cannot be undone; the primary button names its object."""

    def __init__(self, parent: QWidget, title: str, text: str, button: str) -> None:
        super().__init__(parent, title, button, danger=True)
        self.say(text)
        self.primary.setFocus()


class About(QDialog):
    """Dialog with the description and version of the program."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Lethe"))
        sign = QLabel()
        sign.setPixmap(application_icon().pixmap(64, 64))
        headline = titled(f"Lethe {own_version()}".strip())
        words = QLabel(
            self.tr("Conversations with personas who remember. Models, chats and memories all stay on this computer.")
        )
        words.setWordWrap(True)
        small = QLabel(self.tr("MIT licence · Qt {qt}").format(qt=qVersion()))
        small.setProperty("small", True)
        close = foot_button(QCoreApplication.translate("Dialog", "Close"), "filled", self.accept)
        close.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        column.setSpacing(SPACE_3)
        for label in (sign, headline, words, small):
            column.addWidget(label)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        words.setMinimumWidth(352)


class Keys(QDialog):
    """Dialog with the table of shortcuts."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title_of("keys"))
        headline = titled(title_of("keys"))
        inside = QWidget()
        inside.setObjectName("keys")
        tables = QHBoxLayout(inside)
        tables.setContentsMargins(0, 0, 0, 0)
        tables.setSpacing(SPACE_6)
        tall = -(-len(WISHES) // COLUMNS_OF_KEYS)
        for first in range(0, len(WISHES), tall):
            tables.addLayout(_table_of(WISHES[first : first + tall]))
        close = foot_button(QCoreApplication.translate("Dialog", "Close"), "filled", self.accept)
        close.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        column.setSpacing(SPACE_4)
        column.addWidget(headline)
        column.addWidget(_scrolled(inside), 1)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        self.resize(self.sizeHint().boundedTo(room_for(parent)))


def titled(words: str) -> QLabel:
    """Create the title label of a dialog."""
    label = QLabel(words)
    label.setProperty("title", True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def foot_button(words: str, look: str, do: Callable[[], object]) -> QPushButton:
    """Create a button of a dialog's button row; `look` is a property that the stylesheet matches."""
    button = QPushButton(words)
    button.setProperty(look, True)
    button.clicked.connect(lambda _checked=False: do())
    return button


def _table_of(wishes: Sequence[ActionSpec]) -> QFormLayout:
    """Create a table with one row of shortcut and title per action."""
    table = QFormLayout()
    table.setHorizontalSpacing(SPACE_3)
    table.setVerticalSpacing(SPACE_1)
    for wish in wishes:
        keys = QLabel(keys_of(wish.name))
        keys.setProperty("quiet", True)
        keys.setAlignment(Qt.AlignmentFlag.AlignTop)
        title = QLabel(title_of(wish.name))
        if title.sizeHint().width() > WIDEST_WISH:
            title.setWordWrap(True)
            title.setFixedWidth(WIDEST_WISH)
            title.setMinimumHeight(title.heightForWidth(WIDEST_WISH))
        table.addRow(keys, title)
    return table


class _Whole(QScrollArea):
    """Scroll area that requests the size of its whole content, and scrolls if it gets less."""

    def sizeHint(self) -> QSize:
        inside = self.widget()
        return inside.sizeHint() if inside is not None else super().sizeHint()


def _scrolled(inside: QWidget) -> QScrollArea:
    area = _Whole()
    area.setAccessibleName(QCoreApplication.translate("Keys", "All shortcuts"))
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.viewport().setAutoFillBackground(False)
    area.setWidget(inside)
    return area


def own_version() -> str:
    """Return the installed version; empty if the package is not installed."""
    try:
        return version("lethe-app")
    except PackageNotFoundError:
        return ""
