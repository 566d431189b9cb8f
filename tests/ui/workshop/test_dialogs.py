"""Every question a page asks, walked like the pages: all has a name, nothing is cut off in large text, Enter and Esc work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QDialog, QLabel, QPushButton, QToolButton, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.paths import Paths
from lethe_app.ui.chat_panel import ElidedLabel
from lethe_app.ui.dialogs import Question
from lethe_app.ui.theme import Theme
from lethe_app.ui.workshop.crop import CropDialog
from lethe_app.ui.workshop.fact_dialogs import NewFact, OneOfSeveral
from lethe_app.ui.workshop.mind_reminders import ReminderDialog
from lethe_app.ui.workshop.persona_dialogs import Leaving
from lethe_app.ui.workshop.session_insert import InsertMessage
from lethe_app.ui.workshop.world_remember import Remember
from tests.ui.contrast import ratios
from tests.ui.test_accessibility import nameless
from tests.ui.workshop.test_every_page import CONTRAST, LARGE, needed

Make = Callable[[QWidget, Theme], QDialog]
FACTS = [ExtractedFact(fact="Tomas sails."), ExtractedFact(fact="Tomas sails a small boat, and has for years.")]
MIRA = Persona(name="Mira", unique_name="mira")
DIALOGS: dict[str, Make] = {
    "question": lambda window, _theme: Question(window, "Delete ‘First night’?", "The Trash gives it back.", "Delete it"),
    "crop": lambda window, theme: CropDialog(window, QImage(320, 200, QImage.Format.Format_RGB32), theme),
    "insert": lambda window, _theme: InsertMessage(window, "Mira", "It will stand above the message you chose."),
    "leaving": lambda window, _theme: Leaving(window, "Mira"),
    "new fact": lambda window, _theme: NewFact(window, "Mira"),
    "one of several": lambda window, _theme: OneOfSeveral(window, FACTS),
    "reminder": lambda window, _theme: ReminderDialog(window, MemoryUnit(content="Bring the lantern back.")),
    "remember": lambda window, theme: Remember(window, theme, "The Needle", [MIRA], "mira"),
}


@pytest.fixture
def window(wardrobe: QApplication, qtbot) -> QWidget:
    window = QWidget()
    window.resize(900, 640)
    qtbot.addWidget(window)
    return window


def shown(window: QWidget, make: Make, look: str, size: int = 15) -> QDialog:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    theme = Theme(application, Paths.standard(Path("unused")).resources / "theme", look, size)
    dialog = make(window, theme)
    dialog.open()
    QApplication.processEvents()
    return dialog


@pytest.mark.parametrize("name", DIALOGS)
def test_everything_in_a_question_has_a_name_and_esc_leaves_it(window: QWidget, name: str):
    dialog = shown(window, DIALOGS[name], "dark")

    assert dialog.windowTitle()
    assert nameless(dialog) == []
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.result() == QDialog.DialogCode.Rejected
    assert not dialog.isVisible()


@pytest.mark.parametrize("name", DIALOGS)
def test_no_question_is_cut_off_in_large_text(window: QWidget, name: str):
    dialog = shown(window, DIALOGS[name], "dark", LARGE)

    cut = [
        f"{type(widget).__name__} “{widget.text()}”: {widget.width()} of {needed(widget)}"
        for widget in dialog.findChildren(QWidget)
        if isinstance(widget, QLabel | QPushButton | QCheckBox | QToolButton)
        and not isinstance(widget, ElidedLabel)
        and widget.isVisible()
        and widget.text()
        and widget.width() < needed(widget)
    ]

    assert cut == []
    assert dialog.height() <= window.height()


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("name", DIALOGS)
def test_all_words_of_a_question_stand_out(window: QWidget, name: str, look: str):
    dialog = shown(window, DIALOGS[name], look)

    found = list(ratios(dialog, dialog.grab().toImage()))

    assert found
    assert [f"{words}: {ratio:.2f}" for words, ratio in found if ratio < CONTRAST] == []
