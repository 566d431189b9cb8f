"""Visible messages of a conversation: as utterances with speaker and time, and the window in which keywords are searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.brain.text.withdrawn import remove_withdrawn
from lethe_app.domain.chat import Message, Role
from lethe_app.domain.clock import now, order_times

WITHDRAWN = "(withdrawn)"
"""Text in prompts of a message that is withdrawn as a whole: roles must go on alternating."""


@dataclass(frozen=True)
class Utterance:
    """One visible message of the user or a persona."""

    id: UUID
    role: Role
    """`USER` or `ASSISTANT`."""
    name: str
    text: str
    time: datetime


def to_utterances(messages: Sequence[Message]) -> list[Utterance]:
    """Return the messages that are visible speech as utterances; hidden lines, tool results and what the user wants forgotten
    are left out. The order of the messages decides about their times, since the clock may have been wrong.
    """
    times = [message.time for message in messages]
    if times and (times != sorted(times) or times[-1] > now()):  # which is rare
        times = order_times(times)
    utterances = list[Utterance]()
    for message, time in zip(map(without_withdrawn, messages), times, strict=True):
        if is_visible_speech(message) and message.content.strip():
            utterances.append(Utterance(message.id, message.role, message.speaker_name, message.content, time))
    return utterances


def without_withdrawn(message: Message, placeholder: str = "") -> Message:
    """Return a message without what the user wants forgotten; one of which nothing is left has the placeholder as its text."""
    if not message.withdrawn:
        return message
    text = remove_withdrawn(message.content, message.withdrawn) or placeholder
    return message.model_copy(update={"alternatives": [message.current.model_copy(update={"content": text})], "shown": 0})


@dataclass(frozen=True)
class WindowLine:
    """Text of one message in the scan window."""

    text: str
    message_id: UUID | None = None
    """None if the message is not stored yet."""


@dataclass(frozen=True)
class ScanWindow:
    """The text being sent and the messages before it, newest first. Index 0 is the text being sent, 1 the newest message."""

    pending: WindowLine
    messages: tuple[WindowLine, ...] = ()

    @classmethod
    def from_history(cls, history: Sequence[Message], pending: str | Message = "") -> ScanWindow:
        """Build the window. `history` is oldest first and without the text being sent; hidden messages and those of tools do
        not count towards the scan depth.
        """
        lines = (WindowLine(one.content, one.id) for one in reversed(history) if is_visible_speech(one))
        pending_line = WindowLine(pending) if isinstance(pending, str) else WindowLine(pending.content, pending.id)
        return cls(pending_line, tuple(lines))

    def lines(self, depth: int) -> list[WindowLine]:
        """Return the text being sent and the `depth` newest messages."""
        return [self.pending, *self.messages[:depth]]


def is_visible_speech(message: Message) -> bool:
    """Return whether the message is a visible message of the user or a persona."""
    return not message.hidden and message.role in {Role.USER, Role.ASSISTANT}
