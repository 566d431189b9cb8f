"""Editor of a memory: content, category, recall mode, period, keywords and priority."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QLabel, QLineEdit, QVBoxLayout, QWidget

from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit, WordLink
from lethe_app.ui.core.palette import SPACE_1, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import insertion_as_sentence, kind_in_words, link_as_sentence, moment_in_words
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.widgets.card_column import made_card
from lethe_app.ui.widgets.datetime_field import DateTimeField
from lethe_app.ui.widgets.fields import FieldKind, Spec
from lethe_app.ui.widgets.form import Form

WITH_FILE = frozenset({MemoryType.IMAGE, MemoryType.FILE})
PERCENT = 100
LONGEST_CATEGORY = 200


class MemoryForm(QWidget):
    """Editor of a memory; `changed` carries a field name and its new value, and is emitted for input of the user only."""

    changed = Signal(str, object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._forms: list[Form] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_4)
        self._card(theme, "", _content())
        self._card(theme, self.tr("Category and tags"), _filed())
        insertion = self._card(theme, self.tr("Recall"), _insertion())
        self.added = self._moment(insertion, self.tr("Active from"), "added", "")
        self.end = self._moment(insertion, self.tr("Active until"), "end_time", self.tr("Set end date"))
        self._card(theme, self.tr("Keywords"), _keywords())
        self._card(theme, self.tr("Priority and position"), _weight())
        self._life = QLabel()
        self._life.setProperty("small", True)
        self._life.setWordWrap(True)
        self._column.addWidget(self._life)
        self._categories = QStringListModel(self)
        filed = self.field("filed_under")
        if isinstance(filed, QLineEdit):
            filed.setMaxLength(LONGEST_CATEGORY)
            filed.setCompleter(self._completer(filed))

    def show_memory(self, memory: MemoryUnit) -> None:
        """Show all fields of a memory without emitting `changed`."""
        values = memory.model_dump()
        for name in Names:
            self.set_field(name, values[name])
        self._life.setText(self._told(memory))

    def set_field(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        """Show the value of a field without emitting `changed`."""
        if name == "added":
            self.added.set_value(value)
        elif name == "end_time":
            self.end.set_value(value)
        else:
            shown = round(value * PERCENT) if name == "trigger_chance" else value
            for form in self._forms:
                if name in form.names:
                    form.set_field(name, shown)
        self._follow(name, value)

    def suggest(self, categories: Sequence[str]) -> None:
        """Set the completions of the category field."""
        self._categories.setStringList(list(categories))

    def _completer(self, field: QLineEdit) -> QCompleter:
        completer = QCompleter(self._categories, field)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(lambda text: self._tell("filed_under", text))
        return completer

    def field(self, name: str) -> QWidget:
        """Return the widget of a field."""
        moments: dict[str, QWidget] = {"added": self.added, "end_time": self.end}
        return moments.get(name) or next(form.field(name) for form in self._forms if name in form.names)

    def _card(self, theme: Theme, title: str, specs: Sequence[Spec]) -> QVBoxLayout:
        card, column = made_card(title)
        form = Form(specs, theme)
        form.changed.connect(self._tell)
        self._forms.append(form)
        column.addWidget(form)
        self._column.addWidget(card)
        return column

    def _moment(self, column: QVBoxLayout, title: str, name: str, words: str) -> DateTimeField:
        field = DateTimeField(title, words)
        field.changed.connect(lambda moment: self.changed.emit(name, moment))
        label = QLabel(title)
        label.setProperty("field", True)
        label.setBuddy(field)
        block = QVBoxLayout()
        block.setSpacing(SPACE_1)
        block.addWidget(label)
        if name == "added":
            block.addWidget(explanation(self.tr("Set a future date to recall the memory only from then on.")))
        block.addWidget(field, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(block)
        return field

    def _tell(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        self._follow(name, value)
        self.changed.emit(name, value / PERCENT if name == "trigger_chance" else value)

    def _follow(self, name: str, value: object) -> None:
        """Show or hide the fields that apply only to certain values of another field."""
        if name == "category":
            self._row("path", shown=value in WITH_FILE)
        if name == "keywords_secondary":
            self._row("word_link", shown=bool(value))

    def _row(self, name: str, *, shown: bool) -> None:
        for form in self._forms:
            if name in form.names:
                form.set_row_visible(name, shown)

    def _told(self, memory: MemoryUnit) -> str:
        if not memory.trigger_count:
            return self.tr("Not recalled yet.")
        when = moment_in_words(memory.last_trigger)
        if memory.trigger_count == 1:
            return self.tr("Recalled once, on {when}.").format(when=when)
        return self.tr("Recalled {n} times, last on {when}.").format(n=memory.trigger_count, when=when)


Names = (
    *("name", "content", "reason", "category", "path", "enabled", "insertion", "added", "end_time", "keywords_main"),
    *("filed_under", "tags", "needs_permission"),
    *("keywords_secondary", "word_link", "case_sensitive", "priority", "sticky", "protected", "duration", "trigger_chance"),
    "position_index",
)
"""Fields of the record that the editor shows."""


def title_of_field(name: str) -> str:
    """Return the label of a field, which also names its undo command."""
    moments = {
        "added": QCoreApplication.translate("MemoryForm", "Active from"),
        "end_time": QCoreApplication.translate("MemoryForm", "Active until"),
    }
    specs = (*_content(), *_filed(), *_insertion(), *_keywords(), *_weight())
    return moments.get(name) or next(spec.title for spec in specs if spec.name == name)


def _content() -> list[Spec]:
    tr = QCoreApplication.translate
    kinds = [(kind, kind_in_words(kind)) for kind in MemoryType if kind is not MemoryType.CHAT_SESSION]
    return [
        Spec("name", tr("MemoryForm", "Name")),
        Spec("content", tr("MemoryForm", "Content"), FieldKind.PROSE, lines=4, most_lines=18),
        Spec(
            "reason",
            tr("MemoryForm", "Why it matters"),
            FieldKind.PROSE,
            lines=2,
            most_lines=8,
            placeholder=tr("MemoryForm", "Sent to the model with the memory"),
        ),
        Spec("category", tr("MemoryForm", "Type"), FieldKind.CHOICE, choices=kinds),
        Spec("path", tr("MemoryForm", "File path")),
        Spec("enabled", tr("MemoryForm", "Enabled"), FieldKind.SWITCH),
    ]


def _filed() -> list[Spec]:
    tr = QCoreApplication.translate
    return [
        Spec(
            "filed_under",
            tr("MemoryForm", "Category"),
            FieldKind.LINE,
            tr(
                "MemoryForm",
                "Category path with slashes for subcategories; the words of categories and tags recall the memory as well.",
            ),
            tr("MemoryForm", "family/sister"),
        ),
        Spec("tags", tr("MemoryForm", "Tags"), FieldKind.WORDS, placeholder=tr("MemoryForm", "Type a word, press Enter")),
        Spec("needs_permission", tr("MemoryForm", "Ask before acting on it"), FieldKind.SWITCH),
    ]


def _insertion() -> list[Spec]:
    ways = [(way, insertion_as_sentence(way)) for way in MemoryInsertion]
    return [Spec("insertion", QCoreApplication.translate("MemoryForm", "Recall mode"), FieldKind.CHOICE, choices=ways)]


def _keywords() -> list[Spec]:
    tr = QCoreApplication.translate
    links = [(link, link_as_sentence(link)) for link in WordLink]
    placeholder = tr("MemoryForm", "Type a word, press Enter")
    return [
        Spec(
            "keywords_main",
            tr("MemoryForm", "Keywords"),
            FieldKind.WORDS,
            tr("MemoryForm", "Recall the memory when one of these words is mentioned."),
            placeholder,
        ),
        Spec("keywords_secondary", tr("MemoryForm", "Secondary keywords"), FieldKind.WORDS, placeholder=placeholder),
        Spec("word_link", tr("MemoryForm", "Selective logic"), FieldKind.CHOICE, choices=links),
        Spec("case_sensitive", tr("MemoryForm", "Case-sensitive"), FieldKind.SWITCH),
    ]


def _weight() -> list[Spec]:
    tr = QCoreApplication.translate
    return [
        Spec("sticky", tr("MemoryForm", "Always included"), FieldKind.SWITCH),
        Spec(
            "protected",
            tr("MemoryForm", "Protected"),
            FieldKind.SWITCH,
            tr("MemoryForm", "Prevent automatic changes and removal."),
        ),
        Spec(
            "priority",
            tr("MemoryForm", "Priority"),
            FieldKind.WHOLE,
            tr("MemoryForm", "Memories with a higher priority are recalled first."),
            lowest=-100,
        ),
        Spec("duration", tr("MemoryForm", "Sticky (turns)"), FieldKind.WHOLE, lowest=1),
        Spec("trigger_chance", tr("MemoryForm", "Probability"), FieldKind.WHOLE, highest=PERCENT, step=5, unit="%"),
        Spec(
            "position_index",
            tr("MemoryForm", "Insertion depth"),
            FieldKind.WHOLE,
            tr("MemoryForm", "Number of messages above the newest one; 0 = right next to it."),
            lowest=-1,
            highest=1000,
            special=tr("MemoryForm", "system prompt"),
        ),
    ]
