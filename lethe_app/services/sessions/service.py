"""Conversations as the user handles them: the list, going on, beginning anew with a greeting, renaming, deleting."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message, MessageOutline, Role, SessionPart, SessionSummary
from lethe_app.domain.persona import Persona
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.services.events import Listeners
from lethe_app.services.participants import ParticipantService
from lethe_app.services.prompting.macro_values import Fill, MacroPosition, unfilled
from lethe_app.services.sessions.archive_queue import Archiving
from lethe_app.services.sessions.timeout import TOO_SHORT, SessionTimeout
from lethe_app.storage.chats.sessions import Chats


class Sessions:
    """All conversations of all personas."""

    def __init__(
        self, chats: Chats, casting: ParticipantService, archiving: Archiving, timeout: SessionTimeout, changed: Listeners[str]
    ) -> None:
        self.changed = changed
        """Told the persona whose list of conversations changed."""
        self._chats = chats
        self._casting = casting
        self._archiving = archiving
        self._timeout = timeout
        self._endings: dict[str, asyncio.Task[None]] = {}
        """By persona: the conversations before its newest one are being archived."""
        self.fill: Fill = unfilled
        """Looks up the values of macros; set by `composition`."""

    async def list(self, persona_id: str) -> list[SessionSummary]:
        """Newest activity first."""
        return await self._chats.sessions(persona_id)

    async def resume(self, persona_id: str) -> ChatSession:
        """The newest conversation, or a new one where there is none."""
        newest = await self._chats.newest(persona_id)
        return await self.new(persona_id) if newest is None else await self._chats.session(newest.guid)

    async def taken_up(self, session: ChatSession) -> ChatSession:
        """A conversation that was over and in which somebody speaks again is not over; it is archived anew afterwards."""
        return await self._reopened(session) if session.archived else session

    async def has_ended(self, guid: UUID) -> bool:
        """Has a session timed out, so that the user's next message begins a new one?"""
        return await self._timeout.ended((await self._chats.session(guid)).persona_id) == guid

    async def reopen(self, guid: UUID) -> None:
        """Continue a session that has timed out."""
        await self._reopened(await self._chats.session(guid))

    async def _reopened(self, session: ChatSession) -> ChatSession:
        reopened = await self._timeout.reopen(session)
        self.changed.tell(session.persona_id)
        return reopened

    async def open(self, guid: UUID) -> ChatSession:
        return await self._chats.session(guid)

    async def new(self, persona_id: str) -> ChatSession:
        """Begin a new conversation and wait until those before it are archived as far as rules can.

        Raises what archiving raises.
        """
        before = self._endings.get(persona_id)
        session = await self.start_session(persona_id)
        task = self._endings.get(persona_id)
        if task is not None and task is not before:
            await asyncio.shield(task)
        return await self._chats.session(session.guid)

    async def start_session(self, persona_id: str) -> ChatSession:
        """Begin a new conversation, opened by the persona if it has greetings. One in which nobody answered yet is used again.

        Those before it are over: they are archived in the background, and the next reply waits for it (`ended`).
        """
        if untouched := await self._untouched(persona_id):
            return untouched
        cast = await self._casting.of_persona(persona_id)
        await self.ended(persona_id)
        session = await self._chats.add_session(ChatSession(persona_id=persona_id, user_id=cast.user.unique_name))
        scene = await self.fill(cast.scene(session, session.added), MacroPosition(session, cast), cast.persona.first_messages)
        if greeting := opening(cast.persona, session, scene):
            await self._chats.add_message(greeting)
        self._begin_ending(persona_id)
        self.changed.tell(persona_id)
        return await self._chats.session(session.guid)

    async def ended(self, persona_id: str) -> None:
        """Wait until the conversations that were over when the last one began are archived as far as rules can."""
        if task := self._endings.get(persona_id):
            await asyncio.wait({task})

    async def close(self) -> None:
        """Finish archiving what is over."""
        await asyncio.gather(*self._endings.values(), return_exceptions=True)

    def _begin_ending(self, persona_id: str) -> None:
        """Archive the conversations before a new one in the background; one that fails is archived at the next start."""
        self._endings[persona_id] = asyncio.create_task(self._end(persona_id))

    async def rotated(self, session_id: UUID) -> ChatSession:
        """The conversation in which the user's next words belong: this one, or a new one if they were away for long.

        A new one begins with their words and no greeting; the one before is over.
        """
        session = await self._chats.session(session_id)
        if await self._timeout.ended(session.persona_id) != session_id:
            return session
        await self.ended(session.persona_id)
        fresh = ChatSession(
            persona_id=session.persona_id, user_id=session.user_id, scenario=session.scenario, guests=session.guests
        )
        fresh = await self._chats.add_session(fresh)
        self._begin_ending(session.persona_id)
        self.changed.tell(session.persona_id)
        return fresh

    async def _end(self, persona_id: str) -> None:
        """Archive every conversation that is still open; what the newest came to is known at once."""
        is_newest = True
        for summary in await self._chats.sessions(persona_id):
            if not summary.archived and summary.messages > TOO_SHORT:
                await self._timeout.archive(summary.guid, at_once=is_newest)
                is_newest = False

    async def _untouched(self, persona_id: str) -> ChatSession | None:
        """The newest conversation, if the user has said nothing in it; it still holds the greeting and nothing else."""
        newest = await self._chats.newest(persona_id)
        if newest is None or newest.archived or newest.title or newest.messages > 1:
            return None
        outline = await self._chats.outline(newest.guid)
        if any(entry.role is not Role.ASSISTANT for entry in outline):
            return None
        session = await self._chats.session(newest.guid)
        return session if session.user_id == self._casting.chosen_user else None

    async def rename(self, guid: UUID, title: str) -> None:
        """In the user's words, which no summary overwrites."""
        await self._archiving.write(guid, SessionPart.TITLE, title.strip())

    async def delete(self, guid: UUID) -> None:
        """Move the conversation to the trash. Nothing of it is told in any prompt any more."""
        session = await self._chats.session(guid)
        await self._chats.delete_session(guid)
        await self._archiving.renew(session.persona_id)
        self.changed.tell(session.persona_id)

    async def restore(self, guid: UUID) -> None:
        """Take it out of the trash again."""
        await self._chats.restore_session(guid)
        session = await self._chats.session(guid)
        await self._archiving.renew(session.persona_id)
        self.changed.tell(session.persona_id)

    async def outline(self, guid: UUID) -> Sequence[MessageOutline]:
        """Every message of the branch on display, oldest first."""
        return await self._chats.outline(guid)

    async def page(self, guid: UUID, start: int, count: int) -> Sequence[Message]:
        """Full messages by their index in the outline."""
        return await self._chats.page(guid, start, count)

    async def message(self, message_id: UUID) -> Message:
        return await self._chats.message(message_id)


def opening(persona: Persona, session: ChatSession, scene: MacroContext) -> Message | None:
    """The greeting that begins a conversation, one of the persona's at random with the others behind it as alternatives."""
    greetings = [expand(text, scene) for text in persona.first_messages if text.strip()]
    if not greetings:
        return None
    return Message(
        session_id=session.guid,
        role=Role.ASSISTANT,
        speaker=persona.unique_name,
        speaker_name=persona.name,
        time=session.added,
        alternatives=[Alternative(content=text, created=session.added) for text in greetings],
        shown=random.randrange(len(greetings)),  # noqa: S311 - nobody gains by guessing a greeting
    )
