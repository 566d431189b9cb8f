"""Page “Mind”: mood, weekly schedule, reminders, personal thoughts, goals and journal of a persona."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

from PySide6.QtCore import QCoreApplication, QLocale, Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Weekday
from lethe_app.errors import LetheError
from lethe_app.ui.core.formatting import age_in_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.mind.commands import MindEdits, key_of_day, key_of_thoughts, key_of_wish
from lethe_app.ui.pages.mind.labels import fading_in_words
from lethe_app.ui.pages.mind.mood_card import MoodCard
from lethe_app.ui.pages.mind.reminders import ReminderDialog, ReminderForm
from lethe_app.ui.pages.mind.week import WeekFields
from lethe_app.ui.pages.mind.writings import EntryDialog, GoalFields, MindNote, Writings
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.widgets.card_column import Sheet
from lethe_app.ui.widgets.text_area import ProseField

CHANGED_MS = 300
LONGEST_NAME = 40


class MindPage(Page):
    """Page of cards; every edit on them can be undone."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("MindPage", "Mind"))
        self._place, self._services = place, place.services
        self._texts: dict[str, str] = {}
        """Text of each field by its key: the stored text, or the typed text that is about to be stored."""
        self.edits = MindEdits(self, place, self._put, self._read_soon)
        self._build()
        self._connect()
        self.whose.announce_first()

    def _build(self) -> None:
        self.whose = Whose(self._place)
        self.whose.setAccessibleName(self.tr("Persona"))
        self.whose.setToolTip(self.tr("Persona"))
        line = QHBoxLayout()
        line.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        line.setSpacing(SPACE_4)
        self.moods = MoodCard(self.theme)
        line.addWidget(self.whose)
        line.addStretch(1)
        line.addWidget(self.moods.has_moods)
        line.addWidget(self.moods.steady)
        above = QWidget()
        above.setLayout(line)
        self.sheet = Sheet()
        self.sheet.add(self.moods)
        self.week = WeekFields()
        words = self.tr("The plan of the day is mentioned when you come back after a while.")
        self.sheet.add_card(self.tr("Weekly schedule"), words).addWidget(self.week)
        self.reminding = ReminderForm(self.theme, self._understood)
        words = self.tr(
            "Reminders are brought up with your next message once they are due. Examples: “tomorrow at 9”, “in "
            "two weeks”, “24 December”."
        )
        self.sheet.add_card(self.tr("Reminders"), words).addWidget(self.reminding)
        self.thoughts = ProseField(self.tr("Personal thoughts"), 3, 16)
        words = self.tr("What the persona thinks of itself and of you, always included in the prompt.")
        self.sheet.add_card(self.tr("Personal thoughts"), words).addWidget(self.thoughts)
        self.goals = Writings(self.theme, self.tr("{n} more"))
        self.wishes = GoalFields()
        card = self.sheet.add_card(self.tr("Goals"))
        card.addWidget(self.goals)
        card.addWidget(self.wishes)
        self.journal = Writings(self.theme, self.tr("{n} older entries"))
        self.new_entry = QPushButton(self.tr("Add entry…"))
        self.new_entry.setProperty("link", True)
        card = self.sheet.add_card(self.tr("Journal"))
        card.addWidget(self.journal)
        card.addWidget(self.new_entry, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(above)
        self.body.addWidget(self.sheet, 1)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        services = self._services
        self._stop: list[Callable[[], None]] = [
            services.mind.moods.changed.add(self._changed_behind),
            services.mind.life.changed.add(self._changed_behind),
            services.sessions.changed.add(self._changed_behind),
            services.library.changed.add(lambda _none: self._soon.start()),
            services.preferences.changed.add(lambda _settings: self._soon.start()),
        ]
        self.theme.changed.connect(self._dress_rows)
        self.whose.chosen.connect(self._show_persona)
        self.moods.chosen.connect(self._feel)
        self.moods.allowed.connect(lambda on: self.edits.allow_moods(self.whose.persona, allowed=on))
        self.moods.steadied.connect(lambda on: self.edits.prefer(self.tr("changing fixed mood"), "static_mood", value=on))
        self.moods.wanted_for_all.connect(lambda: self.edits.prefer(self.tr("enabling moods"), "mood_handling", value=True))
        self.week.planned.connect(self._plan)
        self.reminding.added.connect(self._remind)
        self.reminding.edit_wanted.connect(lambda memory: self._place.bridge.spawn(self._change(memory), lane="mind dialog"))
        self.reminding.forget_wanted.connect(lambda one: self.edits.forget_memory(self.whose.persona, one, short(one.name)))
        self.thoughts.edited.connect(self._think)
        self.wishes.asked.connect(self._ask)
        self.new_entry.clicked.connect(lambda _checked=False: self._place.bridge.spawn(self._enter(), lane="mind dialog"))
        for texts in (self.goals, self.journal):
            texts.written.connect(self._write)
            texts.forget_wanted.connect(lambda one: self.edits.forget_memory(self.whose.persona, one.memory, short(one.title)))

    def _dress_rows(self) -> None:
        self.moods.dress()
        for reminder in self.reminding.rows:
            reminder.dress()
        for writing in (*self.goals.rows, *self.journal.rows):
            writing.dress()

    def first_focus(self) -> QWidget:
        return self.whose

    async def may_leave(self) -> bool:
        await self.edits.save()
        return True

    def close_page(self) -> None:
        self.whose.close_field()
        self.edits.is_open = False
        self._soon.stop()
        for stop in self._stop:
            stop()

    # reading

    def _changed_behind(self, persona: str) -> None:
        if persona == self.whose.persona:
            self._soon.start()

    def _show_persona(self, _persona: str) -> None:
        self.goals.begin_anew()
        self.journal.begin_anew()
        self.sheet.verticalScrollBar().setValue(0)
        self._read_soon()

    def _read_soon(self) -> None:
        if self.whose.persona:
            self._place.bridge.spawn(self._read(self.whose.persona), lane="mind")

    async def _read(self, persona_id: str) -> None:
        services = self._services
        persona = await services.library.persona(persona_id)
        sides, samples = await services.mind.moods.sides(persona_id), await services.mind.moods.history(persona_id)
        settings, name = services.preferences.current, persona.name
        self.moods.show_switches(name, has=persona.mood, steady=settings.static_mood, anybody=settings.mood_handling)
        self.moods.show_mood(name, sides, samples)
        plans = await services.mind.week.plans(persona_id)
        for day, text in plans.items():
            self._settle(key_of_day(persona_id, day), text)
        self._settle(key_of_thoughts(persona_id), await services.mind.life.thoughts(persona_id))
        self.week.mark_today()
        self.reminding.show_reminders(name, await services.mind.reminders.reminders_of(persona_id))
        wish = await services.mind.wishes.goals_of(persona_id)
        self._settle(key_of_wish(persona_id, "request"), wish.request)
        self._settle(key_of_wish(persona_id, "notice"), wish.notice)
        await self._read_writings(persona_id, name)

    async def _read_writings(self, persona_id: str, name: str) -> None:
        goals = [
            MindNote(one.memory, one.memory.name or self.tr("Goal"), fading_in_words(one.days_left))
            for one in await self._services.mind.life.goals(persona_id)
        ]
        journal = [
            MindNote(one, one.name or self.tr("Entry"), age_in_words(one.added, now()))
            for one in await self._services.mind.life.journal(persona_id)
        ]
        for writing in (*goals, *journal):
            if not self.edits.is_unsaved(key := str(writing.memory.guid)):
                self._texts[key] = writing.memory.content
        nothing = self.tr("No goals yet. The goals of {name} are listed here, with the time until they expire.")
        self.goals.show_writings(goals, nothing.format(name=name), self.edits.is_unsaved)
        nothing = self.tr("No entries yet. {name} writes them while you are away.")
        self.journal.show_writings(journal, nothing.format(name=name), self.edits.is_unsaved)

    def _settle(self, key: str, text: str) -> None:
        """Show a stored text in its field, unless the field has text that is not stored yet."""
        if not self.edits.is_unsaved(key):
            self._put(key, text)

    def _put(self, key: str, text: str) -> None:
        """Show a text in the field with the given key, if that field is on display."""
        self._texts[key] = text
        persona = self.whose.persona
        if key == key_of_thoughts(persona):
            self.thoughts.set_text(text)
        for part, field in (("request", self.wishes.request), ("notice", self.wishes.notice)):
            if key == key_of_wish(persona, part):
                field.set_text(text)
        for day in Weekday:
            if key == key_of_day(persona, day):
                self.week.set_day(day, text)
        self.goals.set_text(key, text)
        self.journal.set_text(key, text)

    # changing

    def _feel(self, id_: str, value: float) -> None:
        self.edits.feel(self.whose.persona, id_, self.moods.rows[id_].side.title, value)

    def _plan(self, day: str, text: str) -> None:
        persona, weekday = self.whose.persona, Weekday(day)
        title = QLocale().standaloneDayName(list(Weekday).index(weekday) + 1)
        self.edits.plan(persona, weekday, title, self._texts.get(key_of_day(persona, weekday), ""), text)

    def _ask(self, request: str, notice: str) -> None:
        persona = self.whose.persona
        for part, text in (("request", request), ("notice", notice)):
            self.edits.ask(persona, part, self._texts.get(key_of_wish(persona, part), ""), text)

    async def _enter(self) -> None:
        dialog = EntryDialog(self._place.window, self.whose.persona_name)
        if await answered(dialog):
            self.edits.keep_entry(self.whose.persona, dialog.title.text(), dialog.text.text)

    def _think(self, text: str) -> None:
        persona = self.whose.persona
        self.edits.think(persona, self._texts.get(key_of_thoughts(persona), ""), text)

    def _write(self, writing: MindNote, text: str) -> None:
        old = self._texts.get(str(writing.memory.guid), writing.memory.content)
        self.edits.write(writing.memory, short(writing.title), old, text)

    def _understood(self, words: str) -> datetime | date | None:
        when = self._services.mind.reminders.understood(words)
        return when.to_datetime() if when is not None else None

    def _remind(self, text: str, when: datetime | date) -> None:
        try:
            self.edits.remind(self.whose.persona, text, when)
        except LetheError as error:
            self._place.window.notifier.report(error)

    async def _change(self, memory: MemoryUnit) -> None:
        dialog = ReminderDialog(self._place.window, memory)
        if await answered(dialog) and dialog.moment.moment is not None and dialog.text.text.strip():
            text, moment = dialog.text.text.strip(), dialog.moment.moment
            moved = moment - memory.added
            ends = memory.end_time + moved if memory.end_time is not None else None
            changed = {"content": text, "name": short(text), "added": moment, "end_time": ends}
            self.edits.change(memory, memory.model_copy(update=changed))


def short(name: str) -> str:
    """Return a title in one line of at most 40 characters."""
    words = " ".join(name.split())
    return words if len(words) <= LONGEST_NAME else f"{words[: LONGEST_NAME - 1]}…"
