"""Quotation of memories from the internet: they enter a prompt only between fences and with their source, however old they
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from lethe_app.brain.proactive.user_return import UserReturnInsert
from lethe_app.brain.recall.memory_text import one_line
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.recall import LOGGED, RecalledMemory
from lethe_app.prompt.untrusted_text import UntrustedTextQuoter
from lethe_app.services.library import Library

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


MAX_QUOTE_CHARACTERS = 2500
"""Maximum length of one quoted memory in characters, so that both fences fit into a hidden message."""


class UntrustedMemories:
    """Quote memories from the internet. The quoter is built only when there is something to quote."""

    def __init__(self, library: Library, prompts: Path) -> None:
        self._library, self._prompts = library, prompts

    async def build_quoter(self) -> UntrustedTextQuoter:
        """Create the quoter for untrusted text. Raise FileError."""
        return UntrustedTextQuoter(self._prompts / "quoted.md", (await self._library.instruct_presets()).values())

    async def quote_recalled(
        self, recalled: Sequence[RecalledMemory], memories: Mapping[UUID, MemoryUnit]
    ) -> list[RecalledMemory]:
        """Return the recollections with those from the internet quoted. Text that is written into the history is quoted
        already.
        """
        return [
            recollection.model_copy(update={"text": await self.quote_memory(memory, recollection.text)})
            if (memory := memories.get(recollection.memory)) is not None and recollection.way not in LOGGED
            else recollection
            for recollection in recalled
        ]

    async def quote_memory(self, memory: MemoryUnit, text: str = "") -> str:
        """Return `text`, or else the content of the memory, quoted if it came from the internet. Raise FileError."""
        content = text or one_line(memory.content)
        if not memory.is_from_web:
            return content
        return (await self.build_quoter()).quote_stored(
            truncate_to_sentences(content, MAX_QUOTE_CHARACTERS), memory.sources, str(memory.guid)
        )
