"""The table of actions."""

from __future__ import annotations

from lethe_app.ui.core.actions import ACTION_SPECS, action_title, action_tooltip


def test_no_two_actions_share_a_shortcut():
    keys = [key for spec in ACTION_SPECS for key in spec.keys.split()]

    assert len(keys) == len(set(keys))


def test_every_action_has_a_title_and_a_shortcut(qapp):
    assert all(action_title(spec.name) and spec.keys for spec in ACTION_SPECS)
    assert action_tooltip("new") == "New conversation  Ctrl+N"
