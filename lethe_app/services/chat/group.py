"""Group sessions: participants, personas that can be added, and the choice of the next speaker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from pydantic import ValidationError, create_model

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.text.reported_speech import shorten
from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.persona import Persona
from lethe_app.errors import ModelError
from lethe_app.prompt.group import join_names
from lethe_app.services.chat.turn_order import SingleTurn, TurnOrder
from lethe_app.services.events import Listeners
from lethe_app.services.library import Library
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.tools.forced_call import AnswerModel
from lethe_app.storage.chats.sessions import SessionStore

LOOKED_AT, MAX_LINE_CHARACTERS = 6, 300
"""Number of newest messages by which the model chooses the next speaker, and the most characters of each."""


class GroupService:
    """Manage the participants of sessions and the order of their replies.

    A session belongs to its persona: every memory made from it is that persona's. Other participants contribute only their
    cards.
    """

    def __init__(
        self,
        session_store: SessionStore,
        library: Library,
        participants: ParticipantService,
        preferences: Preferences,
        changed: Listeners[str],
        asker: AnswerModel,
    ) -> None:
        self._session_store = session_store
        self._library = library
        self._participants = participants
        self._preferences = preferences
        self._changed = changed
        self._asker = asker

    async def members(self, session_id: UUID) -> list[Persona]:
        """Return the persona that the session belongs to, then the other participants. Raise FileError and StorageError."""
        cast = await self._participants.of_session(await self._session_store.session(session_id))
        return [cast.persona, *cast.guests]

    async def could_come(self, session_id: UUID) -> list[Persona]:
        """Return the personas that do not take part in the session, by name. Raise StorageError."""
        session = await self._session_store.session(session_id)
        there = {session.persona_id, *session.guests}
        return [one for one in await self._library.personas() if one.unique_name not in there]

    async def ask_in(self, session_id: UUID, names: Sequence[str]) -> ChatSession:
        """Set the participants of the session besides its persona to `names` (file names, in this order). Raise
        StorageError.
        """
        session = await self._session_store.session(session_id)
        guests = [name for name in dict.fromkeys(names) if name != session.persona_id]
        session = await self._session_store.change_session(session_id, guests=guests)
        self._changed.tell(session.persona_id)
        return session

    async def turns(
        self, session: ChatSession, participants: Participants, text: str, speaker: str = ""
    ) -> TurnOrder | SingleTurn:
        """Return the order of the replies to `text`; only `speaker` replies if that persona takes part."""
        settings = self._preferences.current
        group = participants.group or (participants.persona,)
        chosen = [one for one in group if one.unique_name == speaker]
        if chosen or len(group) == 1:
            return SingleTurn((chosen or group)[0].unique_name)
        order = TurnOrder(group, settings.group_turns, settings.group_replies)
        order.asked(text, await self._last(session, participants))
        return order

    async def next(self, session: ChatSession, cast: Participants, taking: TurnOrder | SingleTurn) -> str | None:
        """Return the file name of the next speaker; None if it is the user's turn. The model is asked if the order leaves
        the choice open.
        """
        if isinstance(taking, TurnOrder) and taking.is_open:
            taking.choose(await self._by_model(session, cast, can_end=not taking.must_answer))
        return taking.next()

    async def _by_model(self, session: ChatSession, cast: Participants, *, can_end: bool) -> str:
        """Ask the model for the next speaker. Return an empty string for the user or if the answer is unusable.

        The persona that spoke last is not a candidate.
        """
        said = [
            one
            for one in await self._session_store.newest_messages(session.guid, LOOKED_AT)
            if not one.hidden and one.content.strip()
        ]
        last = said[-1].speaker if said else ""
        names: dict[str, str] = {}
        for one in cast.group:
            if one.unique_name != last:
                names.setdefault(one.name, one.unique_name)
        candidates = [*names, *([cast.user.name] if can_end else [])]
        # Structured output is restricted to these names. Of several participants with one name, the first is meant.
        kind: Any = Literal[tuple(candidates)]
        material = {
            "names": join_names(cast.names),
            "user": cast.user.name,
            "candidates": "\n".join(f"- {name}" for name in candidates),
            "talk": "\n".join(f"{one.speaker_name}: {shorten(one.content, MAX_LINE_CHARACTERS)}" for one in said),
        }
        try:
            answer = await self._asker.ask(
                "next_speaker", create_model("Next", __base__=LlmAnswer, name=(kind, ...)), **material
            )
        except (ModelError, ValidationError):
            return ""
        return names.get(str(answer.name), "")  # type: ignore[attr-defined]  # the field was just made

    async def _last(self, session: ChatSession, cast: Participants) -> str:
        """Return the file name of the participant that spoke last; empty if none did."""
        said = await self._session_store.newest_messages(session.guid, 2 * len(cast.group) + 2)
        return next((one.speaker for one in reversed(said) if one.role is Role.ASSISTANT), "")
