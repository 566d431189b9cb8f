"""Page “Mind”: mood, weekly schedule, reminders, personal thoughts, goals and journal of a persona."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime

from PySide6.QtCore import QCoreApplication, QLocale, Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Weekday
from lethe_app.errors import LetheError
from lethe_app.services.personas.inner_life import ActiveGoal
from lethe_app.ui.core.formatting import format_age
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.mind.commands import MindEdits, key_of_day, key_of_goal_request, key_of_thoughts
from lethe_app.ui.pages.mind.labels import format_expiry
from lethe_app.ui.pages.mind.mood_card import MoodCard
from lethe_app.ui.pages.mind.reminders import ReminderDialog, ReminderForm
from lethe_app.ui.pages.mind.services import MindPageServices
from lethe_app.ui.pages.mind.week import WeekFields
from lethe_app.ui.pages.mind.writings import EntryDialog, GoalFields, MindNote, WritingList
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.text_area import TextAreaField

RELOAD_DELAY_MS = 300
MAX_TITLE_LENGTH = 40


class MindPage(Page):
    """Page of cards; every edit on them can be undone."""

    def __init__(self, context: PageContext, persona_selector: PersonaSelector, services: MindPageServices) -> None:
        super().__init__(context.theme, QCoreApplication.translate("MindPage", "Mind"))
        self._context, self._services, self.persona_selector = context, services, persona_selector
        self._texts: dict[str, str] = {}
        """Text of each field by its key: the stored text, or the typed text that is about to be stored."""
        self._shown_persona_id = ""
        """Persona whose mind is on display, to whom every edit belongs; another one may be chosen, but not loaded yet."""
        self.edits = MindEdits(self, context, services, self._show_text, self._schedule_reload)
        self._build()
        self._connect()
        self.persona_selector.emit_chosen()

    def persona_choice(self) -> PersonaSelector:
        return self.persona_selector

    def _build(self) -> None:
        self.persona_selector.setAccessibleName(self.tr("Persona"))
        self.persona_selector.setToolTip(self.tr("Persona"))
        line = QHBoxLayout()
        line.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        line.setSpacing(SPACE_4)
        self.mood_card = MoodCard(self.theme)
        line.addWidget(self.persona_selector)
        line.addStretch(1)
        line.addWidget(self.mood_card.moods_check)
        line.addWidget(self.mood_card.fixed_check)
        above = QWidget()
        above.setLayout(line)
        self.sheet = CardColumn()
        self.sheet.add_widget(self.mood_card)
        self.reminder_form = ReminderForm(self.theme, self._parse_date)
        text = self.tr(
            "Reminders are brought up with your next message once they are due. Examples: “tomorrow at 9”, “in "
            "two weeks”, “24 December”."
        )
        self.sheet.add_card(self.tr("Reminders"), text).addWidget(self.reminder_form)
        self.week_fields = WeekFields()
        text = self.tr("The plan of the day is mentioned when you come back after a while.")
        self.sheet.add_card(self.tr("Weekly schedule"), text).addWidget(self.week_fields)
        self.thoughts_field = TextAreaField(self.tr("Personal thoughts"), 3, 16)
        text = self.tr("What the persona thinks of itself and of you, always included in the prompt.")
        self.sheet.add_card(self.tr("Personal thoughts"), text).addWidget(self.thoughts_field)
        self.goal_list = WritingList(self.theme, self.tr("{n} more"))
        self.goal_fields = GoalFields()
        card = self.sheet.add_card(self.tr("Goals"))
        card.addWidget(self.goal_list)
        card.addWidget(self.goal_fields)
        self.journal_list = WritingList(self.theme, self.tr("{n} older entries"))
        self.new_entry_button = QPushButton(self.tr("Add entry…"))
        self.new_entry_button.setProperty("link", True)
        card = self.sheet.add_card(self.tr("Journal"))
        card.addWidget(self.journal_list)
        card.addWidget(self.new_entry_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(above)
        self.body.addWidget(self.sheet, 1)

    def _connect(self) -> None:
        self._reload_timer = QTimer(self, singleShot=True, interval=RELOAD_DELAY_MS)
        self._reload_timer.timeout.connect(self._schedule_reload)
        services = self._services
        self._unsubscribers: list[Callable[[], None]] = [
            services.moods.changed.add(self._on_mind_changed),
            services.inner_life.changed.add(self._on_mind_changed),
            services.sessions.changed.add(self._on_mind_changed),
            services.library.changed.add(lambda _none: self._reload_timer.start()),
            services.preferences.changed.add(lambda _settings: self._reload_timer.start()),
        ]
        self.theme.changed.connect(self.mood_card.apply_theme)
        self.persona_selector.chosen.connect(self._show_persona)
        self.mood_card.mood_chosen.connect(self._set_mood)
        self.mood_card.moods_toggled.connect(lambda on: self.edits.set_moods_enabled(self._shown_persona_id, enabled=on))
        self.mood_card.fixed_toggled.connect(
            lambda on: self.edits.set_preference(self.tr("changing fixed mood"), "static_mood", value=on)
        )
        self.mood_card.enable_for_all_requested.connect(
            lambda: self.edits.set_preference(self.tr("enabling moods"), "mood_handling", value=True)
        )
        self.week_fields.plan_edited.connect(self._set_plan)
        self.reminder_form.reminder_entered.connect(self._add_reminder)
        self.reminder_form.edit_requested.connect(
            lambda memory: self._context.tasks.start_task(self._edit_reminder(memory), key="mind dialog")
        )
        self.reminder_form.forget_requested.connect(
            lambda one: self.edits.forget_memory(self._shown_persona_id, one, truncate_text(one.name))
        )
        self.thoughts_field.edited.connect(self._set_thoughts)
        self.goal_fields.request_edited.connect(self._set_goal_request)
        self.new_entry_button.clicked.connect(
            lambda _checked=False: self._context.tasks.start_task(self._ask_journal_entry(), key="mind dialog")
        )
        for writing_list in (self.goal_list, self.journal_list):
            writing_list.text_edited.connect(self._edit_writing)
            writing_list.forget_requested.connect(
                lambda one: self.edits.forget_memory(self._shown_persona_id, one.memory, truncate_text(one.title))
            )

        self.guard_undo(self.week_fields, self.thoughts_field, self.goal_list, self.goal_fields, self.journal_list)

    def first_focus_widget(self) -> QWidget:
        return self.persona_selector

    async def confirm_leave(self) -> bool:
        self.mood_card.emit_pending()
        await self.edits.save()
        return True

    def close_page(self) -> None:
        super().close_page()
        self.persona_selector.close_field()
        self.edits.is_open = False
        self._reload_timer.stop()
        for unsubscribe in self._unsubscribers:
            unsubscribe()

    # reading

    def _on_mind_changed(self, persona_id: str) -> None:
        if persona_id == self.persona_selector.persona_id:
            self._reload_timer.start()

    def _show_persona(self, _persona: str) -> None:
        self.goal_list.reset_row_limit()
        self.journal_list.reset_row_limit()
        self.sheet.verticalScrollBar().setValue(0)
        self._schedule_reload()

    def _schedule_reload(self) -> None:
        if self.persona_selector.persona_id:
            self._context.tasks.start_task(self._reload(self.persona_selector.persona_id), key="mind")

    async def _reload(self, persona_id: str) -> None:
        """Load everything first, then show it in one go, so that what is on display always belongs to one persona."""
        services = self._services
        persona = await services.library.persona(persona_id)
        dimensions, samples = await services.moods.list_dimensions(persona_id), await services.moods.load_history(persona_id)
        plans, thoughts = await services.week.load_plans(persona_id), await services.inner_life.load_thoughts(persona_id)
        reminders = await services.reminders.reminders_of(persona_id)
        request = await services.goal_requests.load_request(persona_id)
        goals, journal = await services.inner_life.list_goals(persona_id), await services.inner_life.list_journal(persona_id)

        if persona_id != self._shown_persona_id:
            self.mood_card.emit_pending()
            self._shown_persona_id = persona_id
        settings, name = services.preferences.current, persona.name
        self.mood_card.show_switches(
            name, is_enabled=persona.mood, is_fixed=settings.static_mood, enabled_for_all=settings.mood_handling
        )
        self.mood_card.show_mood(name, dimensions, samples)
        for day, text in plans.items():
            self._show_stored_text(key_of_day(persona_id, day), text)
        self._show_stored_text(key_of_thoughts(persona_id), thoughts)
        self.week_fields.mark_today()
        self.reminder_form.show_reminders(name, reminders)
        self._show_stored_text(key_of_goal_request(persona_id, "request"), request.request)
        self._show_stored_text(key_of_goal_request(persona_id, "notice"), request.notice)
        self._show_writings(name, goals, journal)

    def _show_writings(self, name: str, goal_memories: Sequence[ActiveGoal], journal_entries: Sequence[MemoryUnit]) -> None:
        goals = [
            MindNote(one.memory, one.memory.name or self.tr("Goal"), format_expiry(one.days_left)) for one in goal_memories
        ]
        journal = [MindNote(one, one.name or self.tr("Entry"), format_age(one.added, now())) for one in journal_entries]
        for writing in (*goals, *journal):
            if not self.edits.is_unsaved(key := str(writing.memory.guid)):
                self._texts[key] = writing.memory.content
        empty_text = self.tr("No goals yet. The goals of {name} are listed here, with the time until they expire.")
        self.goal_list.show_writings(goals, empty_text.format(name=name), self.edits.is_unsaved)
        empty_text = self.tr("No entries yet. {name} writes them while you are away, if background activity is on.")
        self.journal_list.show_writings(journal, empty_text.format(name=name), self.edits.is_unsaved)

    def _show_stored_text(self, key: str, text: str) -> None:
        """Show a stored text in its field, unless the field has text that is not stored yet."""
        if not self.edits.is_unsaved(key):
            self._show_text(key, text)

    def _show_text(self, key: str, text: str) -> None:
        """Show a text in the field with the given key, if that field is on display."""
        self._texts[key] = text
        persona = self._shown_persona_id
        if key == key_of_thoughts(persona):
            self.thoughts_field.set_text(text)
        for part, field in (("request", self.goal_fields.request_field), ("notice", self.goal_fields.notice_field)):
            if key == key_of_goal_request(persona, part):
                field.set_text(text)
        for day in Weekday:
            if key == key_of_day(persona, day):
                self.week_fields.set_plan(day, text)
        self.goal_list.set_text(key, text)
        self.journal_list.set_text(key, text)

    # changing

    def _set_mood(self, dimension_id: str, value: float) -> None:
        title = self.mood_card.rows[dimension_id].dimension.title
        self.edits.set_mood(self._shown_persona_id, dimension_id, title, value)

    def _set_plan(self, day: str, text: str) -> None:
        persona, weekday = self._shown_persona_id, Weekday(day)
        title = QLocale().standaloneDayName(list(Weekday).index(weekday) + 1)
        self.edits.set_plan(persona, weekday, title, self._texts.get(key_of_day(persona, weekday), ""), text)

    def _set_goal_request(self, request: str, notice: str) -> None:
        persona = self._shown_persona_id
        for part, text in (("request", request), ("notice", notice)):
            self.edits.set_goal_request(persona, part, self._texts.get(key_of_goal_request(persona, part), ""), text)

    async def _ask_journal_entry(self) -> None:
        persona_id = self._shown_persona_id
        dialog = EntryDialog(self._context.dialog_parent, self.persona_selector.persona_name)
        if await run_dialog(dialog):
            self.edits.add_journal_entry(persona_id, dialog.title_field.text(), dialog.text_field.text)

    def _set_thoughts(self, text: str) -> None:
        persona = self._shown_persona_id
        self.edits.set_thoughts(persona, self._texts.get(key_of_thoughts(persona), ""), text)

    def _edit_writing(self, writing: MindNote, text: str) -> None:
        old = self._texts.get(str(writing.memory.guid), writing.memory.content)
        self.edits.edit_memory_text(writing.memory, truncate_text(writing.title), old, text)

    def _parse_date(self, text: str) -> datetime | date | None:
        parsed = self._services.reminders.parse_date(text)
        return parsed.to_datetime() if parsed is not None else None

    def _add_reminder(self, text: str, when: datetime | date) -> None:
        try:
            self.edits.add_reminder(self._shown_persona_id, text, when)
        except LetheError as error:
            self._context.notifier.report_error(error)

    async def _edit_reminder(self, memory: MemoryUnit) -> None:
        dialog = ReminderDialog(self._context.dialog_parent, memory)
        if await run_dialog(dialog) and dialog.date_field.value is not None and dialog.text_field.text.strip():
            text, moment = dialog.text_field.text.strip(), dialog.date_field.value
            shift = moment - memory.added
            end_time = memory.end_time + shift if memory.end_time is not None else None
            changes = {"content": text, "name": truncate_text(text), "added": moment, "end_time": end_time}
            self.edits.edit_reminder(memory, memory.model_copy(update=changes))


def truncate_text(name: str) -> str:
    """Return a title in one line of at most 40 characters."""
    text = " ".join(name.split())
    return text if len(text) <= MAX_TITLE_LENGTH else f"{text[: MAX_TITLE_LENGTH - 1]}…"


def create_page(environment: PageEnvironment, _route: object) -> MindPage:
    """Create the page with the services that it calls."""
    services = environment.services
    group = MindPageServices(
        services.moods,
        services.inner_life,
        services.goals,
        services.reminders,
        services.week,
        services.memory,
        services.memory_lists,
        services.library,
        services.sessions,
        services.preferences,
    )
    return MindPage(environment.context, environment.create_persona_selector(), group)
