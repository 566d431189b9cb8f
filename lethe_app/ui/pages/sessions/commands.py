"""Undo commands of the conversations page; undoing an edit also restores the author of the edited part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from PySide6.QtCore import QObject, QTimer

from lethe_app.domain.changes import Before, PartValue
from lethe_app.domain.chat import ChatSession, Message, SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.errors import DatabaseLocked, DiskFull, LetheError, ReadOnly
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.sessions.labels import part_in_words, shortened, title_of
from lethe_app.ui.pages.undo_commands import CommandRunner, FieldChange, Step

REST_MS = 500
PARTS = {
    "name": SessionPart.TITLE,
    "content": SessionPart.SUMMARY,
    "keywords_main": SessionPart.KEYWORDS,
    "future_goals": SessionPart.GOALS,
    "relevance": SessionPart.RELEVANCE,
    "is_roleplay": SessionPart.ROLEPLAY,
}
"""Session part of each form field; fields that are not listed are marks."""
PASSING = (DiskFull, DatabaseLocked, ReadOnly)
"""Storage errors after which another attempt may succeed; others, such as a deleted session, are permanent."""
Key = tuple[UUID, str]


class SessionEdits(QObject):
    """Edits sessions of a persona; every edit becomes a command on the page's undo stack."""

    def __init__(
        self, page: Page, place: PageContext, put: Callable[[UUID, str, object], None], after: Callable[[UUID | None], None]
    ) -> None:
        """Create the edits of a page.

        `put` shows a new value of a field. `after` is called after any larger change, with the session to select, if any.
        """
        super().__init__(page)
        self._page, self._place, self._put, self._after = page, place, put, after
        self._chronicle, self._archiving = place.services.chronicle, place.services.archiving
        self._deeds = CommandRunner(page.undo, place.bridge, self._done)
        self._wanted: UUID | None = None
        self._is_closed = False
        self._unsaved: dict[Key, object] = {}
        self._stored: dict[Key, object] = {}
        self._was: dict[Key, list[tuple[object, PartValue]]] = {}
        """Earlier values of each field with the stored part, which includes its author."""
        self._saving = asyncio.Lock()
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(lambda: place.bridge.spawn(self.save()))

    # Single fields.

    def change(self, session: ChatSession, name: str, value: object) -> None:
        """Set one field; `session` is the session before the change. The value is stored after a pause in typing."""
        guid = session.guid
        if (guid, name) not in self._unsaved:
            self._stored[guid, name] = getattr(session, name)

        def put(_key: str, new: object) -> None:
            self._unsaved[guid, name] = new
            self._rest.start()
            self._put(guid, name, new)

        title = part_in_words(PARTS[name]) if name in PARTS else self.tr("changing a conversation")
        self._page.undo.push(FieldChange(title, f"{guid} {name}", getattr(session, name), value, put))

    def is_unsaved(self, guid: UUID) -> bool:
        return any(key[0] == guid for key in self._unsaved)

    async def save(self) -> None:
        """Store all changed fields; a value that a field had before is stored with its author of that time.

        An error is reported in the window, and the value is kept for another attempt only if that may succeed.
        """
        async with self._saving:
            for key, value in list(self._unsaved.items()):
                try:
                    await self._store(*key, value)
                except LetheError as error:
                    self._place.window.notifier.report(error)
                    if isinstance(error, PASSING):
                        continue
                # A newer value may have been typed while this one was being stored.
                if self._unsaved.get(key) == value:
                    del self._unsaved[key]

    async def _store(self, guid: UUID, name: str, value: object) -> None:
        if name in PARTS:
            await self._write(guid, name, value)
        else:
            await self._chronicle.mark(guid, **{name: bool(value)})

    async def _write(self, guid: UUID, name: str, value: object) -> None:
        key, part = (guid, name), PARTS[name]
        known = self._was.setdefault(key, [])
        stored = self._stored.get(key)
        if all(old != stored for old, _told in known):
            known.append((stored, await self._chronicle.part_of(guid, part)))
        told = next((told for old, told in known if old == value), None)
        if told is not None:
            await self._chronicle.tell_as(told)
        else:
            await self._archiving.write(guid, part, _clean(value))
        self._stored[key] = value

    # Whole sessions.

    def again(self, guid: UUID, part: SessionPart) -> None:
        """Regenerate a part of a session."""
        was: list[PartValue] = []

        async def forth() -> None:
            await self.save()
            was[:] = [await self._chronicle.part_of(guid, part)]
            self._forget(guid)
            self._wanted = guid
            await self._chronicle.again(guid, part)

        async def back() -> None:
            self._forget(guid)
            self._wanted = guid
            await self._chronicle.tell_as(was[0])

        self._deeds.do(self.tr("regenerating “{part}”").format(part=part_in_words(part)), forth, back)

    def split(self, message: UUID, title: str) -> None:
        """Move a message and all later ones to a new session."""
        done: list[Before] = []

        async def forth() -> None:
            await self.save()
            done[:] = [await self._chronicle.split(message)]
            self._wanted = done[0].made[0]

        told = self.tr("“{title}” was split into two conversations.").format(title=shortened(title))
        self._do(self.tr("splitting a conversation"), forth, done, told)

    def merge(self, lines: Sequence[SessionLine]) -> None:
        """Merge several sessions into the earliest one."""
        done: list[Before] = []

        async def forth() -> None:
            await self.save()
            done[:] = [await self._chronicle.merge([UUID(line.guid) for line in lines])]
            self._wanted = done[0].kept

        told = counted(len(lines), self.tr("{n} conversation"), self.tr("{n} conversations were merged into one."))
        self._do(self.tr("merging {n} conversations").format(n=len(lines)), forth, done, told)

    def _do(self, title: str, forth: Step, done: Sequence[Before], told: str) -> None:
        async def back() -> None:
            await self.save()
            await self._chronicle.undo(done[0])
            self._wanted = done[0].kept

        async def telling() -> None:
            await forth()
            self._tell(told, back)

        self._deeds.do(title, telling, back)

    def insert(self, guid: UUID, text: str, *, by_user: bool, above: UUID | None) -> None:
        """Insert a message above another one, or at the end if `above` is None. Redo inserts the same message again."""
        made: list[Message] = []

        async def forth() -> None:
            if made:
                await self._chronicle.put_in(made[0], above)
            else:
                made.append(await self._chronicle.insert(guid, text, by_user=by_user, above=above))
            self._wanted = guid

        async def back() -> None:
            await self._chronicle.take_out(made[0])
            self._wanted = guid

        self._deeds.do(self.tr("inserting a message"), forth, back)

    def reword(self, message: Message, text: str) -> None:
        """Change the text of a message."""
        was = message.content

        def saying(words: str) -> Step:
            async def say() -> None:
                await self._chronicle.still([message.session_id])
                await self._place.services.message_editing.edit(message.id, words)
                await self._chronicle.retold([message.session_id], reworded=[message.id])
                self._wanted = message.session_id

            return say

        self._deeds.do(self.tr("editing a message"), saying(text), saying(was))

    def take_away(self, message: Message) -> None:
        """Move a message to the trash."""

        async def forth() -> None:
            await self._chronicle.still([message.session_id])
            await self._place.services.message_editing.delete(message.session_id, message.id)
            await self._chronicle.retold([message.session_id])
            self._wanted = message.session_id
            self._tell(self.tr("The message was deleted."), back)

        async def back() -> None:
            await self._place.services.trash.restore_message(message.id)
            self._wanted = message.session_id

        self._deeds.do(self.tr("deleting a message"), forth, back)

    def delete(self, lines: Sequence[SessionLine]) -> None:
        """Move sessions to the trash."""
        guids, title = [UUID(line.guid) for line in lines], title_of(lines[0])

        async def forth() -> None:
            await self.save()
            for guid in guids:
                await self._chronicle.delete(guid)
            told = self.tr("“{title}” was deleted.").format(title=shortened(title))
            many = self.tr("{n} conversations were deleted.").format(n=len(guids))
            self._tell(told if len(guids) == 1 else many, back)

        async def back() -> None:
            for guid in guids:
                await self._place.services.sessions.restore(guid)
            self._wanted = guids[0]

        self._deeds.do(self.tr("deleting “{title}”").format(title=shortened(title)), forth, back)

    def _tell(self, words: str, back: Step) -> None:
        """Show a notification with an undo button.

        It undoes the command if that is on top of the stack; otherwise it runs `back` alone, also after the page was closed.
        """
        stack = self._page.undo
        command = stack.command(stack.index() - 1) if stack.index() else None

        async def alone() -> None:
            await back()

        def take_back() -> None:
            if not self._is_closed and command is not None and stack.index() and stack.command(stack.index() - 1) is command:
                stack.undo()
            else:
                self._place.bridge.spawn(alone())

        self._place.window.notifier.tell(words, button=self.tr("Undo"), action=take_back)

    def _forget(self, guid: UUID) -> None:
        """Drop the known stored values of a session, because they were changed elsewhere."""
        for key in [key for key in self._stored if key[0] == guid]:
            del self._stored[key]

    def close(self) -> None:
        """Stop showing results because the page is closing; pending work is completed."""
        self._is_closed = True

    def _done(self) -> None:
        if self._is_closed:
            return
        wanted, self._wanted = self._wanted, None
        self._after(wanted)


def _clean(value: object) -> object:
    """Return the value without surrounding whitespace and without empty list items."""
    if isinstance(value, list):
        return [str(each).strip() for each in value if str(each).strip()]
    return value.strip() if isinstance(value, str) else value
