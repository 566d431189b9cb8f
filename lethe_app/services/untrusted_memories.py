"""Brings up what was read on the internet only as what it is: between fences, with its source, however long ago it was kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

from lethe_app.brain.recall.memory_text import one_line
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.recall import LOGGED, Recollection
from lethe_app.prompt.untrusted_text import Quoter
from lethe_app.services.library import Library
from lethe_app.services.truncation import shortened

LONGEST_QUOTE = 2500
"""Characters of one memory, so that a hidden line holds its fences whole."""


class UntrustedMemories:
    """Asks for a quoter only where there is something to be quoted."""

    def __init__(self, library: Library, prompts: Path) -> None:
        self._library, self._prompts = library, prompts

    async def quoter(self) -> Quoter:
        """What hands words of strangers to a model. Raises FileError."""
        return Quoter(self._prompts / "quoted.md", (await self._library.instruct_presets()).values())

    async def fenced(self, recalled: Sequence[Recollection], held: Mapping[UUID, MemoryUnit]) -> list[Recollection]:
        """The same, with those that came from the internet quoted. What was written into the conversation was quoted there."""
        return [
            one.model_copy(update={"text": await self.quoted_text(memory, one.text)})
            if (memory := held.get(one.memory)) is not None and one.way not in LOGGED
            else one
            for one in recalled
        ]

    async def quoted_text(self, memory: MemoryUnit, text: str = "") -> str:
        """`text`, or else what the memory says, quoted where it came from the internet. Raises FileError."""
        words = text or one_line(memory.content)
        if not memory.is_from_web:
            return words
        return (await self.quoter()).kept(shortened(words, LONGEST_QUOTE), memory.sources, str(memory.guid))

    async def told_of(self, memories: Sequence[MemoryUnit]) -> dict[UUID, str]:
        """By id, those of them that came from the internet, quoted."""
        return {one.guid: await self.quoted_text(one) for one in memories if one.is_from_web}
