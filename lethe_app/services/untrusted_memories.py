"""Quotation of memories from the internet: they enter a prompt only between fences and with their source, however old they
are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

from lethe_app.brain.recall.memory_text import one_line
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.recall import LOGGED, RecalledMemory
from lethe_app.prompt.untrusted_text import UntrustedTextQuoter
from lethe_app.services.library import Library
from lethe_app.services.truncation import truncate_to_sentences

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

    async def quote_memories(self, memories: Sequence[MemoryUnit]) -> dict[UUID, str]:
        """Return the quoted texts of the memories from the internet, by guid."""
        return {memory.guid: await self.quote_memory(memory) for memory in memories if memory.is_from_web}
