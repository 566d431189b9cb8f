"""Chance that falls the same way every time the same turn is played, so that a regenerated reply sees the same entries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import accumulate


def draw(*of: object) -> float:
    """A number from 0 up to but not including 1, drawn from what it is for: session seed, turn, entry."""
    told = "\0".join(str(part) for part in of)
    return (int.from_bytes(hashlib.sha256(told.encode()).digest()[:8]) >> 11) / 2**53


def pick(weights: Sequence[int], drawn: float) -> int:
    """The index that `drawn` (0 to 1) falls on when each has a share of its weight; the first if none has any."""
    limit = drawn * sum(weights)
    return next((index for index, until in enumerate(accumulate(weights)) if limit < until), 0)
