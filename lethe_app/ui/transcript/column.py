"""The one column of the conversation: messages and writing field stand in it, edge under edge."""

from __future__ import annotations

from lethe_app.ui.palette import AVATAR, PROSE_WIDTH, SPACE_3, SPACE_6

AVATAR_ROOM = AVATAR + SPACE_3
"""What the avatar and the gap behind it take of the column, left of the prose."""
WIDEST = AVATAR_ROOM + PROSE_WIDTH
AROUND = SPACE_6
"""Room that is kept on either side."""
NARROWEST = AVATAR_ROOM + 120


def column_in(room: int) -> tuple[int, int]:
    """Left edge and width of the column, avatars included, in the middle of a place `room` pixels wide."""
    width = max(NARROWEST, min(WIDEST, room - 2 * AROUND))
    return max(AROUND, (room - width) // 2), width
