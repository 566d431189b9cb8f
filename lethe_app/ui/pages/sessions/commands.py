"""Undo commands of the conversations page; undoing an edit also restores the author of the edited part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from PySide6.QtCore import QObject, QTimer

from lethe_app.domain.changes import PartValue, SessionSnapshot
from lethe_app.domain.chat import ChatSession, Message, SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.errors import DatabaseLocked, DiskFull, LetheError, ReadOnly
from lethe_app.ui.core.formatting import format_count, truncate_text
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.sessions.labels import format_part, session_title
from lethe_app.ui.pages.sessions.services import SessionPageServices
from lethe_app.ui.pages.undo_commands import CommandRunner, FieldChange, Step

SAVE_DELAY_MS = 500
PARTS_BY_FIELD = {
    "name": SessionPart.TITLE,
    "content": SessionPart.SUMMARY,
    "keywords_main": SessionPart.KEYWORDS,
    "future_goals": SessionPart.GOALS,
    "relevance": SessionPart.RELEVANCE,
    "is_roleplay": SessionPart.ROLEPLAY,
}
"""Session part of each form field; fields that are not listed are marks."""
RETRYABLE_ERRORS = (DiskFull, DatabaseLocked, ReadOnly)
"""Storage errors after which another attempt may succeed; others, such as a deleted session, are permanent."""
FieldKey = tuple[UUID, str]


class SessionEdits(QObject):
    """Edits sessions of a persona; every edit becomes a command on the page's undo stack."""

    def __init__(
        self,
        page: Page,
        context: PageContext,
        services: SessionPageServices,
        show_field: Callable[[UUID, str, object], None],
        on_done: Callable[[UUID | None], None],
    ) -> None:
        """Create the edits of a page.

        `show_field` shows a new value of a field. `on_done` is called after any larger change, with the session to select, if
        any.
        """
        super().__init__(page)
        self._page, self._context, self._services = page, context, services
        self._show_field, self._on_done = show_field, on_done
        self._session_editing, self._archive_queue = services.session_editing, services.archive_queue
        self._commands = CommandRunner(page.undo_stack, context.tasks, self._on_step_done)
        self._session_to_select: UUID | None = None
        self._is_closed = False
        self._unsaved: dict[FieldKey, object] = {}
        self._stored: dict[FieldKey, object] = {}
        self._history: dict[FieldKey, list[tuple[object, PartValue]]] = {}
        """Earlier values of each field with the stored part, which includes its author."""
        self._save_lock = asyncio.Lock()
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_DELAY_MS)
        self._save_timer.timeout.connect(lambda: context.tasks.start_task(self.save()))

    # Single fields.

    def change_field(self, session: ChatSession, name: str, value: object) -> None:
        """Set one field; `session` is the session before the change. The value is stored after a pause in typing."""
        guid = session.guid
        if (guid, name) not in self._unsaved:
            self._stored[guid, name] = getattr(session, name)

        def apply_value(_key: str, new: object) -> None:
            self._unsaved[guid, name] = new
            self._save_timer.start()
            self._show_field(guid, name, new)

        title = format_part(PARTS_BY_FIELD[name]) if name in PARTS_BY_FIELD else self.tr("changing a conversation")
        self._page.undo_stack.push(FieldChange(title, f"{guid} {name}", getattr(session, name), value, apply_value))

    def unsaved_values(self, guid: UUID) -> dict[str, object]:
        """Return the changed fields of a session that are not stored yet, by name."""
        return {name: value for (session, name), value in self._unsaved.items() if session == guid}

    async def save(self) -> None:
        """Store all changed fields; a value that a field had before is stored with its author of that time.

        An error is reported in the window, and the value is kept for another attempt only if that may succeed.
        """
        async with self._save_lock:
            for key, value in list(self._unsaved.items()):
                try:
                    await self._save_field(*key, value)
                except LetheError as error:
                    self._context.notifier.report_error(error)
                    if isinstance(error, RETRYABLE_ERRORS):
                        continue
                # A newer value may have been typed while this one was being stored.
                if self._unsaved.get(key) == value:
                    del self._unsaved[key]

    async def _save_field(self, guid: UUID, name: str, value: object) -> None:
        if name in PARTS_BY_FIELD:
            await self._save_part(guid, name, value)
        else:
            await self._session_editing.mark(guid, **{name: bool(value)})

    async def _save_part(self, guid: UUID, name: str, value: object) -> None:
        key, part = (guid, name), PARTS_BY_FIELD[name]
        history = self._history.setdefault(key, [])
        stored = self._stored.get(key)
        if all(old != stored for old, _told in history):
            history.append((stored, await self._session_editing.part_of(guid, part)))
        old_part = next((told for old, told in history if old == value), None)
        if old_part is not None:
            await self._session_editing.restore_part(old_part)
        else:
            await self._archive_queue.write(guid, part, _normalised(value))
        self._stored[key] = value

    # Whole sessions.

    def regenerate_part(self, guid: UUID, part: SessionPart) -> None:
        """Regenerate a part of a session."""
        previous: list[PartValue] = []

        async def redo_step() -> None:
            await self.save()
            previous[:] = [await self._session_editing.part_of(guid, part)]
            self._drop_stored_values(guid)
            self._session_to_select = guid
            await self._session_editing.remake_part(guid, part)

        async def undo_step() -> None:
            self._drop_stored_values(guid)
            self._session_to_select = guid
            await self._session_editing.restore_part(previous[0])

        self._commands.run_command(self.tr("regenerating “{part}”").format(part=format_part(part)), redo_step, undo_step)

    def split_session(self, message: UUID, title: str) -> None:
        """Move a message and all later ones to a new session."""
        undo_records: list[SessionSnapshot] = []

        async def redo_step() -> None:
            await self.save()
            undo_records[:] = [await self._session_editing.split(message)]
            self._session_to_select = undo_records[0].created[0]

        notice = self.tr("“{title}” was split into two conversations.").format(title=truncate_text(title))
        self._push_command(self.tr("splitting a conversation"), redo_step, undo_records, notice)

    def merge_sessions(self, lines: Sequence[SessionLine]) -> None:
        """Merge several sessions into the earliest one."""
        undo_records: list[SessionSnapshot] = []

        async def redo_step() -> None:
            await self.save()
            undo_records[:] = [await self._session_editing.merge([UUID(line.guid) for line in lines])]
            self._session_to_select = undo_records[0].kept

        notice = format_count(len(lines), self.tr("{n} conversation"), self.tr("{n} conversations were merged into one."))
        self._push_command(self.tr("merging {n} conversations").format(n=len(lines)), redo_step, undo_records, notice)

    def _push_command(self, title: str, redo_step: Step, undo_records: Sequence[SessionSnapshot], notice: str) -> None:
        async def undo_step() -> None:
            await self.save()
            await self._session_editing.undo(undo_records[0])
            self._session_to_select = undo_records[0].kept

        async def run_and_notify() -> None:
            await redo_step()
            self._notify_with_undo(notice, undo_step)

        self._commands.run_command(title, run_and_notify, undo_step)

    def insert_message(self, guid: UUID, text: str, *, by_user: bool, above: UUID | None) -> None:
        """Insert a message above another one, or at the end if `above` is None. Redo inserts the same message again."""
        inserted: list[Message] = []

        async def redo_step() -> None:
            if inserted:
                await self._session_editing.insert_message(inserted[0], above)
            else:
                inserted.append(await self._session_editing.insert(guid, text, by_user=by_user, above=above))
            self._session_to_select = guid

        async def undo_step() -> None:
            await self._session_editing.remove_inserted(inserted[0])
            self._session_to_select = guid

        self._commands.run_command(self.tr("inserting a message"), redo_step, undo_step)

    def edit_message(self, message: Message, text: str) -> None:
        """Change the text of a message."""
        old_text = message.content

        def edit_step(new_text: str) -> Step:
            async def run_edit() -> None:
                await self._session_editing.stop_replies([message.session_id])
                await self._services.message_editing.edit(message.id, new_text)
                await self._session_editing.invalidate([message.session_id], edited_messages=[message.id])
                self._session_to_select = message.session_id

            return run_edit

        self._commands.run_command(self.tr("editing a message"), edit_step(text), edit_step(old_text))

    def delete_message(self, message: Message) -> None:
        """Move a message to the trash."""

        async def redo_step() -> None:
            await self._session_editing.stop_replies([message.session_id])
            await self._services.message_editing.delete(message.session_id, message.id)
            await self._session_editing.invalidate([message.session_id])
            self._session_to_select = message.session_id
            self._notify_with_undo(self.tr("The message was deleted."), undo_step)

        async def undo_step() -> None:
            await self._services.trash.records.restore_message(message.id)
            self._session_to_select = message.session_id

        self._commands.run_command(self.tr("deleting a message"), redo_step, undo_step)

    def delete_sessions(self, lines: Sequence[SessionLine]) -> None:
        """Move sessions to the trash."""
        guids, title = [UUID(line.guid) for line in lines], session_title(lines[0])

        async def redo_step() -> None:
            await self.save()
            for guid in guids:
                await self._session_editing.delete(guid)
            singular = self.tr("“{title}” was deleted.").format(title=truncate_text(title))
            plural = self.tr("{n} conversations were deleted.").format(n=len(guids))
            self._notify_with_undo(singular if len(guids) == 1 else plural, undo_step)

        async def undo_step() -> None:
            for guid in guids:
                await self._services.sessions.restore(guid)
            self._session_to_select = guids[0]

        self._commands.run_command(self.tr("deleting “{title}”").format(title=truncate_text(title)), redo_step, undo_step)

    def _notify_with_undo(self, text: str, undo_step: Step) -> None:
        """Show a notification with an undo button, which works after the page was closed, too."""
        self._commands.notify_undoable(self._context.notifier, text, undo_step, lambda: not self._is_closed)

    def _drop_stored_values(self, guid: UUID) -> None:
        """Drop the known stored values of a session, because they were changed elsewhere."""
        for key in [key for key in self._stored if key[0] == guid]:
            del self._stored[key]

    def close(self) -> None:
        """Stop showing results because the page is closing; pending work is completed."""
        self._is_closed = True

    def _on_step_done(self) -> None:
        if self._is_closed:
            return
        session_to_select, self._session_to_select = self._session_to_select, None
        self._on_done(session_to_select)


def _normalised(value: object) -> object:
    """Return the value without surrounding whitespace and without empty list items."""
    if isinstance(value, list):
        return [str(each).strip() for each in value if str(each).strip()]
    return value.strip() if isinstance(value, str) else value
