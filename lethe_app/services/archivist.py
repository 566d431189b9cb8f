"""Fills one part of an archived session at a time: by rules at once, by a model where one can be trusted with it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID

from lethe_app.brain import digest
from lethe_app.brain.grounding import is_grounded
from lethe_app.brain.ledger import Relation
from lethe_app.brain.said import Said, aloud
from lethe_app.brain.statements import extract
from lethe_app.domain.archive import SessionPart
from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import ModelError
from lethe_app.services.knowing import Knowing
from lethe_app.services.minutes import Minutes
from lethe_app.services.preferences import Preferences
from lethe_app.services.trust import Trust
from lethe_app.storage.chats import Chats

FIELDS = {
    SessionPart.TITLE: "name",
    SessionPart.SUMMARY: "content",
    SessionPart.KEYWORDS: "keywords_main",
    SessionPart.GOALS: "future_goals",
    SessionPart.RELEVANCE: "relevance",
    SessionPart.ROLEPLAY: "is_roleplay",
}
"""Where each part is kept; facts are kept by themselves."""
LONGEST_SUMMARY = 1200
"""Characters of a summary made by rules."""


class Archivist:
    """Does the work; which part comes when, and what if it fails, is for `Archiving` to say."""

    def __init__(self, chats: Chats, knowing: Knowing, minutes: Minutes, trust: Trust, preferences: Preferences) -> None:
        self._chats = chats
        self._knowing = knowing
        self._minutes = minutes
        self._trust = trust
        self._preferences = preferences

    def may_write(self, part: SessionPart) -> bool:
        """Can the model that is loaded be trusted with it?"""
        verdict = self._trust.verdict
        if verdict is None:
            return False
        return verdict.may_write_facts if part is SessionPart.FACTS else verdict.may_write_summaries

    @property
    def model(self) -> str:
        """The name of that model."""
        return self._trust.verdict.model if self._trust.verdict is not None else ""

    async def lines(self, session_id: UUID) -> list[Said]:
        """Everything that was said aloud, all of it."""
        count = len(await self._chats.outline(session_id))
        return aloud(await self._chats.page(session_id, 0, count))

    async def renew(self, persona_id: str) -> None:
        """A conversation was deleted, brought back or told otherwise: the prompts of the others no longer say what it was."""
        await self._knowing.renew(persona_id)

    async def by_rules(self, session_id: UUID, parts: Collection[SessionPart]) -> dict[SessionPart, object]:
        """What these parts come to, told from what was said, word for word or nearly; facts are learnt at once."""
        session, lines = await self._chats.session(session_id), await self.lines(session_id)
        made = await asyncio.to_thread(lambda: digest.digest(lines, longest=LONGEST_SUMMARY))
        values: dict[SessionPart, object] = {
            SessionPart.TITLE: made.title,
            SessionPart.SUMMARY: made.summary,
            SessionPart.KEYWORDS: list(made.keywords),
            SessionPart.GOALS: list(made.goals),
            SessionPart.RELEVANCE: made.relevance,
            SessionPart.ROLEPLAY: made.is_roleplay,
        }
        if SessionPart.FACTS in parts:
            played = made.is_roleplay if SessionPart.ROLEPLAY in parts else session.is_roleplay
            if self._learns_from(played=played):
                await self._knowing.learn(session.persona_id, await self._extracted(session, lines))
        return {part: value for part, value in values.items() if part in parts}

    async def by_model(self, session_id: UUID, part: SessionPart) -> object:
        """What the model makes of one part, to be put in its place; facts are learnt at once. Raises ModelError."""
        session, lines = await self._chats.session(session_id), await self.lines(session_id)
        if part is not SessionPart.FACTS:
            return await self._written(session, lines, part)
        if self._learns_from(played=session.is_roleplay):
            await self._learn(session, lines)
        return None

    async def _extracted(self, session: ChatSession, lines: Sequence[Said]) -> list[ExtractedFact]:
        """By rules; of a line that a model has read already, nothing in other words."""
        known = await self._knowing.all(session.persona_id)
        read = {
            message
            for fact in known
            if fact.made_by is MadeBy.MODEL and session.guid in fact.source_memories
            for message in fact.source_messages
        }
        return [
            ExtractedFact(
                fact=each.text,
                first_seen=each.time,
                last_seen=each.time,
                source_memories=[session.guid],
                source_messages=list(each.messages),
            )
            for each in await asyncio.to_thread(extract, lines)
            if read.isdisjoint(each.messages)
        ]

    async def _written(self, session: ChatSession, lines: Sequence[Said], part: SessionPart) -> object:
        """Other parts may read the summary where there is too much to read all of it at once; it comes before them."""
        match part:
            case SessionPart.TITLE:
                return await self._minutes.title(lines, session.content)
            case SessionPart.SUMMARY:
                return await self._minutes.summary(lines)
            case SessionPart.KEYWORDS:
                return await self._minutes.keywords(lines, session.content)
            case SessionPart.GOALS:
                return await self._minutes.goals(lines, session.content)
            case SessionPart.RELEVANCE:
                return await self._minutes.relevance(session.content)
            case SessionPart.ROLEPLAY:
                return await self._minutes.is_roleplay(lines)
            case SessionPart.FACTS:
                raise AssertionError("facts are learnt one by one")

    async def _learn(self, session: ChatSession, lines: Sequence[Said]) -> None:
        """About both speakers; what does not occur in the lines it is said to come from is thrown away."""
        names = {said.name for said in lines if said.name}
        facts: list[ExtractedFact] = []
        for name in sorted(names):
            for noted in await self._minutes.facts(lines, name):
                around = sources(lines, noted.source)
                if is_grounded(noted.fact, [said.text for said in around], names):
                    facts.append(
                        ExtractedFact(
                            fact=noted.fact,
                            first_seen=noted.source.time,
                            last_seen=noted.source.time,
                            source_memories=[session.guid],
                            source_messages=[noted.source.id],
                            made_by=MadeBy.MODEL,
                        )
                    )
        await self._knowing.learn(session.persona_id, facts, self._judge)

    async def _judge(self, old: str, new: str) -> Relation | None:
        try:
            return Relation(await self._minutes.settle(old, new))
        except ModelError:
            return None

    def _learns_from(self, *, played: bool) -> bool:
        settings = self._preferences.current
        return settings.fact_retrieval and (not played or settings.facts_during_roleplay)


def sources(lines: Sequence[Said], source: Said) -> list[Said]:
    """The line and the one it may be an answer to."""
    place = next((place for place, line in enumerate(lines) if line.id == source.id), -1)
    before = lines[place - 1 : place] if place > 0 else []
    return [*before, source]


def is_worth_archiving(lines: Sequence[Said]) -> bool:
    """More than a greeting and a word: shorter ones are neither summed up nor deleted."""
    return len(lines) > 2 and any(said.role is Role.USER for said in lines)
