"""Text of a session to keep, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from lethe_app.domain.chat import Message


def format_transcript(title: str, messages: Iterable[Message], format_moment: Callable[[datetime], str]) -> str:
    """Return the messages of a session as Markdown, each below its speaker and time, in their order.

    `format_moment` returns a date and time as they are displayed.
    """
    parts = [f"# {' '.join(title.split())}"]
    for message in messages:
        parts += [f"**{message.speaker_name}** ({format_moment(message.time)})", message.content.strip()]
    return "\n\n".join(part for part in parts if part) + "\n"
