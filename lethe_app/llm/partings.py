"""Knows where a prompt will part from the next one: models that cannot cut what they read at any token must go back there."""

from __future__ import annotations

SEAM = 12
"""Tokens at the end of what was read ahead behind which the next prompt may go on otherwise: where it opens the user's words,
notes may come to stand. Fewer than what is worth writing a conversation down once more."""


class Partings:
    """Of one cache: whoever has it read or say something tells it."""

    def __init__(self) -> None:
        self._last = 0
        self._has_spoken = False

    def has_read(self, shared: int, total: int) -> None:
        """A prompt of `total` tokens that begins with so many of those cached. The same one again parts where it did before."""
        if shared < total - 1:
            self._last = shared
        self._has_spoken = False

    def has_spoken(self) -> None:
        """What the prompt brought up for this turn alone now stands before what was said."""
        self._has_spoken = True

    def stays(self, length: int) -> int:
        """With how much of what is cached the next prompt will surely begin."""
        return min(self._last, length) if self._has_spoken else max(length - SEAM, 0)


def ways_back(shared: int, total: int) -> set[int]:
    """Where one should be able to go back to that reads a prompt of `total` tokens of which so many were there: where it parts
    from the one before, for the next will part from this one not far behind; before the seam, for there it parts from what was
    read ahead; and before the last token, for the same prompt once more.
    """
    return {shared, max(shared, total - SEAM), total - 1}
