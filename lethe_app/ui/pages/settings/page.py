"""Page “Settings”: all settings by section, with a search, undo, and a reset of each setting."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QListWidget, QPushButton, QToolButton, QWidget

from lethe_app.config.setting_field import SettingSection
from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryType
from lethe_app.errors import LetheError
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.labels import kind_in_words
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.settings.fields import (
    WANTED,
    Choices,
    PathButton,
    is_changed,
    is_expert,
    shown_settings,
    spec_of,
    translated,
)
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.card_column import Sheet, made_card
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.table import SearchField

LEAST_WIDTH = 180
"""Minimum width of the list of sections in pixels."""


class SettingsPage(Page):
    """Page that saves every change at once, with undo; changed settings are marked and can be reset."""

    def __init__(self, place: PageContext, wanted: str = "") -> None:
        """Create the page; `wanted` is the name of the setting to show first."""
        super().__init__(place.theme, self.tr("Settings"))
        self._place, self._wanted = place, wanted
        self._cards: dict[SettingSection, QFrame] = {}
        self._forms: dict[SettingSection, Form] = {}
        self._resets: dict[str, QToolButton] = {}
        self._paths: dict[str, PathButton] = {}
        self._form_of: dict[str, Form] = {}
        self._told: dict[str, str] = {}
        self.search = SearchField(self.theme, self.tr("Search settings"))
        self.search.textChanged.connect(self._find)
        self.experts = QPushButton(self.tr("Expert settings"))
        self.experts.setProperty("chip", True)
        self.experts.setCheckable(True)
        self.experts.setToolTip(self.tr("Show settings that rarely need to be changed"))
        self.experts.toggled.connect(lambda _on: self._find(self.search.text()))
        self.sections = QListWidget()
        self.sections.setObjectName("sections")
        self.sections.setAccessibleName(self.tr("Sections"))
        self.sections.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.sections.currentRowChanged.connect(self._show_section)
        self.sheet = Sheet()
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.sections)
        row.addWidget(self.sheet, 1)
        self.body.addLayout(row, 1)
        self._buttons.insertWidget(0, self.search)
        self._buttons.insertWidget(0, self.experts)
        self._forget = place.services.preferences.changed.add(self._show)
        place.bridge.spawn(self._build(), lane="settings")

    def first_focus(self) -> QWidget:
        return self.search

    def close_page(self) -> None:
        self._forget()

    # building

    async def _build(self) -> None:
        choices = await choices_of(self._place)
        for section in SettingSection:
            names = shown_settings(section)
            if names:
                self._add_section(section, names, choices)
        self._fit_sections()
        self._show(self._place.services.preferences.current)
        self.sections.setCurrentRow(0)
        if self._wanted:
            self.show_setting(self._wanted)

    def _add_section(self, section: SettingSection, names: list[str], choices: Choices) -> None:
        specs = [spec_of(name, choices) for name in names]
        form = Form(specs, self.theme)
        form.changed.connect(self._change)
        card, column = made_card(translated(section.value))
        column.addWidget(form)
        self.sheet.add(card)
        self.sections.addItem(translated(section.value))
        self._cards[section], self._forms[section] = card, form
        for spec in specs:
            self._form_of[spec.name] = form
            self._told[spec.name] = f"{section.value} {spec.title} {spec.help}".casefold()
            if spec.name in WANTED:
                form.add_beside(spec.name, self._path_button(spec.name, spec.title))
            form.add_beside(spec.name, self._reset_button(spec.name, spec.title))

    def _path_button(self, name: str, title: str) -> PathButton:
        preferences = self._place.services.preferences
        button = self._paths[name] = PathButton(
            self._place, name, title, lambda: getattr(preferences.current, name), lambda value: self._change(name, value)
        )
        return button

    def _reset_button(self, name: str, title: str) -> QToolButton:
        button = QToolButton()
        button.setIconSize(QSize(ICON - SPACE_1, ICON - SPACE_1))
        button.setIcon(icon("refresh", self.theme.palette.water))
        words = self.tr("Reset “{title}” to default").format(title=title)
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.clicked.connect(lambda: self._change(name, default_of(name)))
        keeps_its_place = button.sizePolicy()  # or what lies below would jump away under the pointer
        keeps_its_place.setRetainSizeWhenHidden(True)
        button.setSizePolicy(keeps_its_place)
        self._resets[name] = button
        return button

    def dress(self) -> None:
        super().dress()
        self._fit_sections()
        # The constructor of Page calls this method before these attributes exist.
        for button in getattr(self, "_resets", {}).values():
            button.setIcon(icon("refresh", self.theme.palette.water))
        for path in getattr(self, "_paths", {}).values():
            path.dress()

    def _fit_sections(self) -> None:
        """Set the width of the list of sections to its longest title."""
        sections = getattr(self, "sections", None)
        if sections is not None:
            sections.setFixedWidth(max(LEAST_WIDTH, sections.sizeHintForColumn(0) + 2 * SPACE_4))

    # changing and showing

    def _change(self, name: str, value: object) -> None:
        present = getattr(self._place.services.preferences.current, name)
        if value != present:
            title = translated(Settings.model_fields[name].title or name)
            self.undo.push(FieldChange(title, name, present, value, self._put))

    def _put(self, name: str, value: object) -> None:
        self._form_of[name].set_field(name, value)
        self._place.bridge.spawn(self._keep(name, value))

    async def _keep(self, name: str, value: object) -> None:
        """Save a value. An invalid one is marked below its field but stays there, because it may be incomplete input."""
        form = self._form_of[name]
        try:
            await self._place.services.preferences.set(**{name: value})
        except LetheError as error:
            form.complain(name, error.message)
        else:
            form.complain(name, "")

    def _show(self, settings: Settings) -> None:
        """Show the current settings, whatever changed them."""
        changed = 0
        for name, form in self._form_of.items():
            if not is_being_written(form.field(name)):
                form.set_field(name, getattr(settings, name))
            differs = is_changed(settings, name)
            changed += differs
            self._resets[name].setVisible(differs)
            form.note(name, self.tr("changed") if differs else "")
        words = counted(changed, self.tr("{n} changed"), self.tr("{n} changed"))
        self.subtitle.set_full(words if changed else self.tr("all defaults"))

    # finding

    def _find(self, text: str) -> None:
        """Show only the settings that contain all words, from all sections; without words those of the chosen section."""
        words = text.casefold().split()
        for section, form in self._forms.items():
            hits = [name for name in form.names if all(word in self._told[name] for word in words)]
            hits = [name for name in hits if words or self._is_offered(name)]
            for name in form.names:
                form.set_row_visible(name, name in hits)
            self._cards[section].setVisible(bool(hits) and (bool(words) or self._is_chosen(section)))
        self.sections.setEnabled(not words)

    def _is_offered(self, name: str) -> bool:
        return not is_expert(name) or self.experts.isChecked() or is_changed(self._place.services.preferences.current, name)

    def _show_section(self, _row: int) -> None:
        if not self.search.text():
            self._find("")
            self.sheet.verticalScrollBar().setValue(0)

    def _is_chosen(self, section: SettingSection) -> bool:
        item = self.sections.currentItem()
        return item is not None and item.text() == translated(section.value)

    def show_setting(self, name: str) -> None:
        """Scroll to a setting and focus it."""
        if is_expert(name):
            self.experts.setChecked(True)
        section = next(section for section, form in self._forms.items() if name in form.names)
        found = self.sections.findItems(translated(section.value), Qt.MatchFlag.MatchExactly)
        self.search.clear()
        self.sections.setCurrentItem(found[0])
        field = self._form_of[name].field(name)
        field.setFocus()
        QTimer.singleShot(0, self, lambda: self.sheet.show_widget(field))  # when the rows have their places


def is_being_written(widget: QWidget) -> bool:
    """Return whether the user is typing in a field: a notification about an earlier character must not overwrite later ones."""
    return isinstance(widget, QLineEdit) and widget.hasFocus()


def default_of(name: str) -> Any:  # noqa: ANN401 - of the setting's own type
    """Return the default value of a setting."""
    return Settings.model_fields[name].get_default(call_default_factory=True)


async def choices_of(place: PageContext) -> Choices:
    """Return the values that depend on the user's data, with their labels."""
    library, fits = place.services.library, place.window.tr("Automatic (suits the model)")
    own = place.window.tr("Model's own template")
    samplers, systems, formats = await library.samplers(), await library.system_presets(), await library.instruct_presets()
    selves = await library.user_personas()
    worlds = await library.worlds()
    kinds = [(kind.value, kind_in_words(kind)) for kind in MemoryType]
    return {
        "sampler": [("", fits), *((key, preset.name) for key, preset in samplers.items())],
        "system_preset": [("", fits), *((key, preset.name) for key, preset in systems.items())],
        "instruct": [("", own), *((preset.name, preset.name) for preset in formats.values())],
        "user_persona": [("", place.window.tr("None")), *((one.unique_name, one.name) for one in selves)],
        "global_worlds": [(key, world.name) for key, world in worlds.items()],
        "tasks_off": [(known.name, known.task.title) for known in place.services.away.registry.all()],
        "default_tools": [(one.name, one.title) for one in place.services.tooling.sets],
        "decaying_types": kinds,
        "silent_types": kinds,
    }
