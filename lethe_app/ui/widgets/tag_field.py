"""Field for several short texts such as keywords or tags, shown as chips: Enter or a comma adds one, Backspace removes the
last.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QCompleter, QFrame, QLineEdit, QPushButton, QSizePolicy, QWidget

from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.core.theme import set_style_properties
from lethe_app.ui.widgets.flow_layout import FlowLayout


class TagField(QFrame):
    """Field of chips. `changed` is emitted when the user adds or removes a chip, never by `set_words`."""

    changed = Signal(list)

    def __init__(self, name: str, suggestions: Sequence[str] = (), *, splits_at_commas: bool = True) -> None:
        """Set up the field. With `splits_at_commas=False` only Enter adds a chip; this is for strings that may contain a
        comma, such as stop strings; a `/pattern/` is never split.
        """
        super().__init__()
        self.setProperty("words", True)
        self._splits_at_commas = splits_at_commas
        self._words: list[str] = []
        self._name = name
        self._line_edit = _Line(self)
        self._line_edit.setAccessibleName(name)
        self._line_edit.returnPressed.connect(self.commit_text)
        self._line_edit.editingFinished.connect(self.commit_text)
        self._line_edit.focus_changed.connect(lambda has_focus: set_style_properties(self, focused=has_focus))
        self._line_edit.deleted_beyond_start.connect(lambda: self._change_words(self._words[:-1]) if self._words else None)
        self._line_edit.textEdited.connect(self._split_at_comma)
        if suggestions:
            completer = QCompleter(QStringListModel(list(suggestions)), self._line_edit)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            # Queued, because the line edit takes the completion over in a slot of the same signal, connected later.
            completer.activated.connect(self.commit_text, Qt.ConnectionType.QueuedConnection)
            self._line_edit.setCompleter(completer)
        self.setFocusProxy(self._line_edit)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self._flow = FlowLayout(self, margin=SPACE_1, spacing=SPACE_1)
        self._flow.addWidget(self._line_edit)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def words(self) -> list[str]:
        return list(self._words)

    def set_words(self, words: Sequence[str]) -> None:
        """Show these chips without emitting `changed`."""
        if list(words) != self._words:
            self._words = list(words)
            self._rebuild_chips()

    def set_placeholder(self, text: str) -> None:
        self._line_edit.setPlaceholderText(text)
        self._line_edit.setMinimumWidth(min(240, self._line_edit.fontMetrics().horizontalAdvance(text) + 24))

    def _split_at_comma(self, text: str) -> None:
        if self._splits_at_commas and "," in text and not is_regex(text):
            self.commit_text()

    def commit_text(self) -> None:
        """Turn the typed text into chips, as when the field loses the focus."""
        text = self._line_edit.text()
        parts = text.split(",") if self._splits_at_commas and not is_regex(text) else [text]
        new = [part.strip() for part in parts if part.strip() and part.strip() not in self._words]
        self._line_edit.clear()
        if new:
            self._change_words([*self._words, *dict.fromkeys(new)])

    def _change_words(self, words: list[str]) -> None:
        self._words = words
        self._rebuild_chips()
        self.changed.emit(list(words))

    def _rebuild_chips(self) -> None:
        while self._flow.count() > 1:
            item = self._flow.takeAt(0)
            if item is not None and (chip := item.widget()) is not None:
                chip.deleteLater()
        for index, word in enumerate(self._words):
            self._flow.insert_widget(index, self._create_chip(word))
        self._adjust_height()
        # Showing a chip arranges the ones before it, after which Qt takes the layout for done while the field keeps its size.
        self._flow.setGeometry(self.contentsRect())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Focus the line edit, because the whole frame looks like one text field."""
        self._line_edit.setFocus(Qt.FocusReason.MouseFocusReason)
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._adjust_height()

    def _adjust_height(self) -> None:
        """Reserve the height of all chip lines; a column in a scroll area only respects the minimum height."""
        self.setMinimumHeight(self._flow.heightForWidth(max(self.width(), 1)))
        self.updateGeometry()

    def _create_chip(self, word: str) -> QPushButton:
        label = word if len(word) <= 40 else f"{word[:39]}…"
        chip = QPushButton(f"{label}  ×", self)
        chip.setProperty("chip", True)
        chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        chip.setCursor(Qt.CursorShape.ArrowCursor)
        chip.setToolTip(self.tr("Remove “{word}”").format(word=word))
        chip.setAccessibleName(self.tr("{field}: remove “{word}”").format(field=self._name, word=word))
        chip.clicked.connect(lambda: self._change_words([other for other in self._words if other != word]))
        chip.show()
        return chip

    def sizeHint(self) -> QSize:
        width = max(self.width(), 200)
        return QSize(width, self._flow.heightForWidth(width))


def is_regex(text: str) -> bool:
    """Return whether the text begins like a regular expression `/pattern/`, in which a comma is part of the pattern."""
    return text.lstrip().startswith("/")


class _Line(QLineEdit):
    """Line edit behind the chips, where the next one is typed. It has no frame of its own."""

    focus_changed = Signal(bool)
    deleted_beyond_start = Signal()
    """Emitted for Backspace in an empty line."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("words_line")
        self.setMinimumWidth(110)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Backspace and not self.text():
            self.deleted_beyond_start.emit()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.text():
            super().keyPressEvent(event)
            event.accept()  # and not the dialog's button
        else:
            super().keyPressEvent(event)
