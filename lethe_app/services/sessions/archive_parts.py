"""Archive of a session, part by part: by rules, or by a model that is qualified for the part."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain.summary.digest import SessionDigest, build_digest
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.domain.chat import ChatSession, Role, SessionPart
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.memory.facts import FactService
from lethe_app.services.sessions.session_facts import SessionFacts
from lethe_app.storage.chats.sessions import SessionStore

MAX_SUMMARY_CHARACTERS = 2000
"""Maximum length of a summary by rules, in characters."""

MIN_WORDS = 3
"""Words of a message of the user that make a session with less than three messages worth archiving: “I hate peanuts.” is worth
remembering even if its reply was stopped, “Hello.” is not.
"""


@dataclass(frozen=True)
class PartMaker:
    """How one part is made: read off the digest that rules make of the messages, or asked of a model.

    A model reads the summary instead if the session is too long for the context, so it makes the summary first.
    """

    field: str
    """Field of the session in which the part is stored."""
    by_rules: Callable[[SessionDigest], object]
    by_model: Callable[[ChatSession, Sequence[Utterance], ConversationExtraction], Awaitable[object]]


PART_MAKERS = {
    SessionPart.TITLE: PartMaker(
        "name", lambda digest: digest.title, lambda session, lines, llm: llm.title(lines, session.content)
    ),
    SessionPart.SUMMARY: PartMaker("content", lambda digest: digest.summary, lambda _session, lines, llm: llm.summary(lines)),
    SessionPart.KEYWORDS: PartMaker(
        "keywords_main",
        lambda digest: list(digest.keywords),
        lambda session, lines, llm: llm.keywords(lines, session.content),
    ),
    SessionPart.GOALS: PartMaker(
        "future_goals", lambda digest: list(digest.goals), lambda session, lines, llm: llm.goals(lines, session.content)
    ),
    SessionPart.RELEVANCE: PartMaker(
        "relevance", lambda digest: digest.relevance, lambda session, _lines, llm: llm.relevance(session.content)
    ),
    SessionPart.ROLEPLAY: PartMaker(
        "is_roleplay", lambda digest: digest.is_roleplay, lambda _session, lines, llm: llm.is_roleplay(lines)
    ),
}
"""Makers of the parts that are fields of a session. Facts, which have a table of their own, are learnt by `SessionFacts`."""


class SessionArchiver:
    """Make the parts of archived sessions. `ArchiveQueue` decides the order and handles failures."""

    def __init__(
        self,
        session_store: SessionStore,
        facts: FactService,
        session_facts: SessionFacts,
        extraction: ConversationExtraction,
        qualification: Qualification,
    ) -> None:
        self._session_store, self._facts, self._session_facts = session_store, facts, session_facts
        self._extraction, self._qualification = extraction, qualification

    def may_write(self, part: SessionPart) -> bool:
        """Return whether the loaded model is qualified for the part."""
        verdict = self._qualification.verdict
        if verdict is None:
            return False
        return verdict.may_write_facts if part is SessionPart.FACTS else verdict.may_write_summaries

    @property
    def model(self) -> str:
        """Name of the qualified model; empty if there is none."""
        return self._qualification.verdict.model if self._qualification.verdict is not None else ""

    async def load_utterances(self, session_id: UUID) -> list[Utterance]:
        """Return all utterances of the session, without hidden messages."""
        count = len(await self._session_store.outline(session_id))
        return to_utterances(await self._session_store.page(session_id, 0, count))

    async def renew(self, persona_id: str) -> None:
        """Have the persona's facts indexed and prompts made again, because a session was deleted, restored or summarised
        differently.
        """
        await self._facts.renew(persona_id)

    async def make_by_rules(self, session_id: UUID, parts: Collection[SessionPart]) -> dict[SessionPart, object]:
        """Return the values of these parts as computed by rules from the messages. Facts are learnt at once and have no
        value.
        """
        session, lines = await self._session_store.session(session_id), await self.load_utterances(session_id)
        if SessionPart.FACTS in parts:
            await self._session_facts.learn_by_rules(session, lines)
        makers = {part: maker for part, maker in PART_MAKERS.items() if part in parts}
        if not makers:
            return {}
        digest = await asyncio.to_thread(lambda: build_digest(lines, max_length=MAX_SUMMARY_CHARACTERS))
        return {part: maker.by_rules(digest) for part, maker in makers.items()}

    async def make_by_model(self, session_id: UUID, part: SessionPart) -> object:
        """Return the value of one part by the model, to be stored; facts are learnt at once and give None. Raise ModelError."""
        session, lines = await self._session_store.session(session_id), await self.load_utterances(session_id)
        if part in PART_MAKERS:
            return await PART_MAKERS[part].by_model(session, lines, self._extraction)
        await self._session_facts.learn_by_model(session, lines)
        return None

    async def relearn_facts(self, session_id: UUID) -> None:
        """Learn the facts of a session again, as plain or in-story ones, after its roleplay mark changed."""
        session, lines = await self._session_store.session(session_id), await self.load_utterances(session_id)
        await self._session_facts.relearn_by_roleplay(session, lines)


def is_worth_archiving(lines: Sequence[Utterance]) -> bool:
    """Return whether a session has more than two messages, one of them by the user, or a whole sentence of the user. Shorter
    ones are neither summarised nor deleted.
    """
    said = [utterance.text for utterance in lines if utterance.role is Role.USER]
    return (len(lines) > 2 and bool(said)) or any(len(text.split()) >= MIN_WORDS for text in said)
