"""Holds the reply that is being written, piece by piece, at the same cost for each piece however long it has become."""

from __future__ import annotations

from lethe_app.domain.chat import Message


class GrowingText:
    """Text that is appended to often and read seldom."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text]

    def append(self, piece: str) -> None:
        self._pieces.append(piece)

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class GrowingReply:
    """A reply from the moment it is awaited until it is finished."""

    def __init__(self, message: Message, awaited: bool = False) -> None:
        self.message = message
        self.awaited = awaited
        """Whether it stands in for a message that has not begun yet."""
        self.words = ""
        """What is being waited for, such as “Reading 1,200 of 3,000 tokens”."""
        self.said, self.thought = GrowingText(message.content), GrowingText(message.thinking)
