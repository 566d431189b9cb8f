"""Page “Settings”: all settings by section, with a search, undo, and a reset of each setting."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QToolButton, QWidget

from lethe_app.config.form_field import SettingSection
from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryType
from lethe_app.errors import LetheError
from lethe_app.services.library import Library
from lethe_app.services.models.service import ModelService
from lethe_app.services.preferences import Preferences
from lethe_app.services.speech.output import SpeechOutput
from lethe_app.services.speech.voices import PIPER_PREFIX
from lethe_app.ui.core.actions import ACTION_SPECS, KEYS_ONLY, action_shortcut, action_title
from lethe_app.ui.core.formatting import format_count, format_size
from lethe_app.ui.core.labels.fields import translate_text
from lethe_app.ui.core.labels.memories import format_kind
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2
from lethe_app.ui.core.routes import Route, SettingsRoute
from lethe_app.ui.core.search_terms import action_search_text, setting_search_text
from lethe_app.ui.core.word_search import SearchText, is_description_match, rank_items
from lethe_app.ui.dialogs.files import ask_for_file, ask_for_folder, build_name_filter
from lethe_app.ui.pages.advanced_chip import build_advanced_chip
from lethe_app.ui.pages.choice_lists import ChoiceLists
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.pages.settings.fields import (
    MOST_USED,
    PATH_KINDS,
    PIPER_SETTINGS,
    VOICE_SETTINGS,
    Choices,
    build_spec,
    find_missing_path,
    is_advanced,
    is_changed,
    visible_settings,
)
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.pages.voice_choices import VoiceChoices
from lethe_app.ui.widgets.buttons import IconButton, build_button
from lethe_app.ui.widgets.card_column import CardColumn, create_card, create_placeholder, fill_layout
from lethe_app.ui.widgets.fields import FieldSpec
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.form import Form, SectionList
from lethe_app.ui.widgets.layouts import build_row
from lethe_app.ui.widgets.table import SearchField

PAGE_BUTTONS = {
    "user_persona": ("edit", "user_personas"),
    "model_path": ("download", "model_manager"),
    "sampler": ("edit", "presets"),
    "system_preset": ("edit", "presets"),
}
"""Icon and action of the page on which the values of a setting are made."""
MAX_ACTIONS = 4
"""Maximum number of actions that a search offers besides settings."""


class SettingsPage(ReloadingPage):
    """Page that saves every change at once, with undo; changed settings are marked and can be reset."""

    def __init__(
        self,
        context: PageContext,
        preferences: Preferences,
        library: Library,
        choice_lists: ChoiceLists,
        models: ModelService,
        speech_output: SpeechOutput,
    ) -> None:
        super().__init__(context, self.tr("Settings"))
        self._speech, self._setting_to_show, self._revealed_setting, self._active_personas = speech_output, "", "", 0
        self._preferences, self._library, self._models = preferences, library, models
        self._choice_lists = choice_lists
        self._cards: list[tuple[QFrame, list[str]]] = []
        """Card of each section, with the names of its settings."""
        self._resets: dict[str, QToolButton] = {}
        self._search_texts: list[tuple[str, SearchText]] = []
        self.search = SearchField(self.theme, self.tr("Search settings"))
        self.search.textChanged.connect(self._search)
        self.advanced_chip = build_advanced_chip("settings", preferences, context.tasks)
        self.advanced_chip.toggled.connect(lambda _on: self._filter_settings(self.search.text()))
        self.sections = SectionList(self.theme)
        self.sections.currentRowChanged.connect(self._show_section)
        self.sheet, self.form = CardColumn(), Form([], self.theme)
        self.form.changed.connect(self._change_setting)
        self._no_matches = create_placeholder(
            self.tr("No matches. Try another word, or press Ctrl+F to search everything you wrote.")
        )
        self._no_matches.hide()
        self._action_card, column = create_card(self.tr("Elsewhere"))
        self._action_flow = FlowLayout(spacing=SPACE_2)
        column.addLayout(self._action_flow)
        self._action_card.hide()
        self.action_buttons: list[QPushButton] = []
        self.more_button = build_button(slot=lambda: self._filter_settings(self.search.text(), with_descriptions=True))
        self.more_button.hide()
        for widget in (self.form, self._no_matches, self._action_card, self.more_button):
            self.sheet.add_widget(widget)
        self.body.addLayout(build_row(self.sections, (self.sheet, 1)), 1)
        self._buttons.addWidget(self.advanced_chip)
        self._buttons.addWidget(self.search)
        self.guard_undo(self.sheet)
        self.follow(library.changed)
        self._unsubscribers.append(preferences.changed.add(lambda _settings: self._show_settings(preferences.stored)))
        context.tasks.start_task(self._build(), key="settings")

    def first_focus_widget(self) -> QWidget:
        return self.search

    # building

    async def _build(self) -> None:
        choices = await load_choices(self._library, self._choice_lists)
        for section in SettingSection:
            self._add_section(section, [build_spec(name, choices) for name in visible_settings(section)])
        self.sections.add_sections([self.tr("Most used"), *(translate_text(section.value) for section in SettingSection)])
        self.voices = VoiceChoices(self, self.form, VOICE_SETTINGS, self._stored_value, self._context, self._speech)
        self.voices.show_stored_values()
        path = self._preferences.stored.model_path  # by its file name, until the models on this computer are known
        self.form.set_choices("model_path", [(path, Path(path).stem)] if path else [])
        self._show_settings(self._preferences.stored)
        self.sections.setCurrentRow(0)
        if self._setting_to_show:
            self.show_setting(self._setting_to_show)
        self._context.tasks.start_task(self._load_models(), key="settings models")
        await self.load()

    async def load(self) -> None:
        """Show for how many personas background activity is switched on."""
        self._active_personas = sum(persona.agent_mode for persona in await self._library.personas())
        self._show_settings(self._preferences.stored)

    async def _load_models(self) -> None:
        models = await self._models.list_chat_models()
        choices = [(str(model.path), f"{model.name} · {format_size(model.size)}") for model in models]
        path = self._preferences.stored.model_path
        if path and path not in dict(choices):
            choices.append((path, self.tr("{name} (missing)").format(name=Path(path).stem)))
        self.form.set_choices("model_path", choices)

    def _add_section(self, section: SettingSection, specs: list[FieldSpec]) -> None:
        card = self.form.add_card(translate_text(section.value), specs)
        self._cards.append((card, [spec.name for spec in specs]))
        for spec in specs:
            self._search_texts.append((spec.name, setting_search_text(spec.name)))
            if spec.name in PATH_KINDS:
                self.form.add_field_button(spec.name, self._build_path_button(spec.name, spec.title))
            if spec.name in PAGE_BUTTONS:
                self.form.add_field_button(spec.name, self._build_page_button(*PAGE_BUTTONS[spec.name]))
            self.form.add_title_widget(spec.name, self._build_reset_button(spec.name, spec.title))

    def _build_page_button(self, icon_name: str, action: str) -> IconButton:
        """Create the button of a field that opens the page on which its values are made."""
        text = f"{action_title(action)}  {action_shortcut(action)}".rstrip()
        button = IconButton(self.theme, icon_name, text, accessible_name=action_title(action), size=ICON - SPACE_1)
        button.clicked.connect(lambda: self._context.run_action(action))
        return button

    def _build_path_button(self, name: str, title: str) -> IconButton:
        """Create the button of a field that opens a file dialog."""
        text = self.tr("{title}: choose a file…") if PATH_KINDS[name][1] else self.tr("{title}: choose a folder…")
        button = IconButton(self.theme, "folder", text.format(title=title), size=ICON - SPACE_1)
        button.clicked.connect(self._context.tasks.create_callback(self._pick_path, name, title, key="settings path"))
        return button

    async def _pick_path(self, name: str, title: str) -> None:
        """Let the user choose a path, which is added to a list of paths; nothing changes if the dialog is cancelled."""
        parent, current, (kind, extensions) = self._context.dialog_parent, self._stored_value(name), PATH_KINDS[name]
        if extensions:
            name_filter = build_name_filter(QCoreApplication.translate("Field", kind), extensions)
            path = await ask_for_file(parent, title, name_filter)
        else:
            path = await ask_for_folder(parent, title)
        if path is None:
            return
        if not isinstance(current, list):
            self._change_setting(name, str(path))
        elif str(path) not in current:
            self._change_setting(name, [*current, str(path)])

    def _build_reset_button(self, name: str, title: str) -> QToolButton:
        text = self.tr("Reset “{title}” to default").format(title=title)
        button = IconButton(self.theme, "refresh", text, colour=attrgetter("water"), size=ICON - SPACE_1)
        default = Settings.model_fields[name].get_default(call_default_factory=True)
        button.clicked.connect(lambda: self._change_setting(name, default))
        size_policy = button.sizePolicy()  # or what lies below would jump away under the pointer
        size_policy.setRetainSizeWhenHidden(True)
        button.setSizePolicy(size_policy)
        self._resets[name] = button
        return button

    # changing and showing

    def _change_setting(self, name: str, value: object) -> None:
        current = getattr(self._preferences.stored, name)
        if value != current:
            title = translate_text(Settings.model_fields[name].title or name)
            self.undo_stack.push(FieldChange(title, name, current, value, self._apply_setting))

    def _apply_setting(self, name: str, value: object) -> None:
        self.form.set_field(name, value)
        self._context.tasks.start_task(self._save_setting(name, value))

    async def _save_setting(self, name: str, value: object) -> None:
        """Save a value. An invalid one is marked below its field but stays there, because it may be incomplete input."""
        try:
            await self._preferences.set(**{name: value})
        except LetheError as error:
            self.form.show_error(name, error.message)
        else:
            self.form.show_error(name, "")
            if name in PATH_KINDS:
                await self._report_missing_path(name, value)
            if name == "model_path":
                await self._load_models()
            if name in PIPER_SETTINGS:
                await self._report_piper_problem(name)

    async def _report_missing_path(self, name: str, value: object) -> None:
        """Say below a field that its path does not exist. It is kept all the same: its disk may not be connected."""
        missing = await asyncio.to_thread(find_missing_path, value)
        if missing and getattr(self._preferences.stored, name) == value:
            self.form.show_error(name, self.tr("“{path}” does not exist.").format(path=missing))

    def _stored_value(self, name: str) -> Any:  # noqa: ANN401 - of the setting's own type
        return getattr(self._preferences.stored, name)

    async def _report_piper_problem(self, name: str) -> None:
        """Say below a field why the voices of its folder cannot be used, and read the list of voices again."""
        self.voices.start_loading(again=True)
        if self._preferences.stored.piper_folder:
            problem = (await self._speech.list_problems()).get(PIPER_PREFIX)
            if problem is not None:
                self.form.show_error(name, str(problem))

    def _show_settings(self, settings: Settings) -> None:
        """Show the current settings, whatever changed them."""
        changed_count = 0
        for name in self.form.field_names:
            field = self.form.field_widget(name)
            if not (isinstance(field, QLineEdit) and field.hasFocus()):  # what was typed since must not be overwritten
                self.form.set_field(name, getattr(settings, name))
            is_modified = is_changed(settings, name)
            changed_count += is_modified
            self._resets[name].setVisible(is_modified)
            self.form.show_note(name, self.tr("changed") if is_modified else self._note(name))
        if self._cards and not self.search.text():
            self._filter_settings("")  # a changed setting is listed, and one that another now needs
        text = format_count(changed_count, self.tr("{n} changed"), self.tr("{n} changed"))
        self.subtitle.set_full_text(text if changed_count else self.tr("all defaults"))

    def _note(self, name: str) -> str:
        """Return what has to be known of a setting: why the small memory profile is in use, and for whom tasks run."""
        if name == "agents":
            count = self._active_personas
            is_on = format_count(count, self.tr("on for {n} persona"), self.tr("on for {n} personas"))
            return is_on if count else self.tr("on for no persona")
        if name != "memory_profile" or not self._preferences.is_small_computer:
            return ""
        size = format_size(self._preferences.memory)
        return self.tr("Small computer, because it has {size} of memory.").format(size=size)

    # finding

    def _filter_settings(self, text: str, *, with_descriptions: bool = False) -> None:
        """Show the settings that match the text, best section first, and matching actions; without a text those of the chosen
        section. Matches in descriptions are shown only if there are no others or they were asked for.
        """
        is_search = bool(text.strip())
        listed = self._listed_settings()
        found = rank_items(self._search_texts, text) if is_search else []
        weak = [name for name in found if is_description_match(dict(self._search_texts)[name], text)]
        hits = found if with_descriptions or len(weak) == len(found) else [name for name in found if name not in weak]
        shown = set(hits) if is_search else listed
        for card, names in self._cards:
            card.setHidden(shown.isdisjoint(names))
        for name in self.form.field_names:
            self.form.set_row_visible(name, name in shown)
        self._sort_cards(hits if is_search or self.sections.currentRow() > 0 else list(MOST_USED))
        self._show_actions(text if is_search else "")
        self.sections.setEnabled(not is_search)
        hidden_count = len(found) - len(hits)
        self.more_button.setText(self.tr("Search descriptions as well ({n} more)").format(n=hidden_count))
        self.more_button.setVisible(hidden_count > 0)
        self._no_matches.setVisible(is_search and not found and not self.action_buttons)

    def _sort_cards(self, hits: list[str]) -> None:
        """Move the cards with the best hits to the top; without hits they are in the order of their sections."""
        ranks = {name: rank for rank, name in enumerate(hits)}
        best_first = sorted(self._cards, key=lambda card: min(ranks.get(name, len(hits)) for name in card[1]))
        for place, (card, _names) in enumerate(best_first):
            self.form.column.insertWidget(place, card)

    def _show_actions(self, text: str) -> None:
        """Show buttons for the actions that match the text, for what is not a setting."""
        others = [spec.name for spec in ACTION_SPECS if spec.name != "settings" and spec.name not in KEYS_ONLY] if text else []
        names = rank_items([(name, action_search_text(name)) for name in others], text)[:MAX_ACTIONS]
        self.action_buttons = [self._build_action_button(name) for name in names]
        fill_layout(self._action_flow, self.action_buttons)
        self._action_card.setVisible(bool(names))

    def _build_action_button(self, name: str) -> QPushButton:
        button = build_button(f"{action_title(name)}  {action_shortcut(name)}".rstrip())
        button.setObjectName(name)
        button.clicked.connect(lambda _checked=False: self._context.run_action(name))
        return button

    def _listed_settings(self) -> set[str]:
        """Return the settings of the chosen section: without the advanced ones, unless they are switched on, and with the one
        that was asked for.
        """
        row = self.sections.currentRow()  # the first one shows the most used settings
        names = MOST_USED if row <= 0 else self._cards[row - 1][1]
        with_advanced, settings = self.advanced_chip.isChecked(), self._preferences.stored
        return {name for name in names if with_advanced or name == self._revealed_setting or not is_advanced(name, settings)}

    def _search(self, text: str) -> None:
        self._revealed_setting = ""
        self._filter_settings(text)

    def _show_section(self, _row: int) -> None:
        self._revealed_setting = ""
        if not self.search.text():
            self._filter_settings("")
            self.sheet.verticalScrollBar().setValue(0)

    def show_route(self, route: Route) -> None:
        if isinstance(route, SettingsRoute) and route.name:
            self._setting_to_show = route.name
            if self._cards:  # otherwise as soon as they are built
                self.show_setting(route.name)

    def show_setting(self, name: str) -> None:
        """Scroll to a setting and focus it. An advanced one is shown until another section or a search is chosen."""
        row = next(row for row, (_card, names) in enumerate(self._cards, 1) if name in names)
        self.search.clear()
        self.sections.setCurrentRow(row)
        self._revealed_setting = name
        self._filter_settings("")
        field = self.form.field_widget(name)
        field.setFocus()
        QTimer.singleShot(0, self, lambda: self.sheet.scroll_to_widget(field))  # when the rows have their places


async def load_choices(library: Library, lists: ChoiceLists) -> Choices:
    """Return the values that depend on the user's data, with their labels."""
    tr = QCoreApplication.translate
    automatic_label = tr("SettingsPage", "Automatic (suits the model)")
    systems, formats = await library.system_presets(), await library.instruct_presets()
    kinds = [(kind.value, format_kind(kind)) for kind in MemoryType]
    return {
        "sampler": [("", automatic_label), *await lists.samplers()],
        "system_preset": [("", automatic_label), *((key, preset.name) for key, preset in systems.items())],
        "instruct": [
            ("", tr("SettingsPage", "Model's own template")),
            *((preset.name, preset.name) for preset in formats.values()),
        ],
        "user_persona": [
            ("", tr("SettingsPage", "None")),
            *((one.unique_name, one.name) for one in await library.user_personas()),
        ],
        "global_worlds": await lists.worlds(),
        "tasks_off": lists.tasks(),
        "default_tools": lists.tools(),
        "decaying_types": kinds,
        "silent_types": kinds,
    }
