"""The two dialogs that ask for more than a yes have one primary button, and all of it can be read in large text."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.pages.sessions.message_actions import InsertMessage
from lethe_app.ui.pages.worlds.actions import RememberDialog

pytestmark = pytest.mark.usefixtures("styled_app")

NAME = "Wilhelmina Featherstonehaugh of the Outer Isles"


def remember(parent: QWidget, theme: Theme) -> QuestionDialog:
    return RememberDialog(parent, theme, "The lamp", [Persona(unique_name="mina", name=NAME)], "mina")


def insert(parent: QWidget, _theme: Theme) -> QuestionDialog:
    return InsertMessage(parent, NAME, "The message is inserted above the third one.")


@pytest.mark.parametrize("made", [remember, insert])
def test_no_button_is_cut_off_in_large_text(theme: Theme, made):
    theme.apply_choice("dark", 22)
    parent = QWidget()
    dialog = made(parent, theme)
    dialog.show()
    QApplication.processEvents()

    assert dialog.primary.isDefault()
    for button in dialog.findChildren(QPushButton):
        assert button.width() >= button.minimumSizeHint().width()
        assert dialog.rect().contains(button.geometry())
    assert dialog.primary.geometry().left() > dialog.cancel.geometry().right()
