"""Fields of forms as the user finds them: by the name of the field, with the message below and the buttons beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from lethe_app.ui.widgets.form import Form


def form_with(parent: QWidget, name: str) -> Form:
    """The form with that field; the last one, because a form that was replaced lives on until Qt deletes it."""
    return [form for form in parent.findChildren(Form) if name in form.field_names][-1]


def field_of(parent: QWidget, name: str) -> QWidget:
    return form_with(parent, name).field_widget(name)


def labels_around(parent: QWidget, name: str) -> list[QLabel]:
    """The labels of a field: title, note, help text and error message, as far as it has them."""
    row = field_of(parent, name).parentWidget()
    return row.findChildren(QLabel, options=Qt.FindChildOption.FindDirectChildrenOnly)


def error_below(parent: QWidget, name: str) -> str:
    """The error message that is shown below a field; empty if there is none."""
    (label,) = (label for label in labels_around(parent, name) if label.property("complaint"))
    return "" if label.isHidden() else label.text()


def note_beside(parent: QWidget, name: str) -> str:
    """The note at the right of a field's title."""
    (label,) = (label for label in labels_around(parent, name) if label.property("small") and not label.wordWrap())
    return label.text()


def button_named(parent: QWidget, name: str) -> QAbstractButton:
    """The button whose accessible name begins with that."""
    (found,) = (button for button in parent.findChildren(QAbstractButton) if button.accessibleName().startswith(name))
    return found


def words_in(parent: QWidget) -> str:
    """All texts that labels in there show."""
    return "\n".join(label.text() for label in parent.findChildren(QLabel) if not label.isHidden())
