"""Length limits for memories in a prompt, so that other sections still fit."""

from __future__ import annotations

from collections.abc import Iterable

from lethe_app.brain.proactive.user_return import UserReturnInsert
from lethe_app.domain.memory import MemoryUnit

MAX_MEMORY_CHARACTERS = 4000
"""Maximum length of one memory in a prompt, in characters; a user may have saved a whole book as one."""
MAX_HIDDEN_MESSAGE_CHARACTERS = 6000
"""Maximum length of a hidden message in characters. Messages of the history are never truncated in a prompt, so it is limited
here.
"""
_SENTENCE_ENDS = ("\n", ". ", "! ", "? ", "。")


def truncate_to_sentences(text: str, max_characters: int) -> str:
    """Return as many complete lines and sentences of the text as fit into `max_characters`, with “ …” if it was cut."""
    if len(text) <= max_characters:
        return text
    end = max(text.rfind(mark, max_characters // 2, max_characters) for mark in _SENTENCE_ENDS)
    return f"{text[: end + 1 if end > 0 else max_characters].rstrip()} …"


def truncate_memory(memory: MemoryUnit) -> MemoryUnit:
    """Return the memory with its content cut to `MAX_MEMORY_CHARACTERS`."""
    if len(memory.content) <= MAX_MEMORY_CHARACTERS:
        return memory
    return memory.model_copy(update={"content": truncate_to_sentences(memory.content, MAX_MEMORY_CHARACTERS)})


def truncate_hidden_message(text: str, quotations: Iterable[str]) -> str:
    """Return the text cut to `MAX_HIDDEN_MESSAGE_CHARACTERS`; a quotation is kept with both its fences or removed."""
    truncated = truncate_to_sentences(text, MAX_HIDDEN_MESSAGE_CHARACTERS)
    split_starts = [
        start
        for quotation in quotations
        if 0 <= (start := text.find(quotation)) < len(truncated) and quotation not in truncated
    ]
    return f"{text[: min(split_starts)].rstrip()} …" if split_starts else truncated


def truncate_note(note: UserReturnInsert) -> UserReturnInsert:
    """Return the note with its text cut to `MAX_MEMORY_CHARACTERS`."""
    return note.model_copy(update={"info": truncate_to_sentences(note.info, MAX_MEMORY_CHARACTERS)})
