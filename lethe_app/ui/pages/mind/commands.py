"""What the user changes in a persona's mind, as commands that can be undone; what is typed is stored when the fingers rest."""

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
    """Every change of the page goes through here and onto its undo stack."""

    def __init__(self, page: Page, place: PageContext, show: Callable[[str, str], None], after: Callable[[], None]) -> None:
        """`show` puts a text into the field of that key, if it is there; `after` is called when something was done."""
        super().__init__(page)
        self._page, self._place, self._services, self._show = page, place, place.services, show
        self._deeds = CommandRunner(page.undo, place.bridge, after)
        self._unsaved: dict[str, tuple[Store, str]] = {}
        self._saving = asyncio.Lock()
        self.is_open = True
        """Is there still a page, with a stack to undo on?"""
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(lambda: place.bridge.spawn(self.save()))

    # What is typed

    def type(self, title: str, key: str, old: str, new: str, store: Store) -> None:
        """A text in the field of that key was changed; `store` keeps it."""

        def put(_key: str, text: object) -> None:
            self._unsaved[key] = (store, str(text))
            self._rest.start()
            self._show(key, str(text))

        if old != new:
            self._page.undo.push(FieldChange(title, key, old, new, put))

    def is_unsaved(self, key: str) -> bool:
        return key in self._unsaved

    async def save(self) -> None:
        """Store what was typed."""
        async with self._saving:
            unsaved, self._unsaved = self._unsaved, {}
            for store, text in unsaved.values():
                await store(text)

    def plan(self, persona: str, day: Weekday, title: str, old: str, new: str) -> None:
        """What she does on that day of the week."""
        self.type(title, key_of_day(persona, day), old, new, lambda text: self._services.mind.week.set_plan(persona, day, text))

    def think(self, persona: str, old: str, new: str) -> None:
        """What she thinks of herself."""
        title = self.tr("own thoughts")
        self.type(title, key_of_thoughts(persona), old, new, lambda text: self._services.mind.life.think(persona, text))

    def ask(self, persona: str, part: str, old: str, new: str) -> None:
        """What her goals are to be about (`request`), or what she is to bear in mind with them (`notice`)."""
        wishes = self._services.mind.wishes

        async def store(text: str) -> None:
            wish = await wishes.goals_of(persona)
            asked = {"request": wish.request, "notice": wish.notice, part: text}
            await wishes.ask(persona, **asked)

        self.type(self.tr("what you ask for"), key_of_wish(persona, part), old, new, store)

    def keep_entry(self, persona: str, title: str, text: str) -> None:
        """A new entry in her journal, in the user's words. Raises LetheError without any."""
        memory, brain = entry(title, text), self._services.brain

        async def forth() -> None:
            await brain.memorize(persona, memory, check=False)

        self._deeds.do(self.tr("an entry"), forth, lambda: brain.forget_memory(memory.guid))

    def write(self, memory: MemoryUnit, title: str, old: str, new: str) -> None:
        """The words of a goal or an entry; whatever else there is of it may have changed behind the page."""

        async def store(text: str) -> None:
            now = await self._services.browsing.memory(memory.guid)
            await self._services.brain.edit(now.model_copy(update={"content": text}))

        self.type(title, str(memory.guid), old, new, store)

    # What is done

    def feel(self, persona: str, id_: str, title: str, value: float) -> None:
        """Put a side of the mood where the user wants it."""
        moods, before = self._services.mind.moods, list[Feeling]()

        async def forth() -> None:
            before[:] = [await moods.set_mood(persona, id_, value)]

        self._deeds.do(self.tr("setting {side}").format(side=title), forth, lambda: moods.put_back(persona, id_, before[0]))

    def allow_moods(self, persona: str, *, allowed: bool) -> None:
        """Whether she has moods."""
        life = self._services.mind.life
        title = self.tr("giving moods") if allowed else self.tr("taking moods away")
        self._deeds.do(
            title,
            lambda: life.allow_moods(persona, allowed=allowed),
            lambda: life.allow_moods(persona, allowed=not allowed),
        )

    def prefer(self, title: str, name: str, *, value: bool) -> None:
        """A setting that concerns everybody."""
        preferences = self._services.preferences
        self._deeds.do(title, lambda: preferences.set(**{name: value}), lambda: preferences.set(**{name: not value}))

    def remind(self, persona: str, text: str, when: datetime | date) -> None:
        """A new reminder. Raises LetheError for one that cannot be."""
        memory = reminder(text, when)

        async def forth() -> None:
            await self._services.brain.memorize(persona, memory, check=False)

        self._deeds.do(self.tr("a reminder"), forth, lambda: self._services.brain.forget_memory(memory.guid))

    def change(self, before: MemoryUnit, after: MemoryUnit) -> None:
        """Another wording or another day for a reminder."""
        brain = self._services.brain
        self._deeds.do(self.tr("changing a reminder"), lambda: brain.edit(after), lambda: brain.edit(before))

    def forget_memory(self, persona: str, memory: MemoryUnit, name: str) -> None:
        """Into the trash, with a note from which it can be taken back."""
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

        told = self.tr("“{name}” is in the trash.").format(name=name)
        self._place.window.notifier.tell(told, button=self.tr("Take it back"), action=take_back)


def key_of_day(persona: str, day: Weekday) -> str:
    """Of the field in which her plan for that day is written."""
    return f"{persona} plan {day}"


def key_of_wish(persona: str, part: str) -> str:
    """Of the fields of what the user asks of her goals."""
    return f"{persona} wish {part}"


def key_of_thoughts(persona: str) -> str:
    """Of the field of her own thoughts."""
    return f"{persona} thoughts"
