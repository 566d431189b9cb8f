"""A line of conversation as the brain reads it: who said what when, without the wordings nobody sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.brain.text.scan_window import is_spoken
from lethe_app.domain.chat import Message, Role


@dataclass(frozen=True)
class Utterance:
    """One message, aloud."""

    id: UUID
    role: Role
    """`USER` or `ASSISTANT`."""
    name: str
    text: str
    time: datetime


def aloud(messages: Sequence[Message]) -> list[Utterance]:
    """What of these messages somebody said; hidden lines and tools' results are left out."""
    return [
        Utterance(message.id, message.role, message.speaker_name, message.content, message.time)
        for message in messages
        if is_spoken(message) and message.content.strip()
    ]
