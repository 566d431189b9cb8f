"""Page “Mind”: mood, weekly schedule, reminders, personal thoughts, goals and journal of a persona."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import cast
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Weekday
from lethe_app.services.library import Library
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.mood import MoodService
from lethe_app.services.personas.inner_life import (
    MAX_PLAN_CHARACTERS,
    ActiveGoal,
    GoalService,
    InnerLife,
    Week,
    build_journal_entry,
    today,
)
from lethe_app.services.personas.reminders import Reminders, build_reminder
from lethe_app.services.preferences import Preferences
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_age
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.mind.labels import format_due_date, format_expiry
from lethe_app.ui.pages.mind.mood_card import MoodCard
from lethe_app.ui.pages.mind.reminders import ReminderDialog, ReminderForm
from lethe_app.ui.pages.mind.writings import EntryDialog, MindNote, WritingList
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.pages.undo_commands import Step
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.text_area import TextAreaField

MAX_TITLE_LENGTH = 40


THOUGHTS, REQUEST, NOTICE = "thoughts", "request", "notice"
"""Names of the fields for personal thoughts, for what goals are to be about, and for guidelines. A plan has the name of its
day, the text of a memory the name `CONTENT`.
"""
CONTENT = "content"


class MindTexts:
    """Loads the texts of a persona, and stores those of a persona or of a memory."""

    def __init__(
        self, inner_life: InnerLife, week: Week, goals: GoalService, memory: MemoryService, memory_lists: MemoryLists
    ) -> None:
        self._inner_life, self._week, self._goals = inner_life, week, goals
        self._memory, self._memory_lists = memory, memory_lists

    async def load_texts(self, persona_id: str) -> dict[str, str]:
        """Return the texts of a persona by the name of their field."""
        plans, request = await self._week.load_plans(persona_id), await self._goals.load_request(persona_id)
        thoughts = await self._inner_life.load_thoughts(persona_id)
        texts = {THOUGHTS: thoughts, REQUEST: request.request, NOTICE: request.notice}
        return texts | {str(day): plan for day, plan in plans.items()}

    async def store_texts(self, record: Hashable, texts: Mapping[str, object]) -> None:
        """Store texts of the persona with this unique name, or of the memory with this GUID. Raise LetheError."""
        if isinstance(record, UUID):
            # Read again, because other fields of the memory may have been changed in the background.
            current = await self._memory_lists.load_memory(record)
            await self._memory.edit(current.model_copy(update=dict(texts)))
            return
        persona_id = str(record)
        for day in Weekday:
            if day in texts:
                await self._week.save_plan(persona_id, day, str(texts[day]))
        if THOUGHTS in texts:
            await self._inner_life.save_thoughts(persona_id, str(texts[THOUGHTS]))
        if texts.keys() & {REQUEST, NOTICE}:
            stored = await self._goals.load_request(persona_id)
            request, notice = texts.get(REQUEST, stored.request), texts.get(NOTICE, stored.notice)
            await self._goals.save_request(persona_id, str(request), str(notice))


@dataclass(frozen=True)
class MindPageServices:
    """Services that the mind page calls."""

    moods: MoodService
    inner_life: InnerLife
    reminders: Reminders
    memory: MemoryService
    memory_lists: MemoryLists
    library: Library
    sessions: SessionService
    preferences: Preferences


class MindPage(ReloadingPage):
    """Page of cards; every edit on them can be undone, and typed text is stored after a pause."""

    def __init__(
        self, context: PageContext, persona_selector: PersonaSelector, services: MindPageServices, texts: MindTexts
    ) -> None:
        super().__init__(context, QCoreApplication.translate("MindPage", "Mind"), persona_selector)
        self._services, self._mind_texts = services, texts
        self._texts: dict[tuple[Hashable, str], str] = {}
        """Text of a persona or memory by the name of its field: the stored one, or a typed one that is about to be stored."""
        self._shown_persona_id = ""
        """Persona whose mind is on display, to whom every edit belongs; another one may be chosen, but not loaded yet."""
        self._build()
        self._connect(persona_selector)
        persona_selector.emit_chosen()

    # building

    def _build(self) -> None:
        self.mood_card, self.sheet = MoodCard(self.theme), CardColumn()
        self.add_head(self.build_search_row(None, [self.mood_card.moods_check, self.mood_card.fixed_check]))
        self.body.addWidget(self.sheet, 1)
        self.sheet.add_widget(self.mood_card)
        self.reminder_list = WritingList(self.theme, self.tr("{n} more"), has_fields=False)
        self.reminder_form = ReminderForm(self._parse_date)
        text = self.tr(
            "Reminders are brought up with your next message once they are due. Examples: “tomorrow at 9”, “in "
            "two weeks”, “24 December”."
        )
        card = self.sheet.add_card(self.tr("Reminders"), text)
        card.addWidget(self.reminder_list)
        card.addWidget(self.reminder_form)
        self.goal_list = WritingList(self.theme, self.tr("{n} more"))
        self._build_form()
        self.journal_list = WritingList(self.theme, self.tr("{n} older entries"))
        self.new_entry_button = QPushButton(self.tr("Add entry…"))
        self.new_entry_button.setProperty("link", True)
        card = self.sheet.add_card(self.tr("Journal"))
        card.addWidget(self.journal_list)
        card.addWidget(self.new_entry_button, 0, Qt.AlignmentFlag.AlignLeft)

    def _build_form(self) -> None:
        """Add the cards with the texts of the persona."""
        tr = self.tr
        titles = {THOUGHTS: tr("Personal thoughts"), REQUEST: tr("Goals to pursue"), NOTICE: tr("Guidelines for goals")}
        self._titles = titles | {str(day): QLocale().standaloneDayName(row) for row, day in enumerate(Weekday, 1)}

        def build_spec(name: str, lines: int, max_lines: int, help_text: str = "", hint: str = "") -> FieldSpec:
            title, kind = self._titles[name], FieldKind.TEXT_AREA
            return FieldSpec(name, title, kind, help_text, hint, lines=lines, max_lines=max_lines)

        self.form = Form([], self.theme)
        text = tr("The plan of the day is mentioned when you come back after a while.")
        self.form.add_card(tr("Weekly schedule"), [build_spec(str(day), 1, 4) for day in Weekday], text)
        text = tr("What the persona thinks of itself and of you, always included in the prompt.")
        self.form.add_card("", [build_spec(THOUGHTS, 3, 16, text)])
        goal_specs = [
            build_spec(REQUEST, 1, 8, hint=tr("For example: find out which books I would love")),
            build_spec(NOTICE, 1, 8, hint=tr("For example: nothing about work at the weekend")),
        ]
        text = tr("One goal a day is created from what you write below while you are away, if background activity is on.")
        self.form.add_card(tr("Goals"), goal_specs, text, self.goal_list)
        self.sheet.add_widget(self.form)

    def _connect(self, persona_selector: PersonaSelector) -> None:
        services, tasks, preferences = self._services, self._context.tasks, self._services.preferences
        self.follow(services.moods.changed, services.inner_life.changed, services.sessions.changed)
        self.follow(services.library.changed, services.preferences.changed)
        persona_selector.chosen.connect(self._show_persona)
        self.mood_card.mood_chosen.connect(self._set_mood)
        self.mood_card.moods_check.clicked.connect(self._set_moods_enabled)
        self.mood_card.turn_on_button.clicked.connect(lambda: self._set_moods_enabled(True))
        self.mood_card.fixed_check.clicked.connect(
            lambda on: self._switch(self.tr("changing fixed mood"), on, lambda value: preferences.set(static_mood=value))
        )
        self.mood_card.enable_for_all_button.clicked.connect(
            lambda: self._switch(self.tr("enabling moods"), True, lambda value: preferences.set(mood_handling=value))
        )
        self.reminder_form.reminder_entered.connect(
            lambda text, when: self._add_memory(self.tr("adding a reminder"), build_reminder(text, when))
        )
        self.reminder_list.edit_requested.connect(
            lambda note: tasks.start_task(self._edit_reminder(note.memory), key="mind dialog")
        )
        self.new_entry_button.clicked.connect(tasks.create_callback(self._ask_journal_entry, key="mind dialog"))
        for writing_list in (self.reminder_list, self.goal_list, self.journal_list):
            writing_list.text_edited.connect(self._change_writing)
            writing_list.forget_requested.connect(lambda writing: self._forget_memory(writing.memory, writing.title))
        self.form.changed.connect(self._change_text)
        self.guard_undo(self.form, self.journal_list)

    def first_focus_widget(self) -> QWidget:
        return self.persona_selector if self.persona_selector is not None else self.back

    async def confirm_leave(self) -> bool:
        self.mood_card.emit_pending()
        return await super().confirm_leave()

    # reading

    def _show_persona(self, _persona: str) -> None:
        for writing_list in (self.reminder_list, self.goal_list, self.journal_list):
            writing_list.reset_row_limit()
        self.sheet.verticalScrollBar().setValue(0)
        self.reload()

    async def load(self) -> None:
        """Load everything first, then show it in one go, so that what is on display always belongs to one persona."""
        services, persona_id = self._services, self.persona_id
        if not persona_id:
            return
        persona = await services.library.persona(persona_id)
        dimensions, samples = await services.moods.list_dimensions(persona_id), await services.moods.load_history(persona_id)
        texts, reminders = await self._mind_texts.load_texts(persona_id), await services.reminders.reminders_of(persona_id)
        goals, journal = await services.inner_life.list_goals(persona_id), await services.inner_life.list_journal(persona_id)

        if persona_id != self._shown_persona_id:
            self.mood_card.emit_pending()
            self._shown_persona_id = persona_id
        settings, name = services.preferences.current, persona.name
        self.mood_card.show_switches(
            name, is_enabled=persona.mood, is_fixed=settings.static_mood, enabled_for_all=settings.mood_handling
        )
        self.mood_card.show_mood(name, dimensions, samples)
        for field_name, text in {**texts, **self.saver.unsaved_values(persona_id)}.items():
            self.show_field(persona_id, field_name, text)
        self._mark_today()
        self._show_writings(name, reminders, goals, journal)

    def _mark_today(self) -> None:
        """Mark the current weekday."""
        for day in map(str, Weekday):
            is_today, field = day == today(), cast("TextAreaField", self.form.field_widget(day))
            self.form.show_note(day, self.tr("Today") if is_today else "")
            field.setPlaceholderText(self.tr("Nothing planned today") if is_today else "")
            field.setAccessibleDescription(self.tr("Today") if is_today else "")

    def _show_writings(
        self,
        name: str,
        reminder_memories: Sequence[MemoryUnit],
        goal_memories: Sequence[ActiveGoal],
        journal_entries: Sequence[MemoryUnit],
    ) -> None:
        reminders = [MindNote(one, one.content, format_due_date(one.added)) for one in reminder_memories]
        goals = [
            self._note_of(one.memory, one.memory.name or self.tr("Goal"), format_expiry(one.days_left)) for one in goal_memories
        ]
        journal = [self._note_of(one, one.name or self.tr("Entry"), format_age(one.added, now())) for one in journal_entries]
        empty_text = self.tr("No reminders yet. {name} will bring up what you add here.")
        self.reminder_list.show_writings(reminders, empty_text.format(name=name))
        empty_text = self.tr("No goals yet. The goals of {name} are listed here, with the time until they expire.")
        self.goal_list.show_writings(goals, empty_text.format(name=name))
        empty_text = self.tr("No entries yet. {name} writes them while you are away, if background activity is on.")
        self.journal_list.show_writings(journal, empty_text.format(name=name))

    def _note_of(self, memory: MemoryUnit, title: str, note: str) -> MindNote:
        text = str(self.saver.unsaved_values(memory.guid).get(CONTENT, memory.content))
        self._texts[memory.guid, CONTENT] = text
        return MindNote(memory, title, note, text)

    def show_field(self, key: Hashable, name: str, value: object) -> None:
        """Show a text of a persona or memory in its field, if that is on display."""
        self._texts[key, name] = text = str(value)
        if key == self._shown_persona_id:
            self.form.set_field(name, text)
        elif isinstance(key, UUID):
            self.goal_list.set_text(key, text)
            self.journal_list.set_text(key, text)

    async def store_fields(self, key: Hashable, values: Mapping[str, object]) -> None:
        await self._mind_texts.store_texts(key, values)

    # changing

    def _change_text(self, name: str, value: object) -> None:
        text, persona_id = str(value), self._shown_persona_id
        if name in set(Weekday):
            text = text.replace("\n", " ")[:MAX_PLAN_CHARACTERS]  # one line, which wraps, and not longer than is stored
            self.form.set_field(name, text)
        self.saver.change_field(self._titles[name], persona_id, name, self._texts.get((persona_id, name), ""), text)

    def _change_writing(self, writing: MindNote, text: str) -> None:
        guid = writing.memory.guid
        self.saver.change_field(truncate_text(writing.title), guid, CONTENT, self._texts[guid, CONTENT], text)

    def _set_mood(self, dimension_id: str, value: float) -> None:
        moods, persona_id = self._services.moods, self._shown_persona_id

        async def redo_step() -> Step:
            before = await moods.set_mood(persona_id, dimension_id, value)
            return partial(moods.restore_feeling, persona_id, dimension_id, before)

        title = self.tr("setting {dimension}").format(dimension=self.mood_card.rows[dimension_id].dimension.title)
        self.run_undoable(title, redo_step)

    def _set_moods_enabled(self, is_on: bool) -> None:
        inner_life, persona_id = self._services.inner_life, self._shown_persona_id
        title = self.tr("enabling moods") if is_on else self.tr("disabling moods")
        self._switch(title, is_on, lambda value: inner_life.set_moods_enabled(persona_id, enabled=value))

    def _switch(self, title: str, is_on: bool, store: Callable[[bool], Awaitable[object]]) -> None:
        """Store whether something is on, which can be undone."""
        self.run_undoable(title, lambda: store(is_on), lambda: store(not is_on))

    def _parse_date(self, text: str) -> datetime | date | None:
        parsed = self._services.reminders.parse_date(text)
        return parsed.to_datetime() if parsed is not None else None

    def _add_memory(self, title: str, memory: MemoryUnit) -> None:
        service, persona_id = self._services.memory, self._shown_persona_id
        self.run_undoable(
            title, lambda: service.memorize(persona_id, memory, check=False), lambda: service.forget_memory(memory.guid)
        )

    async def _ask_journal_entry(self) -> None:
        dialog = EntryDialog(self._context.dialog_parent, self.persona_name)
        if await run_dialog(dialog):
            entry = build_journal_entry(dialog.title_field.text(), dialog.text_field.text)
            self._add_memory(self.tr("adding a journal entry"), entry)

    async def _edit_reminder(self, memory: MemoryUnit) -> None:
        dialog = ReminderDialog(self._context.dialog_parent, memory)
        if await run_dialog(dialog) and dialog.date_field.value is not None and dialog.text_field.text.strip():
            text, moment = dialog.text_field.text.strip(), dialog.date_field.value
            shift = moment - memory.added
            end_time = memory.end_time + shift if memory.end_time is not None else None
            changes = {"content": text, "name": truncate_text(text), "added": moment, "end_time": end_time}
            edit, after = self._services.memory.edit, memory.model_copy(update=changes)
            self.run_undoable(self.tr("editing a reminder"), lambda: edit(after), lambda: edit(memory))

    def _forget_memory(self, memory: MemoryUnit, title: str) -> None:
        """Move a memory to the trash and show a notification with an undo button, which works after the page was closed,
        too.
        """
        lists, persona_id, name = self._services.memory_lists, self._shown_persona_id, truncate_text(title)
        title, notice = self.tr("deleting “{name}”"), self.tr("“{name}” was moved to the Trash.")
        redo_step = partial(lists.forget_memories, persona_id, [memory.guid])
        undo_step = partial(lists.restore_memories, persona_id, [memory.guid])
        self.run_undoable(title.format(name=name), redo_step, undo_step, notice.format(name=name))


def truncate_text(name: str) -> str:
    """Return a title in one line of at most 40 characters."""
    text = " ".join(name.split())
    return text if len(text) <= MAX_TITLE_LENGTH else f"{text[: MAX_TITLE_LENGTH - 1]}…"


def create_page(environment: PageEnvironment) -> MindPage:
    """Create the page with the services that it calls."""
    services, texts = environment.create(MindPageServices), environment.create(MindTexts)
    return environment.create(MindPage, services=services, texts=texts)
