"""Utterance: one visible message with speaker, time and text, without its other alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.brain.text.scan_window import is_visible_speech
from lethe_app.domain.chat import Message, Role


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
    """Return the messages that are visible speech as utterances; hidden lines and tool results are left out."""
    return [
        Utterance(message.id, message.role, message.speaker_name, message.content, message.time)
        for message in messages
        if is_visible_speech(message) and message.content.strip()
    ]
