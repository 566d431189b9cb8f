"""What the user changes in conversations, as commands that can be undone; whoever had made a part has made it then, too."""

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
"""Which part a field of the form is; the others are marks."""
PASSING = (DiskFull, DatabaseLocked, ReadOnly)
"""Troubles after which the same may be stored; others, such as that it was deleted meanwhile, do not go away."""
Key = tuple[UUID, str]


class SessionEdits(QObject):
    """Every change of the page goes through here and onto its undo stack."""

    def __init__(
        self, page: Page, place: PageContext, put: Callable[[UUID, str, object], None], after: Callable[[UUID | None], None]
    ) -> None:
        """`put` shows a new value; `after` is called when more than a field changed, with the conversation to be shown then."""
        super().__init__(page)
        self._page, self._place, self._put, self._after = page, place, put, after
        self._chronicle, self._archiving = place.services.chronicle, place.services.archiving
        self._deeds = CommandRunner(page.undo, place.bridge, self._done)
        self._wanted: UUID | None = None
        self._is_closed = False
        self._unsaved: dict[Key, object] = {}
        self._stored: dict[Key, object] = {}
        self._was: dict[Key, list[tuple[object, PartValue]]] = {}
        """Values that fields have had, and who had made them."""
        self._saving = asyncio.Lock()
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(lambda: place.bridge.spawn(self.save()))

    # one field

    def change(self, session: ChatSession, name: str, value: object) -> None:
        """A field of a conversation; `session` is as it was before."""
        guid = session.guid
        if (guid, name) not in self._unsaved:
            self._stored[guid, name] = getattr(session, name)

        def put(_key: str, new: object) -> None:
            self._unsaved[guid, name] = new
            self._rest.start()
            self._put(guid, name, new)

        title = part_in_words(PARTS[name]) if name in PARTS else self.tr("marking a conversation")
        self._page.undo.push(FieldChange(title, f"{guid} {name}", getattr(session, name), value, put))

    def is_unsaved(self, guid: UUID) -> bool:
        return any(key[0] == guid for key in self._unsaved)

    async def save(self) -> None:
        """Store what was changed. What a field had before is made by whoever made it then, when it comes back.

        What cannot be stored is told; it is tried again only if that may help.
        """
        async with self._saving:
            for key, value in list(self._unsaved.items()):
                try:
                    await self._store(*key, value)
                except LetheError as error:
                    self._place.window.notifier.report(error)
                    if isinstance(error, PASSING):
                        continue
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

    # whole conversations

    def again(self, guid: UUID, part: SessionPart) -> None:
        """Have a part made again."""
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

        self._deeds.do(self.tr("making “{part}” again").format(part=part_in_words(part)), forth, back)

    def split(self, message: UUID, title: str) -> None:
        """Everything from that message on becomes a conversation of its own."""
        done: list[Before] = []

        async def forth() -> None:
            await self.save()
            done[:] = [await self._chronicle.split(message)]
            self._wanted = done[0].made[0]

        told = self.tr("“{title}” is two conversations now.").format(title=shortened(title))
        self._do(self.tr("splitting a conversation"), forth, done, told)

    def merge(self, lines: Sequence[SessionLine]) -> None:
        """Several become the earliest of them."""
        done: list[Before] = []

        async def forth() -> None:
            await self.save()
            done[:] = [await self._chronicle.merge([UUID(line.guid) for line in lines])]
            self._wanted = done[0].kept

        told = counted(len(lines), self.tr("{n} conversation"), self.tr("{n} conversations are one now."))
        self._do(self.tr("making one conversation of {n}").format(n=len(lines)), forth, done, told)

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
        """Put in something that was said."""
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
        """Have somebody have said it in other words."""
        was = message.content

        def saying(words: str) -> Step:
            async def say() -> None:
                await self._chronicle.still([message.session_id])
                await self._place.services.chat.edit(message.id, words)
                await self._chronicle.retold([message.session_id], reworded=[message.id])
                self._wanted = message.session_id

            return say

        self._deeds.do(self.tr("editing a message"), saying(text), saying(was))

    def take_away(self, message: Message) -> None:
        """Into the trash."""

        async def forth() -> None:
            await self._chronicle.still([message.session_id])
            await self._place.services.chat.delete(message.session_id, message.id)
            await self._chronicle.retold([message.session_id])
            self._wanted = message.session_id
            self._tell(self.tr("The message was deleted."), back)

        async def back() -> None:
            await self._place.services.trash.restore_message(message.id)
            self._wanted = message.session_id

        self._deeds.do(self.tr("deleting a message"), forth, back)

    def delete(self, lines: Sequence[SessionLine]) -> None:
        """Into the trash."""
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
        """With a button that undoes it, as long as nothing else was done since."""
        stack = self._page.undo
        command = stack.command(stack.index() - 1) if stack.index() else None

        async def alone() -> None:
            await back()

        def take_back() -> None:
            if not self._is_closed and command is not None and stack.index() and stack.command(stack.index() - 1) is command:
                stack.undo()
            else:
                self._place.bridge.spawn(alone())

        self._place.window.notifier.tell(words, button=self.tr("Take it back"), action=take_back)

    def _forget(self, guid: UUID) -> None:
        """What is stored of this one is no longer what was read."""
        for key in [key for key in self._stored if key[0] == guid]:
            del self._stored[key]

    def close(self) -> None:
        """The page goes: what is under way is done, and nobody is shown it."""
        self._is_closed = True

    def _done(self) -> None:
        if self._is_closed:
            return
        wanted, self._wanted = self._wanted, None
        self._after(wanted)


def _clean(value: object) -> object:
    """Without spaces around and without empty ones in a list."""
    if isinstance(value, list):
        return [str(each).strip() for each in value if str(each).strip()]
    return value.strip() if isinstance(value, str) else value
