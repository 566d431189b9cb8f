"""Fills one part of an archived session at a time: by rules at once, by a model where one can be trusted with it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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

    async def put(self, session_id: UUID, part: SessionPart, value: object) -> ChatSession:
        """The user's own wording."""
        return await self._chats.change_session(session_id, **{FIELDS[part]: value})

    async def by_rules(self, session: ChatSession, parts: Sequence[SessionPart]) -> None:
        """Fill these parts from what was said, word for word or nearly."""
        lines = await self.lines(session.guid)
        made = await asyncio.to_thread(lambda: digest.digest(lines, longest=LONGEST_SUMMARY))
        values = {
            SessionPart.TITLE: made.title,
            SessionPart.SUMMARY: made.summary,
            SessionPart.KEYWORDS: list(made.keywords),
            SessionPart.GOALS: list(made.goals),
            SessionPart.RELEVANCE: made.relevance,
            SessionPart.ROLEPLAY: made.is_roleplay,
        }
        changes = {FIELDS[part]: values[part] for part in parts if part in FIELDS}
        if changes:
            session = await self._chats.change_session(session.guid, **changes)
        if SessionPart.FACTS in parts and self._learns_from(session):
            found = await asyncio.to_thread(extract, lines)
            facts = [
                ExtractedFact(
                    fact=each.text,
                    first_seen=each.time,
                    last_seen=each.time,
                    source_memories=[session.guid],
                    source_messages=list(each.messages),
                )
                for each in found
            ]
            await self._knowing.learn(session.persona_id, facts)

    async def by_model(self, session_id: UUID, part: SessionPart) -> None:
        """Fill one part with what the model makes of it. Raises ModelError."""
        session, lines = await self._chats.session(session_id), await self.lines(session_id)
        if part is SessionPart.FACTS:
            if self._learns_from(session):
                await self._learn(session, lines)
            return
        await self._chats.change_session(session_id, **{FIELDS[part]: await self._written(session, lines, part)})

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

    def _learns_from(self, session: ChatSession) -> bool:
        settings = self._preferences.current
        return settings.fact_retrieval and (not session.is_roleplay or settings.facts_during_roleplay)


def sources(lines: Sequence[Said], source: Said) -> list[Said]:
    """The line and the one it may be an answer to."""
    place = next((place for place, line in enumerate(lines) if line.id == source.id), -1)
    before = lines[place - 1 : place] if place > 0 else []
    return [*before, source]


def is_worth_archiving(lines: Sequence[Said]) -> bool:
    """More than a greeting and a word: shorter ones are neither summed up nor deleted."""
    return len(lines) > 2 and any(said.role is Role.USER for said in lines)
