"""Text form of a memory in the prompt: on one line, with or without title and date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import Enum, auto

from lethe_app.domain.clock import spell_span
from lethe_app.domain.memory import MemoryType, MemoryUnit

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")
_HEADING = re.compile(r"^(?:#{1,6}(?:\s+|$))+")
"""Markdown heading marks, which would start a section of the prompt."""
_EVENT = re.compile(r"<(?=\s*/?\s*SystemEvent)", re.IGNORECASE)
"""Start of a tag that would look like a hidden line of the program."""


ASK_FIRST = "Ask before acting on this"
"""Beginning of a memory that the persona must not act on unasked, so that a text that is cut short keeps it."""


class TitleStyle(Enum):
    """Form of the memory's name in the prompt."""

    NONE = auto()
    NAME = auto()
    """As “Name: ”."""
    BOLD = auto()
    HEADING = auto()


@dataclass(frozen=True)
class MemoryTextForm:
    """Parts of a memory that are shown in the prompt."""

    title: TitleStyle = TitleStyle.NONE
    dated: bool = False


_PLAIN = MemoryTextForm()
_NAMED = MemoryTextForm(TitleStyle.NAME)
_DATED = MemoryTextForm(TitleStyle.NAME, dated=True)
_FORMS = {
    MemoryType.JOURNAL: _DATED,
    MemoryType.EVENT: _DATED,
    MemoryType.LOCATION: _NAMED,
    MemoryType.PERSON: _NAMED,
}


def text_form(category: MemoryType, *, dates: bool) -> MemoryTextForm:
    """Return the text form of memories of this type. `dates`: whether the persona wants dates with sessions."""
    if category is MemoryType.CHAT_SESSION:
        return MemoryTextForm(TitleStyle.BOLD, dated=dates)
    return _FORMS.get(category, _PLAIN)


def format_memory(
    memory: MemoryUnit, form: MemoryTextForm, *, ended_at: datetime | None = None, zone: tzinfo | None = None
) -> str:
    """Return the memory as prompt text with macros unexpanded. Its own words cannot start a heading or a system event.

    `ended_at` is when it ended, for a session its last message; if it is None, `end_time` is used, and without that the day it
    began. Days are those of the time zone of the stored times, or of `zone`.
    """
    date_suffix = f" ({_format_days(memory, ended_at, zone)})" if form.dated else ""
    content = one_line(memory.content)
    if memory.needs_permission and ASK_FIRST not in content:
        content = f"{ASK_FIRST}: {content}"
    return _add_title(one_line(memory.name), date_suffix, content, form.title)


def one_line(text: str) -> str:
    """Return the text on one line, without line breaks of any script, leading heading marks and system event tags. Memories
    may hold text that strangers wrote, so this guards the prompt against injected structure.
    """
    # The tag's bracket is replaced by a lookalike, so that the text stays readable.
    return _HEADING.sub("", _EVENT.sub("‹", _BLANKS.sub(" ", text).strip()))


def _add_title(name: str, date_suffix: str, content: str, title: TitleStyle) -> str:
    if not name or title is TitleStyle.NONE:
        return f"{date_suffix.strip()} {content}".strip()
    if title is TitleStyle.HEADING:
        return f"## {name}{date_suffix}\n{content}".rstrip()
    shown = f"**{name.replace('**', '')}**" if title is TitleStyle.BOLD else name
    return f"{shown}{date_suffix}: {content}".rstrip()


def _format_days(memory: MemoryUnit, ended_at: datetime | None, zone: tzinfo | None) -> str:
    first, last = memory.added, ended_at or memory.end_time or memory.added
    if zone is not None:
        first, last = first.astimezone(zone), last.astimezone(zone)
    return spell_span(first.date(), last.date())
