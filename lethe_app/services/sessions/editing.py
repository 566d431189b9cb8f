"""The history of conversations in the user's hands: retold, split, joined and added to, and all of it can be taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.domain.changes import Before, PartValue
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role, SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.events import Listeners
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.stable_prefix import StablePrefixes
from lethe_app.services.sessions.archive_queue import Archiving
from lethe_app.services.sessions.service import Sessions, opening
from lethe_app.storage.chats.reshape import Reshaping
from lethe_app.storage.chats.session_list import SessionLines
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.chats.split_merge_undo import Retelling
from lethe_app.storage.database import Database

COPIED = {"persona_id", "user_id", "scenario", "is_roleplay", "relevance", "insertion", "priority", "sticky", "protected"}
"""What is as true of the part that is split off."""


@dataclass(frozen=True)
class Reshaped:
    """Conversations have other messages than before."""

    persona_id: str
    sessions: tuple[UUID, ...]
    """Those that are there now."""
    gone: tuple[UUID, ...] = ()
    """Those that are in others now: in the first of `sessions`."""
    reworded: tuple[UUID, ...] = ()
    """Messages that say something else now."""


class SessionEditing:
    """Changes as the user; what the user wrote is overwritten by nobody else."""

    def __init__(
        self,
        database: Database,
        chats: Chats,
        casting: ParticipantService,
        sessions: Sessions,
        archiving: Archiving,
        frames: StablePrefixes,
        warmth: CacheState,
    ) -> None:
        self.reshaped: Listeners[Reshaped] = Listeners()
        self.still: Callable[[Sequence[UUID]], Awaitable[None]] = _nothing_to_end
        """Ends the replies that are being written in conversations that are about to change; the window knows of them."""
        self._lines = SessionLines(database)
        self._reshaping = Reshaping(database)
        self._retelling = Retelling(database)
        self._chats, self._casting, self._sessions = chats, casting, sessions
        self._archiving = archiving
        self._frames, self._warmth = frames, warmth

    async def lines(self, persona_id: str, most: int | None = None) -> list[SessionLine]:
        """All conversations of a persona, or no more than `most`, newest activity first."""
        return await self._lines.sessions_of(persona_id, most=most)

    async def line(self, guid: UUID) -> SessionLine:
        """One of them as it is now. Raises StorageError where it is gone."""
        session = await self._chats.session(guid)
        return (await self._lines.sessions_of(session.persona_id, str(guid)))[0]

    # What is told of one

    async def part_of(self, guid: UUID, part: SessionPart) -> PartValue:
        """One part as it is now, for `tell_as`."""
        return await self._retelling.part_of(guid, part)

    async def tell_as(self, told: PartValue) -> None:
        """Make a part what it was, and whose it was."""
        await self._retelling.put_back(told)
        if told.part is SessionPart.ROLEPLAY:
            await self._archiving.sort_facts(told.session)
        await self._changed((await self._chats.session(told.session)).persona_id)

    async def mark(self, guid: UUID, **fields: bool) -> ChatSession:
        """Set `sticky` or `protected`."""
        session = await self._chats.change_session(guid, **fields)
        await self._changed(session.persona_id)
        return session

    async def again(self, guid: UUID, part: SessionPart) -> None:
        """Let a part be made again, by rules now and by a model if one may be trusted; a wording of the user's is given up.

        Raises LetheError, with everything as it was, for a conversation too short to tell of.
        """
        before = await self._retelling.part_of(guid, part)
        await self._retelling.release(guid, part)
        if not await self._archiving.update(guid, [part]):
            await self._retelling.put_back(before)
            raise LetheError("This conversation is too short to tell of.", "Write it in your own words.")

    # What was said in it

    async def insert(self, guid: UUID, text: str, *, by_user: bool, above: UUID | None) -> Message:
        """Something that was said above another message, or at the end, by the user or by the persona."""
        session = await self._chats.session(guid)
        cast = await self._casting.of_session(session)
        who = cast.user if by_user else cast.persona
        moment = await self._moment(session, above)
        message = Message(
            session_id=guid,
            role=Role.USER if by_user else Role.ASSISTANT,
            speaker=who.unique_name,
            speaker_name=who.name,
            time=moment,
            alternatives=[Alternative(content=text.strip(), created=moment)],
        )
        return await self.put_in(message, above)

    async def greet_anew(self, before: Persona, after: Persona) -> None:
        """Where nobody has answered a persona that was written anew, she opens as she does now.

        Words of hers that were changed in the conversation itself stay.
        """
        newest = await self._chats.newest(after.unique_name)
        if newest is None or newest.messages > 1:
            return
        session = await self._chats.session(newest.guid)
        said = await self._chats.page(newest.guid, 0, 2)
        user = (await self._casting.of_session(session)).user
        old, new = (opening(who, session, Participants(who, user).scene(session, session.added)) for who in (before, after))
        if _words(said[0] if said else None) != _words(old) or len(said) > 1 or _words(old) == _words(new):
            return
        await self.still([session.guid])
        for message in said:
            await self._reshaping.take_out(message.id)
        if new is not None:
            await self._reshaping.insert(new, None)
        await self.retold([session.guid])

    async def put_in(self, message: Message, above: UUID | None) -> Message:
        """Insert a message as it is."""
        await self.still([message.session_id])
        stored = await self._reshaping.insert(message, above)
        await self.retold([message.session_id])
        return stored

    async def take_out(self, message: Message) -> None:
        """Undo an insertion."""
        await self.still([message.session_id])
        await self._reshaping.take_out(message.id)
        await self.retold([message.session_id])

    async def split(self, message_id: UUID) -> Before:
        """Everything from this message on becomes a conversation of its own; returns what takes that back."""
        message = await self._chats.message(message_id)
        old = await self._chats.session(message.session_id)
        fresh = ChatSession(added=message.time, last_trigger=message.time, **old.model_dump(include=COPIED))
        await self.still([old.guid])
        before = await self._reshaping.split(message_id, fresh)
        await self.retold(before.after)
        if old.archived:
            await self._archiving.archive_session(fresh.guid)
            await self._archiving.update(old.guid)
        return before

    async def merge(self, guids: Sequence[UUID]) -> Before:
        """Make one of several conversations, in the order in which they began; returns what takes that back."""
        await self.still(guids)
        before = await self._reshaping.merge(guids)
        await self.retold(before.after, gone=[guid for guid in before.sessions if guid != before.kept])
        if await self._archiving.parts(before.kept):
            await self._archiving.update(before.kept)
        return before

    async def undo(self, before: Before) -> None:
        """Make conversations what they were before they were split or merged."""
        await self.still(before.after)
        await self._reshaping.undo(before)
        await self.retold(before.sessions, gone=before.made)

    async def delete(self, guid: UUID) -> None:
        """Move a conversation to the trash, wherever the user is."""
        await self.still([guid])
        session = await self._chats.session(guid)
        await self._sessions.delete(guid)
        self.reshaped.tell(Reshaped(session.persona_id, (), (guid,)))

    # What follows

    async def _moment(self, session: ChatSession, above: UUID | None) -> datetime:
        """When the one before it was said, or else the one after it."""
        for message in await self._chats.tail(session.guid, 1, before=above):
            return message.time
        return (await self._chats.message(above)).time if above is not None else session.added

    async def retold(self, guids: Sequence[UUID], gone: Sequence[UUID] = (), reworded: Sequence[UUID] = ()) -> None:
        """These hold other messages or words than before: nothing that was read or told of them stands any more."""
        for guid in (*guids, *gone):
            self._warmth.forget_session(guid)
        for guid in guids:
            await self._frames.drop(guid)
        persona_id = (await self._chats.session(guids[0])).persona_id
        await self._changed(persona_id)
        self.reshaped.tell(Reshaped(persona_id, tuple(guids), tuple(gone), tuple(reworded)))

    async def _changed(self, persona_id: str) -> None:
        await self._archiving.renew(persona_id)
        self._sessions.changed.tell(persona_id)


def _words(greeting: Message | None) -> tuple[str, list[str]] | None:
    """Who says it, and every wording there is."""
    if greeting is None:
        return None
    return greeting.speaker_name, [wording.content for wording in greeting.alternatives]


async def _nothing_to_end(_guids: Sequence[UUID]) -> None:
    """Where nobody writes replies."""
