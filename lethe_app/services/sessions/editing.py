"""Editing of past sessions by the user: summaries, splitting, merging, inserted messages, all of them with undo."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lethe_app.domain.changes import PartValue, SessionSnapshot
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role, SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError, StorageError
from lethe_app.services.events import Listeners
from lethe_app.services.memory.facts import FactService
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.sessions.archive_parts import SessionArchiver
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.languages import describe_text
from lethe_app.services.sessions.service import SessionService, create_greeting
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.session_list import SessionLines
from lethe_app.storage.chats.session_reshaping import SessionReshaping
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.trash_listing import TrashListing

COPIED = {"persona_id", "user_id", "scenario", "is_roleplay", "relevance", "insertion", "priority", "sticky", "protected"}
"""Fields that a split-off session takes over."""


@dataclass(frozen=True)
class SessionsChanged:
    """Notification that sessions have other messages than before."""

    persona_id: str
    sessions: tuple[UUID, ...]
    """Sessions that changed and exist now."""
    deleted: tuple[UUID, ...] = ()
    """Sessions that were deleted or merged, the latter into the first of `sessions`."""
    edited_messages: tuple[UUID, ...] = ()
    """Messages whose text changed."""


class SessionEditing:
    """Edit sessions on behalf of the user; texts by the user are never overwritten automatically."""

    def __init__(
        self,
        database: Database,
        session_store: SessionStore,
        participants: ParticipantService,
        sessions: SessionService,
        archive_queue: ArchiveQueue,
        archiver: SessionArchiver,
        stable_prefixes: StablePrefixes,
        cache_state: CacheState,
    ) -> None:
        self.sessions_changed: Listeners[SessionsChanged] = Listeners()
        self._reply_stoppers: list[Callable[[UUID], Awaitable[None]]] = []
        self._lines = SessionLines(database)
        self._reshaping = SessionReshaping(database)
        self._archive_jobs = ArchiveJobs(database)
        self._trash = TrashListing(database)
        self._session_store, self._participants, self._sessions = session_store, participants, sessions
        self._archive_queue, self._archiver = archive_queue, archiver
        self._stable_prefixes, self._cache_state = stable_prefixes, cache_state
        self.part_of = self._archive_jobs.part_of
        """Return the present value of a part, for undo with `restore_part`."""
        self.follow_changed_lines = archive_queue.follow_changed_lines

    def add_reply_stopper(self, stop_reply: Callable[[UUID], Awaitable[None]]) -> None:
        """Let `stop_reply` end the generation of a reply in a session that is about to change."""
        self._reply_stoppers.append(stop_reply)

    async def stop_replies(self, guids: Sequence[UUID]) -> None:
        """Stop the generation of replies in sessions that are about to change."""
        for guid in guids:
            for stop_reply in self._reply_stoppers:
                await stop_reply(guid)

    async def list_sessions(self, persona_id: str, limit: int | None = None) -> list[SessionLine]:
        """Return the persona's sessions, at most `limit`, newest activity first."""
        return await self._lines.sessions_of(persona_id, limit)

    async def select_branch_of(self, guid: UUID, message: UUID) -> bool:
        """Display the branch that contains a message; return True if another branch was displayed before."""
        if any(entry.id == message for entry in await self._session_store.outline(guid)):
            return False
        await self._session_store.set_leaf(guid, await self._session_store.end_of_branch(message))
        await self.invalidate([guid])
        return True

    # Summary, title and the other parts

    async def restore_part(self, value: PartValue) -> None:
        """Restore the value of a part and its maker."""
        await self._archive_jobs.restore_part(value)
        if value.part is SessionPart.ROLEPLAY:
            await self._archiver.relearn_facts(value.session)
        await self._notify_changed((await self._session_store.session(value.session)).persona_id)

    async def remake_part(self, guid: UUID, part: SessionPart) -> None:
        """Make a part again, by rules now and by a qualified model later; a text by the user is discarded.

        Raise LetheError, with nothing changed, if the session is too short.
        """
        before = await self._archive_jobs.part_of(guid, part)
        await self._archive_jobs.release_part(guid, part)
        if not await self._archive_queue.update(guid, [part]):
            await self._archive_jobs.restore_part(before)
            raise LetheError("This conversation is too short to be summarised.", "Write the summary yourself.")

    # Messages

    async def restore_message(self, guid: UUID) -> None:
        """Restore a message with the hidden messages that were deleted with it. Raise LetheError if it is not stored any
        more.
        """
        await self._session_store.restore_message(*map(UUID, await self._trash.ids_with_hidden_notes(str(guid))))
        session = (await self._session_store.message(guid)).session_id
        await self.invalidate([session])
        await self._archive_queue.follow_changed_lines(session)

    async def insert(self, guid: UUID, text: str, *, by_user: bool, above: UUID | None) -> Message:
        """Insert a message by the user or the persona above another message, or at the end."""
        session = await self._session_store.session(guid)
        participants = await self._participants.load_for_session(session)
        speaker = participants.user if by_user else participants.persona
        moment = await self._find_insertion_time(session, above)
        message = Message(
            session_id=guid,
            role=Role.USER if by_user else Role.ASSISTANT,
            speaker=speaker.unique_name,
            speaker_name=speaker.name,
            time=moment,
            alternatives=[describe_text(Alternative(content=text.strip(), created=moment))],
        )
        return await self.insert_message(self._session_store.redact(message), above)

    async def replace_greeting(self, before: Persona, after: Persona) -> None:
        """Replace the greeting of the persona's newest session after the persona was edited, if nobody has answered it yet.

        A greeting that was edited in the session itself is kept.
        """
        newest = await self._session_store.newest_session(after.unique_name)
        if newest is None or newest.messages > 1:
            return
        session = await self._session_store.session(newest.guid)
        messages = await self._session_store.page(newest.guid, 0, 2)
        user = (await self._participants.load_for_session(session)).user
        contexts = [Participants(persona, user).build_macro_context(session, session.added) for persona in (before, after)]
        old, new = map(create_greeting, (before, after), (session, session), contexts)
        if (
            _greeting_key(messages[0] if messages else None) != _greeting_key(old)
            or len(messages) > 1
            or _greeting_key(old) == _greeting_key(new)
        ):
            return
        await self.stop_replies([session.guid])
        for message in messages:
            await self._reshaping.erase_inserted(message.id)
        if new is not None:
            await self._reshaping.insert(new, None)
            await self._sessions.store_greeting_variables(new, after, contexts[1])
        await self.invalidate([session.guid])

    async def insert_message(self, message: Message, above: UUID | None) -> Message:
        """Insert a message unchanged."""
        await self.stop_replies([message.session_id])
        stored = await self._reshaping.insert(message, above)
        await self.invalidate([message.session_id])
        return stored

    async def remove_inserted(self, message: Message) -> None:
        """Undo an insertion."""
        await self.stop_replies([message.session_id])
        await self._reshaping.erase_inserted(message.id)
        await self.invalidate([message.session_id])

    async def split(self, message_id: UUID) -> SessionSnapshot:
        """Move all messages from this one on to a new session; return the state for `undo`."""
        message = await self._session_store.message(message_id)
        old_session = await self._session_store.session(message.session_id)
        new_session = ChatSession(added=message.time, last_trigger=message.time, **old_session.model_dump(include=COPIED))
        await self.stop_replies([old_session.guid])
        snapshot = await self._reshaping.split(message_id, new_session)
        await self.invalidate(snapshot.resulting)
        if old_session.archived:
            await self._archive_queue.archive_session(new_session.guid)
            await self._archive_queue.update(old_session.guid)
        return snapshot

    async def merge(self, guids: Sequence[UUID]) -> SessionSnapshot:
        """Merge several sessions into one, in the order in which they began; return the state for `undo`."""
        await self.stop_replies(guids)
        snapshot = await self._reshaping.merge(guids)
        await self.invalidate(snapshot.resulting, deleted=[guid for guid in snapshot.sessions if guid != snapshot.kept])
        if await self._archive_queue.parts(snapshot.kept):
            await self._archive_queue.update(snapshot.kept)
        return snapshot

    async def undo(self, snapshot: SessionSnapshot) -> None:
        """Restore sessions as they were before a split or merge."""
        await self.stop_replies(snapshot.resulting)
        await self._reshaping.undo(snapshot)
        await self.invalidate(snapshot.sessions, deleted=snapshot.created)

    async def delete(self, guid: UUID) -> None:
        """Move a session to the trash, also if it is displayed in a window."""
        await self.stop_replies([guid])
        session = await self._session_store.session(guid)
        await self._sessions.delete(guid)
        self.sessions_changed.notify(SessionsChanged(session.persona_id, (), (guid,)))

    # Invalidation

    async def _find_insertion_time(self, session: ChatSession, above: UUID | None) -> datetime:
        """Return the time of the message before the inserted one, or else of the one after it."""
        for message in await self._session_store.newest_messages(session.guid, 1, before=above):
            return message.time
        return (await self._session_store.message(above)).time if above is not None else session.added

    async def invalidate(
        self, guids: Sequence[UUID], deleted: Sequence[UUID] = (), edited_messages: Sequence[UUID] = ()
    ) -> None:
        """Invalidate everything derived from the messages of these sessions, and emit `sessions_changed`."""
        persona_id = (await self._session_store.session(guids[0])).persona_id
        self._cache_state.forget_persona(persona_id)
        for guid in guids:
            await self._stable_prefixes.drop(guid)
        await self._notify_changed(persona_id)
        self.sessions_changed.notify(SessionsChanged(persona_id, tuple(guids), tuple(deleted), tuple(edited_messages)))

    async def _notify_changed(self, persona_id: str) -> None:
        await self._archive_queue.renew(persona_id)
        self._sessions.changed.notify(persona_id)


def _greeting_key(greeting: Message | None) -> tuple[str, list[str]] | None:
    """Return the speaker and all alternatives of a greeting."""
    if greeting is None:
        return None
    return greeting.speaker_name, [alternative.content for alternative in greeting.alternatives]


class NoFactsReason(StrEnum):
    """Reason why a persona has no facts."""

    LEARNING_OFF = "learning_off"
    NOTHING_ARCHIVED = "nothing_archived"
    NOTHING_LASTING = "nothing_lasting"


@dataclass(frozen=True)
class FactAbsence:
    """Reason why a persona has no facts, with the numbers that explain it."""

    reason: NoFactsReason
    minutes: int
    """Minutes without activity after which a session ends; 0 means only a new session ends it."""
    archived: int
    """Number of ended sessions, from which facts were extracted."""
    conversations: int
    """Number of all sessions."""
    keeps_moments: bool = False
    """True if key moments are kept of every day that is over."""


class FactExtraction:
    """Extract the facts of sessions again, one by one; facts by a model are only replaced by a model."""

    def __init__(
        self, session_editing: SessionEditing, archive_queue: ArchiveQueue, facts: FactService, preferences: Preferences
    ) -> None:
        self._session_editing, self._archive_queue = session_editing, archive_queue
        self._facts, self._preferences = facts, preferences

    async def extract_session(self, persona_id: str, session: UUID) -> int:
        """Extract the facts of one session again; return the number of its facts that are not superseded.

        Raise LetheError if the session is too short or learning of facts is disabled.
        """
        self._require_learning()
        if not await self._archive_queue.update(session, [SessionPart.FACTS]):
            raise LetheError("This conversation is too short to extract facts from.")
        known = await self._facts.facts_of(persona_id)
        return sum(session in fact.source_memories and not fact.superseded for fact in known)

    async def extract_all(self, persona_id: str, report: Callable[[int, int], bool]) -> bool:
        """Extract the facts of all sessions of a persona again, oldest first; return whether all were processed.

        `report` is called with the number done and the total, before each session and once at the end; if it returns False,
        extraction stops. Raise LetheError if learning of facts is disabled.
        """
        self._require_learning()
        lines = sorted(await self._session_editing.list_sessions(persona_id), key=lambda line: line.began)
        for index, line in enumerate(lines):
            if not report(index, len(lines)):
                return False
            try:
                await self._archive_queue.update(UUID(line.guid), [SessionPart.FACTS])
            except StorageError:
                continue  # deleted meanwhile
        report(len(lines), len(lines))
        return True

    async def explain_absence(self, persona_id: str) -> FactAbsence:
        """Return why a persona has no facts."""
        settings = self._preferences.current
        lines = await self._session_editing.list_sessions(persona_id)
        archived = sum(line.archived for line in lines)
        reason = NoFactsReason.NOTHING_LASTING if archived else NoFactsReason.NOTHING_ARCHIVED
        if not settings.fact_retrieval:
            reason = NoFactsReason.LEARNING_OFF
        keeps_moments = settings.key_moments and settings.memory_enabled
        return FactAbsence(reason, settings.rotation_minutes, archived, len(lines), keeps_moments)

    def _require_learning(self) -> None:
        if not self._preferences.current.fact_retrieval:
            raise LetheError("Fact learning is switched off.", "Switch on “Learn facts” in Settings → Memory.")
