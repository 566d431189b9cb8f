"""Write a conversation as Markdown, for reading and printing."""

from __future__ import annotations

from collections.abc import Sequence

from lethe_app.domain.bundle import BundledMessage
from lethe_app.domain.chat import ChatSession


def write_markdown(session: ChatSession, messages: Sequence[BundledMessage]) -> str:
    """Return a conversation with its title, and each message below its speaker and local time."""
    title = session.name or f"{session.added.astimezone():%Y-%m-%d}"
    spoken = [message for message in messages if message.content.strip()]
    parts = [f"# {title}", *map(_format_message, spoken)]
    return "\n\n".join(parts) + "\n"


def _format_message(message: BundledMessage) -> str:
    return f"**{message.speaker_name}** · {message.time.astimezone():%Y-%m-%d %H:%M}\n\n{message.content.strip()}"
