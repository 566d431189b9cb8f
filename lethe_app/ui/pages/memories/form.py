"""Editor of a memory: content, category, recall mode, period, keywords and priority."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QLabel, QLineEdit, QVBoxLayout, QWidget

from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit, WordLink
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.labels.memories import format_kind
from lethe_app.ui.core.palette import SPACE_1, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import insertion_as_sentence, link_as_sentence
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.datetime_field import DateTimeField
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_small_label

TYPES_WITH_FILE = frozenset({MemoryType.IMAGE, MemoryType.FILE})
PERCENT = 100
MAX_CATEGORY_LENGTH = 200


class MemoryForm(QWidget):
    """Editor of a memory; `changed` carries a field name and its new value, and is emitted for input of the user only."""

    changed = Signal(str, object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._forms: list[Form] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_4)
        self._add_card(theme, "", _content_specs())
        self._add_card(theme, self.tr("Category and tags"), _category_specs())
        insertion = self._add_card(theme, self.tr("Recall"), _recall_specs())
        self.added_field = self._add_date_field(insertion, self.tr("Active from"), "added", "")
        self.end_field = self._add_date_field(insertion, self.tr("Active until"), "end_time", self.tr("Set end date"))
        self._add_card(theme, self.tr("Keywords"), _keyword_specs())
        self._add_card(theme, self.tr("Priority and position"), _priority_specs())
        self._usage_label = QLabel()
        self._usage_label.setProperty("small", True)
        self._usage_label.setWordWrap(True)
        self._column.addWidget(self._usage_label)
        self._categories = QStringListModel(self)
        category_field = self.field("filed_under")
        if isinstance(category_field, QLineEdit):
            category_field.setMaxLength(MAX_CATEGORY_LENGTH)
            category_field.setCompleter(self._build_completer(category_field))

    def show_memory(self, memory: MemoryUnit) -> None:
        """Show all fields of a memory without emitting `changed`."""
        values = memory.model_dump()
        for name in FIELD_NAMES:
            self.set_field(name, values[name])
        self._usage_label.setText(self._format_usage(memory))

    def set_field(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        """Show the value of a field without emitting `changed`."""
        if name == "added":
            self.added_field.set_value(value)
        elif name == "end_time":
            self.end_field.set_value(value)
        else:
            display_value = round(value * PERCENT) if name == "trigger_chance" else value
            for form in self._forms:
                if name in form.field_names:
                    form.set_field(name, display_value)
        self._update_visible_rows(name, value)

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

    def _add_card(self, theme: Theme, title: str, specs: Sequence[FieldSpec]) -> QVBoxLayout:
        card, column = create_card(title)
        form = Form(specs, theme)
        form.changed.connect(self._emit_changed)
        self._forms.append(form)
        column.addWidget(form)
        self._column.addWidget(card)
        return column

    def _add_date_field(self, column: QVBoxLayout, title: str, name: str, text: str) -> DateTimeField:
        field = DateTimeField(title, text)
        field.changed.connect(lambda moment: self.changed.emit(name, moment))
        label = QLabel(title)
        label.setProperty("field", True)
        label.setBuddy(field)
        block = QVBoxLayout()
        block.setSpacing(SPACE_1)
        block.addWidget(label)
        if name == "added":
            block.addWidget(build_small_label(self.tr("Set a future date to recall the memory only from then on.")))
        block.addWidget(field, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(block)
        return field

    def _emit_changed(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        self._update_visible_rows(name, value)
        self.changed.emit(name, value / PERCENT if name == "trigger_chance" else value)

    def _update_visible_rows(self, name: str, value: object) -> None:
        """Show or hide the fields that apply only to certain values of another field."""
        if name == "category":
            self._set_row_visible("path", is_shown=value in TYPES_WITH_FILE)
        if name == "keywords_secondary":
            self._set_row_visible("word_link", is_shown=bool(value))

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


FIELD_NAMES = (
    *("name", "content", "reason", "category", "path", "enabled", "insertion", "added", "end_time", "keywords_main"),
    *("filed_under", "tags", "needs_permission"),
    *("keywords_secondary", "word_link", "case_sensitive", "priority", "sticky", "protected", "duration", "trigger_chance"),
    "position_index",
)
"""Fields of the record that the editor shows."""


def field_title(name: str) -> str:
    """Return the label of a field, which also names its undo command."""
    moments = {
        "added": QCoreApplication.translate("MemoryForm", "Active from"),
        "end_time": QCoreApplication.translate("MemoryForm", "Active until"),
    }
    specs = (*_content_specs(), *_category_specs(), *_recall_specs(), *_keyword_specs(), *_priority_specs())
    return moments.get(name) or next(spec.title for spec in specs if spec.name == name)


def _content_specs() -> list[FieldSpec]:
    tr = QCoreApplication.translate
    kinds = [(kind, format_kind(kind)) for kind in MemoryType if kind is not MemoryType.CHAT_SESSION]
    return [
        FieldSpec("name", tr("MemoryForm", "Name")),
        FieldSpec("content", tr("MemoryForm", "Content"), FieldKind.TEXT_AREA, lines=4, max_lines=18),
        FieldSpec(
            "reason",
            tr("MemoryForm", "Why it matters"),
            FieldKind.TEXT_AREA,
            lines=2,
            max_lines=8,
            placeholder=tr("MemoryForm", "Sent to the model with the memory"),
        ),
        FieldSpec("category", tr("MemoryForm", "Type"), FieldKind.COMBO_BOX, choices=kinds),
        FieldSpec("path", tr("MemoryForm", "File path")),
        FieldSpec("enabled", tr("MemoryForm", "Enabled"), FieldKind.CHECKBOX),
    ]


def _category_specs() -> list[FieldSpec]:
    tr = QCoreApplication.translate
    return [
        FieldSpec(
            "filed_under",
            tr("MemoryForm", "Category"),
            FieldKind.TEXT,
            tr(
                "MemoryForm",
                "Category path with slashes for subcategories; the words of categories and tags recall the memory as well.",
            ),
            tr("MemoryForm", "family/sister"),
        ),
        FieldSpec("tags", tr("MemoryForm", "Tags"), FieldKind.TAGS, placeholder=tr("MemoryForm", "Type a word, press Enter")),
        FieldSpec("needs_permission", tr("MemoryForm", "Ask before acting on it"), FieldKind.CHECKBOX),
    ]


def _recall_specs() -> list[FieldSpec]:
    modes = [(way, insertion_as_sentence(way)) for way in MemoryInsertion]
    return [FieldSpec("insertion", QCoreApplication.translate("MemoryForm", "Recall mode"), FieldKind.COMBO_BOX, choices=modes)]


def _keyword_specs() -> list[FieldSpec]:
    tr = QCoreApplication.translate
    links = [(link, link_as_sentence(link)) for link in WordLink]
    placeholder = tr("MemoryForm", "Type a word, press Enter")
    return [
        FieldSpec(
            "keywords_main",
            tr("MemoryForm", "Keywords"),
            FieldKind.TAGS,
            tr("MemoryForm", "Recall the memory when one of these words is mentioned."),
            placeholder,
        ),
        FieldSpec("keywords_secondary", tr("MemoryForm", "Secondary keywords"), FieldKind.TAGS, placeholder=placeholder),
        FieldSpec("word_link", tr("MemoryForm", "Selective logic"), FieldKind.COMBO_BOX, choices=links),
        FieldSpec("case_sensitive", tr("MemoryForm", "Case-sensitive"), FieldKind.CHECKBOX),
    ]


def _priority_specs() -> list[FieldSpec]:
    tr = QCoreApplication.translate
    return [
        FieldSpec("sticky", tr("MemoryForm", "Always included"), FieldKind.CHECKBOX),
        FieldSpec(
            "protected",
            tr("MemoryForm", "Protected"),
            FieldKind.CHECKBOX,
            tr("MemoryForm", "Prevent automatic changes and removal."),
        ),
        FieldSpec(
            "priority",
            tr("MemoryForm", "Priority"),
            FieldKind.INTEGER,
            tr("MemoryForm", "Memories with a higher priority are recalled first."),
            minimum=-100,
        ),
        FieldSpec("duration", tr("MemoryForm", "Sticky (turns)"), FieldKind.INTEGER, minimum=1),
        FieldSpec("trigger_chance", tr("MemoryForm", "Probability"), FieldKind.INTEGER, maximum=PERCENT, step=5, unit="%"),
        FieldSpec(
            "position_index",
            tr("MemoryForm", "Insertion depth"),
            FieldKind.INTEGER,
            tr("MemoryForm", "Number of messages above the newest one; 0 = right next to it."),
            minimum=-1,
            maximum=1000,
            minimum_label=tr("MemoryForm", "system prompt"),
        ),
    ]
