"""Undo commands of the mind page. Typed text is stored after a pause in typing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, datetime

from PySide6.QtCore import QObject, QTimer

from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.mood import Feeling
from lethe_app.domain.persona import Weekday
from lethe_app.services.personas.inner_life import entry
from lethe_app.services.personas.reminders import reminder
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.undo_commands import CommandRunner, FieldChange

REST_MS = 400
Store = Callable[[str], Awaitable[object]]


class MindEdits(QObject):
    """Edits a persona's mood, schedule, thoughts, goals, journal and reminders; every edit becomes a command on the undo
    stack.
    """

    def __init__(self, page: Page, place: PageContext, show: Callable[[str, str], None], after: Callable[[], None]) -> None:
        """Create the edits of a page.

        `show` puts a text into the field with the given key, if that field is on display; `after` is called after each step.
        """
        super().__init__(page)
        self._page, self._place, self._services, self._show = page, place, place.services, show
        self._deeds = CommandRunner(page.undo, place.bridge, after)
        self._unsaved: dict[str, tuple[Store, str]] = {}
        self._saving = asyncio.Lock()
        self.is_open = True
        """True until the page is closed; its undo stack may be used only while this is true."""
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(lambda: place.bridge.spawn(self.save()))

    # Typed text.

    def type(self, title: str, key: str, old: str, new: str, store: Store) -> None:
        """Push a change of the text field with the given key; `store` is called with the text after a pause in typing."""

        def put(_key: str, text: object) -> None:
            self._unsaved[key] = (store, str(text))
            self._rest.start()
            self._show(key, str(text))

        if old != new:
            self._page.undo.push(FieldChange(title, key, old, new, put))

    def is_unsaved(self, key: str) -> bool:
        return key in self._unsaved

    async def save(self) -> None:
        """Store all typed text now."""
        async with self._saving:
            unsaved, self._unsaved = self._unsaved, {}
            for store, text in unsaved.values():
                await store(text)

    def plan(self, persona: str, day: Weekday, title: str, old: str, new: str) -> None:
        """Set the schedule of a weekday."""
        self.type(title, key_of_day(persona, day), old, new, lambda text: self._services.mind.week.set_plan(persona, day, text))

    def think(self, persona: str, old: str, new: str) -> None:
        """Set the persona's personal thoughts."""
        title = self.tr("editing personal thoughts")
        self.type(title, key_of_thoughts(persona), old, new, lambda text: self._services.mind.life.think(persona, text))

    def ask(self, persona: str, part: str, old: str, new: str) -> None:
        """Set what the persona's goals are to be about (`request`) or the guidelines for them (`notice`)."""
        wishes = self._services.mind.wishes

        async def store(text: str) -> None:
            wish = await wishes.goals_of(persona)
            asked = {"request": wish.request, "notice": wish.notice, part: text}
            await wishes.ask(persona, **asked)

        self.type(self.tr("editing goal requests"), key_of_wish(persona, part), old, new, store)

    def keep_entry(self, persona: str, title: str, text: str) -> None:
        """Add a journal entry written by the user; raise LetheError if it has no text."""
        memory, brain = entry(title, text), self._services.brain

        async def forth() -> None:
            await brain.memorize(persona, memory, check=False)

        self._deeds.do(self.tr("adding a journal entry"), forth, lambda: brain.forget_memory(memory.guid))

    def write(self, memory: MemoryUnit, title: str, old: str, new: str) -> None:
        """Set the text of a goal or journal entry."""

        async def store(text: str) -> None:
            # Read again, because other fields of the record may have been changed in the background.
            now = await self._services.browsing.memory(memory.guid)
            await self._services.brain.edit(now.model_copy(update={"content": text}))

        self.type(title, str(memory.guid), old, new, store)

    # Other edits.

    def feel(self, persona: str, id_: str, title: str, value: float) -> None:
        """Set a dimension of the mood to a value from 0 to 1."""
        moods, before = self._services.mind.moods, list[Feeling]()

        async def forth() -> None:
            before[:] = [await moods.set_mood(persona, id_, value)]

        self._deeds.do(self.tr("setting {side}").format(side=title), forth, lambda: moods.put_back(persona, id_, before[0]))

    def allow_moods(self, persona: str, *, allowed: bool) -> None:
        """Enable or disable moods for the persona."""
        life = self._services.mind.life
        title = self.tr("enabling moods") if allowed else self.tr("disabling moods")
        self._deeds.do(
            title,
            lambda: life.allow_moods(persona, allowed=allowed),
            lambda: life.allow_moods(persona, allowed=not allowed),
        )

    def prefer(self, title: str, name: str, *, value: bool) -> None:
        """Set a setting that applies to all personas."""
        preferences = self._services.preferences
        self._deeds.do(title, lambda: preferences.set(**{name: value}), lambda: preferences.set(**{name: not value}))

    def remind(self, persona: str, text: str, when: datetime | date) -> None:
        """Add a reminder; raise LetheError if it is not valid."""
        memory = reminder(text, when)

        async def forth() -> None:
            await self._services.brain.memorize(persona, memory, check=False)

        self._deeds.do(self.tr("adding a reminder"), forth, lambda: self._services.brain.forget_memory(memory.guid))

    def change(self, before: MemoryUnit, after: MemoryUnit) -> None:
        """Change the text or date of a reminder."""
        brain = self._services.brain
        self._deeds.do(self.tr("editing a reminder"), lambda: brain.edit(after), lambda: brain.edit(before))

    def forget_memory(self, persona: str, memory: MemoryUnit, name: str) -> None:
        """Move a memory to the trash and show a notification with an undo button, which works after the page was closed,
        too.
        """
        browsing, stack = self._services.browsing, self._page.undo

        async def forth() -> None:
            await self.save()
            await browsing.forget_memories(persona, [memory.guid])

        async def back() -> None:
            await browsing.restore(persona, [memory.guid])

        self._deeds.do(self.tr("deleting “{name}”").format(name=name), forth, back)
        command = stack.command(stack.index() - 1)

        def take_back() -> None:
            if self.is_open and stack.index() and stack.command(stack.index() - 1) is command:
                stack.undo()
            else:
                self._place.bridge.spawn(back())

        told = self.tr("“{name}” was moved to the Trash.").format(name=name)
        self._place.window.notifier.tell(told, button=self.tr("Undo"), action=take_back)


def key_of_day(persona: str, day: Weekday) -> str:
    """Return the key of the field for the schedule of a weekday."""
    return f"{persona} plan {day}"


def key_of_wish(persona: str, part: str) -> str:
    """Return the key of the field for a part of the goal request, `request` or `notice`."""
    return f"{persona} wish {part}"


def key_of_thoughts(persona: str) -> str:
    """Return the key of the field for personal thoughts."""
    return f"{persona} thoughts"
