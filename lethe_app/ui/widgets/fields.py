"""Field widgets of a form, each built from a description (`FieldSpec`) of the value it edits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import NoneType
from typing import Any, get_args

from pydantic import AwareDatetime, BaseModel
from PySide6.QtCore import QCoreApplication, QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from lethe_app.ui.core.labels.fields import field_title, translate_text
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.datetime_field import DateTimeField
from lethe_app.ui.widgets.multi_select import MultiSelect
from lethe_app.ui.widgets.row_fields import KeyValueField, TextListField
from lethe_app.ui.widgets.tag_field import TagField
from lethe_app.ui.widgets.text_area import TextAreaField
from lethe_app.ui.widgets.wheel import IgnoresWheel

MIN_COMBO_WIDTH = 120
"""Minimum width of a combo box in pixels; the text of the current choice is elided."""


class FieldKind(Enum):
    """Kind of value and editor."""

    TEXT = auto()
    """str, in a single line."""
    ESCAPED_TEXT = auto()
    r"""str, in a single line with `\n` for a line break."""
    NUMBERS_BY_NAME = auto()
    """dict[str, float], in a single line: “journal: 6, dream: 24”."""
    KEY_VALUES = auto()
    """dict[str, str], as a table."""
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
    PERCENT = auto()
    """float from 0 to 1, as an integer from `minimum` to `maximum` percent."""
    CHECKBOX = auto()
    """bool, as a check box."""
    COMBO_BOX = auto()
    """One of `choices`, in a combo box."""
    OPTIONAL_CHOICE = auto()
    """str, one of the choices that are set later, or empty, with `placeholder` as label."""
    MOMENT = auto()
    """datetime; None as well if there is a `placeholder`, the label of the check box that sets one."""


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
    is_optional: bool = False
    """True if the minimum or an empty text stands for None, for `INTEGER` and `ESCAPED_TEXT`."""
    max_length: int = 32767
    """Maximum length of a text in a single line, by default Qt's own."""
    add_label: str = ""
    """Label of the button that adds a text, for `TEXT_LIST`."""
    template_label: str = ""
    """Label of a second button that adds `template`, for `TEXT_LIST`; empty for none."""
    template: str = ""
    splits_at_commas: bool = True
    """True if a comma ends a chip, for `TAGS`."""
    secret: bool = False
    """True to mask the text unless it is being edited, for `TEXT`."""
    is_advanced: bool = False
    """True if the field is shown on request only."""
    escapes: bool = False
    """True to escape line breaks as in `ESCAPED_TEXT`, for `TAGS`."""


def build_field_spec(model: type[BaseModel], name: str, choices: Sequence[tuple[Any, str]] = ()) -> FieldSpec:
    """Return the form field of a model's field as its declaration describes it (see `config/form_field`).

    With `choices` it is a combo box, or check boxes for a list. A number that may be None has None below its minimum.
    """
    declared = model.model_fields[name]
    extra = declared.json_schema_extra if isinstance(declared.json_schema_extra, dict) else {}
    bounds = {
        key: value for part in declared.metadata for key in ("ge", "le") if (value := getattr(part, key, None)) is not None
    }
    types = [part for part in get_args(declared.annotation) if part is not NoneType]
    is_optional = NoneType in get_args(declared.annotation)
    kind = _kind_of(types[0] if is_optional else declared.annotation, extra, has_choices=bool(choices))
    is_fraction, percent = kind is FieldKind.FLOAT, 100 if kind is FieldKind.PERCENT else 1
    max_length = next(
        (found for part in declared.metadata if (found := getattr(part, "max_length", None))), FieldSpec.max_length
    )
    return FieldSpec(
        name,
        field_title(model, name),
        kind,
        translate_text(declared.description or ""),
        translate_text(str(extra.get("placeholder", ""))),
        choices,
        minimum=float(str(extra.get("form_minimum", bounds.get("ge", 0)))) * percent - is_optional,
        maximum=float(str(extra.get("form_maximum", bounds.get("le", 100 if is_fraction else 1_000_000)))) * percent,
        step=float(str(extra.get("step", 0.05 if is_fraction else 5 if kind is FieldKind.PERCENT else 1))),
        decimals=int(str(extra.get("decimals", FieldSpec.decimals))),
        unit=translate_text(str(extra.get("unit", ""))),
        minimum_label=translate_text(str(extra.get("minimum_label", ""))),
        is_optional=is_optional,
        max_length=max_length,
        is_advanced=bool(extra.get("is_advanced")),
    )


def _kind_of(value_type: Any, extra: Mapping[str, object], *, has_choices: bool) -> FieldKind:  # noqa: ANN401 - any type
    if value_type == dict[str, float]:
        return FieldKind.NUMBERS_BY_NAME
    if value_type == dict[str, str]:
        return FieldKind.KEY_VALUES
    if value_type == list[str]:
        return FieldKind.CHECKBOXES if has_choices else FieldKind.TAGS
    if has_choices:
        return FieldKind.COMBO_BOX
    if extra.get("unit") == "%":
        return FieldKind.PERCENT
    kinds = {bool: FieldKind.CHECKBOX, int: FieldKind.INTEGER, float: FieldKind.FLOAT, AwareDatetime: FieldKind.MOMENT}
    return kinds.get(value_type, FieldKind.TEXT)


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


def escape_text(text: str) -> str:
    """Escape line breaks, tabs and backslashes as in source code."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def unescape_text(text: str) -> str:
    """Revert `escape_text`; unknown escape sequences are kept as they are."""
    characters = {"n": "\n", "t": "\t", "\\": "\\"}
    return re.sub(r"\\(.)", lambda match: characters.get(match[1], match[0]), text)


def _format_numbers(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{name}: {number:g}" for name, number in numbers.items())


def _parse_numbers(text: str) -> dict[str, float] | str:
    """Return the numbers by name; the text itself if it cannot be parsed, which the model's validation rejects."""
    pairs = [pair.split(":") for pair in text.split(",") if pair.strip()]
    try:
        return {name.strip(): float(number) for name, number in pairs}
    except ValueError:
        return text


LINE_FORMATS: dict[FieldKind, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    FieldKind.TEXT: (str, str),
    FieldKind.ESCAPED_TEXT: (escape_text, unescape_text),
    FieldKind.NUMBERS_BY_NAME: (_format_numbers, _parse_numbers),
}
"""How a value becomes the text of a line edit, and the text a value."""


def _create_line_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    format_value, parse = LINE_FORMATS[spec.kind]
    edit = QLineEdit()
    if spec.secret:
        edit.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
    edit.setMaxLength(spec.max_length)
    edit.setPlaceholderText(spec.placeholder)

    def get() -> object:
        return parse(edit.text()) if edit.text() or not spec.is_optional else None

    def put(value: object) -> None:
        if get() != value:
            edit.setText(format_value(value) if value is not None else "")

    # Numbers only when complete: half of a pair is an error, which the user would see while typing.
    signal = edit.editingFinished if spec.kind is FieldKind.NUMBERS_BY_NAME else edit.textEdited
    signal.connect(lambda *_text: on_change(get()))
    return Field(edit, get, put)


def _create_key_values(_spec: FieldSpec, theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = KeyValueField(theme)
    edit.changed.connect(on_change)
    return Field(edit, lambda: edit.values, edit.set_values)


def _create_text_area(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TextAreaField(spec.title, spec.lines, spec.max_lines)
    edit.setPlaceholderText(spec.placeholder)
    edit.edited.connect(on_change)
    return Field(edit, lambda: edit.text, edit.set_text)


def _create_tag_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TagField(spec.title, [words for _value, words in spec.choices], splits_at_commas=spec.splits_at_commas)
    edit.set_placeholder(spec.placeholder)
    shown, stored = (escape_text, unescape_text) if spec.escapes else (str, str)
    edit.changed.connect(lambda words: on_change([stored(word) for word in words]))
    return Field(
        edit, lambda: [stored(word) for word in edit.words], lambda words: edit.set_words([shown(word) for word in words])
    )


def _create_checkboxes(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    missing = QCoreApplication.translate("MultiSelect", "{name} (missing)")
    empty_text = spec.placeholder or QCoreApplication.translate("MultiSelect", "Nothing to choose from.")
    edit = MultiSelect(spec.title, empty_text, missing)
    edit.set_choices(spec.choices)
    edit.changed.connect(on_change)
    return Field(edit, lambda: edit.checked_values, edit.set_checked_values)


def _create_text_list(spec: FieldSpec, theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = TextListField(theme, spec.title, spec.add_label or QCoreApplication.translate("TextListField", "Add"), spec.lines)
    if spec.template_label:
        edit.add_template(spec.template_label, spec.template)
    edit.changed.connect(on_change)
    return Field(edit, lambda: edit.texts, edit.set_texts)


def _create_number_field(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    is_float, scale = spec.kind is FieldKind.FLOAT, 100 if spec.kind is FieldKind.PERCENT else 1
    to_shown: Callable[[float], float] = float if is_float else round
    spin: Any = NoWheelDoubleSpinBox() if is_float else NoWheelSpinBox()
    if is_float:
        spin.setDecimals(spec.decimals)
    spin.setRange(to_shown(spec.minimum), to_shown(spec.maximum))
    spin.setSingleStep(to_shown(spec.step))
    spin.setSuffix(f" {spec.unit}" if spec.unit else "")
    spin.setSpecialValueText(spec.minimum_label)
    spin.setKeyboardTracking(False)
    spin.lineEdit().setTextMargins(SPACE_2, 0, SPACE_2, 0)  # Qt does not apply the padding of the style sheet
    spin.setMinimumWidth(96)
    spin.setMaximumWidth(420)  # the text for the lowest number may be long

    def get() -> float | None:
        value: float = spin.value()
        if spec.is_optional and value == spin.minimum():
            return None
        return value / scale if scale > 1 else value

    def put(value: float | None) -> None:
        with QSignalBlocker(spin):
            spin.setValue(spin.minimum() if value is None else to_shown(value * scale))

    spin.valueChanged.connect(lambda _value: on_change(get()))
    return Field(spin, get, put)


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
    box.setMinimumWidth(min(MIN_COMBO_WIDTH, box.sizeHint().width()))  # otherwise its longest choice widens a narrow form
    box.setMaximumWidth(420)
    values = [value for value, _words in spec.choices]
    box.currentIndexChanged.connect(lambda index: on_change(values[index]) if 0 <= index < len(values) else None)

    def put(value: object) -> None:
        with QSignalBlocker(box):
            box.setCurrentIndex(values.index(value) if value in values else -1)

    return Field(box, lambda: values[box.currentIndex()] if box.currentIndex() >= 0 else None, put)


def _create_optional_choice(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    box = OptionalChoiceBox(spec.placeholder, QCoreApplication.translate("MultiSelect", "{name} (missing)"))
    box.chosen.connect(on_change)
    return Field(box, box.currentData, box.set_value)


def _create_moment(spec: FieldSpec, _theme: Theme, on_change: Callable[[Any], None]) -> Field:
    edit = DateTimeField(spec.title, spec.placeholder)
    edit.changed.connect(on_change)
    return Field(edit, lambda: edit.value, edit.set_value)


class NoWheelSpinBox(IgnoresWheel, QSpinBox):
    """Spin box that ignores the mouse wheel."""


class NoWheelDoubleSpinBox(IgnoresWheel, QDoubleSpinBox):
    """Double spin box that ignores the mouse wheel."""


class NoWheelComboBox(IgnoresWheel, QComboBox):
    """Combo box that ignores the mouse wheel."""


class OptionalChoiceBox(NoWheelComboBox):
    """Combo box for one string value or none. A value that is not among the choices is listed as missing."""

    chosen = Signal(str)

    def __init__(self, none_label: str, missing_label: str) -> None:
        super().__init__()
        self.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(420)
        self._none_label, self._missing_label = none_label, missing_label
        self._choices: list[tuple[str, str]] = []
        self._value = ""
        self.currentIndexChanged.connect(self._on_index_changed)
        self._refresh_items()

    def set_choices(self, choices: Sequence[tuple[str, str]]) -> None:
        self._choices = list(choices)
        self._refresh_items()

    def set_value(self, value: str) -> None:
        """Select a value without emitting `chosen`."""
        self._value = value
        self._refresh_items()

    def _refresh_items(self) -> None:
        items = [("", self._none_label), *self._choices]
        if self._value and self._value not in dict(self._choices):
            items.append((self._value, self._missing_label.format(name=self._value)))
        with QSignalBlocker(self):
            self.clear()
            for value, label in items:
                self.addItem(label, value)
            self.setCurrentIndex([value for value, _label in items].index(self._value))

    def _on_index_changed(self, _index: int) -> None:
        value = str(self.currentData() or "")
        if value != self._value:
            self._value = value
            self.chosen.emit(value)


_BUILDERS: dict[FieldKind, Callable[[FieldSpec, Theme, Callable[[Any], None]], Field]] = {
    FieldKind.TEXT: _create_line_field,
    FieldKind.ESCAPED_TEXT: _create_line_field,
    FieldKind.NUMBERS_BY_NAME: _create_line_field,
    FieldKind.KEY_VALUES: _create_key_values,
    FieldKind.TEXT_AREA: _create_text_area,
    FieldKind.TAGS: _create_tag_field,
    FieldKind.CHECKBOXES: _create_checkboxes,
    FieldKind.TEXT_LIST: _create_text_list,
    FieldKind.INTEGER: _create_number_field,
    FieldKind.FLOAT: _create_number_field,
    FieldKind.PERCENT: _create_number_field,
    FieldKind.CHECKBOX: _create_checkbox,
    FieldKind.COMBO_BOX: _create_combo_box,
    FieldKind.OPTIONAL_CHOICE: _create_optional_choice,
    FieldKind.MOMENT: _create_moment,
}
