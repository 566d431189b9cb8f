"""Length limits for memories in a prompt, so that other sections still fit."""

from __future__ import annotations

from collections.abc import Iterable

from lethe_app.brain.proactive.user_return import UserReturnInsert
from lethe_app.domain.memory import MemoryUnit

MAX_MEMORY_CHARACTERS = 4000
"""Maximum length of one memory in a prompt, in characters; a user may have saved a whole book as one."""
MAX_LINE_CHARACTERS = 6000
"""Maximum length of a hidden message in characters. Messages of the history are never shortened in a prompt, so it is
limited here.
"""
_ENDS = ("\n", ". ", "! ", "? ", "。")


def shortened(text: str, longest: int) -> str:
    """Return as many whole lines and sentences of the text as fit into `longest` characters, with “ …” if it was cut."""
    if len(text) <= longest:
        return text
    end = max(text.rfind(mark, longest // 2, longest) for mark in _ENDS)
    return f"{text[: end + 1 if end > 0 else longest].rstrip()} …"


def short_memory(memory: MemoryUnit) -> MemoryUnit:
    """Return the memory with its content cut to `MAX_MEMORY_CHARACTERS`."""
    if len(memory.content) <= MAX_MEMORY_CHARACTERS:
        return memory
    return memory.model_copy(update={"content": shortened(memory.content, MAX_MEMORY_CHARACTERS)})


def short_line(text: str, quoted: Iterable[str]) -> str:
    """Return the text cut to `MAX_LINE_CHARACTERS`; a quotation is kept with both its fences or removed."""
    short = shortened(text, MAX_LINE_CHARACTERS)
    cut = [place for quote in quoted if 0 <= (place := text.find(quote)) < len(short) and quote not in short]
    return f"{text[: min(cut)].rstrip()} …" if cut else short


def short_note(note: UserReturnInsert) -> UserReturnInsert:
    """Return the note with its text cut to `MAX_MEMORY_CHARACTERS`."""
    return note.model_copy(update={"info": shortened(note.info, MAX_MEMORY_CHARACTERS)})
