"""Lists and details of facts: sources, core facts, and the timeline."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from lethe_app.brain.facts import core_facts
from lethe_app.brain.facts.comparison import owned_relation
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import split_sentences
from lethe_app.domain.chat import Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.prompt import PromptPart
from lethe_app.errors import StorageError
from lethe_app.prompt.budget import CAPS
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import PER_PIECE, PastSessions
from lethe_app.services.prompting.turn_context import USUAL_CONTEXT
from lethe_app.services.search.timeline import Timeline, build_timeline
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.memory.facts import FactStore

LONG_MESSAGE = 160
"""Maximum characters of a message that is shown whole as the source of a fact; a longer one is shown from the relevant
sentence on.
"""

_LEADING_NAME = re.compile(r"(?:(?:The|An?|My) )?\S+(?: [A-ZÀ-ÖØ-Þ]\S*)*")
"""Words with which a fact begins and that name something: those in capitals, after an article also the next one."""
_POSSESSIVE = re.compile(r"['’](?:s\b|(?!\w))")


def calculate_weight(fact: ExtractedFact) -> float:
    """Return the fact's current rank, from its kind, the number of times it was stated and its age."""
    return core_facts.calculate_rank(fact, now())


def name_subject(fact: ExtractedFact) -> str:
    """Return whom or what the fact is about as it is spelled there, such as “Tomas”, “Tomas's sister” or “The Heron”."""
    beginning = _LEADING_NAME.match(fact.fact)
    name = _POSSESSIVE.split(fact.subject or (beginning[0] if beginning else fact.fact.split()[0]))[0].strip(".,;:!?")
    relation = owned_relation(fact)
    return f"{name}'s {relation}" if relation else name


@dataclass(frozen=True)
class FactSource:
    """Message or session from which a fact was learnt; `message` is None if only the session is known."""

    session: UUID
    title: str
    """Title of the session; empty if it has none."""
    when: datetime
    message: UUID | None = None
    speaker: str = ""
    by_user: bool = False
    text: str = ""


@dataclass(frozen=True)
class CoreFacts:
    """Core facts of a persona, which are in every prompt, and their size in tokens."""

    facts: frozenset[UUID]
    tokens: int
    budget: int
    """Maximum tokens of core facts."""


class FactLists:
    """Read facts for lists and pages."""

    def __init__(
        self,
        database: Database,
        session_store: SessionStore,
        fact_store: FactStore,
        participants: ParticipantService,
        past_sessions: PastSessions,
        preferences: Preferences,
        token_counts: TokenCountService,
        loaded_model: Callable[[], LoadedModel | None],
    ) -> None:
        """Set up the reader. `loaded_model` returns the loaded model, whose context size limits the core facts."""
        self._database, self._session_store, self._fact_store = database, session_store, fact_store
        self._participants, self._past_sessions, self._preferences = participants, past_sessions, preferences
        self._token_counts, self._loaded_model = token_counts, loaded_model

    async def list_sources(self, fact: ExtractedFact) -> list[FactSource]:
        """Return the messages that state a fact, and the sessions it was learnt from where no message is left, oldest first."""
        source_list: list[FactSource] = []
        for message_id in fact.source_messages:
            try:
                message = await self._session_store.message(message_id)
                session = await self._session_store.session(message.session_id)
            except StorageError:
                continue
            title = await self._session_store.title_of(session.guid)
            by_user, text = message.role is Role.USER, find_relevant_part(message.content, fact.fact)
            source_list.append(FactSource(session.guid, title, message.time, message.id, message.speaker_name, by_user, text))
        known_sessions = {source.session for source in source_list}
        for guid in fact.source_memories:
            if guid not in known_sessions:
                try:
                    session = await self._session_store.session(guid)
                except StorageError:
                    continue
                source_list.append(FactSource(session.guid, await self._session_store.title_of(guid), session.added))
        return sorted(source_list, key=lambda source: source.when)

    async def load_core_facts(self, persona_id: str) -> CoreFacts:
        """Return the core facts in the persona's current prompts, their size and their token budget."""
        model = self._loaded_model()
        token_limit = int((model.context if model is not None else USUAL_CONTEXT) * CAPS[PromptPart.FACTS])
        facts = await self._past_sessions.core(await self._participants.load_for_persona(persona_id), token_limit)
        tokens = sum(await self._token_counts.count([fact.text for fact in facts])) + PER_PIECE * len(facts)
        budget = min(self._preferences.current.core_facts_tokens, token_limit)
        return CoreFacts(frozenset(fact.guid for fact in facts), tokens, budget)

    async def load_timeline(self, persona_id: str) -> Timeline:
        """Return every valid fact about the real world (no story facts) with the session in which it was first stated."""
        participants = await self._participants.load_for_persona(persona_id)
        facts = await self._fact_store.facts_of(persona_id)
        sessions = {session.guid: session for session in await self._session_store.sessions(persona_id)}
        return build_timeline(
            [fact for fact in facts if not fact.in_story], sessions, participants.persona.name, participants.user.name
        )

    async def save_text(self, path: Path, text: str) -> None:
        """Write a text atomically to a file chosen by the user. Raise StorageError."""
        await self._database.run_outside_transaction(lambda: write_atomically(path, text.encode()))


def find_relevant_part(message: str, fact: str) -> str:
    """Return a message on one line; a long one from the sentence on that shares most words with the fact."""
    one_line = " ".join(message.split())
    if len(one_line) <= LONG_MESSAGE:
        return one_line
    fact_words, sentences = content_words(fact), list(split_sentences(one_line))
    shared_counts = [len(fact_words & content_words(sentence)) for sentence in sentences]
    first = shared_counts.index(max(shared_counts))
    return one_line if first == 0 else f"… {' '.join(sentences[first:])}"
