"""What the clerk takes down of a conversation; long ones are read portion by portion, so that no line is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from lethe_app.brain.answers import (
    Answer,
    Facts,
    Goals,
    Keywords,
    LongSummary,
    Relevance,
    Roleplay,
    Settlement,
    StatedFact,
    Summary,
    Title,
    stands_alone,
)
from lethe_app.brain.grounding import is_grounded
from lethe_app.brain.portions import pack, spell_all
from lethe_app.brain.said import Said
from lethe_app.prompt.errands import LONG, SHORT, Task
from lethe_app.services.clerk import Clerk

T = TypeVar("T", bound=Answer)
NOTHING = "(nothing yet)"
LONG_SESSION = 40
"""Messages above which a summary takes more room."""
LINES_FOR_FACTS = 12
"""Lines read together for facts; of more, a model forgets those in the middle."""


@dataclass(frozen=True)
class Noted:
    """A fact as the model put it, and the line it says it took it from."""

    fact: str
    source: Said


class Minutes:
    """Every method raises ModelError and may be cancelled at any time."""

    def __init__(self, clerk: Clerk) -> None:
        self._clerk = clerk

    async def summary(self, lines: Sequence[Said]) -> str:
        """One or two paragraphs, above forty messages two to four, of all that was said; `lines` must not be empty."""
        kind, length = (LongSummary, LONG) if len(lines) > LONG_SESSION else (Summary, SHORT)
        portions = await self._clerk.portions(Task.SUMMARY, kind, lines, length=length)
        if len(portions) == 1:
            return (await self._clerk.ask(Task.SUMMARY, kind, conversation=spell_all(lines), length=length)).text
        parts = [
            (await self._clerk.ask(Task.SUMMARY, Summary, conversation=spell_all(part), length=SHORT)).text for part in portions
        ]
        return await self._merge(parts, kind, length)

    async def _merge(self, parts: list[str], kind: type[Summary], length: str) -> str:
        """One account of several; where they do not fit together, first of neighbours."""
        room = await self._clerk.room(Task.MERGE, kind, length=length)
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
        return (await self._clerk.ask(Task.MERGE, kind, parts=text, length=length)).text

    async def title(self, lines: Sequence[Said], summary: str) -> str:
        """Two to six words. `summary` is read instead of a conversation too long to be read at once; so below."""
        return (await self._whole(Task.TITLE, Title, lines, summary)).title

    async def keywords(self, lines: Sequence[Said], summary: str) -> list[str]:
        """Four to six."""
        return (await self._whole(Task.KEYWORDS, Keywords, lines, summary)).keywords

    async def goals(self, lines: Sequence[Said], summary: str) -> list[str]:
        """Plans that are still open, at most five."""
        return (await self._whole(Task.GOALS, Goals, lines, summary)).goals

    async def relevance(self, summary: str) -> int:
        """From 1 to 5."""
        return (await self._clerk.ask(Task.RELEVANCE, Relevance, summary=summary)).stars

    async def is_roleplay(self, lines: Sequence[Said]) -> bool:
        """Is every portion of it?"""
        for part in await self._clerk.portions(Task.ROLEPLAY, Roleplay, lines):
            if not (await self._clerk.ask(Task.ROLEPLAY, Roleplay, conversation=spell_all(part))).is_roleplay:
                return False
        return bool(lines)

    async def facts(self, lines: Sequence[Said], about: str) -> list[Noted]:
        """Lasting facts about somebody, unchecked: whoever keeps them asks `brain.grounding` first."""
        found: dict[str, Noted] = {}
        for part in await self._clerk.portions(Task.FACTS, Facts, lines, LINES_FOR_FACTS, about=about):
            stated = await self._clerk.ask(Task.FACTS, Facts, conversation=spell_all(part, numbered=True), about=about)
            for each in stated.facts:
                source = find_source(each, part)
                if source is not None and stands_alone(each.fact):
                    found.setdefault(each.fact.casefold(), Noted(each.fact, source))
        return list(found.values())

    async def settle(self, old: str, new: str) -> str:
        """What a new fact is to an old one near it: `same`, `update`, `contradiction` or `new`."""
        return (await self._clerk.ask(Task.SETTLE, Settlement, old=old, new=new)).verdict

    async def recap(self, so_far: str, lines: Sequence[Said]) -> str:
        """The rolling summary, carried on by lines that leave the window."""
        (told,) = await self._clerk.count([so_far])
        spare = max(told, Summary.most_tokens)
        for part in await self._clerk.portions(Task.RECAP, Summary, lines, spare=spare, length=SHORT):
            material = {"so_far": so_far or NOTHING, "conversation": spell_all(part), "length": SHORT}
            so_far = (await self._clerk.ask(Task.RECAP, Summary, **material)).text
        return so_far

    async def _whole(self, task: Task, answer: type[T], lines: Sequence[Said], summary: str) -> T:
        """Ask about all lines where they fit, else about their summary."""
        fits = len(await self._clerk.portions(task, answer, lines)) == 1
        return await self._clerk.ask(task, answer, conversation=spell_all(lines) if fits else summary)


def find_source(stated: StatedFact, lines: Sequence[Said]) -> Said | None:
    """The line that says it: the one the model names, unless that does not and another does, for models miscount.

    None where there is no line of that number and no other says it.
    """
    names = {said.name for said in lines}
    named = stated.line - 1
    for place in sorted(range(len(lines)), key=lambda place: abs(place - named)):
        if is_grounded(stated.fact, [lines[place].text], names):
            return lines[place]
    return lines[named] if named < len(lines) else None
