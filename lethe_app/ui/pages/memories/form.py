"""Editor of a memory: content, category, recall mode, period, keywords and priority."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QCompleter, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.memory import PERMISSION_KEY, TRUE, MemoryInsertion, MemoryType, MemoryUnit, WordLink
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.labels.memories import format_kind
from lethe_app.ui.core.palette import SPACE_1, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import insertion_as_sentence, link_as_sentence
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.datetime_field import DateTimeField
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row

ADVANCED_KEYWORD_FIELDS = ("keywords_secondary", "word_link", "case_sensitive")
TYPES_WITH_FILE = frozenset({MemoryType.IMAGE, MemoryType.FILE})


class MemoryForm(QWidget):
    """Editor of a memory; `changed` carries a field name and its new value, and is emitted for input of the user only."""

    changed = Signal(str, object)

    def __init__(self, theme: Theme, advanced_chip: QPushButton, parent: QWidget | None = None) -> None:
        """Create the editor; `advanced_chip` shows the fields that few people need."""
        super().__init__(parent)
        self._forms: list[Form] = []
        self._advanced_cards: list[tuple[QWidget, list[str]]] = []
        """Cards of advanced fields, with the names of their fields."""
        self._memory = MemoryUnit()
        self.advanced_chip = advanced_chip
        advanced_chip.toggled.connect(lambda _is_on: self._show_advanced())
        head = build_row((build_small_label(self.tr("Changes are saved as you type.")), 1), advanced_chip)
        self._column = build_column(head, spacing=SPACE_4, parent=self)
        self._add_card(theme, "", "name content reason category path enabled")
        recall = self._add_card(theme, self.tr("Recall"), "insertion sticky")
        self.added_field = self._add_date_field(recall, "added", "")
        self.end_field = self._add_date_field(recall, "end_time", self.tr("Set end date"))
        self._add_card(theme, self.tr("Keywords"), "keywords_main keywords_secondary word_link case_sensitive")
        self._add_card(theme, self.tr("Category and tags"), "filed_under tags", is_advanced=True)
        priority = "protected priority duration trigger_chance position_index"
        self._add_card(theme, self.tr("Priority and position"), priority, is_advanced=True)
        self.permission_box = QCheckBox(self.tr("Ask before acting on it"))
        self.permission_box.clicked.connect(self._set_permission)
        self._add_card(theme, "", "metadata", is_advanced=True).addWidget(self.permission_box)
        self._usage_label = build_small_label("")
        self._column.addWidget(self._usage_label)
        self._categories = QStringListModel(self)
        category_field = self.field("filed_under")
        if isinstance(category_field, QLineEdit):
            category_field.setCompleter(self._build_completer(category_field))

    def show_memory(self, memory: MemoryUnit) -> None:
        """Show all fields of a memory without emitting `changed`."""
        for name in ("added", "end_time", *(name for form in self._forms for name in form.field_names)):
            self.set_field(name, getattr(memory, name))
        self._memory = memory
        self._show_advanced()
        self._usage_label.setText(self._format_usage(memory))

    def set_field(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        """Show the value of a field without emitting `changed`."""
        self._memory = self._memory.model_copy(update={name: value})
        if name == "added":
            self.added_field.set_value(value)
        elif name == "end_time":
            self.end_field.set_value(value)
        else:
            for form in self._forms:
                if name in form.field_names:
                    form.set_field(name, value)
        self._update_visible_rows(name, value)

    def _show_advanced(self) -> None:
        """Show the advanced fields if the user wants them, else only those that the memory has set when it is loaded."""
        for card, names in self._advanced_cards:
            card.setVisible(self.advanced_chip.isChecked() or self._has_set(names))
        is_shown = self.advanced_chip.isChecked() or self._has_set(ADVANCED_KEYWORD_FIELDS)
        for name in ADVANCED_KEYWORD_FIELDS:
            self._set_row_visible(name, is_shown=is_shown and (name != "word_link" or bool(self._memory.keywords_secondary)))

    def _has_set(self, names: Iterable[str]) -> bool:
        """Return whether the memory differs from a new one in one of these fields."""
        new_memory = MemoryUnit()
        return any(getattr(self._memory, name) != getattr(new_memory, name) for name in names)

    def _set_permission(self, is_needed: bool) -> None:
        others = {name: value for name, value in self._metadata().items() if name != PERMISSION_KEY}
        values = {**others, PERMISSION_KEY: TRUE} if is_needed else others
        self.set_field("metadata", values)
        self.changed.emit("metadata", values)

    def _metadata(self) -> dict[str, str]:
        return next(dict(form.value_of("metadata")) for form in self._forms if "metadata" in form.field_names)

    def set_categories(self, categories: Sequence[str]) -> None:
        """Set the completions of the category field."""
        self._categories.setStringList(list(categories))

    def _build_completer(self, field: QLineEdit) -> QCompleter:
        completer = QCompleter(self._categories, field)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(lambda text: self._emit_changed("filed_under", text))
        return completer

    def field(self, name: str) -> QWidget:
        """Return the widget of a field."""
        date_fields: dict[str, QWidget] = {"added": self.added_field, "end_time": self.end_field}
        return date_fields.get(name) or next(form.field_widget(name) for form in self._forms if name in form.field_names)

    def _add_card(self, theme: Theme, title: str, names: str, *, is_advanced: bool = False) -> QVBoxLayout:
        card, column = create_card(title)
        if is_advanced:
            self._advanced_cards.append((card, names.split()))
        form = Form(list(map(_build_spec, names.split())), theme)
        form.changed.connect(self._emit_changed)
        self._forms.append(form)
        column.addWidget(form)
        self._column.addWidget(card)
        return column

    def _add_date_field(self, column: QVBoxLayout, name: str, checkbox_label: str) -> DateTimeField:
        spec = build_field_spec(MemoryUnit, name)
        field = DateTimeField(spec.title, checkbox_label)
        field.changed.connect(lambda moment: self.changed.emit(name, moment))
        label = QLabel(spec.title)
        label.setProperty("field", True)
        label.setBuddy(field)
        help_labels = [build_small_label(spec.help)] if spec.help else []
        column.addLayout(build_column(label, *help_labels, (field, 0, Qt.AlignmentFlag.AlignLeft), spacing=SPACE_1))
        return field

    def _emit_changed(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        self._update_visible_rows(name, value)
        self.changed.emit(name, value)

    def _update_visible_rows(self, name: str, value: object) -> None:
        """Show or hide the fields that apply only to certain values of another field."""
        if name == "category":
            self._set_row_visible("path", is_shown=value in TYPES_WITH_FILE)
        if name == "keywords_secondary":
            self._set_row_visible("word_link", is_shown=bool(value))
        if name == "metadata":
            self.permission_box.setChecked(self._metadata().get(PERMISSION_KEY) == TRUE)

    def _set_row_visible(self, name: str, *, is_shown: bool) -> None:
        for form in self._forms:
            if name in form.field_names:
                form.set_row_visible(name, is_shown)

    def _format_usage(self, memory: MemoryUnit) -> str:
        if not memory.trigger_count:
            return self.tr("Not recalled yet.")
        when = format_date_time(memory.last_trigger)
        if memory.trigger_count == 1:
            return self.tr("Recalled once, on {when}.").format(when=when)
        return self.tr("Recalled {n} times, last on {when}.").format(n=memory.trigger_count, when=when)


def _build_spec(name: str) -> FieldSpec:
    match name:
        case "category":
            kinds = [(kind, format_kind(kind)) for kind in MemoryType if kind is not MemoryType.CHAT_SESSION]
            return build_field_spec(MemoryUnit, name, kinds)
        case "insertion":
            return build_field_spec(MemoryUnit, name, [(mode, insertion_as_sentence(mode)) for mode in MemoryInsertion])
        case "word_link":
            return build_field_spec(MemoryUnit, name, [(link, link_as_sentence(link)) for link in WordLink])
        case "content" | "reason":
            lines, max_lines = (4, 18) if name == "content" else (2, 8)
            return replace(build_field_spec(MemoryUnit, name), kind=FieldKind.TEXT_AREA, lines=lines, max_lines=max_lines)
    return build_field_spec(MemoryUnit, name)
