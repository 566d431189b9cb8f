"""What a model extracts from a conversation; long ones are read portion by portion, so that no line is left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from lethe_app.brain.llm_schemas.archive import (
    Goals,
    KeywordsAnswer,
    LlmAnswer,
    LongSummary,
    Relevance,
    Roleplay,
    Settlement,
    Summary,
    TitleAnswer,
)
from lethe_app.brain.llm_schemas.chunking import pack, spell_all
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.facts import ExtractedFact
from lethe_app.prompt.task_prompts import LONG, SHORT, TaskKind
from lethe_app.services.extraction.llm_facts import LlmFactExtraction, SupportedFact
from lethe_app.services.extraction.structured_output import StructuredOutput

T = TypeVar("T", bound=LlmAnswer)
NOTHING = "(nothing yet)"
LONG_SESSION = 40
"""Messages above which a summary takes more room."""


class ConversationExtraction:
    """Every method raises ModelError and may be cancelled at any time."""

    def __init__(self, clerk: StructuredOutput) -> None:
        self._clerk = clerk
        self._extraction = LlmFactExtraction(clerk)

    async def summary(self, lines: Sequence[Utterance]) -> str:
        """One or two paragraphs, above forty messages two to four, of all that was said; `lines` must not be empty."""
        kind, length = (LongSummary, LONG) if len(lines) > LONG_SESSION else (Summary, SHORT)
        portions = await self._clerk.portions(TaskKind.SUMMARY, kind, lines, length=length)
        if len(portions) == 1:
            return await self._sum_up(lines, kind, length)
        return await self._merge([await self._sum_up(part, Summary, SHORT) for part in portions], kind, length)

    async def _sum_up(self, lines: Sequence[Utterance], kind: type[Summary], length: str) -> str:
        text = spell_all(lines, dated=True)
        return (await self._clerk.ask(TaskKind.SUMMARY, kind, conversation=text, length=length)).text

    async def _merge(self, parts: list[str], kind: type[Summary], length: str) -> str:
        """One account of several; where they do not fit together, first of neighbours."""
        room = await self._clerk.room(TaskKind.MERGE, kind, length=length)
        while len(parts) > 1:
            groups = pack([tokens + 8 for tokens in await self._clerk.count(parts)], room)
            if len(groups) == len(parts):  # no two fit together: side by side is the best there is
                return "\n\n".join(parts)
            last = len(groups) == 1
            shape, words = (kind, length) if last else (Summary, SHORT)
            parts = [await self._merged(parts[group], shape, words) for group in groups]
        return parts[0]

    async def _merged(self, parts: list[str], kind: type[Summary], length: str) -> str:
        if len(parts) == 1:
            return parts[0]
        text = "\n".join(f"Part {number}: {' '.join(part.split())}" for number, part in enumerate(parts, 1))
        return (await self._clerk.ask(TaskKind.MERGE, kind, parts=text, length=length)).text

    async def title(self, lines: Sequence[Utterance], summary: str) -> str:
        """Two to six words. `summary` is read instead of a conversation too long to be read at once; so below."""
        return (await self._whole(TaskKind.TITLE, TitleAnswer, lines, summary)).title

    async def keywords(self, lines: Sequence[Utterance], summary: str) -> list[str]:
        """Four to six."""
        return (await self._whole(TaskKind.KEYWORDS, KeywordsAnswer, lines, summary)).keywords

    async def goals(self, lines: Sequence[Utterance], summary: str) -> list[str]:
        """Plans that are still open, at most five."""
        return (await self._whole(TaskKind.GOALS, Goals, lines, summary)).goals

    async def relevance(self, summary: str) -> int:
        """From 1 to 5."""
        return (await self._clerk.ask(TaskKind.RELEVANCE, Relevance, summary=summary)).stars

    async def is_roleplay(self, lines: Sequence[Utterance]) -> bool:
        """Is every portion of it?"""
        for part in await self._clerk.portions(TaskKind.ROLEPLAY, Roleplay, lines):
            if not (await self._clerk.ask(TaskKind.ROLEPLAY, Roleplay, conversation=spell_all(part))).is_roleplay:
                return False
        return bool(lines)

    async def facts(
        self, lines: Sequence[Utterance], about: Collection[str], known: Sequence[ExtractedFact] = ()
    ) -> list[SupportedFact]:
        """New or changed lasting facts about these speakers that the lines support; `known` are the facts that hold now."""
        return await self._extraction.facts(lines, about, known)

    async def compare_facts(self, old: str, new: str) -> str:
        """What a new fact is to an old one near it: `same`, `update`, `contradiction` or `new`."""
        return (await self._clerk.ask(TaskKind.SETTLE, Settlement, old=old, new=new)).verdict

    async def recap(self, so_far: str, lines: Sequence[Utterance]) -> str:
        """The rolling summary, carried on by lines that leave the window."""
        (told,) = await self._clerk.count([so_far])
        spare = max(told, Summary.most_tokens)
        for part in await self._clerk.portions(TaskKind.RECAP, Summary, lines, spare=spare, length=SHORT):
            material = {"so_far": so_far or NOTHING, "conversation": spell_all(part, dated=True), "length": SHORT}
            so_far = (await self._clerk.ask(TaskKind.RECAP, Summary, **material)).text
        return so_far

    async def _whole(self, task: TaskKind, answer: type[T], lines: Sequence[Utterance], summary: str) -> T:
        """Ask about all lines where they fit, else about their summary."""
        fits = len(await self._clerk.portions(task, answer, lines)) == 1
        return await self._clerk.ask(task, answer, conversation=spell_all(lines, dated=True) if fits else summary)
