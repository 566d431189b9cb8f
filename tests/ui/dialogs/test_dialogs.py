"""The small dialogs."""

from __future__ import annotations

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from lethe_app.ui.core.actions import ACTION_GROUPS, ACTION_SPECS
from lethe_app.ui.dialogs.shortcuts import ShortcutsDialog


def test_the_list_of_shortcuts_fits_a_small_screen_and_is_scrolled_in_one_direction(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    dialog = ShortcutsDialog(place)
    dialog.show()
    dialog.grab()

    (area,) = dialog.findChildren(QScrollArea)
    assert area.horizontalScrollBar().maximum() == 0
    for label in area.findChildren(QLabel):
        area.ensureWidgetVisible(label)
        assert label.height() >= label.sizeHint().height()
        assert label.width() >= label.sizeHint().width()
        assert not label.visibleRegion().isEmpty()
    assert dialog.height() <= 800
    assert dialog.width() <= 800


def test_every_action_has_its_place_in_the_list_of_shortcuts():
    listed = [name for _title, names in ACTION_GROUPS for name in names]

    assert sorted(listed) == sorted(spec.name for spec in ACTION_SPECS)


def test_shortcuts_are_found_by_usual_words(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    dialog = ShortcutsDialog(place)
    dialog.show()

    QTest.keyClicks(dialog.search, "lorebook")
    assert dialog.shown_names == ["meet", "worlds"]
    dialog.search.setText("xylophone")
    assert dialog.shown_names == []
    assert dialog.no_match.isVisible()
    dialog.search.clear()
    assert len(dialog.shown_names) == len(ACTION_SPECS)
