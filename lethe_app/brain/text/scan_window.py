"""The part of a conversation in which keywords are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from lethe_app.domain.chat import Message, Role


@dataclass(frozen=True)
class WindowLine:
    """What was said in one message."""

    text: str
    message_id: UUID | None = None
    """None if it is not stored yet."""


@dataclass(frozen=True)
class ScanWindow:
    """The text being sent and what was spoken before it, newest first; index 0 is the former, 1 the newest message."""

    pending: WindowLine
    spoken: tuple[WindowLine, ...] = ()

    @classmethod
    def of(cls, history: Sequence[Message], pending: str | Message = "") -> ScanWindow:
        """`history` is oldest first and without the text being sent; what is hidden or nobody's speech takes no depth."""
        lines = (_line(message) for message in reversed(history) if is_spoken(message))
        return cls(WindowLine(pending) if isinstance(pending, str) else _line(pending), tuple(lines))

    def lines(self, depth: int) -> list[WindowLine]:
        """The text being sent and the `depth` newest messages."""
        return [self.pending, *self.spoken[:depth]]


def is_spoken(message: Message) -> bool:
    """Did the user or a persona say it aloud?"""
    return not message.hidden and message.role in {Role.USER, Role.ASSISTANT}


def _line(message: Message) -> WindowLine:
    return WindowLine(message.content, message.id)
