"""The one column of the conversation: messages and writing field stand in it, edge under edge."""

from __future__ import annotations

from lethe_app.ui.palette import AVATAR, PROSE_WIDTH, SPACE_3, SPACE_6

AVATAR_ROOM = AVATAR + SPACE_3
"""What the avatar and the gap behind it take of the column, left of the prose."""
NARROWEST = 120
"""Pixels of prose that are kept, however little room there is."""


def column_in(room: int) -> tuple[int, int]:
    """Left edge and width of the column, avatars included, in the middle of a place `room` pixels wide."""
    prose = max(NARROWEST, min(PROSE_WIDTH, room - AVATAR_ROOM - 2 * SPACE_6))
    width = AVATAR_ROOM + prose
    return max(SPACE_6, (room - width) // 2), width
