"""Undo commands of the mind page. Typed text is stored after a pause in typing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, datetime

from PySide6.QtCore import QObject, QTimer

from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.mood import Feeling
from lethe_app.domain.persona import Weekday
from lethe_app.errors import LetheError, RecordMissing
from lethe_app.services.personas.inner_life import build_journal_entry
from lethe_app.services.personas.reminders import build_reminder
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.mind.services import MindPageServices
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.undo_commands import CommandRunner, FieldChange

SAVE_DELAY_MS = 400
SaveText = Callable[[str], Awaitable[object]]


class MindEdits(QObject):
    """Edits a persona's mood, schedule, thoughts, goals, journal and reminders; every edit becomes a command on the undo
    stack.
    """

    def __init__(
        self,
        page: Page,
        context: PageContext,
        services: MindPageServices,
        show_text: Callable[[str, str], None],
        on_step_done: Callable[[], None],
    ) -> None:
        """Create the edits of a page.

        `show_text` puts a text into the field with the given key, if that field is on display; `on_step_done` is called after
        each step.
        """
        super().__init__(page)
        self._page, self._context, self._services, self._show_text = page, context, services, show_text
        self._commands = CommandRunner(page.undo_stack, context.tasks, on_step_done)
        self._unsaved: dict[str, tuple[SaveText, str]] = {}
        self._save_lock = asyncio.Lock()
        self.is_open = True
        """True until the page is closed; its undo stack may be used only while this is true."""
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_DELAY_MS)
        self._save_timer.timeout.connect(lambda: context.tasks.start_task(self.save()))

    # Typed text.

    def edit_text(self, title: str, key: str, old: str, new: str, save_text: SaveText) -> None:
        """Push a change of the text field with the given key; `save_text` is called with the text after a pause in typing."""

        def apply_text(_key: str, text: object) -> None:
            self._unsaved[key] = (save_text, str(text))
            self._save_timer.start()
            self._show_text(key, str(text))

        if old != new:
            self._page.undo_stack.push(FieldChange(title, key, old, new, apply_text))

    def is_unsaved(self, key: str) -> bool:
        return key in self._unsaved

    async def save(self) -> None:
        """Store all typed text now.

        An error is reported in the window, and the text is kept for another attempt unless its record no longer exists.
        """
        async with self._save_lock:
            for key, entry in list(self._unsaved.items()):
                save_text, text = entry
                try:
                    await save_text(text)
                except LetheError as error:
                    self._context.notifier.report_error(error)
                    if not isinstance(error, RecordMissing):
                        continue
                if self._unsaved.get(key) is entry:  # else a newer text was typed while this one was being stored
                    del self._unsaved[key]

    def set_plan(self, persona_id: str, day: Weekday, title: str, old: str, new: str) -> None:
        """Set the schedule of a weekday."""
        self.edit_text(
            title, key_of_day(persona_id, day), old, new, lambda text: self._services.week.save_plan(persona_id, day, text)
        )

    def set_thoughts(self, persona_id: str, old: str, new: str) -> None:
        """Set the persona's personal thoughts."""
        title = self.tr("editing personal thoughts")
        self.edit_text(
            title,
            key_of_thoughts(persona_id),
            old,
            new,
            lambda text: self._services.inner_life.save_thoughts(persona_id, text),
        )

    def set_goal_request(self, persona_id: str, part: str, old: str, new: str) -> None:
        """Set what the persona's goals are to be about (`request`) or the guidelines for them (`notice`)."""
        goal_service = self._services.goal_requests

        async def save_text(text: str) -> None:
            request = await goal_service.load_request(persona_id)
            parts = {"request": request.request, "notice": request.notice, part: text}
            await goal_service.save_request(persona_id, **parts)

        self.edit_text(self.tr("editing goal requests"), key_of_goal_request(persona_id, part), old, new, save_text)

    def add_journal_entry(self, persona_id: str, title: str, text: str) -> None:
        """Add a journal entry written by the user; raise LetheError if it has no text."""
        memory, memory_service = build_journal_entry(title, text), self._services.memory_service

        async def redo_step() -> None:
            await memory_service.memorize(persona_id, memory, check=False)

        self._commands.run_command(
            self.tr("adding a journal entry"), redo_step, lambda: memory_service.forget_memory(memory.guid)
        )

    def edit_memory_text(self, memory: MemoryUnit, title: str, old: str, new: str) -> None:
        """Set the text of a goal or journal entry."""

        async def save_text(text: str) -> None:
            # Read again, because other fields of the record may have been changed in the background.
            current = await self._services.memory_lists.load_memory(memory.guid)
            await self._services.memory_service.edit(current.model_copy(update={"content": text}))

        self.edit_text(title, str(memory.guid), old, new, save_text)

    # Other edits.

    def set_mood(self, persona_id: str, dimension_id: str, title: str, value: float) -> None:
        """Set a dimension of the mood to a value from 0 to 1."""
        mood_service, previous = self._services.moods, list[Feeling]()

        async def redo_step() -> None:
            previous[:] = [await mood_service.set_mood(persona_id, dimension_id, value)]

        self._commands.run_command(
            self.tr("setting {dimension}").format(dimension=title),
            redo_step,
            lambda: mood_service.restore_feeling(persona_id, dimension_id, previous[0]),
        )

    def set_moods_enabled(self, persona_id: str, *, enabled: bool) -> None:
        """Enable or disable moods for the persona."""
        inner_life = self._services.inner_life
        title = self.tr("enabling moods") if enabled else self.tr("disabling moods")
        self._commands.run_command(
            title,
            lambda: inner_life.set_moods_enabled(persona_id, enabled=enabled),
            lambda: inner_life.set_moods_enabled(persona_id, enabled=not enabled),
        )

    def set_preference(self, title: str, name: str, *, value: bool) -> None:
        """Set a setting that applies to all personas."""
        preferences = self._services.preferences
        self._commands.run_command(
            title, lambda: preferences.set(**{name: value}), lambda: preferences.set(**{name: not value})
        )

    def add_reminder(self, persona_id: str, text: str, when: datetime | date) -> None:
        """Add a reminder; raise LetheError if it is not valid."""
        memory = build_reminder(text, when)

        async def redo_step() -> None:
            await self._services.memory_service.memorize(persona_id, memory, check=False)

        self._commands.run_command(
            self.tr("adding a reminder"), redo_step, lambda: self._services.memory_service.forget_memory(memory.guid)
        )

    def edit_reminder(self, before: MemoryUnit, after: MemoryUnit) -> None:
        """Change the text or date of a reminder."""
        memory_service = self._services.memory_service
        self._commands.run_command(
            self.tr("editing a reminder"), lambda: memory_service.edit(after), lambda: memory_service.edit(before)
        )

    def forget_memory(self, persona_id: str, memory: MemoryUnit, name: str) -> None:
        """Move a memory to the trash and show a notification with an undo button, which works after the page was closed,
        too.
        """
        browsing = self._services.memory_lists

        async def redo_step() -> None:
            await self.save()
            await browsing.forget_memories(persona_id, [memory.guid])

        async def undo_step() -> None:
            await browsing.restore_memories(persona_id, [memory.guid])

        self._commands.run_command(self.tr("deleting “{name}”").format(name=name), redo_step, undo_step)
        notice = self.tr("“{name}” was moved to the Trash.").format(name=name)
        self._commands.notify_undoable(self._context.notifier, notice, undo_step, lambda: self.is_open)


def key_of_day(persona_id: str, day: Weekday) -> str:
    """Return the key of the field for the schedule of a weekday."""
    return f"{persona_id} plan {day}"


def key_of_goal_request(persona_id: str, part: str) -> str:
    """Return the key of the field for a part of the goal request, `request` or `notice`."""
    return f"{persona_id} wish {part}"


def key_of_thoughts(persona_id: str) -> str:
    """Return the key of the field for personal thoughts."""
    return f"{persona_id} thoughts"
