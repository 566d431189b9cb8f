"""Input of the recallers of a turn: the user's message, its history, and all records that decide what it recalls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from pydantic import TypeAdapter

from lethe_app.brain.lore.evaluation import EvaluationTurn
from lethe_app.brain.notebooks.document import Notebook
from lethe_app.brain.recall.memory_set import MemorySet
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.chat import Alternative, ChatSession, Degradation, DegradationKind, Message, Role
from lethe_app.domain.passage import TextEmbedding
from lethe_app.domain.persona import Persona
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.prompt.variables import Variables
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.indexing.worlds import owner_of_world
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.lore import LoreService
from lethe_app.services.participants import DEFAULT_USER, Participants, ParticipantService, SessionWorlds
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.turn_context import (
    USUAL_CONTEXT,
    MacroState,
    StablePrefix,
    TurnContext,
    TurnLoader,
    stored_prefix,
)
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.chats.sessions import SessionStore

MAX_QUESTION_CHARACTERS = 4000
"""Characters of a message that are embedded and searched with; an embedding model reads fewer still."""
ANNOUNCED = "announced"
"""Key of the session state: memories that were announced in the session, and the hidden message of each."""
_ANNOUNCED = TypeAdapter(dict[UUID, UUID])


@dataclass(frozen=True)
class RecallContext:
    """Message of the user with all records that decide what it recalls."""

    session: ChatSession
    participants: Participants
    text: str
    moment: datetime
    turn: EvaluationTurn
    window: ScanWindow
    history: Sequence[Message]
    memories: MemorySet
    sessions: Sequence[ChatSession]
    """Sessions that are sticky or have keywords."""
    session_worlds: SessionWorlds
    context: int
    """Context size in tokens."""
    prefix: StablePrefix | None = None
    states: Mapping[str, object] = field(default_factory=dict)
    """State of the session by key; empty if it does not apply, as for an old reply that is regenerated."""
    app_state: Mapping[tuple[str, str], object] = field(default_factory=dict)
    notebooks: Sequence[Notebook] = ()
    embedding: TextEmbedding | None = None
    degradations: Sequence[Degradation] = ()
    """What the recall cannot use: the embedding if there is something to compare with, but no model that is ready."""
    announced: frozenset[UUID] = frozenset()
    """Memories that are in the history because the persona brought them up."""
    is_search: bool = False
    """True for a search of the user or a tool: names count as words, and nothing is kept back."""

    @property
    def query(self) -> str:
        """Text that is embedded and searched with."""
        return self.text[:MAX_QUESTION_CHARACTERS]

    @property
    def in_view(self) -> set[UUID]:
        """Ids of sessions and memories that are in the prompt in full."""
        return {self.session.guid, *self.announced} | (set(self.prefix.earlier) if self.prefix else set())

    @property
    def owners(self) -> list[str]:
        """Owners of the passages and documents that are searched: the persona and the worlds."""
        return [self.session.persona_id, *map(owner_of_world, self.session_worlds.worlds)]

    @property
    def summarised_sessions(self) -> set[UUID]:
        """Ids of sessions whose summaries are in the prompt."""
        return {session.guid for session in self.prefix.summaries} if self.prefix else set()

    @property
    def speaker_names(self) -> tuple[str, ...]:
        """Names of the speakers, which are ignored in matching, because they occur in nearly every memory. The placeholder user
        persona is left out, because its name is a common word.
        """
        names = self.persona_names
        return names if self.is_search or self.participants.user is DEFAULT_USER else (*names, self.participants.user.name)

    @property
    def persona_names(self) -> tuple[str, ...]:
        """Names of those speakers that are personas; their statements about the user are no evidence."""
        personas = (self.participants.persona, *self.participants.guests)
        return () if self.is_search else tuple(persona.name for persona in personas)

    @property
    def shows_dates(self) -> bool:
        """True if the persona wants dates with sessions."""
        return self.participants.persona.dates_in_session_summaries


@dataclass(frozen=True)
class RecallContexts:
    """Create recall contexts."""

    turn_loader: TurnLoader
    memory_cache: MemoryCache
    memory_index: MemoryIndex
    preferences: Preferences
    participants: ParticipantService
    lore: LoreService
    session_store: SessionStore

    async def build_for_turn(self, turn: TurnContext, context: int) -> RecallContext:
        """Return the recall context of a turn that has a question."""
        question = turn.user_message
        assert question is not None
        earlier_messages = turn.messages[
            : next(index for index, message in enumerate(turn.messages) if message.id == question.id)
        ]
        history = earlier_messages[-turn.rows.scope.min_messages :]
        turn_position = turn.rows.turn_position
        recall_context = RecallContext(
            session=turn.session,
            participants=turn.participants,
            text=question.content,
            moment=question.time,
            turn=_build_evaluation_turn(
                turn.participants,
                turn.session,
                question,
                turn_position.messages,
                turn_position.user_messages,
                turn.messages,
                MacroState(turn),
            ),
            window=ScanWindow.from_history(history, question),
            history=history,
            memories=await self.memory_cache.memories_of(turn.session.persona_id),
            sessions=turn.rows.recallable_sessions,
            session_worlds=turn.files.worlds,
            context=context,
            prefix=turn.prefix,
            states=turn.rows.states,
            app_state=turn.rows.app_state,
            notebooks=turn.files.notebooks,
            announced=announced_in_view(turn),
        )
        return await self._with_embedding(recall_context)

    async def build_for_next_message(self, session_id: UUID, text: str) -> RecallContext:
        """Return the recall context of a message that is not sent yet. Raise StorageError and FileError."""
        turn = await self.turn_loader.load(session_id, None, adds_user_message=True)
        if turn.files.problem is not None:
            raise turn.files.problem
        turn = replace(turn.with_user_message(_build_unsent_message(session_id, text)), prefix=stored_prefix(turn.rows.states))
        return await self.build_for_turn(turn, USUAL_CONTEXT)

    async def build_for_new_session(self, persona_id: str, text: str, *, is_search: bool = False) -> RecallContext:
        """Return the recall context of a session that would begin with a message, or of a search. Raise FileError."""
        participants = await self.participants.load_for_persona(persona_id)
        session = ChatSession(persona_id=persona_id)
        question = _build_unsent_message(session.guid, text)
        context = RecallContext(
            session=session,
            participants=participants,
            text=question.content,
            moment=question.time,
            turn=_build_evaluation_turn(participants, session, question, 1, 1),
            window=ScanWindow.from_history((), question),
            history=(),
            memories=await self.memory_cache.memories_of(session.persona_id),
            sessions=(),
            session_worlds=await self.lore.load_worlds(participants, None),
            context=USUAL_CONTEXT,
            is_search=is_search,
        )
        if is_search:
            return context
        context = replace(
            context,
            sessions=await self.session_store.recallable_sessions(persona_id),
            app_state=await self.turn_loader.app_state_of(persona_id),
            notebooks=await self.turn_loader.notebooks_of(persona_id),
        )
        return await self._with_embedding(context)

    async def _with_embedding(self, context: RecallContext) -> RecallContext:
        """Return the context with the embedding of its text, if there is anything to compare it with."""
        if not self.preferences.current.rag_enabled or not context.text.strip():
            return context
        comparable = context.memories.in_group("waiting") or context.notebooks
        if not comparable and not await self.memory_index.has_passages(context.owners):
            return context
        embedding = await self.memory_index.embed_query(context.query, context.speaker_names)
        degradations = [Degradation(kind=DegradationKind.NO_EMBEDDINGS)] if embedding is None else []
        return replace(context, embedding=embedding, degradations=degradations)


def with_announced(state: object, memories: Sequence[UUID], line: UUID) -> object:
    """Return the value of the session state with these memories announced by a hidden message."""
    lines = {**(read_stored(_ANNOUNCED.validate_python, state) or {}), **dict.fromkeys(memories, line)}
    return _ANNOUNCED.dump_python(lines, mode="json") or None


def announced_in_view(turn: TurnContext) -> frozenset[UUID]:
    """Return the memories whose hidden messages are in the prompt; a memory whose message has left it may be recalled again."""
    ids, prefix = [message.id for message in turn.messages], turn.prefix
    first = prefix.first if prefix is not None else None
    visible = set(ids[ids.index(first) if first in ids else 0 :])
    past = [turn.rows.past_states.get(guid, {}) for guid in prefix.earlier] if prefix is not None else []
    lines, *past_lines = (
        read_stored(_ANNOUNCED.validate_python, states.get(ANNOUNCED)) or {} for states in (turn.rows.states, *past)
    )
    return frozenset((memory for memory, line in lines.items() if line in visible)).union(*past_lines)


def _build_unsent_message(session_id: UUID, text: str) -> Message:
    return Message(session_id=session_id, role=Role.USER, alternatives=[Alternative(content=text)])


def _build_evaluation_turn(
    participants: Participants,
    session: ChatSession,
    question: Message,
    message_count: int,
    user_message_count: int,
    messages: Sequence[Message] = (),
    state: MacroState | None = None,
) -> EvaluationTurn:
    macro_context = participants.build_macro_context(session, session.added)
    if state is not None:
        macro_context = replace(macro_context, values=macro_context.values | state.values, variables=state.variables)
    return EvaluationTurn(
        id=str(question.id),
        number=user_message_count,
        message_count=message_count,
        moment=question.time,
        greeting=_find_greeting(participants.persona, messages, macro_context),
        seed=str(session.guid),
        # What an entry sets counts in the prompt alone, for which it is expanded again.
        expand=lambda text: expand(text, replace(macro_context, variables=deepcopy(macro_context.variables))),
    )


def _find_greeting(persona: Persona, messages: Sequence[Message], macro_context: MacroContext) -> int | None:
    """Return the number of the greeting with which the session began; None if its first message is not among `messages`."""
    first = messages[0] if messages and messages[0].parent_id is None else None
    if first is None or first.role is not Role.ASSISTANT:
        return None
    greetings = [
        expand(text, replace(macro_context, variables=Variables(), keeps_unknown=False)) for text in persona.first_messages
    ]
    return greetings.index(first.content) if first.content in greetings else None
