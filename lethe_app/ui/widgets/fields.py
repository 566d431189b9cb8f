"""Field widgets of a form, each built from a description (`FieldSpec`) of the value it edits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic.fields import FieldInfo
from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.multi_select import MultiSelect
from lethe_app.ui.widgets.tag_field import TagField
from lethe_app.ui.widgets.text_area import TextAreaField
from lethe_app.ui.widgets.text_list_field import TextListField


class FieldKind(StrEnum):
    """Kind of value and editor."""

    LINE = "line"
    """str, in a single line."""
    CODE = "code"
    r"""str, in a single line with `\n` for a line break."""
    PROSE = "prose"
    """str, in a text area that grows."""
    WORDS = "words"
    """list[str] of short texts, as chips."""
    TICKS = "ticks"
    """list[str] of the `choices` that are checked."""
    TEXTS = "texts"
    """list[str] of longer texts, each in its own text area."""
    WHOLE = "whole"
    """int from `lowest` to `highest`."""
    NUMBER = "number"
    """float from `lowest` to `highest`."""
    SWITCH = "switch"
    """bool, as a check box."""
    CHOICE = "choice"
    """One of `choices`, in a combo box."""


@dataclass(frozen=True)
class FieldSpec:
    """Description of a field: the attribute it edits, title, help text and kind of editor."""

    name: str
    title: str
    kind: FieldKind = FieldKind.LINE
    help: str = ""
    placeholder: str = ""
    choices: Sequence[tuple[Any, str]] = ()
    """Values with their labels, for `CHOICE` and `TICKS`; for `WORDS` the labels are suggestions."""
    lowest: float = 0
    highest: float = 1_000_000
    step: float = 1
    decimals: int = 2
    lines: int = 3
    most_lines: int = 14
    unit: str = ""
    special: str = ""
    """Text shown in place of the lowest number, such as “automatic”."""
    add_words: str = ""
    """Label of the button that adds a text, for `TEXTS`."""
    commas: bool = True
    """True if a comma ends a chip, for `WORDS`."""
    secret: bool = False
    """True to mask the text unless it is being edited, for `LINE`."""
    escapes: bool = False
    """True to escape line breaks as in `CODE`, for `WORDS`."""


@dataclass(frozen=True)
class Field:
    """Widget with getter and setter. The setter `put` does not call the callback given to `create_field`; changes by the user
    do.
    """

    widget: QWidget
    get: Callable[[], Any]
    put: Callable[[Any], None]


def create_field(spec: FieldSpec, theme: Theme, on_change: Callable[[Any], None]) -> Field:
    """Create the widget for `spec`. `on_change` is called with the new value after every change by the user."""
    field = _MAKERS[spec.kind](spec, theme, on_change)
    field.widget.setObjectName(f"field_{spec.name}")
    if not field.widget.accessibleName():
        field.widget.setAccessibleName(spec.title)
    if spec.help:
        field.widget.setAccessibleDescription(spec.help)
    return field


def _create_line_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = QLineEdit()
    if spec.secret:
        edit.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
    edit.setPlaceholderText(spec.placeholder)
    edit.textEdited.connect(on_change)

    def put(value: object) -> None:
        if edit.text() != value:
            edit.setText(str(value))

    return Field(edit, edit.text, put)


def _create_code_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = QLineEdit()
    edit.setPlaceholderText(spec.placeholder)
    edit.textEdited.connect(lambda text: on_change(unescape_text(text)))

    def put(value: object) -> None:
        if unescape_text(edit.text()) != value:
            edit.setText(escape_text(str(value)))

    return Field(edit, lambda: unescape_text(edit.text()), put)


def escape_text(text: str) -> str:
    """Escape line breaks, tabs and backslashes as in source code."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def unescape_text(text: str) -> str:
    """Revert `escape_text`; unknown escape sequences are kept as they are."""
    characters = {"n": "\n", "t": "\t", "\\": "\\"}
    return re.sub(r"\\(.)", lambda match: characters.get(match[1], match[0]), text)


def _create_prose_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TextAreaField(spec.title, spec.lines, spec.most_lines)
    edit.setPlaceholderText(spec.placeholder)
    edit.edited.connect(on_change)
    return Field(edit, lambda: edit.text, edit.set_text)


def _create_words_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TagField(spec.title, [words for _value, words in spec.choices], splits_at_commas=spec.commas)
    edit.set_placeholder(spec.placeholder)
    if not spec.escapes:
        edit.changed.connect(on_change)
        return Field(edit, lambda: edit.words, edit.set_words)
    edit.changed.connect(lambda words: on_change([unescape_text(word) for word in words]))
    return Field(
        edit,
        lambda: [unescape_text(word) for word in edit.words],
        lambda words: edit.set_words([escape_text(word) for word in words]),
    )


def _create_ticks_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    missing = QCoreApplication.translate("MultiSelect", "{name} (missing)")
    edit = MultiSelect(spec.title, QCoreApplication.translate("MultiSelect", "Nothing to choose from."), missing)
    edit.set_choices(spec.choices)
    edit.changed.connect(on_change)
    return Field(edit, lambda: edit.checked_values, edit.set_checked_values)


def _create_texts_field(spec: FieldSpec, theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TextListField(theme, spec.title, spec.add_words or QCoreApplication.translate("TextListField", "Add"), spec.lines)
    edit.changed.connect(on_change)
    return Field(edit, lambda: edit.texts, edit.set_texts)


def _create_integer_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    spin = NoWheelSpinBox()
    spin.setRange(int(spec.lowest), int(spec.highest))
    spin.setSingleStep(int(spec.step))
    _set_up_spin_box(spin, spec)
    spin.valueChanged.connect(on_change)

    def put(value: object) -> None:
        with QSignalBlocker(spin):
            spin.setValue(int(str(value)))

    return Field(spin, spin.value, put)


def _create_number_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    spin = NoWheelDoubleSpinBox()
    spin.setDecimals(spec.decimals)
    spin.setRange(spec.lowest, spec.highest)
    spin.setSingleStep(spec.step)
    _set_up_spin_box(spin, spec)
    spin.valueChanged.connect(on_change)

    def put(value: object) -> None:
        with QSignalBlocker(spin):
            spin.setValue(float(str(value)))

    return Field(spin, spin.value, put)


def _set_up_spin_box(spin: QSpinBox | QDoubleSpinBox, spec: FieldSpec) -> None:
    spin.setSuffix(f" {spec.unit}" if spec.unit else "")
    spin.setSpecialValueText(spec.special)
    spin.setKeyboardTracking(False)
    spin.lineEdit().setTextMargins(SPACE_2, 0, SPACE_2, 0)  # Qt does not apply the padding of the style sheet
    spin.setMinimumWidth(96)
    spin.setMaximumWidth(420)  # the text for the lowest number may be long


def _create_switch_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    box = QCheckBox(spec.title)
    box.toggled.connect(on_change)

    def put(value: object) -> None:
        with QSignalBlocker(box):
            box.setChecked(bool(value))

    return Field(box, box.isChecked, put)


def _create_choice_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    box = NoWheelComboBox()
    for value, words in spec.choices:
        box.addItem(words, value)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    box.setMaximumWidth(420)
    values = [value for value, _words in spec.choices]
    box.currentIndexChanged.connect(lambda place: on_change(values[place]) if 0 <= place < len(values) else None)

    def put(value: object) -> None:
        with QSignalBlocker(box):
            box.setCurrentIndex(values.index(value) if value in values else -1)

    return Field(box, lambda: values[box.currentIndex()] if box.currentIndex() >= 0 else None, put)


class IgnoresWheel:
    """Mixin that ignores the mouse wheel, so that scrolling the page does not change the value below the pointer."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class NoWheelSpinBox(IgnoresWheel, QSpinBox):
    """Spin box that ignores the mouse wheel."""


class NoWheelDoubleSpinBox(IgnoresWheel, QDoubleSpinBox):
    """Double spin box that ignores the mouse wheel."""


class NoWheelComboBox(IgnoresWheel, QComboBox):
    """Combo box that ignores the mouse wheel."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # By default the wheel would also give it the focus.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


_MAKERS: dict[FieldKind, Callable[[FieldSpec, Theme, Callable[[Any], None]], Field]] = {
    FieldKind.LINE: _create_line_field,
    FieldKind.CODE: _create_code_field,
    FieldKind.PROSE: _create_prose_field,
    FieldKind.WORDS: _create_words_field,
    FieldKind.TICKS: _create_ticks_field,
    FieldKind.TEXTS: _create_texts_field,
    FieldKind.WHOLE: _create_integer_field,
    FieldKind.NUMBER: _create_number_field,
    FieldKind.SWITCH: _create_switch_field,
    FieldKind.CHOICE: _create_choice_field,
}


def value_bounds(field_info: FieldInfo) -> tuple[float, float]:
    """Return the lowest and the highest value; 0 and a million if not declared."""
    lowest = next((found for part in field_info.metadata if (found := getattr(part, "ge", None)) is not None), 0)
    highest = next((found for part in field_info.metadata if (found := getattr(part, "le", None)) is not None), 1_000_000)
    return lowest, highest
