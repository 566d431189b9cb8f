"""Text of the reply in progress; appending costs the same however long it is."""

from __future__ import annotations

from lethe_app.domain.chat import Message


class GrowingText:
    """Text that is appended to often and read seldom."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text]

    def append(self, piece: str) -> None:
        """Append a piece without copying the text."""
        self._pieces.append(piece)

    @property
    def text(self) -> str:
        """Return the text, joining the pieces."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class GrowingReply:
    """Reply in progress, from the request until it is stored."""

    def __init__(self, message: Message, is_placeholder: bool = False) -> None:
        self.message = message
        self.is_placeholder = is_placeholder
        """True if `message` is a stand-in, because the reply has not begun."""
        self.waiting_text = ""
        """Text beside the dots, such as the progress of the prefill."""
        self.content, self.thinking = GrowingText(message.content), GrowingText(message.thinking)
