"""Field for several longer texts such as greetings, which can be edited, moved, removed and added."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from lethe_app.ui.core.icons import BEFORE_WORDS, icon, icon_before_words
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.text_area import ProseField


class TextsField(QWidget):
    """List of text areas. `changed` is emitted for every change by the user, never by `set_texts`."""

    changed = Signal(list)

    def __init__(self, theme: Theme, name: str, add_words: str, least: int = 2, parent: QWidget | None = None) -> None:
        """Set up the field. `name` is the name of one text (“Greeting”), `add_words` the label of the button that adds one."""
        super().__init__(parent)
        self._theme, self._name, self._least = theme, name, least
        self._fields: list[ProseField] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_2)
        self._add = QPushButton(add_words)
        self._add.setProperty("row", True)
        self._add.setIconSize(BEFORE_WORDS)
        self._add.clicked.connect(self._append)
        self._column.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def texts(self) -> list[str]:
        return [field.text for field in self._fields]

    def set_texts(self, texts: Sequence[str]) -> None:
        """Show these texts without emitting `changed`."""
        if list(texts) == self.texts:
            return
        while len(self._fields) > len(texts):
            self._take_away(self._fields[-1])
        while len(self._fields) < len(texts):
            self._make()
        for field, text in zip(self._fields, texts, strict=True):
            field.set_text(text)

    def _append(self) -> None:
        self._make().setFocus()
        self._tell()

    def _make(self) -> ProseField:
        field = ProseField(self.tr("{name} {number}").format(name=self._name, number=len(self._fields) + 1), self._least, 10)
        field.edited.connect(lambda _text: self._tell())
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(SPACE_1)
        line.addWidget(field, 1)
        top = Qt.AlignmentFlag.AlignTop
        line.addWidget(self._tool("chevron-up", self.tr("Move up"), lambda: self._move(field, -1)), 0, top)
        line.addWidget(self._tool("close", self.tr("Remove"), lambda: self._remove(field)), 0, top)
        self._fields.append(field)
        self._column.insertWidget(self._column.count() - 1, row)
        return field

    def _tool(self, drawing: str, words: str, slot: object) -> QToolButton:
        button = QToolButton()
        button.setIconSize(QSize(ICON - SPACE_1, ICON - SPACE_1))
        button.setProperty("drawing", drawing)
        button.setIcon(icon(drawing, self._theme.palette.muted))
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.clicked.connect(slot)
        return button

    def _move(self, field: ProseField, step: int) -> None:
        place = self._fields.index(field)
        if 0 <= place + step < len(self._fields):
            texts = self.texts
            texts[place], texts[place + step] = texts[place + step], texts[place]
            self.set_texts(texts)
            self._fields[place + step].setFocus()
            self._tell()

    def _remove(self, field: ProseField) -> None:
        self._take_away(field)
        self._tell()

    def _take_away(self, field: ProseField) -> None:
        self._fields.remove(field)
        row = field.parentWidget()
        assert row is not None
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _tell(self) -> None:
        self.changed.emit(self.texts)

    def _dress(self) -> None:
        self._add.setIcon(icon_before_words("plus", self._theme.palette.muted))
        for button in self.findChildren(QToolButton):
            button.setIcon(icon(str(button.property("drawing")), self._theme.palette.muted))
