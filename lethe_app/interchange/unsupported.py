"""Files of SillyTavern that are recognised but have no counterpart in Lethe."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import JsonValue


class UnsupportedKind(StrEnum):
    """Kind of a file without a counterpart; the value is what it is called."""

    REASONING = "reasoning template"
    CHAT_COMPLETION = "chat completion preset"
    QUICK_REPLIES = "quick reply set"
    THEME = "theme"
    GROUP = "group definition"
    SETTINGS = "settings file"


_MARKS: tuple[tuple[UnsupportedKind, tuple[str, ...]], ...] = (
    (UnsupportedKind.REASONING, ("prefix", "suffix", "separator")),
    (UnsupportedKind.CHAT_COMPLETION, ("prompts", "prompt_order")),
    (UnsupportedKind.CHAT_COMPLETION, ("chat_completion_source",)),
    (UnsupportedKind.QUICK_REPLIES, ("qrList",)),
    (UnsupportedKind.QUICK_REPLIES, ("quickReplySlots",)),
    (UnsupportedKind.THEME, ("main_text_color",)),
    (UnsupportedKind.GROUP, ("members", "activation_strategy")),
    (UnsupportedKind.SETTINGS, ("power_user",)),
)
"""Fields that mark each kind."""


def find_unsupported_kind(values: JsonValue) -> UnsupportedKind | None:
    """Return the kind of a JSON value that has no counterpart, or None if it is not known."""
    if not isinstance(values, Mapping):
        return None
    return next((kind for kind, marks in _MARKS if all(mark in values for mark in marks)), None)
