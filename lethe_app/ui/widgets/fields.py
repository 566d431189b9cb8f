"""Field widgets of a form, each built from a description (`FieldSpec`) of the value it edits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
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


class FieldKind(Enum):
    """Kind of value and editor."""

    TEXT = auto()
    """str, in a single line."""
    ESCAPED_TEXT = auto()
    r"""str, in a single line with `\n` for a line break."""
    TEXT_AREA = auto()
    """str, in a text area that grows."""
    TAGS = auto()
    """list[str] of short texts, as chips."""
    CHECKBOXES = auto()
    """list[str] of the `choices` that are checked."""
    TEXT_LIST = auto()
    """list[str] of longer texts, each in its own text area."""
    INTEGER = auto()
    """int from `minimum` to `maximum`."""
    FLOAT = auto()
    """float from `minimum` to `maximum`."""
    CHECKBOX = auto()
    """bool, as a check box."""
    COMBO_BOX = auto()
    """One of `choices`, in a combo box."""


@dataclass(frozen=True)
class FieldSpec:
    """Description of a field: the attribute it edits, title, help text and kind of editor."""

    name: str
    title: str
    kind: FieldKind = FieldKind.TEXT
    help: str = ""
    placeholder: str = ""
    choices: Sequence[tuple[Any, str]] = ()
    """Values with their labels, for `COMBO_BOX` and `CHECKBOXES`; for `TAGS` the labels are suggestions."""
    minimum: float = 0
    maximum: float = 1_000_000
    step: float = 1
    decimals: int = 2
    lines: int = 3
    max_lines: int = 14
    unit: str = ""
    minimum_label: str = ""
    """Text shown in place of the minimum, such as “automatic”."""
    add_label: str = ""
    """Label of the button that adds a text, for `TEXT_LIST`."""
    splits_at_commas: bool = True
    """True if a comma ends a chip, for `TAGS`."""
    secret: bool = False
    """True to mask the text unless it is being edited, for `TEXT`."""
    escapes: bool = False
    """True to escape line breaks as in `ESCAPED_TEXT`, for `TAGS`."""


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
    field = _BUILDERS[spec.kind](spec, theme, on_change)
    field.widget.setObjectName(f"field_{spec.name}")
    if not field.widget.accessibleName():
        field.widget.setAccessibleName(spec.title)
    if spec.help:
        field.widget.setAccessibleDescription(spec.help)
    return field


def _create_text_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = QLineEdit()
    if spec.secret:
        edit.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
    edit.setPlaceholderText(spec.placeholder)
    edit.textEdited.connect(on_change)

    def put(value: object) -> None:
        if edit.text() != value:
            edit.setText(str(value))

    return Field(edit, edit.text, put)


def _create_escaped_text_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
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


def _create_text_area(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TextAreaField(spec.title, spec.lines, spec.max_lines)
    edit.setPlaceholderText(spec.placeholder)
    edit.edited.connect(on_change)
    return Field(edit, lambda: edit.text, edit.set_text)


def _create_tag_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TagField(spec.title, [words for _value, words in spec.choices], splits_at_commas=spec.splits_at_commas)
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


def _create_checkboxes(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    missing = QCoreApplication.translate("MultiSelect", "{name} (missing)")
    edit = MultiSelect(spec.title, QCoreApplication.translate("MultiSelect", "Nothing to choose from."), missing)
    edit.set_choices(spec.choices)
    edit.changed.connect(on_change)
    return Field(edit, lambda: edit.checked_values, edit.set_checked_values)


def _create_text_list(spec: FieldSpec, theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TextListField(theme, spec.title, spec.add_label or QCoreApplication.translate("TextListField", "Add"), spec.lines)
    edit.changed.connect(on_change)
    return Field(edit, lambda: edit.texts, edit.set_texts)


def _create_integer_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    spin = NoWheelSpinBox()
    spin.setRange(int(spec.minimum), int(spec.maximum))
    spin.setSingleStep(int(spec.step))
    _set_up_spin_box(spin, spec)
    spin.valueChanged.connect(on_change)

    def put(value: object) -> None:
        with QSignalBlocker(spin):
            spin.setValue(int(str(value)))

    return Field(spin, spin.value, put)


def _create_float_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    spin = NoWheelDoubleSpinBox()
    spin.setDecimals(spec.decimals)
    spin.setRange(spec.minimum, spec.maximum)
    spin.setSingleStep(spec.step)
    _set_up_spin_box(spin, spec)
    spin.valueChanged.connect(on_change)

    def put(value: object) -> None:
        with QSignalBlocker(spin):
            spin.setValue(float(str(value)))

    return Field(spin, spin.value, put)


def _set_up_spin_box(spin: QSpinBox | QDoubleSpinBox, spec: FieldSpec) -> None:
    spin.setSuffix(f" {spec.unit}" if spec.unit else "")
    spin.setSpecialValueText(spec.minimum_label)
    spin.setKeyboardTracking(False)
    spin.lineEdit().setTextMargins(SPACE_2, 0, SPACE_2, 0)  # Qt does not apply the padding of the style sheet
    spin.setMinimumWidth(96)
    spin.setMaximumWidth(420)  # the text for the lowest number may be long


def _create_checkbox(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    box = QCheckBox(spec.title)
    box.toggled.connect(on_change)

    def put(value: object) -> None:
        with QSignalBlocker(box):
            box.setChecked(bool(value))

    return Field(box, box.isChecked, put)


def _create_combo_box(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
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


_BUILDERS: dict[FieldKind, Callable[[FieldSpec, Theme, Callable[[Any], None]], Field]] = {
    FieldKind.TEXT: _create_text_field,
    FieldKind.ESCAPED_TEXT: _create_escaped_text_field,
    FieldKind.TEXT_AREA: _create_text_area,
    FieldKind.TAGS: _create_tag_field,
    FieldKind.CHECKBOXES: _create_checkboxes,
    FieldKind.TEXT_LIST: _create_text_list,
    FieldKind.INTEGER: _create_integer_field,
    FieldKind.FLOAT: _create_float_field,
    FieldKind.CHECKBOX: _create_checkbox,
    FieldKind.COMBO_BOX: _create_combo_box,
}


def value_bounds(field_info: FieldInfo) -> tuple[float, float]:
    """Return the lowest and the highest value; 0 and a million if not declared."""
    lowest = next((found for part in field_info.metadata if (found := getattr(part, "ge", None)) is not None), 0)
    highest = next((found for part in field_info.metadata if (found := getattr(part, "le", None)) is not None), 1_000_000)
    return lowest, highest
