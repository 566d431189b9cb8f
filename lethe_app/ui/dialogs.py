"""The few small dialogs: one clear primary action, Enter and Esc work, and nothing blocks the loop while they are open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QFormLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.ui.icons import application_icon
from lethe_app.ui.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6, SPACE_8
from lethe_app.ui.shortcuts import WISHES, Wish, keys_of, title_of


async def answered(dialog: QDialog) -> bool:
    """Show `dialog` over its window and wait until it is closed; was it the primary button?"""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    dialog.finished.connect(lambda code: None if answer.done() else answer.set_result(code))
    dialog.open()
    try:
        return await answer == QDialog.DialogCode.Accepted
    finally:
        dialog.close()
        dialog.deleteLater()


class Question(QDialog):
    """Asks before something that cannot be undone; the button names its object."""

    def __init__(self, parent: QWidget, title: str, text: str, button: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        headline = QLabel(title)
        headline.setProperty("title", True)
        words = QLabel(text)
        words.setWordWrap(True)
        for label in (headline, words):
            label.setTextFormat(Qt.TextFormat.PlainText)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setProperty("filled", True)
        cancel.clicked.connect(self.reject)
        self.primary = QPushButton(button)
        self.primary.setProperty("danger", True)
        self.primary.setDefault(True)
        self.primary.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.primary)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        column.setSpacing(SPACE_4)
        column.addWidget(headline)
        column.addWidget(words)
        column.addLayout(buttons)
        words.setMinimumWidth(372)  # not the dialog itself: its own minimum would hide that of its buttons
        self.primary.setFocus()


class About(QDialog):
    """What this program is, in which version."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Lethe"))
        sign = QLabel()
        sign.setPixmap(application_icon().pixmap(64, 64))
        headline = QLabel(f"Lethe {own_version()}".strip())
        headline.setProperty("title", True)
        words = QLabel(
            self.tr(
                "Conversations with personas who remember. The model, the words, the memory: everything stays on this computer."
            )
        )
        words.setWordWrap(True)
        small = QLabel(self.tr("MIT licence · Qt {qt}").format(qt=qVersion()))
        small.setProperty("small", True)
        close = QPushButton(self.tr("Close"))
        close.setProperty("filled", True)
        close.setDefault(True)
        close.clicked.connect(self.accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        column.setSpacing(SPACE_3)
        for label in (sign, headline, words, small):
            column.addWidget(label)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        words.setMinimumWidth(352)


class Keys(QDialog):
    """The table of shortcuts, to look up."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title_of("keys"))
        headline = QLabel(title_of("keys"))
        headline.setProperty("title", True)
        inside = QWidget()
        inside.setObjectName("keys")
        tables = QHBoxLayout(inside)
        tables.setContentsMargins(0, 0, 0, 0)
        tables.setSpacing(SPACE_8)
        half = (len(WISHES) + 1) // 2
        for wishes in (WISHES[:half], WISHES[half:]):
            tables.addLayout(_table_of(wishes))
        close = QPushButton(self.tr("Close"))
        close.setProperty("filled", True)
        close.setDefault(True)
        close.clicked.connect(self.accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        column.setSpacing(SPACE_4)
        column.addWidget(headline)
        column.addWidget(inside)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)


def _table_of(wishes: Sequence[Wish]) -> QFormLayout:
    """Keys with what they do, row by row."""
    table = QFormLayout()
    table.setHorizontalSpacing(SPACE_6)
    table.setVerticalSpacing(SPACE_1)
    for wish in wishes:
        keys = QLabel(keys_of(wish.name))
        keys.setProperty("quiet", True)
        table.addRow(keys, QLabel(title_of(wish.name)))
    return table


def own_version() -> str:
    """The installed version, or nothing where the program runs from a bare folder."""
    try:
        return version("lethe-app")
    except PackageNotFoundError:
        return ""
