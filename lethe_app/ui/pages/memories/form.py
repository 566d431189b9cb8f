"""Editor of a memory: content, category, recall mode, period, keywords and priority."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QStringListModel, Qt
from PySide6.QtWidgets import QCheckBox, QCompleter, QLineEdit, QPushButton, QWidget

from lethe_app.domain.memory import PERMISSION_KEY, TRUE, MemoryInsertion, MemoryType, MemoryUnit, WordLink
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.labels.memories import format_kind
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import insertion_as_sentence, link_as_sentence, tr
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_row

ADVANCED_KEYWORD_FIELDS = ("keywords_secondary", "word_link", "case_sensitive")
TYPES_WITH_FILE = frozenset({MemoryType.IMAGE, MemoryType.FILE})


class MemoryForm(Form):
    """Editor of a memory."""

    def __init__(self, theme: Theme, advanced_chip: QPushButton) -> None:
        """Create the editor; `advanced_chip` shows the fields that few people need."""
        super().__init__([], theme)
        self._advanced_cards: list[tuple[QWidget, list[str]]] = []
        """Cards of advanced fields, with the names of their fields."""
        self._memory = MemoryUnit()
        self.advanced_chip = advanced_chip
        advanced_chip.toggled.connect(lambda _is_on: self._show_advanced())
        self.changed.connect(self._update_visible_rows)
        self.column.addLayout(build_row((build_small_label(self.tr("Changes are saved as you type.")), 1), advanced_chip))
        self._add_fields("", "name content reason category path enabled")
        self._add_fields(self.tr("Recall"), "insertion sticky added end_time")
        self._add_fields(self.tr("Keywords"), "keywords_main keywords_secondary word_link case_sensitive")
        self._add_fields(self.tr("Category and tags"), "filed_under tags", is_advanced=True)
        priority = "protected priority duration trigger_chance position_index"
        self._add_fields(self.tr("Priority and position"), priority, is_advanced=True)
        self.permission_box = QCheckBox(self.tr("Ask before acting on it"))
        self.permission_box.clicked.connect(self._set_permission)
        self._add_fields("", "metadata", self.permission_box, is_advanced=True)
        self._usage_label = build_small_label("")
        self.column.addWidget(self._usage_label)
        self._categories = QStringListModel(self)
        category_field = self.field_widget("filed_under")
        if isinstance(category_field, QLineEdit):
            category_field.setCompleter(self._build_completer(category_field))

    def _add_fields(self, title: str, names: str, *above: QWidget, is_advanced: bool = False) -> None:
        card = self.add_card(title, list(map(_build_spec, names.split())), "", *above)
        if is_advanced:
            self._advanced_cards.append((card, names.split()))

    def show_memory(self, memory: MemoryUnit) -> None:
        """Show all fields of a memory without emitting `changed`."""
        self.show_values(memory.model_dump())
        self._memory = memory
        self._show_advanced()
        self._usage_label.setText(self._format_usage(memory))

    def set_field(self, name: str, value: object) -> None:
        self._memory = self._memory.model_copy(update={name: value})
        super().set_field(name, value)
        self._update_visible_rows(name, value)

    def _show_advanced(self) -> None:
        """Show the advanced fields if the user wants them, else only those that the memory has set when it is loaded."""
        for card, names in self._advanced_cards:
            card.setVisible(self.advanced_chip.isChecked() or self._has_set(names))
        is_shown = self.advanced_chip.isChecked() or self._has_set(ADVANCED_KEYWORD_FIELDS)
        for name in ADVANCED_KEYWORD_FIELDS:
            self.set_row_visible(name, is_shown and (name != "word_link" or bool(self._memory.keywords_secondary)))

    def _has_set(self, names: Iterable[str]) -> bool:
        """Return whether the memory differs from a new one in one of these fields."""
        new_memory = MemoryUnit()
        return any(getattr(self._memory, name) != getattr(new_memory, name) for name in names)

    def _set_permission(self, is_needed: bool) -> None:
        others = {name: value for name, value in self.value_of("metadata").items() if name != PERMISSION_KEY}
        values = {**others, PERMISSION_KEY: TRUE} if is_needed else others
        self.set_field("metadata", values)
        self.changed.emit("metadata", values)

    def set_categories(self, categories: Sequence[str]) -> None:
        """Set the completions of the category field."""
        self._categories.setStringList(list(categories))

    def _build_completer(self, field: QLineEdit) -> QCompleter:
        completer = QCompleter(self._categories, field)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(lambda text: self.changed.emit("filed_under", text))
        return completer

    def _update_visible_rows(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        """Show or hide the fields that apply only to certain values of another field."""
        if name == "category":
            self.set_row_visible("path", value in TYPES_WITH_FILE)
        if name == "keywords_secondary":
            self.set_row_visible("word_link", bool(value))
        if name == "metadata":
            self.permission_box.setChecked(value.get(PERMISSION_KEY) == TRUE)

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
        case "end_time":
            return replace(build_field_spec(MemoryUnit, name), placeholder=tr("Set end date"))
        case "content" | "reason":
            lines, max_lines = (4, 18) if name == "content" else (2, 8)
            return replace(build_field_spec(MemoryUnit, name), kind=FieldKind.TEXT_AREA, lines=lines, max_lines=max_lines)
    return build_field_spec(MemoryUnit, name)
