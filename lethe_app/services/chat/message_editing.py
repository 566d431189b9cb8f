"""Editing and deletion of messages, with invalidation of what was derived from them."""

from __future__ import annotations

from uuid import UUID

from lethe_app.brain.languages.requests import may_ask_to_forget
from lethe_app.domain.chat import Alternative, Message, Role
from lethe_app.errors import LetheError
from lethe_app.services.chat.forgetting import Forgetting
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.languages import describe_text
from lethe_app.services.sessions.service import SessionService
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.chats.sessions import SessionStore


class MessageEditing:
    """Edit and delete stored messages."""

    def __init__(
        self,
        session_store: SessionStore,
        sessions: SessionService,
        stable_prefixes: StablePrefixes,
        cache_state: CacheState,
        receipts: Receipts,
        archive_queue: ArchiveQueue,
        forgetting: Forgetting,
    ) -> None:
        self._session_store = session_store
        self._sessions = sessions
        self._stable_prefixes = stable_prefixes
        self._cache_state = cache_state
        self._receipts, self._archive_queue, self._forgetting = receipts, archive_queue, forgetting

    async def edit(self, message_id: UUID, text: str) -> Message:
        """Change the text of the displayed alternative, and follow it if the user asks in it to forget something. Raise
        StorageError.
        """
        told = describe_text(Alternative(content=text))
        message = await self._session_store.edit_message(
            message_id, text, language=told.language, is_sensitive=told.is_sensitive
        )
        self._sessions.languages.note_stored(message)
        await self._invalidate(message)
        if message.role is Role.USER and may_ask_to_forget(text):
            await self._forgetting.follow_request(message)
        return message

    async def undo_edit(self, before: Message) -> Message:
        """Restore the displayed alternative of `before`, the message as it was before the edit; alternatives added since are
        kept.
        """
        return await self._invalidate(await self._session_store.restore_shown(before))

    async def show_alternative(self, message_id: UUID, position: int) -> Message:
        """Display another alternative. Raise StorageError."""
        message = await self._session_store.set_shown(message_id, position)
        await self._archive_queue.follow_changed_lines(message.session_id)
        return message

    async def delete(self, session_id: UUID, message_id: UUID) -> None:
        """Move a message to the trash, with the hidden messages directly above it. Raise LetheError if it is not in the
        session.
        """
        outline = await self._session_store.outline(session_id)
        position = next((index for index, entry in enumerate(outline) if entry.id == message_id), None)
        if position is None:
            raise LetheError("That message is no longer in this conversation.")
        first = position
        # Hidden messages (tool results, announcements) belong to the message below them.
        while first > 0 and outline[first - 1].hidden:
            first -= 1
        await self._drop_prefix_covering(session_id, message_id)
        await self._session_store.delete_message(*(entry.id for entry in outline[first : position + 1]))
        persona_id = (await self._session_store.session(session_id)).persona_id
        self._cache_state.forget_persona(persona_id)  # other conversations may have recalled it
        await self._archive_queue.follow_changed_lines(session_id)
        self._sessions.changed.notify(persona_id)

    async def _invalidate(self, message: Message) -> Message:
        persona_id = (await self._session_store.session(message.session_id)).persona_id
        self._cache_state.forget_persona(persona_id)
        await self._drop_prefix_covering(message.session_id, message.id)
        await self._receipts.delete_prompts(persona_id)
        await self._archive_queue.follow_changed_lines(message.session_id)
        return message

    async def _drop_prefix_covering(self, session_id: UUID, message_id: UUID) -> None:
        """Drop the stable prefix of a session if its rolling summary covers this message, which is about to change."""
        prefix = await self._stable_prefixes.load(session_id)
        if prefix is None or prefix.first is None or prefix.first == message_id:
            return
        for entry in await self._session_store.outline(session_id):
            if entry.id == prefix.first:
                return  # the message is still in the history word for word
            if entry.id == message_id:
                await self._stable_prefixes.drop(session_id)
                return
