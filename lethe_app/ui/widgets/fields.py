"""What a form is made of: one description for each field, and the widget that shows and changes its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.multi_select import Ticks
from lethe_app.ui.widgets.tag_field import WordsField
from lethe_app.ui.widgets.text_area import ProseField
from lethe_app.ui.widgets.text_list_field import TextsField


class FieldKind(StrEnum):
    """How a value is shown and changed."""

    LINE = "line"
    """str in one line."""
    CODE = "code"
    """str in one line, in which `\\n` stands for a new line."""
    PROSE = "prose"
    """str in a field that grows."""
    WORDS = "words"
    """list[str] of short words, as chips."""
    TICKS = "ticks"
    """list[str] of values, those of `choices` that are ticked."""
    TEXTS = "texts"
    """list[str] of texts, each in a field of its own."""
    WHOLE = "whole"
    """int between `lowest` and `highest`."""
    NUMBER = "number"
    """float between `lowest` and `highest`."""
    SWITCH = "switch"
    """bool."""
    CHOICE = "choice"
    """One of `choices`."""


@dataclass(frozen=True)
class Spec:
    """One field: the attribute it shows, its title and a sentence of help, and how it is shown."""

    name: str
    title: str
    kind: FieldKind = FieldKind.LINE
    help: str = ""
    placeholder: str = ""
    choices: Sequence[tuple[Any, str]] = ()
    """Value and words, for `CHOICE` and `TICKS`; for `WORDS` the words are suggestions."""
    lowest: float = 0
    highest: float = 1_000_000
    step: float = 1
    decimals: int = 2
    lines: int = 3
    most_lines: int = 14
    unit: str = ""
    special: str = ""
    """What stands there instead of the lowest number, such as “automatic”."""
    add_words: str = ""
    """On the button that adds a text, for `TEXTS`."""
    commas: bool = True
    """Do commas end a word, for `WORDS`?"""
    secret: bool = False
    """Shown as dots unless it is being written, for `LINE`."""
    escapes: bool = False
    """Is a new line written as in `CODE`, for `WORDS`?"""


@dataclass(frozen=True)
class Field:
    """A widget with its two directions; `put` is silent, what the user does calls the callback given to `make`."""

    widget: QWidget
    get: Callable[[], Any]
    put: Callable[[Any], None]


def make(spec: Spec, theme: Theme, told: Callable[[Any], None]) -> Field:
    """The widget for `spec`; `told` is called with the new value whenever the user changed it."""
    made = _MAKERS[spec.kind](spec, theme, told)
    made.widget.setObjectName(f"field_{spec.name}")
    if not made.widget.accessibleName():
        made.widget.setAccessibleName(spec.title)
    if spec.help:
        made.widget.setAccessibleDescription(spec.help)
    return made


def _line(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    edit = QLineEdit()
    if spec.secret:
        edit.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
    edit.setPlaceholderText(spec.placeholder)
    edit.textEdited.connect(told)

    def put(value: object) -> None:
        if edit.text() != value:
            edit.setText(str(value))

    return Field(edit, edit.text, put)


def _code(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    edit = QLineEdit()
    edit.setPlaceholderText(spec.placeholder)
    edit.textEdited.connect(lambda text: told(unescaped(text)))

    def put(value: object) -> None:
        if unescaped(edit.text()) != value:
            edit.setText(escaped(str(value)))

    return Field(edit, lambda: unescaped(edit.text()), put)


def escaped(text: str) -> str:
    """New lines, tabs and backslashes as they are written in code."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def unescaped(text: str) -> str:
    """What `escaped` made."""
    meant = {"n": "\n", "t": "\t", "\\": "\\"}
    return re.sub(r"\\(.)", lambda match: meant.get(match[1], match[0]), text)


def _prose(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    edit = ProseField(spec.title, spec.lines, spec.most_lines)
    edit.setPlaceholderText(spec.placeholder)
    edit.edited.connect(told)
    return Field(edit, lambda: edit.text, edit.set_text)


def _words(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    edit = WordsField(spec.title, [words for _value, words in spec.choices], commas=spec.commas)
    edit.set_placeholder(spec.placeholder)
    if not spec.escapes:
        edit.changed.connect(told)
        return Field(edit, lambda: edit.words, edit.set_words)
    edit.changed.connect(lambda words: told([unescaped(word) for word in words]))
    return Field(
        edit,
        lambda: [unescaped(word) for word in edit.words],
        lambda words: edit.set_words([escaped(word) for word in words]),
    )


def _ticks(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    missing = QCoreApplication.translate("Ticks", "{name} (no longer there)")
    edit = Ticks(spec.title, QCoreApplication.translate("Ticks", "There is nothing to choose from."), missing)
    edit.offer(spec.choices)
    edit.changed.connect(told)
    return Field(edit, lambda: edit.chosen, edit.set_chosen)


def _texts(spec: Spec, theme: Theme, told: Callable[[Any], None]) -> Field:
    edit = TextsField(theme, spec.title, spec.add_words or QCoreApplication.translate("TextsField", "Add one"), spec.lines)
    edit.changed.connect(told)
    return Field(edit, lambda: edit.texts, edit.set_texts)


def _whole(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    spin = NoWheelSpinBox()
    spin.setRange(int(spec.lowest), int(spec.highest))
    spin.setSingleStep(int(spec.step))
    _finish(spin, spec)
    spin.valueChanged.connect(told)

    def put(value: object) -> None:
        with QSignalBlocker(spin):
            spin.setValue(int(str(value)))

    return Field(spin, spin.value, put)


def _number(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    spin = NoWheelDoubleSpinBox()
    spin.setDecimals(spec.decimals)
    spin.setRange(spec.lowest, spec.highest)
    spin.setSingleStep(spec.step)
    _finish(spin, spec)
    spin.valueChanged.connect(told)

    def put(value: object) -> None:
        with QSignalBlocker(spin):
            spin.setValue(float(str(value)))

    return Field(spin, spin.value, put)


def _finish(spin: QSpinBox | QDoubleSpinBox, spec: Spec) -> None:
    spin.setSuffix(f" {spec.unit}" if spec.unit else "")
    spin.setSpecialValueText(spec.special)
    spin.setKeyboardTracking(False)
    spin.lineEdit().setTextMargins(SPACE_2, 0, SPACE_2, 0)  # Qt forgets the style sheet's own
    spin.setMinimumWidth(96)
    spin.setMaximumWidth(420)  # in large type the words for the lowest number are long


def _switch(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    box = QCheckBox(spec.title)
    box.toggled.connect(told)

    def put(value: object) -> None:
        with QSignalBlocker(box):
            box.setChecked(bool(value))

    return Field(box, box.isChecked, put)


def _choice(spec: Spec, _theme: Theme, told: Callable[[Any], None]) -> Field:
    box = NoWheelComboBox()
    for value, words in spec.choices:
        box.addItem(words, value)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    box.setMaximumWidth(420)
    values = [value for value, _words in spec.choices]
    box.currentIndexChanged.connect(lambda place: told(values[place]) if 0 <= place < len(values) else None)

    def put(value: object) -> None:
        with QSignalBlocker(box):
            box.setCurrentIndex(values.index(value) if value in values else -1)

    return Field(box, lambda: values[box.currentIndex()] if box.currentIndex() >= 0 else None, put)


class NoWheelSpinBox(QSpinBox):
    """The wheel scrolls the page and changes no number under the pointer."""

    def wheelEvent(self, event: Any) -> None:  # noqa: ANN401 - Qt's own type
        event.ignore()


class NoWheelDoubleSpinBox(QDoubleSpinBox):
    """See `NoWheelSpinBox`."""

    def wheelEvent(self, event: Any) -> None:  # noqa: ANN401 - Qt's own type
        event.ignore()


class NoWheelComboBox(QComboBox):
    """See `NoWheelSpinBox`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: Any) -> None:  # noqa: ANN401 - Qt's own type
        event.ignore()


_MAKERS: dict[FieldKind, Callable[[Spec, Theme, Callable[[Any], None]], Field]] = {
    FieldKind.LINE: _line,
    FieldKind.CODE: _code,
    FieldKind.PROSE: _prose,
    FieldKind.WORDS: _words,
    FieldKind.TICKS: _ticks,
    FieldKind.TEXTS: _texts,
    FieldKind.WHOLE: _whole,
    FieldKind.NUMBER: _number,
    FieldKind.SWITCH: _switch,
    FieldKind.CHOICE: _choice,
}
