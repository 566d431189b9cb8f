"""What the list of tasks at work shows."""

from __future__ import annotations

from lethe_app.ui.shell.activity_list import ActivityButton, ActivityRow


def activity_rows(button: ActivityButton) -> list[ActivityRow]:
    """The rows of the list, whether it is open or not."""
    return [row for row in button.activity_list.findChildren(ActivityRow) if not row.isHidden()]


def activity_row(button: ActivityButton, title: str) -> ActivityRow:
    """The row with that title."""
    (found,) = (row for row in activity_rows(button) if row.title.text() == title)
    return found
