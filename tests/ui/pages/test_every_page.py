"""Every page, walked widget by widget: all has a name, nothing is cut off at 150 %, Tab reaches everything and is not held."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QPushButton,
    QScrollArea,
    QSplitterHandle,
    QTabBar,
    QToolButton,
    QWidget,
)

from lethe_app.ui.core.routes import ACTION_ROUTES
from lethe_app.ui.pages.page import Page
from lethe_app.ui.shell.toast import Toast
from lethe_app.ui.widgets.labels import ElidedLabel
from tests.ui.contrast import ratios
from tests.ui.window_scene import Scene, opened, settled, until

pytestmark = pytest.mark.usefixtures("styled_app")
ACTIONS = sorted({*ACTION_ROUTES, "persona_editor"})
"""Actions that open a page."""
LARGE = 22
"""Pixels of prose: nearly 150 % of the usual 15."""
MAX_STOPS = 400
CONTRAST = 4.5


async def pages(scene: Scene) -> AsyncIterator[tuple[str, Page]]:
    """Open every page in turn; yield its action and the page when it has been laid out."""
    scene.window.resize(1100, 760)
    for action in ACTIONS:
        scene.window.window_actions[action].trigger()
        await until(lambda: scene.page is not None)
        page = scene.page
        assert page is not None
        await settled(scene, page)
        yield action, page
        page.back.click()
        await until(lambda: scene.page is None)


def shown(page: Page) -> Iterator[QWidget]:
    """Everything that can be seen, also what is further down in a scrolled column."""
    for widget in page.findChildren(QWidget):
        if widget.isVisibleTo(page) and not isinstance(widget, QSplitterHandle):
            yield widget


def inner(widget: QWidget) -> bool:
    """A part of a widget that speaks for it: the line of a spin box, the viewport of a list."""
    parent = widget.parentWidget()
    return isinstance(parent, QAbstractSpinBox | QComboBox | QTabBar) or (
        isinstance(parent, QAbstractItemView | QScrollArea) and widget is parent.viewport()
    )


def called(widget: QWidget) -> str:
    text = getattr(widget, "text", lambda: "")
    return widget.accessibleName() or (str(text()) if callable(text) else "") or getattr(widget, "title", lambda: "")()


def stops(page: Page) -> set[QWidget]:
    """What Tab should reach."""
    return {
        widget
        for widget in shown(page)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isEnabled()
        and not inner(widget)
        and widget.focusProxy() is None
        and not by_arrow(widget)
    }


def by_arrow(widget: QWidget) -> bool:
    """One of several of which one is chosen: Tab reaches the chosen one, arrows go on from there."""
    if not isinstance(widget, QAbstractButton) or widget.isChecked():
        return False
    group = widget.group()
    return widget.isCheckable() and (widget.autoExclusive() or (group is not None and group.exclusive()))


async def test_nothing_is_cut_off_in_large_text(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await scene.services.preferences.set(font_size=LARGE)
        cut = [
            f"{action}: {type(widget).__name__} “{widget.text()}”: {widget.width()} of {needed(widget)}"
            async for action, page in pages(scene)
            for widget in shown(page)
            if isinstance(widget, QLabel | QPushButton | QCheckBox | QToolButton)
            and not isinstance(widget, ElidedLabel)
            and widget.text()
            and widget.width() < needed(widget)
        ]

    assert cut == []


def needed(widget: QLabel | QPushButton | QCheckBox | QToolButton) -> int:
    """Pixels that its words take, in the longest line or, where it wraps, in the longest word."""
    metrics, text = widget.fontMetrics(), widget.text().replace("&&", "&")
    wraps = isinstance(widget, QLabel) and widget.wordWrap()
    parts = re.split(r"[\s/\\_.-]+", text) if wraps else text.splitlines()
    return max((metrics.horizontalAdvance(part) for part in parts), default=0)


def weak_words(scene: Scene, action: str, page: Page) -> list[str]:
    """Words of a page that do not stand out from their ground."""
    for toast in scene.window.findChildren(Toast):
        toast.hide()  # it would cover what is read
    QApplication.processEvents()
    found = list(ratios(page, scene.window.grab().toImage()))
    assert found, f"{action} shows no words"
    return [f"{action}: {words}: {ratio:.2f}" for words, ratio in found if ratio < CONTRAST]


async def test_all_words_stand_out_from_their_ground_by_night(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await scene.services.preferences.set(theme="dark")
        weak = [words async for action, page in pages(scene) for words in weak_words(scene, action, page)]

    assert weak == []


async def test_everything_stands_out_by_day_has_a_name_and_is_reached_by_tab_which_is_never_held(tmp_path: Path):
    weak: list[str] = []
    nameless: list[str] = []
    missed: list[str] = []
    async with opened(tmp_path) as scene:
        await scene.services.preferences.set(theme="light")
        async for action, page in pages(scene):
            weak += weak_words(scene, action, page)
            nameless += [
                f"{action}: {type(widget).__name__} {widget.objectName()}"
                for widget in shown(page)
                if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and not inner(widget) and not called(widget)
            ]
            wanted, reached = stops(page), set[QWidget]()
            page.back.setFocus()
            for _ in range(MAX_STOPS):
                focus = QApplication.focusWidget()
                if focus is None or (focus in reached and wanted <= reached):
                    break
                reached.add(focus)
                QTest.keyClick(focus, Qt.Key.Key_Tab)
            missed += [f"{action}: {type(widget).__name__} {called(widget)}" for widget in wanted - reached]

    assert weak == []
    assert nameless == []
    assert missed == []
