"""Page “Settings”: all settings by section, with a search, undo, and a reset of each setting."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QListWidget, QToolButton, QWidget

from lethe_app.config.form_field import SettingSection
from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryType
from lethe_app.errors import LetheError
from lethe_app.services.background.runner import BackgroundRunner
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences
from lethe_app.services.tools.registry import ToolRegistry
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.labels.fields import translate_text
from lethe_app.ui.core.labels.memories import format_kind
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_4
from lethe_app.ui.core.routes import Route, SettingsRoute
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.settings.fields import (
    PATH_KINDS,
    Choices,
    PathButton,
    build_spec,
    is_changed,
    is_expert,
    visible_settings,
)
from lethe_app.ui.pages.undo_commands import FieldChange, UndoGuard
from lethe_app.ui.widgets.buttons import IconButton, build_chip
from lethe_app.ui.widgets.card_column import CardColumn, create_card, create_placeholder
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.table import SearchField

MIN_SECTIONS_WIDTH = 180
"""Minimum width of the list of sections in pixels."""


class SettingsPage(Page):
    """Page that saves every change at once, with undo; changed settings are marked and can be reset."""

    def __init__(
        self,
        context: PageContext,
        preferences: Preferences,
        library: Library,
        background_runner: BackgroundRunner,
        tool_registry: ToolRegistry,
    ) -> None:
        super().__init__(context.theme, self.tr("Settings"))
        self._context, self._setting_to_show = context, ""
        self._preferences, self._library = preferences, library
        self._background_runner, self._tool_registry = background_runner, tool_registry
        self._cards: dict[SettingSection, QFrame] = {}
        self._forms: dict[SettingSection, Form] = {}
        self._resets: dict[str, QToolButton] = {}
        self._form_by_setting: dict[str, Form] = {}
        self._search_texts: dict[str, str] = {}
        self.search = SearchField(self.theme, self.tr("Search settings"))
        self.search.textChanged.connect(self._filter_settings)
        tooltip = self.tr("Show settings that rarely need to be changed")
        self.expert_chip = build_chip(self.tr("Expert settings"), tooltip)
        self.expert_chip.toggled.connect(lambda _on: self._filter_settings(self.search.text()))
        self.sections = QListWidget()
        self.sections.setObjectName("sections")
        self.sections.setAccessibleName(self.tr("Sections"))
        self.sections.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.sections.currentRowChanged.connect(self._show_section)
        self.sheet = CardColumn()
        self._no_matches = create_placeholder(self.tr("No matches. Try fewer words."))
        self._no_matches.hide()
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.sections)
        row.addWidget(self.sheet, 1)
        self.body.addLayout(row, 1)
        self._buttons.insertWidget(0, self.search)
        self._buttons.insertWidget(0, self.expert_chip)
        self._undo_guard = UndoGuard(self.sheet)
        self._unsubscribe = preferences.changed.add(self._show_settings)
        context.tasks.start_task(self._build(), key="settings")

    def first_focus_widget(self) -> QWidget:
        return self.search

    def close_page(self) -> None:
        self._undo_guard.stop_watching()
        self._unsubscribe()

    # building

    async def _build(self) -> None:
        choices = await load_choices(self._library, self._background_runner, self._tool_registry)
        for section in SettingSection:
            names = visible_settings(section)
            if names:
                self._add_section(section, names, choices)
        self.sheet.add_widget(self._no_matches)
        self._fit_sections()
        self._show_settings(self._preferences.current)
        self.sections.setCurrentRow(0)
        if self._setting_to_show:
            self.show_setting(self._setting_to_show)

    def _add_section(self, section: SettingSection, names: list[str], choices: Choices) -> None:
        specs = [build_spec(name, choices) for name in names]
        form = Form(specs, self.theme)
        form.changed.connect(self._change_setting)
        card, column = create_card(translate_text(section.value))
        column.addWidget(form)
        self.sheet.add_widget(card)
        self.sections.addItem(translate_text(section.value))
        self._cards[section], self._forms[section] = card, form
        for spec in specs:
            self._form_by_setting[spec.name] = form
            self._search_texts[spec.name] = f"{section.value} {spec.title} {spec.help}".casefold()
            if spec.name in PATH_KINDS:
                form.add_title_widget(spec.name, self._build_path_button(spec.name, spec.title))
            form.add_title_widget(spec.name, self._build_reset_button(spec.name, spec.title))

    def _build_path_button(self, name: str, title: str) -> PathButton:
        preferences = self._preferences
        return PathButton(
            self._context,
            name,
            title,
            lambda: getattr(preferences.current, name),
            lambda value: self._change_setting(name, value),
        )

    def _build_reset_button(self, name: str, title: str) -> QToolButton:
        text = self.tr("Reset “{title}” to default").format(title=title)
        button = IconButton(self.theme, "refresh", text, colour=attrgetter("water"), size=ICON - SPACE_1)
        button.clicked.connect(lambda: self._change_setting(name, default_value(name)))
        size_policy = button.sizePolicy()  # or what lies below would jump away under the pointer
        size_policy.setRetainSizeWhenHidden(True)
        button.setSizePolicy(size_policy)
        self._resets[name] = button
        return button

    def apply_theme(self) -> None:
        super().apply_theme()
        self._fit_sections()

    def _fit_sections(self) -> None:
        """Set the width of the list of sections to its longest title."""
        self.sections.setFixedWidth(max(MIN_SECTIONS_WIDTH, self.sections.sizeHintForColumn(0) + 2 * SPACE_4))

    # changing and showing

    def _change_setting(self, name: str, value: object) -> None:
        current = getattr(self._preferences.current, name)
        if value != current:
            title = translate_text(Settings.model_fields[name].title or name)
            self.undo_stack.push(FieldChange(title, name, current, value, self._apply_setting))

    def _apply_setting(self, name: str, value: object) -> None:
        self._form_by_setting[name].set_field(name, value)
        self._context.tasks.start_task(self._save_setting(name, value))

    async def _save_setting(self, name: str, value: object) -> None:
        """Save a value. An invalid one is marked below its field but stays there, because it may be incomplete input."""
        form = self._form_by_setting[name]
        try:
            await self._preferences.set(**{name: value})
        except LetheError as error:
            form.show_error(name, error.message)
        else:
            form.show_error(name, "")

    def _show_settings(self, settings: Settings) -> None:
        """Show the current settings, whatever changed them."""
        changed_count = 0
        for name, form in self._form_by_setting.items():
            if not is_being_edited(form.field_widget(name)):
                form.set_field(name, getattr(settings, name))
            is_modified = is_changed(settings, name)
            changed_count += is_modified
            self._resets[name].setVisible(is_modified)
            form.show_note(name, self.tr("changed") if is_modified else "")
        text = format_count(changed_count, self.tr("{n} changed"), self.tr("{n} changed"))
        self.subtitle.set_full_text(text if changed_count else self.tr("all defaults"))

    # finding

    def _filter_settings(self, text: str) -> None:
        """Show only the settings that contain all words, from all sections; without words those of the chosen section."""
        query_words = text.casefold().split()
        for section, form in self._forms.items():
            hits = [name for name in form.field_names if all(word in self._search_texts[name] for word in query_words)]
            hits = [name for name in hits if query_words or self._is_listed(name)]
            for name in form.field_names:
                form.set_row_visible(name, name in hits)
            self._cards[section].setVisible(bool(hits) and (bool(query_words) or self._is_chosen(section)))
        self.sections.setEnabled(not query_words)
        self._no_matches.setVisible(bool(query_words) and all(card.isHidden() for card in self._cards.values()))

    def _is_listed(self, name: str) -> bool:
        return not is_expert(name) or self.expert_chip.isChecked() or is_changed(self._preferences.current, name)

    def _show_section(self, _row: int) -> None:
        if not self.search.text():
            self._filter_settings("")
            self.sheet.verticalScrollBar().setValue(0)

    def _is_chosen(self, section: SettingSection) -> bool:
        item = self.sections.currentItem()
        return item is not None and item.text() == translate_text(section.value)

    def show_route(self, route: Route) -> None:
        if isinstance(route, SettingsRoute) and route.name:
            self._setting_to_show = route.name
            if self._forms:  # otherwise as soon as they are built
                self.show_setting(route.name)

    def show_setting(self, name: str) -> None:
        """Scroll to a setting and focus it."""
        if is_expert(name):
            self.expert_chip.setChecked(True)
        section = next(section for section, form in self._forms.items() if name in form.field_names)
        items = self.sections.findItems(translate_text(section.value), Qt.MatchFlag.MatchExactly)
        self.search.clear()
        self.sections.setCurrentItem(items[0])
        field = self._form_by_setting[name].field_widget(name)
        field.setFocus()
        QTimer.singleShot(0, self, lambda: self.sheet.scroll_to_widget(field))  # when the rows have their places


def is_being_edited(widget: QWidget) -> bool:
    """Return whether the user is typing in a field: a notification about an earlier character must not overwrite later ones."""
    return isinstance(widget, QLineEdit) and widget.hasFocus()


def default_value(name: str) -> Any:  # noqa: ANN401 - of the setting's own type
    """Return the default value of a setting."""
    return Settings.model_fields[name].get_default(call_default_factory=True)


async def load_choices(library: Library, background_runner: BackgroundRunner, tool_registry: ToolRegistry) -> Choices:
    """Return the values that depend on the user's data, with their labels."""
    automatic_label = QCoreApplication.translate("SettingsPage", "Automatic (suits the model)")
    own_template_label = QCoreApplication.translate("SettingsPage", "Model's own template")
    samplers, systems, formats = await library.samplers(), await library.system_presets(), await library.instruct_presets()
    user_personas = await library.user_personas()
    worlds = await library.worlds()
    kinds = [(kind.value, format_kind(kind)) for kind in MemoryType]
    return {
        "sampler": [("", automatic_label), *((key, preset.name) for key, preset in samplers.items())],
        "system_preset": [("", automatic_label), *((key, preset.name) for key, preset in systems.items())],
        "instruct": [("", own_template_label), *((preset.name, preset.name) for preset in formats.values())],
        "user_persona": [
            ("", QCoreApplication.translate("SettingsPage", "None")),
            *((one.unique_name, one.name) for one in user_personas),
        ],
        "global_worlds": [(key, world.name) for key, world in worlds.items()],
        "tasks_off": [(entry.name, entry.task.title) for entry in background_runner.registry.list_tasks()],
        "default_tools": [(one.name, one.title) for one in tool_registry.sets],
        "decaying_types": kinds,
        "silent_types": kinds,
    }
