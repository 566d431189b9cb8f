"""Edits of sessions, which can be undone; undoing the edit of a part also restores the part's author."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.changes import PartValue, SessionSnapshot
from lethe_app.domain.chat import Message, SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.services.chat.message_editing import MessageEditing
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.sessions.archive_parts import PART_FIELDS
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.editing import FactExtraction, SessionEditing
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_count, truncate_text
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.pages.sessions.columns import format_part, session_title
from lethe_app.ui.pages.sessions.notes import NOTES_FIELD, parse_notes
from lethe_app.ui.pages.undo_commands import Step


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


PARTS_BY_FIELD = {field: part for part, (field, _source) in PART_FIELDS.items()}
"""Session part of each form field; fields that are not listed are marks."""


class SessionEdits(QObject):
    """Edits sessions; every edit but that of a field becomes a command on the page's undo stack."""

    def __init__(self, page: ReloadingPage, services: SessionPageServices, on_changed: Callable[[UUID | None], None]) -> None:
        """Create the edits of a page. `on_changed` is called when messages or sessions were changed, before the list is read
        again, with the session to select, if any.
        """
        super().__init__()
        self._page, self._services, self._on_changed = page, services, on_changed
        self._session_editing = services.session_editing
        self._history: defaultdict[tuple[UUID, str], list[tuple[object, PartValue]]] = defaultdict(list)
        """Earlier values of each field with the stored part, which includes its author."""

    # Single fields.

    async def store_fields(self, guid: UUID, values: Mapping[str, object]) -> None:
        """Store fields of a session; a value that a field had before is stored with its author of that time."""
        for name, value in values.items():
            if name == NOTES_FIELD:
                await self._services.memory_lookup.write_notes(guid, parse_notes(str(value)))
            elif name in PARTS_BY_FIELD:
                await self._store_part(guid, name, value)
            else:
                await self._services.sessions.mark(guid, **{name: bool(value)})

    async def _store_part(self, guid: UUID, name: str, value: object) -> None:
        part, history = PARTS_BY_FIELD[name], self._history[guid, name]
        stored = getattr(await self._services.sessions.open(guid), name)
        if all(old != stored for old, _part in history):
            history.append((stored, await self._session_editing.part_of(guid, part)))
        old_part = next((old_part for old, old_part in history if old == value), None)
        if old_part is not None:
            await self._session_editing.restore_part(old_part)
        else:
            await self._services.archive_queue.write(guid, part, _normalised(value))

    # Whole sessions.

    def regenerate_part(self, guid: UUID, part: SessionPart) -> None:
        """Regenerate a part of a session."""

        async def redo_step() -> Step:
            before = await self._session_editing.part_of(guid, part)
            await self._session_editing.remake_part(guid, part)
            return lambda: self._session_editing.restore_part(before)

        self._page.run_undoable(self.tr("regenerating “{part}”").format(part=format_part(part)), redo_step)

    def split_session(self, message: UUID, title: str) -> None:
        """Move a message and all later ones to a new session."""
        notice = self.tr("“{title}” was split into two conversations.").format(title=truncate_text(title))
        self._reshape(self.tr("splitting a conversation"), lambda: self._session_editing.split(message), notice)

    def merge_sessions(self, lines: Sequence[SessionLine]) -> None:
        """Merge several sessions into the earliest one."""
        notice = format_count(len(lines), self.tr("{n} conversation"), self.tr("{n} conversations were merged into one."))
        guids, title = [UUID(line.guid) for line in lines], self.tr("merging {n} conversations").format(n=len(lines))
        self._reshape(title, lambda: self._session_editing.merge(guids), notice)

    def _reshape(self, title: str, reshape: Callable[[], Awaitable[SessionSnapshot]], notice: str) -> None:
        """Split or merge sessions, and select the one that this created, or else the one that is left."""

        async def redo_step() -> Step:
            try:
                snapshot = await reshape()
            except Exception:
                self._on_changed(None)
                raise
            self._on_changed(snapshot.resulting[-1])
            return lambda: self._run_and_select(lambda: self._session_editing.undo(snapshot), snapshot.kept)

        self._page.run_undoable(title, redo_step, notice=notice)

    def insert_message(self, guid: UUID, text: str, *, by_user: bool, above: UUID | None) -> None:
        """Insert a message above another one, or at the end if `above` is None. Redo inserts the same message again."""
        inserted: list[Message] = []

        async def redo_step() -> None:
            if inserted:
                await self._session_editing.insert_message(inserted[0], above)
            else:
                inserted.append(await self._session_editing.insert(guid, text, by_user=by_user, above=above))

        self._run_on_messages(
            self.tr("inserting a message"), guid, redo_step, lambda: self._session_editing.remove_inserted(inserted[0])
        )

    def edit_message(self, message: Message, text: str) -> None:
        """Change the text of a message."""

        async def save_text(new_text: str) -> None:
            await self._session_editing.stop_replies([message.session_id])
            await self._services.message_editing.edit(message.id, new_text)
            await self._session_editing.invalidate([message.session_id], edited_messages=[message.id])

        old_text = message.content
        self._run_on_messages(
            self.tr("editing a message"), message.session_id, lambda: save_text(text), lambda: save_text(old_text)
        )

    def delete_message(self, message: Message) -> None:
        """Move a message to the trash."""

        async def redo_step() -> None:
            await self._session_editing.stop_replies([message.session_id])
            await self._services.message_editing.delete(message.session_id, message.id)
            await self._session_editing.invalidate([message.session_id])

        self._run_on_messages(
            self.tr("deleting a message"),
            message.session_id,
            redo_step,
            lambda: self._session_editing.restore_message(message.id),
            self.tr("The message was deleted."),
        )

    def _run_on_messages(self, title: str, session: UUID, redo_step: Step, undo_step: Step, notice: str = "") -> None:
        """Run a step on the messages of a session, which is selected and read again after it, and after its undo."""
        redo, undo = (partial(self._run_and_select, step, session) for step in (redo_step, undo_step))
        self._page.run_undoable(title, redo, undo, notice)

    async def _run_and_select(self, step: Step, session: UUID) -> None:
        await step()
        self._on_changed(session)

    def delete_sessions(self, lines: Sequence[SessionLine]) -> None:
        """Move sessions to the trash."""
        guids, title = [UUID(line.guid) for line in lines], truncate_text(session_title(lines[0]))

        async def redo_step() -> None:
            for guid in guids:
                await self._session_editing.delete(guid)

        async def undo_step() -> None:
            for guid in guids:
                await self._services.sessions.restore(guid)
            self._on_changed(guids[0])

        notice = self.tr("“{title}” was deleted.") if len(guids) == 1 else self.tr("{n} conversations were deleted.")
        self._page.run_undoable(
            self.tr("deleting “{title}”").format(title=title), redo_step, undo_step, notice.format(title=title, n=len(guids))
        )


def _normalised(value: object) -> object:
    """Return the value without surrounding whitespace and without empty list items."""
    if isinstance(value, list):
        return [str(each).strip() for each in value if str(each).strip()]
    return value.strip() if isinstance(value, str) else value
