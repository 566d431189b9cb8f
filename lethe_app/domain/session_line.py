"""What a long list shows of a conversation: light enough for thousands, and ready to be sorted and searched as it is."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Maker(IntEnum):
    """Who told what a conversation was about, in the order of their weight."""

    NOBODY = 0
    RULES = 1
    MODEL = 2
    USER = 3


class SessionLine(NamedTuple):
    """One conversation in a list. Moments are seconds since 1970."""

    guid: str
    name: str
    first_words: str
    """What the user said first, where it has no title yet."""
    searched: str
    """Title, first words, summary and keywords, casefolded."""
    began: float
    last: float
    messages: int
    relevance: int
    is_roleplay: bool
    sticky: bool
    protected: bool
    archived: bool
    maker: Maker
    failed: int
    """Parts that a model could not make."""
    pending: int
    """Parts that are still to be made."""
