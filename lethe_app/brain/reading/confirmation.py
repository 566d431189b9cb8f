"""Detect whether the user confirms a message; what only the persona proposed was never decided."""

from __future__ import annotations

from collections.abc import Sequence

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.language_tables import table_pattern


def is_confirmed(index: int, lines: Sequence[Utterance]) -> bool:
    """Return whether the message at index `index` is by the user, or the next message is the user's agreement to it."""
    if lines[index].role is Role.USER:
        return True
    next_line = lines[index + 1] if index + 1 < len(lines) else None
    return (
        next_line is not None
        and next_line.role is Role.USER
        and bool(table_pattern("corrections", "agreement").match(next_line.text))
    )
