"""Form of the persona editor: a column of cards, and the list of sections beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QListWidget, QSpinBox, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_1, SPACE_4, SPACE_6
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.personas.fields import AVATAR, MODEL, SAMPLERS, TASKS, TOOLS, WORLDS, EditorSection
from lethe_app.ui.widgets.avatar_field import AvatarField
from lethe_app.ui.widgets.card_column import CardColumn, create_card
from lethe_app.ui.widgets.combo_field import ComboField
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.multi_select import MultiSelect
from lethe_app.ui.widgets.tag_field import TagField

MIN_SECTIONS_WIDTH = 180
"""Minimum width of the list of sections in pixels."""


class PersonaForm(QWidget):
    """Form of all fields; `changed` is emitted for input of the user only. The avatar's picture is set by the page."""

    changed = Signal(str, object)
    unfinished_changed = Signal()
    """Text was entered into a field that applies it on Enter or when it loses focus, or such text was applied."""

    def __init__(self, chapters: Sequence[EditorSection], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._forms: dict[str, Form] = {}
        self._cards: list[QFrame] = []
        self._is_jumping = self.is_unfinished = False
        self.avatar = AvatarField(theme)
        missing_format = self.tr("{name} (missing)")
        self.worlds = MultiSelect(self.tr("Worlds"), self.tr("No worlds yet."), missing_format)
        self.samplers = MultiSelect(self.tr("Sampler presets"), self.tr("No sampler presets."), missing_format)
        self.tasks = MultiSelect(self.tr("Background tasks"), self.tr("No background tasks available."), missing_format)
        self.tools = MultiSelect(self.tr("Tools"), self.tr("No tools available."), missing_format)
        self.tools.changed.connect(lambda value: self.changed.emit(TOOLS, value))
        self.tasks.changed.connect(lambda value: self.changed.emit(TASKS, value))
        self.model = ComboField(self.tr("Preferred model"), self.tr("No preference"), self.tr("{name} (not found)"))
        self.worlds.changed.connect(lambda value: self.changed.emit(WORLDS, value))
        self.samplers.changed.connect(lambda value: self.changed.emit(SAMPLERS, value))
        self.model.chosen.connect(lambda value: self.changed.emit(MODEL, value))
        self._special_fields: dict[str, tuple[QWidget, Callable[[Any], None]]] = {
            WORLDS: (self.worlds, self.worlds.set_checked_values),
            SAMPLERS: (self.samplers, self.samplers.set_checked_values),
            MODEL: (self.model, self.model.set_value),
            TASKS: (self.tasks, self.tasks.set_checked_values),
            TOOLS: (self.tools, self.tools.set_checked_values),
        }
        self.sections = QListWidget()
        self.sections.setObjectName("sections")
        self.sections.setAccessibleName(self.tr("Sections"))
        self.sections.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.sections.currentRowChanged.connect(self._scroll_to_section)
        self.sheet = CardColumn()
        self.sheet.verticalScrollBar().valueChanged.connect(self._select_section)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sections)
        row.addWidget(self.sheet, 1)
        for chapter in chapters:
            self._add_chapter(chapter)
        self.fit_sections()
        with QSignalBlocker(self.sections):
            self.sections.setCurrentRow(0)

    # building

    def _add_chapter(self, chapter: EditorSection) -> None:
        card, column = create_card(chapter.title, chapter.description)
        for name in chapter.fields_before:
            column.addWidget(self._special_widget(name))
        if chapter.specs:
            form = Form(chapter.specs, self._theme)
            form.changed.connect(self.changed)
            self._forms |= dict.fromkeys(form.field_names, form)
            form.for_each_field(lambda _name, field: self._watch_unfinished(field))
            column.addWidget(form)
        for name in chapter.fields_after:
            column.addWidget(self._special_widget(name))
        self._cards.append(card)
        self.sheet.add_widget(card)
        self.sections.addItem(chapter.title)

    def _watch_unfinished(self, field: QWidget) -> None:
        line = field.lineEdit() if isinstance(field, QSpinBox) else field.focusProxy()
        if isinstance(line, QLineEdit):
            line.textEdited.connect(lambda _text: self._set_unfinished(is_unfinished=True))
            line.editingFinished.connect(lambda: self._set_unfinished(is_unfinished=False))

    def _set_unfinished(self, *, is_unfinished: bool) -> None:
        if is_unfinished is not self.is_unfinished:
            self.is_unfinished = is_unfinished
            self.unfinished_changed.emit()

    def apply_unfinished(self) -> None:
        """Apply text that was typed but not yet confirmed by Enter, as if the field lost its focus."""
        # Text still being composed in an input method is not part of the field yet.
        QGuiApplication.inputMethod().commit()
        field = self.focusWidget()
        if isinstance(field, QSpinBox):
            field.interpretText()
        elif field is not None and isinstance(words_field := field.parent(), TagField):
            words_field.commit_text()
        self._set_unfinished(is_unfinished=False)

    def _special_widget(self, name: str) -> QWidget:
        if name == AVATAR:
            return self.avatar
        titles = {SAMPLERS: self.tr("Preferred sampler presets"), MODEL: self.tr("Preferred model")}
        titles[TOOLS] = self.tr("Tools")
        titles[TASKS] = self.tr("Background tasks (if none is ticked, all suitable ones)")
        widget = self._special_fields[name][0]
        return _with_label(titles[name], widget) if name in titles else widget

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the list of sections where it does not fit beside the cards."""
        super().resizeEvent(event)
        needed_width = self.sections.maximumWidth() + self.sheet.column.minimumSize().width()
        self.sections.setVisible(self.width() >= needed_width)

    def fit_sections(self) -> None:
        """Set the width of the list of sections to its longest title."""
        self.sections.setFixedWidth(max(MIN_SECTIONS_WIDTH, self.sections.sizeHintForColumn(0) + 2 * SPACE_4))

    # values

    def set_field(self, name: str, value: object) -> None:
        """Show the value of a field without emitting `changed`."""
        if name in self._forms:
            self._forms[name].set_field(name, value)
        elif name in self._special_fields:
            self._special_fields[name][1](value)

    def show_values(self, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            self.set_field(name, value)

    def field(self, name: str) -> QWidget:
        """Return the widget of a field."""
        if name in self._forms:
            return self._forms[name].field_widget(name)
        return self.avatar if name == AVATAR else self._special_fields[name][0]

    def has_field(self, name: str) -> bool:
        return name in self._forms or name in self._special_fields or name == AVATAR

    def reveal_field(self, name: str) -> None:
        """Scroll to a field and focus it."""
        if self.has_field(name):
            self.sheet.scroll_to_widget(self.field(name))
            self.field(name).setFocus()

    @property
    def names(self) -> list[str]:
        """Names of the fields created by forms."""
        return list(self._forms)

    def show_note(self, name: str, text: str) -> None:
        self._forms[name].show_note(name, text)

    def show_error(self, name: str, text: str) -> None:
        self._forms[name].show_error(name, text)

    # sections

    def _scroll_to_section(self, index: int) -> None:
        """Scroll to the section with that index."""
        if 0 <= index < len(self._cards):
            # A short last section cannot be scrolled to the top, so `_select_section` would select another one.
            self._is_jumping = True
            self.sheet.verticalScrollBar().setValue(self._cards[index].y() - SPACE_6)
            self._is_jumping = False

    def _select_section(self, scrolled: int) -> None:
        """Select the section that is scrolled to in the list of sections."""
        if not self._cards or self._is_jumping:
            return
        # The last section may be too short to be scrolled to the top.
        at_the_end = scrolled >= self.sheet.verticalScrollBar().maximum()
        above = [index for index, card in enumerate(self._cards) if card.y() - 2 * SPACE_6 <= scrolled]
        current = len(self._cards) - 1 if at_the_end and scrolled else (above[-1] if above else 0)
        with QSignalBlocker(self.sections):
            self.sections.setCurrentRow(current)


def _with_label(title: str, widget: QWidget) -> QWidget:
    """Return a widget with a label above it, as forms show their fields."""
    row = QWidget()
    label = QLabel(title)
    label.setProperty("field", True)
    label.setBuddy(widget)
    column = QVBoxLayout(row)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(SPACE_1)
    column.addWidget(label)
    is_narrow = isinstance(widget, ComboField)
    column.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft if is_narrow else Qt.AlignmentFlag(0))
    return row
