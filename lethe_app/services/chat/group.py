"""Group conversations: who speaks next, and the participants of a session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal
from uuid import UUID

from pydantic import ValidationError, create_model

from lethe_app.brain.llm_schemas.archive import LlmAnswer
from lethe_app.brain.text.reported_speech import shorten
from lethe_app.brain.text.utterance import without_withdrawn
from lethe_app.config.options import GroupTurns
from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.persona import Persona
from lethe_app.errors import ModelError
from lethe_app.prompt.group import join_names
from lethe_app.prompt.speaker_labels import label_of, labels_by_name, spoken_names
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.library import Library
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.storage.chats.sessions import SessionStore


class TurnOrder:
    """Order of the replies to one message: take the speaker from `next`, and report each reply with `note_reply`."""

    def __init__(self, group: Sequence[Persona], mode: GroupTurns, max_replies: int, chance: Random | None = None) -> None:
        """Create an order; `chance` draws who speaks by talkativeness."""
        self._chance = chance or Random()  # noqa: S311 - nobody gains by guessing who speaks
        self._talkativeness = {persona.unique_name: persona.talkativeness for persona in group}
        self._group = [persona.unique_name for persona in group]
        self._names = {persona.unique_name: spoken_names(persona, group) for persona in group}
        self._mode, self._replies_left = mode, max_replies
        self._waiting: list[str] = []
        self._fallback: list[str] = []
        """Fallback speaker if the model is to choose and gives no usable answer."""

    def plan(self, text: str, last: str) -> None:
        """Plan the replies to the user's message; `last` is the persona that spoke before it."""
        named_personas = self.find_named_in(text) if self._mode is not GroupTurns.ONE else []
        self._fallback = [] if named_personas else self._rotate_after(last)[:1]
        if self._mode is GroupTurns.EVERYONE:
            self._waiting = [*named_personas, *(name for name in self._rotate_after(last) if name not in named_personas)]
        elif self._mode is GroupTurns.MODEL:
            self._waiting = named_personas
        elif self._mode is GroupTurns.TALKATIVE:
            silent = [name for name in self._group if name not in (last, *named_personas)]
            others = [name for name in silent if self._chance.random() < self._talkativeness[name]]
            self._chance.shuffle(others)
            self._waiting = [*named_personas, *others] or self._fallback
        else:
            self._waiting = named_personas or self._fallback

    @property
    def is_open(self) -> bool:
        """True if the model has to choose the next speaker."""
        return self._mode is GroupTurns.MODEL and not self._waiting and self._replies_left > 0

    @property
    def must_answer(self) -> bool:
        """True if the user's message has no reply yet."""
        return bool(self._fallback)

    def choose(self, unique_name: str) -> None:
        """Set the speaker that the model chose; an empty name means the user or no usable answer."""
        self._waiting = [unique_name] if unique_name in self._names else self._fallback
        self._fallback = []

    def note_reply(self, speaker: str, text: str) -> None:
        """Record a reply: personas it names may answer, if they are not waiting already."""
        self._fallback = []
        if self._mode in {GroupTurns.NAMED, GroupTurns.MODEL, GroupTurns.TALKATIVE}:
            self._waiting += [name for name in self.find_named_in(text) if name != speaker and name not in self._waiting]

    def next(self) -> str | None:
        """Return the `unique_name` of the next speaker; None if it is the user's turn."""
        if not self._waiting or not self._replies_left:
            return None
        self._replies_left -= 1
        return self._waiting.pop(0)

    def find_named_in(self, text: str) -> list[str]:
        """Return the personas that a text names by whole words, in the order of their first mention."""
        first_positions: dict[str, int] = {}
        for unique_name, names in self._names.items():
            words = (re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) for name in names)
            positions = [match.start() for word in words if (match := word.search(text))]
            if positions:
                first_positions[unique_name] = min(positions)
        return sorted(first_positions, key=first_positions.__getitem__)

    def _rotate_after(self, last: str) -> list[str]:
        """Return all personas in rotation, beginning after `last`; without one, with the first. Those without talkativeness
        speak only if they are named, unless that is true of all.
        """
        start = self._group.index(last) + 1 if last in self._group else 0
        rotation = [*self._group[start:], *self._group[:start]]
        return [name for name in rotation if self._talkativeness[name] > 0] or rotation


MAX_MESSAGES, MAX_LINE_CHARACTERS = 6, 300
"""Number of newest messages by which the model chooses the next speaker, and the most characters of each."""


@dataclass(frozen=True)
class GroupService:
    """Manage the participants of sessions and the order of their replies.

    A session belongs to its persona: every memory made from it is that persona's. Other participants contribute only their
    cards.
    """

    session_store: SessionStore
    library: Library
    participants: ParticipantService
    preferences: Preferences
    answer_model: StructuredOutput

    async def members(self, session_id: UUID) -> list[Persona]:
        """Return the persona that the session belongs to, then the other participants. Raise FileError and StorageError."""
        participants = await self.participants.load_for_session(await self.session_store.session(session_id))
        return [participants.persona, *participants.guests]

    async def candidates_for(self, session_id: UUID) -> list[Persona]:
        """Return the personas that do not take part in the session, by name. Raise StorageError."""
        session = await self.session_store.session(session_id)
        member_ids = {session.persona_id, *session.guests}
        return [persona for persona in await self.library.personas() if persona.unique_name not in member_ids]

    async def plan_replies(self, session: ChatSession, participants: Participants, text: str) -> TurnOrder:
        """Return the order in which the personas of a group reply to `text`."""
        settings = self.preferences.current
        order = TurnOrder(participants.group, settings.group_turns, settings.group_replies)
        newest = await self.session_store.newest_messages(session.guid, 2 * len(participants.group) + 2)
        speakers = (message.speaker for message in reversed(newest) if message.role is Role.ASSISTANT)
        order.plan(text, next(speakers, ""))
        return order

    async def next(self, session: ChatSession, participants: Participants, order: TurnOrder) -> str | None:
        """Return the file name of the next speaker; None if it is the user's turn. The model is asked if the order leaves
        the choice open.
        """
        if order.is_open:
            order.choose(await self._ask_model(session, participants, can_end=not order.must_answer))
        return order.next()

    async def _ask_model(self, session: ChatSession, participants: Participants, *, can_end: bool) -> str:
        """Ask the model for the next speaker. Return an empty string for the user or if the answer is unusable.

        The persona that spoke last is not a candidate.
        """
        messages = [
            message
            for message in map(without_withdrawn, await self.session_store.newest_messages(session.guid, MAX_MESSAGES))
            if not message.hidden and message.content.strip()
        ]
        last = messages[-1].speaker if messages else ""
        everyone = (*participants.group, participants.user)
        labels = labels_by_name(everyone)
        names: dict[str, str] = {}
        for persona in participants.group:
            if persona.unique_name != last:
                names.setdefault(label_of(persona, everyone), persona.unique_name)
        candidates = [*names, *([participants.user.name] if can_end else [])]
        # Structured output is restricted to these names. Of several participants with one name, the first is meant.
        name_type: Any = Literal[tuple(candidates)]
        values = {
            "names": join_names([label_of(persona, everyone) for persona in participants.group]),
            "user": participants.user.name,
            "candidates": "\n".join(f"- {name}" for name in candidates),
            "talk": "\n".join(
                f"{labels.get(message.speaker_name.casefold(), message.speaker_name)}:"
                f" {shorten(message.content, MAX_LINE_CHARACTERS)}"
                for message in messages
            ),
        }
        try:
            answer = await self.answer_model.ask(
                "next_speaker", create_model("Next", __base__=LlmAnswer, name=(name_type, ...)), **values
            )
        except (ModelError, ValidationError):
            return ""
        return names.get(str(answer.name), "")  # type: ignore[attr-defined]  # the field was just made
