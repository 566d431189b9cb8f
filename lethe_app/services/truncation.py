"""Keeps what memory puts into a prompt to a length at which something else still has room."""

from __future__ import annotations

from collections.abc import Iterable

from lethe_app.brain.proactive.user_return import UserReturnInsert
from lethe_app.domain.memory import MemoryUnit

LONGEST_MEMORY = 4000
"""Characters of one memory in a prompt; someone may have saved a whole book as one."""
LONGEST_LINE = 6000
"""Characters of a hidden line. What stands in the conversation is never shortened in a prompt, so it is kept short here."""
_ENDS = ("\n", ". ", "! ", "? ", "。")


def shortened(text: str, longest: int) -> str:
    """As many whole lines and sentences of it as fit into so many characters; it says so where something is missing."""
    if len(text) <= longest:
        return text
    end = max(text.rfind(mark, longest // 2, longest) for mark in _ENDS)
    return f"{text[: end + 1 if end > 0 else longest].rstrip()} …"


def short_memory(memory: MemoryUnit) -> MemoryUnit:
    """As much of it as belongs into a conversation."""
    if len(memory.content) <= LONGEST_MEMORY:
        return memory
    return memory.model_copy(update={"content": shortened(memory.content, LONGEST_MEMORY)})


def short_line(text: str, quoted: Iterable[str]) -> str:
    """As much of a hidden line as belongs there; a quotation stands in it with both its fences or not at all."""
    short = shortened(text, LONGEST_LINE)
    cut = [place for quote in quoted if 0 <= (place := text.find(quote)) < len(short) and quote not in short]
    return f"{text[: min(cut)].rstrip()} …" if cut else short


def short_note(note: UserReturnInsert) -> UserReturnInsert:
    """The same of a note."""
    return note.model_copy(update={"info": shortened(note.info, LONGEST_MEMORY)})
