"""Every question a page asks, walked like the pages: all has a name, nothing is cut off in large text, Enter and Esc work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QDialog, QLabel, QPushButton, QToolButton, QWidget

from lethe_app.paths import Paths
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.labels import ElidedLabel
from tests.ui.contrast import ratios
from tests.ui.dialogs.every_dialog import DIALOGS, Make, kinds
from tests.ui.pages.test_every_page import CONTRAST, LARGE, needed
from tests.ui.test_accessibility import nameless

SMALL = (640, 400)
"""A laptop's screen at twice the usual scale."""


@pytest.fixture
def window(styled_app: QApplication, qtbot) -> QWidget:
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
    assert dialog.height() <= max(window.height(), dialog.screen().availableSize().height())


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("name", DIALOGS)
def test_all_words_of_a_question_stand_out(window: QWidget, name: str, look: str):
    dialog = shown(window, DIALOGS[name], look)

    found = list(ratios(dialog, dialog.grab().toImage()))

    assert found
    assert [f"{words}: {ratio:.2f}" for words, ratio in found if ratio < CONTRAST] == []


def test_every_dialog_there_is_is_walked(window: QWidget, theme: Theme):
    walked = {type(make(window, theme)) for make in DIALOGS.values()}

    assert {kind for kind in kinds() if not kind.__subclasses__()} <= walked


def test_on_a_small_screen_every_dialog_can_be_read_and_answered(tmp_path: Path):
    screen = {"name": "small", "x": 0, "y": 0, "width": SMALL[0], "height": SMALL[1], "logicalDpi": 96, "dpr": 1}
    reported = tmp_path / "screen.json"
    reported.write_text(json.dumps({"screens": [screen]}), encoding="utf-8")
    command = [sys.executable, "-m", "tests.ui.dialogs.every_dialog", str(LARGE)]
    environment = os.environ | {"QT_QPA_PLATFORM": f"offscreen:configfile={reported}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    found = json.loads(done.stdout)

    assert found["screen"] == list(SMALL)
    assert set(found["dialogs"]) == set(DIALOGS)
    assert {name: size for name, size in found["dialogs"].items() if size[0] > SMALL[0] or size[1] > SMALL[1]} == {}
    assert found["buttons cut off"] == []
    assert found["not reached by scrolling"] == []
