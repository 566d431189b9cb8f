"""The small dialogs."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from lethe_app.ui.dialogs.dialogs import ShortcutsDialog


def test_the_list_of_shortcuts_is_seen_whole_on_a_small_screen(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    dialog = ShortcutsDialog(place)
    dialog.show()
    dialog.grab()

    for label in dialog.findChildren(QLabel):
        assert label.height() >= label.sizeHint().height()
        assert label.width() >= label.sizeHint().width()
        assert not label.visibleRegion().isEmpty()
    assert dialog.height() <= 560
    assert dialog.width() <= 1000
