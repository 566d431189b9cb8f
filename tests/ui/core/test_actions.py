"""The table of actions."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from lethe_app.ui.core.actions import ACTION_SPECS, Actions, action_title, action_tooltip


def test_no_two_wishes_share_their_keys():
    keys = [key for wish in ACTION_SPECS for key in wish.keys]

    assert len(keys) == len(set(keys))


def test_every_wish_has_a_title_and_keys(qapp):
    assert all(action_title(wish.name) and wish.keys for wish in ACTION_SPECS)
    assert action_tooltip("new") == "New conversation  Ctrl+N"


def test_an_action_does_what_it_was_connected_to(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    actions, done = Actions(window), []
    actions.connect(new=lambda: done.append("new"))

    actions["new"].trigger()

    assert done == ["new"]
