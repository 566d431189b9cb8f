"""One memory with everything that can be said about it, in words: what it is, when it comes to mind, and for how long."""

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
    """`changed` carries a field of the record and its new value, and comes for what the user did only."""

    changed = Signal(str, object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._forms: list[Form] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_4)
        self._card(theme, "", _content())
        self._card(theme, self.tr("Where it is filed"), _filed())
        insertion = self._card(theme, self.tr("When it comes to mind"), _insertion())
        self.added = self._moment(insertion, self.tr("From"), "added", "")
        self.end = self._moment(insertion, self.tr("Until"), "end_time", self.tr("It ends"))
        self._card(theme, self.tr("Words that wake it"), _keywords())
        self._card(theme, self.tr("How much it matters"), _weight())
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
        """Show all of it, silently."""
        values = memory.model_dump()
        for name in Names:
            self.set_field(name, values[name])
        self._life.setText(self._told(memory))

    def set_field(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        """Show one value, silently."""
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
        """Categories there are, to be taken where another memory is filed."""
        self._categories.setStringList(list(categories))

    def _completer(self, field: QLineEdit) -> QCompleter:
        completer = QCompleter(self._categories, field)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(lambda text: self._tell("filed_under", text))
        return completer

    def field(self, name: str) -> QWidget:
        """The widget of a field, for focus."""
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
            block.addWidget(explanation(self.tr("A day to come keeps it silent until then.")))
        block.addWidget(field, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(block)
        return field

    def _tell(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        self._follow(name, value)
        self.changed.emit(name, value / PERCENT if name == "trigger_chance" else value)

    def _follow(self, name: str, value: object) -> None:
        """Fields that mean nothing beside the others are not shown."""
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
            return self.tr("It has not come to mind yet.")
        when = moment_in_words(memory.last_trigger)
        if memory.trigger_count == 1:
            return self.tr("It came to mind once, on {when}.").format(when=when)
        return self.tr("It came to mind {n} times, last on {when}.").format(n=memory.trigger_count, when=when)


Names = (
    *("name", "content", "reason", "category", "path", "enabled", "insertion", "added", "end_time", "keywords_main"),
    *("filed_under", "tags", "needs_permission"),
    *("keywords_secondary", "word_link", "case_sensitive", "priority", "sticky", "protected", "duration", "trigger_chance"),
    "position_index",
)
"""Every field that can be seen and changed."""


def title_of_field(name: str) -> str:
    """What the undo button calls a change of it."""
    moments = {
        "added": QCoreApplication.translate("MemoryForm", "From"),
        "end_time": QCoreApplication.translate("MemoryForm", "Until"),
    }
    specs = (*_content(), *_filed(), *_insertion(), *_keywords(), *_weight())
    return moments.get(name) or next(spec.title for spec in specs if spec.name == name)


def _content() -> list[Spec]:
    tr = QCoreApplication.translate
    kinds = [(kind, kind_in_words(kind)) for kind in MemoryType if kind is not MemoryType.CHAT_SESSION]
    return [
        Spec("name", tr("MemoryForm", "Name")),
        Spec("content", tr("MemoryForm", "What is remembered"), FieldKind.PROSE, lines=4, most_lines=18),
        Spec(
            "reason",
            tr("MemoryForm", "Why it matters"),
            FieldKind.PROSE,
            lines=2,
            most_lines=8,
            placeholder=tr("MemoryForm", "It is told along with the memory"),
        ),
        Spec("category", tr("MemoryForm", "Kind"), FieldKind.CHOICE, choices=kinds),
        Spec("path", tr("MemoryForm", "File behind it")),
        Spec("enabled", tr("MemoryForm", "Switched on"), FieldKind.SWITCH),
    ]


def _filed() -> list[Spec]:
    tr = QCoreApplication.translate
    return [
        Spec(
            "filed_under",
            tr("MemoryForm", "Category"),
            FieldKind.LINE,
            tr("MemoryForm", "With a slash before a part of it. Its words and those of the tags bring it to mind, too."),
            tr("MemoryForm", "family/sister"),
        ),
        Spec("tags", tr("MemoryForm", "Tags"), FieldKind.WORDS, placeholder=tr("MemoryForm", "A word, then Enter")),
        Spec("needs_permission", tr("MemoryForm", "You are to be asked before it is acted on"), FieldKind.SWITCH),
    ]


def _insertion() -> list[Spec]:
    ways = [(way, insertion_as_sentence(way)) for way in MemoryInsertion]
    return [Spec("insertion", QCoreApplication.translate("MemoryForm", "It comes to mind"), FieldKind.CHOICE, choices=ways)]


def _keywords() -> list[Spec]:
    tr = QCoreApplication.translate
    links = [(link, link_as_sentence(link)) for link in WordLink]
    placeholder = tr("MemoryForm", "A word, then Enter")
    return [
        Spec(
            "keywords_main",
            tr("MemoryForm", "Keywords"),
            FieldKind.WORDS,
            tr("MemoryForm", "Saying one of them brings it to mind."),
            placeholder,
        ),
        Spec("keywords_secondary", tr("MemoryForm", "Further keywords"), FieldKind.WORDS, placeholder=placeholder),
        Spec("word_link", tr("MemoryForm", "Together"), FieldKind.CHOICE, choices=links),
        Spec("case_sensitive", tr("MemoryForm", "Capitals matter"), FieldKind.SWITCH),
    ]


def _weight() -> list[Spec]:
    tr = QCoreApplication.translate
    return [
        Spec("sticky", tr("MemoryForm", "Always in mind"), FieldKind.SWITCH),
        Spec("protected", tr("MemoryForm", "Protected: only you change or forget it"), FieldKind.SWITCH),
        Spec(
            "priority", tr("MemoryForm", "Priority"), FieldKind.WHOLE, tr("MemoryForm", "The higher, the earlier."), lowest=-100
        ),
        Spec("duration", tr("MemoryForm", "Turns it stays in mind"), FieldKind.WHOLE, lowest=1),
        Spec("trigger_chance", tr("MemoryForm", "Chance that it comes"), FieldKind.WHOLE, highest=PERCENT, step=5, unit="%"),
        Spec(
            "position_index",
            tr("MemoryForm", "Where it is told"),
            FieldKind.WHOLE,
            tr("MemoryForm", "Messages above the newest one; 0 is right beside it."),
            lowest=-1,
            highest=1000,
            special=tr("MemoryForm", "with the instructions"),
        ),
    ]
