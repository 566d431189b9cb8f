"""Edits of sessions, which can be undone; undoing the edit of a part also restores the part's author."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.changes import PartValue, SessionSnapshot
from lethe_app.domain.chat import Message, SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.services.chat.message_editing import MessageEditing
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.editing import FactExtraction, SessionEditing
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_count, truncate_text
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.sessions.columns import format_part, session_title
from lethe_app.ui.pages.sessions.notes import NOTES_FIELD, parse_notes
from lethe_app.ui.pages.undo_commands import CommandRunner, Step


@dataclass(frozen=True)
class SessionPageServices:
    """Services that the page of all conversations calls."""

    sessions: SessionService
    session_editing: SessionEditing
    message_editing: MessageEditing
    archive_queue: ArchiveQueue
    fact_extraction: FactExtraction
    memory_lookup: MemoryLookup
    trash: Trash
    fact_lists: FactLists


PARTS_BY_FIELD = {
    "name": SessionPart.TITLE,
    "content": SessionPart.SUMMARY,
    "keywords_main": SessionPart.KEYWORDS,
    "future_goals": SessionPart.GOALS,
    "relevance": SessionPart.RELEVANCE,
    "is_roleplay": SessionPart.ROLEPLAY,
}
"""Session part of each form field; fields that are not listed are marks."""
FieldKey = tuple[UUID, str]


class SessionEdits(QObject):
    """Edits sessions; every edit but that of a field becomes a command on the page's undo stack."""

    def __init__(
        self,
        context: PageContext,
        services: SessionPageServices,
        commands: CommandRunner,
        save_fields: Callable[[], Awaitable[None]],
        on_changed: Callable[[UUID | None], None],
    ) -> None:
        """Create the edits of a page. `save_fields` stores what was typed, which comes first. `on_changed` is called when
        messages or sessions were changed, before the list is read again, with the session to select, if any.
        """
        super().__init__()
        self._context, self._services = context, services
        self._commands, self._save_fields, self._on_changed = commands, save_fields, on_changed
        self._session_editing = services.session_editing
        self._stored: dict[FieldKey, object] = {}
        self._history: dict[FieldKey, list[tuple[object, PartValue]]] = {}
        """Earlier values of each field with the stored part, which includes its author."""

    # Single fields.

    def note_stored_value(self, guid: UUID, name: str, value: object) -> None:
        """Remember the stored value of a field before it is changed."""
        self._stored[guid, name] = value

    async def store_fields(self, guid: UUID, values: Mapping[str, object]) -> None:
        """Store fields of a session; a value that a field had before is stored with its author of that time."""
        for name, value in values.items():
            if name == NOTES_FIELD:
                await self._services.memory_lookup.write_notes(guid, parse_notes(str(value)))
            elif name in PARTS_BY_FIELD:
                await self._store_part(guid, name, value)
            else:
                await self._session_editing.mark(guid, **{name: bool(value)})

    async def _store_part(self, guid: UUID, name: str, value: object) -> None:
        key, part = (guid, name), PARTS_BY_FIELD[name]
        history = self._history.setdefault(key, [])
        stored = self._stored.get(key)
        if all(old != stored for old, _told in history):
            history.append((stored, await self._session_editing.part_of(guid, part)))
        old_part = next((told for old, told in history if old == value), None)
        if old_part is not None:
            await self._session_editing.restore_part(old_part)
        else:
            await self._services.archive_queue.write(guid, part, _normalised(value))
        self._stored[key] = value

    def _drop_stored_values(self, guid: UUID) -> None:
        """Drop the known stored values of a session, because they were changed elsewhere."""
        for key in [key for key in self._stored if key[0] == guid]:
            del self._stored[key]

    # Whole sessions.

    def regenerate_part(self, guid: UUID, part: SessionPart) -> None:
        """Regenerate a part of a session."""
        previous: list[PartValue] = []

        async def redo_step() -> None:
            await self._save_fields()
            previous[:] = [await self._session_editing.part_of(guid, part)]
            self._drop_stored_values(guid)
            await self._session_editing.remake_part(guid, part)

        async def undo_step() -> None:
            self._drop_stored_values(guid)
            await self._session_editing.restore_part(previous[0])

        self._commands.run_command(self.tr("regenerating “{part}”").format(part=format_part(part)), redo_step, undo_step)

    def split_session(self, message: UUID, title: str) -> None:
        """Move a message and all later ones to a new session."""
        notice = self.tr("“{title}” was split into two conversations.").format(title=truncate_text(title))
        self._reshape(
            self.tr("splitting a conversation"),
            lambda: self._session_editing.split(message),
            lambda snapshot: snapshot.created[0],
            notice,
        )

    def merge_sessions(self, lines: Sequence[SessionLine]) -> None:
        """Merge several sessions into the earliest one."""
        notice = format_count(len(lines), self.tr("{n} conversation"), self.tr("{n} conversations were merged into one."))
        self._reshape(
            self.tr("merging {n} conversations").format(n=len(lines)),
            lambda: self._session_editing.merge([UUID(line.guid) for line in lines]),
            lambda snapshot: snapshot.kept,
            notice,
        )

    def _reshape(
        self,
        title: str,
        reshape: Callable[[], Awaitable[SessionSnapshot]],
        session_to_select: Callable[[SessionSnapshot], UUID],
        notice: str,
    ) -> None:
        snapshots: list[SessionSnapshot] = []

        async def redo_step() -> None:
            await self._save_fields()
            snapshots.clear()
            try:
                snapshots.append(await reshape())
            finally:
                self._on_changed(session_to_select(snapshots[0]) if snapshots else None)
            self._notify_undoable(notice, undo_step)

        async def undo_step() -> None:
            await self._save_fields()
            await self._session_editing.undo(snapshots[0])
            self._on_changed(snapshots[0].kept)

        self._commands.run_command(title, redo_step, undo_step)

    def insert_message(self, guid: UUID, text: str, *, by_user: bool, above: UUID | None) -> None:
        """Insert a message above another one, or at the end if `above` is None. Redo inserts the same message again."""
        inserted: list[Message] = []

        async def redo_step() -> None:
            if inserted:
                await self._session_editing.insert_message(inserted[0], above)
            else:
                inserted.append(await self._session_editing.insert(guid, text, by_user=by_user, above=above))
            self._on_changed(guid)

        async def undo_step() -> None:
            await self._session_editing.remove_inserted(inserted[0])
            self._on_changed(guid)

        self._commands.run_command(self.tr("inserting a message"), redo_step, undo_step)

    def edit_message(self, message: Message, text: str) -> None:
        """Change the text of a message."""
        old_text = message.content

        def edit_step(new_text: str) -> Step:
            async def run_edit() -> None:
                await self._session_editing.stop_replies([message.session_id])
                await self._services.message_editing.edit(message.id, new_text)
                await self._session_editing.invalidate([message.session_id], edited_messages=[message.id])
                self._on_changed(message.session_id)

            return run_edit

        self._commands.run_command(self.tr("editing a message"), edit_step(text), edit_step(old_text))

    def delete_message(self, message: Message) -> None:
        """Move a message to the trash."""

        async def redo_step() -> None:
            await self._session_editing.stop_replies([message.session_id])
            await self._services.message_editing.delete(message.session_id, message.id)
            await self._session_editing.invalidate([message.session_id])
            self._on_changed(message.session_id)
            self._notify_undoable(self.tr("The message was deleted."), undo_step)

        async def undo_step() -> None:
            await self._session_editing.restore_message(message.id)
            self._on_changed(message.session_id)

        self._commands.run_command(self.tr("deleting a message"), redo_step, undo_step)

    def delete_sessions(self, lines: Sequence[SessionLine]) -> None:
        """Move sessions to the trash."""
        guids, title = [UUID(line.guid) for line in lines], session_title(lines[0])

        async def redo_step() -> None:
            await self._save_fields()
            for guid in guids:
                await self._session_editing.delete(guid)
            singular = self.tr("“{title}” was deleted.").format(title=truncate_text(title))
            plural = self.tr("{n} conversations were deleted.").format(n=len(guids))
            self._notify_undoable(singular if len(guids) == 1 else plural, undo_step)

        async def undo_step() -> None:
            for guid in guids:
                await self._services.sessions.restore(guid)
            self._on_changed(guids[0])

        self._commands.run_command(self.tr("deleting “{title}”").format(title=truncate_text(title)), redo_step, undo_step)

    def _notify_undoable(self, text: str, undo_step: Step) -> None:
        """Show a notification with an undo button, which works after the page was closed, too."""
        self._commands.notify_undoable(self._context.notifier, text, undo_step)


def _normalised(value: object) -> object:
    """Return the value without surrounding whitespace and without empty list items."""
    if isinstance(value, list):
        return [str(each).strip() for each in value if str(each).strip()]
    return value.strip() if isinstance(value, str) else value
