"""Conversations of several personas: who takes part, who else could, and who answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from pydantic import ValidationError, create_model

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.text.reported_speech import shorten
from lethe_app.config.options import GroupTurns
from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.persona import Persona
from lethe_app.errors import ModelError
from lethe_app.prompt.group import in_a_row
from lethe_app.services.chat.turn_order import TurnOrder
from lethe_app.services.events import Listeners
from lethe_app.services.library import Library
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.tools.forced_call import AnswerModel
from lethe_app.storage.chats.sessions import Chats

LOOKED_AT, LONGEST_LINE = 6, 300
"""Messages by which the model chooses who speaks next, and characters of each."""


class GroupService:
    """The conversation stays its persona's: what is remembered of it, she remembers; guests come with who they are."""

    def __init__(
        self,
        chats: Chats,
        library: Library,
        casting: ParticipantService,
        preferences: Preferences,
        changed: Listeners[str],
        asker: AnswerModel,
    ) -> None:
        self._chats = chats
        self._library = library
        self._casting = casting
        self._preferences = preferences
        self._changed = changed
        self._asker = asker

    async def members(self, session_id: UUID) -> list[Persona]:
        """The persona whose conversation it is, then the guests. Raises FileError and StorageError."""
        cast = await self._casting.of_session(await self._chats.session(session_id))
        return [cast.persona, *cast.guests]

    async def could_come(self, session_id: UUID) -> list[Persona]:
        """Everybody who does not take part, by name. Raises StorageError."""
        session = await self._chats.session(session_id)
        there = {session.persona_id, *session.guests}
        return [one for one in await self._library.personas() if one.unique_name not in there]

    async def ask_in(self, session_id: UUID, names: Sequence[str]) -> ChatSession:
        """Let exactly these, by file name and in this order, take part besides the persona. Raises StorageError."""
        session = await self._chats.session(session_id)
        guests = [name for name in dict.fromkeys(names) if name != session.persona_id]
        session = await self._chats.change_session(session_id, guests=guests)
        self._changed.tell(session.persona_id)
        return session

    async def turns(self, session: ChatSession, cast: Participants, text: str, speaker: str = "") -> TurnOrder:
        """Who answers `text`; only `speaker` if they are there."""
        settings = self._preferences.current
        group = cast.group or (cast.persona,)
        chosen = [one for one in group if one.unique_name == speaker]
        if chosen or len(group) == 1:
            taking = TurnOrder(chosen or group, GroupTurns.ONE, 1)  # there is nothing to choose
            taking.asked("", "")
            return taking
        taking = TurnOrder(group, settings.group_turns, settings.group_replies)
        taking.asked(text, await self._last(session, cast))
        return taking

    async def next(self, session: ChatSession, cast: Participants, taking: TurnOrder) -> str | None:
        """Who speaks now, by file name; None if it is the user's turn. The model is asked where it is to choose."""
        if taking.is_open:
            taking.choose(await self._by_model(session, cast, can_end=not taking.must_answer))
        return taking.next()

    async def _by_model(self, session: ChatSession, cast: Participants, *, can_end: bool) -> str:
        """Empty for the user, or where no usable answer came. Whoever spoke last is not asked again."""
        said = [one for one in await self._chats.tail(session.guid, LOOKED_AT) if not one.hidden and one.content.strip()]
        last = said[-1].speaker if said else ""
        names: dict[str, str] = {}
        for one in cast.group:
            if one.unique_name != last:
                names.setdefault(one.name, one.unique_name)
        candidates = [*names, *([cast.user.name] if can_end else [])]
        kind: Any = Literal[tuple(candidates)]
        material = {
            "names": in_a_row(cast.names),
            "user": cast.user.name,
            "candidates": "\n".join(f"- {name}" for name in candidates),
            "talk": "\n".join(f"{one.speaker_name}: {shorten(one.content, LONGEST_LINE)}" for one in said),
        }
        try:
            answer = await self._asker.ask(
                "next_speaker", create_model("Next", __base__=LlmAnswer, name=(kind, ...)), **material
            )
        except (ModelError, ValidationError):
            return ""
        return names.get(str(answer.name), "")  # type: ignore[attr-defined]  # the field was just made

    async def _last(self, session: ChatSession, cast: Participants) -> str:
        """Who of them spoke last."""
        said = await self._chats.tail(session.guid, 2 * len(cast.group) + 2)
        return next((one.speaker for one in reversed(said) if one.role is Role.ASSISTANT), "")
