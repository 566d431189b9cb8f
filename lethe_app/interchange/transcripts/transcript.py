"""ChatTranscript: a conversation of another program, before it becomes sessions of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from lethe_app.domain.chat import Role
from lethe_app.interchange.json_text import JsonObject


@dataclass(frozen=True)
class TranscriptReply:
    """One alternative of a message."""

    text: str
    thinking: str = ""
    time: datetime | None = None
    model: str = ""
    own: JsonObject = field(default_factory=dict)
    """What an export of Lethe says of it besides, such as its language."""


@dataclass(frozen=True)
class TranscriptMessage:
    """Message with its alternatives, at least one."""

    role: Role
    name: str
    """Name of the speaker; empty if the file does not say it."""
    replies: tuple[TranscriptReply, ...]
    shown: int = 0
    time: datetime | None = None
    """Time of the message with its zone; None if the file has none."""
    original: JsonObject = field(default_factory=dict)
    """The message as it was, for export."""
    hidden_lines: tuple[JsonObject, ...] = ()
    """Lines after it that were hidden from the model; they are no messages here, but written again on export."""

    @property
    def text(self) -> str:
        """Return the text of the alternative shown."""
        return self.replies[self.shown].text


@dataclass(frozen=True)
class ChatTranscript:
    """Conversation of one file, oldest message first."""

    title: str
    character: str
    """Name of the character; empty if the file does not say it."""
    user: str
    messages: tuple[TranscriptMessage, ...]
    members: tuple[str, ...] = ()
    """Names of all characters of a group; empty for a conversation with one."""
    world: str = ""
    """Name of the lorebook chosen for this conversation."""
    original: JsonObject = field(default_factory=dict)
    """Header of the file, for export."""
