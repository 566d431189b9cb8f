"""Text form of a memory in the prompt: on one line, with or without title and date."""

from __future__ import annotations

import re
from datetime import datetime

from lethe_app.domain.clock import spell_span
from lethe_app.domain.memory import MemoryType, MemoryUnit

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")
_HEADING = re.compile(r"^(?:#{1,6}(?:\s+|$))+")
"""Markdown heading marks, which would start a section of the prompt."""
_EVENT = re.compile(r"<(?=\s*/?\s*SystemEvent)", re.IGNORECASE)
"""Start of a tag that would look like a hidden line of the program."""


ASK_FIRST = "Ask before acting on this"
"""Beginning of a memory that the persona must not act on unasked, so that a text that is cut short keeps it."""


_DATED_TYPES = frozenset({MemoryType.JOURNAL, MemoryType.EVENT})
_TITLED_TYPES = _DATED_TYPES | {MemoryType.LOCATION, MemoryType.PERSON, MemoryType.CHAT_SESSION}
"""Types of memories whose day, and whose name, is shown."""


def format_memory(memory: MemoryUnit, *, dates: bool, has_heading: bool = False, ended_at: datetime | None = None) -> str:
    """Return the memory as prompt text with macros unexpanded. Its own words cannot start a heading or a system event.

    `dates`: whether the persona wants dates with sessions. With `has_heading` its name is a heading above it. `ended_at` is
    when it ended, for a session its last message; if it is None, `end_time` is used, and without that the day it began. Days
    are those of the time zone of the stored times.
    """
    is_session = memory.category is MemoryType.CHAT_SESSION
    is_dated = dates if is_session else memory.category in _DATED_TYPES
    date_suffix = f" ({_format_days(memory, ended_at)})" if is_dated else ""
    content = one_line(memory.content)
    if memory.needs_permission and ASK_FIRST not in content:
        content = f"{ASK_FIRST}: {content}"
    name = one_line(memory.name) if memory.category in _TITLED_TYPES else ""
    if not name:
        return f"{date_suffix.strip()} {content}".strip()
    if has_heading:
        return f"## {name}{date_suffix}\n{content}".rstrip()
    shown = f"**{name.replace('**', '')}**" if is_session else name
    return f"{shown}{date_suffix}: {content}".rstrip()


def one_line(text: str) -> str:
    """Return the text on one line, without line breaks of any script, leading heading marks and system event tags. Memories
    may hold text that strangers wrote, so this guards the prompt against injected structure.
    """
    # The tag's bracket is replaced by a lookalike, so that the text stays readable.
    return _HEADING.sub("", _EVENT.sub("‹", _BLANKS.sub(" ", text).strip()))


def _format_days(memory: MemoryUnit, ended_at: datetime | None) -> str:
    last = ended_at or memory.end_time or memory.added
    return spell_span(memory.added.date(), last.date())
