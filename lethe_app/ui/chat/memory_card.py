"""Card of one recalled memory or World Info entry: its text, the reason of the recall, its source and the possible actions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from PySide6.QtCore import QLocale, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from lethe_app.services.chat.reply_sources import SourceKind, Surfaced, Trace, Whence
from lethe_app.ui.chat import memory_labels
from lethe_app.ui.chat.chat_panel import ElidedLabel
from lethe_app.ui.chat.memory_card_parts import CardButton, Fold, Link, breakable, wrapped
from lethe_app.ui.chat.memory_labels import tr
from lethe_app.ui.core.icons import picture
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.reason_labels import reason_words
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.text_area import ProseField

SHORT = 200
"""Characters of a memory shown before it is expanded."""
MOST_LINES = 2
"""Matched lines of an earlier session shown before the card is expanded."""


@dataclass(frozen=True)
class Around:
    """Context of the reply that a card needs besides its memory."""

    asked: str
    """The user's message that the reply answers; empty for a greeting."""
    name: str
    """Name of the persona."""
    present: datetime
    """Current time, for the age of the source."""


class MemoryCard(QFrame):
    """Card that emits requests as signals; it changes no data itself."""

    pin_wanted = Signal(object, bool)
    """Emitted with the `Surfaced` memory and whether to pin it."""
    written = Signal(object, str)
    """Emitted with the `Surfaced` memory and its new text."""
    forget_wanted = Signal(object)
    """Emitted with the `Surfaced` memory that is to be forgotten."""
    objected = Signal(object)
    """Emitted with the `Surfaced` memory that the user marks as irrelevant to the reply."""
    go_wanted = Signal(object)
    """Emitted with the `Whence` to go to."""

    def __init__(self, theme: Theme, one: Surfaced, around: Around, *, is_open: bool = False) -> None:
        """Build the card; `is_open` expands its details, such as scores."""
        super().__init__()
        self._theme, self.one, self._around = theme, one, around
        self.setProperty("panel", True)
        self.setProperty("card", "world" if one.kind is SourceKind.WORLD else "memory")
        self.reason = memory_labels.reason(one, around.asked, around.name)
        self.setAccessibleName(
            f"{memory_labels.kind_words(one)}: {memory_labels.shortened(memory_labels.body(one, around.name))}"
        )
        self.setAccessibleDescription(self.reason)
        self._is_whole = False
        self._editor: QWidget | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(SPACE_3, SPACE_3, SPACE_3, SPACE_2)
        self._column.setSpacing(SPACE_2)
        self._column.addLayout(self._head())
        self._fill_text()
        self._column.addWidget(wrapped(self.reason, quiet=True))
        if one.whence is not None:
            self._column.addWidget(self._source(one.whence))
        self._details = QWidget()
        self._details.setVisible(is_open)
        self.fold = Fold(theme, tr("Details"), is_open=is_open)
        self.fold.setAccessibleName(tr("Details: {name}").format(name=self._short()))
        self.fold.toggled.connect(self._show_details)
        self._column.addLayout(self._foot())
        self._column.addWidget(self._details)
        if is_open:
            self._fill_details()
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def key(self) -> UUID:
        """Return the id of the memory, or of the session or entry that the card shows."""
        return self.one.recollection.memory

    def _short(self) -> str:
        return memory_labels.shortened(memory_labels.body(self.one, self._around.name), 40)

    # Content

    def _head(self) -> QHBoxLayout:
        self._sign = QLabel()
        self._sign.setFixedSize(ICON - 4, ICON - 4)
        kind = ElidedLabel()
        kind.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        kind.setProperty("small", True)
        kind.setProperty("memory", self.one.kind is not SourceKind.WORLD)
        kind.set_full(memory_labels.kind_words(self.one))
        title = self.one.recollection.title
        line = QHBoxLayout()
        line.setSpacing(SPACE_1 + 2)
        line.addWidget(self._sign)
        line.addWidget(kind, 1)
        self.title = title if self.one.kind is not SourceKind.FACT else ""
        return line

    def _fill_text(self) -> None:
        if self.title:
            self._column.addWidget(wrapped(self.title, field=True))
        self.text = wrapped("")
        self._column.addWidget(self.text)
        self._more = Link("", "", self._toggle_text)
        self._column.addWidget(self._more)
        self._show_text()

    def _show_text(self) -> None:
        whole = memory_labels.body(self.one, self._around.name)
        found = "\n".join(memory_labels.found_lines(self.one)[:MOST_LINES])
        is_long = len(whole) > (len(found) or SHORT) + 40
        shown = whole if self._is_whole or not is_long else found or memory_labels.shortened(whole, SHORT)
        self.text.setText(breakable(shown))
        self._more.setVisible(is_long)
        self._more.rename(tr("Show less") if self._is_whole else tr("Show all"))

    def _toggle_text(self) -> None:
        self._is_whole = not self._is_whole
        self._show_text()

    def _source(self, whence: Whence) -> Link:
        words = memory_labels.whence_words(whence, self._around.present)
        name = tr("Go to message: {where}") if whence.message else tr("Go to conversation: {where}")
        return Link(tr("{where} ↗").format(where=words), name.format(where=words), lambda: self.go_wanted.emit(whence))

    def _dress(self) -> None:
        palette = self._theme.palette
        colour = palette.muted if self.one.kind is SourceKind.WORLD else palette.amber
        self._sign.setPixmap(picture(memory_labels.drawing_of(self.one), colour, ICON - 4, self.devicePixelRatioF()))

    # Actions

    def _foot(self) -> QHBoxLayout:
        one = self.one
        line = QHBoxLayout()
        line.setSpacing(0)
        line.addWidget(self.fold)
        line.addStretch(1)
        self.tools: dict[str, CardButton] = {}
        if one.can_be_pinned:
            words = tr("Unpin") if one.pinned else tr("Pin (always included)")
            pin = self._tool(line, "pin", words, lambda: self.pin_wanted.emit(one, not one.pinned))
            pin.setCheckable(True)
            pin.setChecked(one.pinned)
            pin.dress()
        if one.can_be_edited:
            self._tool(line, "edit", tr("Edit memory"), self.edit)
        if one.can_be_objected_to:
            words = tr("Mark as irrelevant")
            self._tool(line, "lower", words, lambda: self.objected.emit(one))
        if one.can_be_forgotten:
            words = tr("Forget conversation") if one.kind is SourceKind.CONVERSATION else tr("Forget memory")
            self._tool(line, "trash", words, lambda: self.forget_wanted.emit(one))
        return line

    def _tool(self, line: QHBoxLayout, drawing: str, words: str, do: Callable[[], object]) -> CardButton:
        tool = self.tools[drawing] = CardButton(self._theme, drawing, words, do)
        tool.setAccessibleDescription(self._short())
        line.addWidget(tool)
        return tool

    def edit(self) -> None:
        """Open an editor in place of the text; without effect if one is open."""
        if self._editor is not None:
            return
        field = ProseField(tr("Memory text"), 2, 12)
        field.set_text(self.one.text)
        save, cancel = QPushButton(tr("Save")), QPushButton(tr("Cancel"))
        save.setProperty("primary", True)
        cancel.setProperty("filled", True)
        save.clicked.connect(lambda: self._write(field.text))
        cancel.clicked.connect(self.end_editing)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addWidget(save)
        buttons.addWidget(cancel)
        buttons.addStretch(1)
        self._editor = QWidget()
        column = QVBoxLayout(self._editor)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_2)
        column.addWidget(field)
        column.addLayout(buttons)
        self._column.insertWidget(self._column.indexOf(self.text), self._editor)
        self.text.hide()
        self._more.hide()
        field.setFocus()
        field.selectAll()

    @property
    def is_editing(self) -> bool:
        return self._editor is not None

    def _write(self, text: str) -> None:
        if text.strip() and text.strip() != self.one.text.strip():
            self.written.emit(self.one, text)
        self.end_editing()

    def end_editing(self) -> None:
        """Close the editor without saving; without effect if none is open."""
        if self._editor is None:
            return
        editor, self._editor = self._editor, None
        editor.hide()
        editor.deleteLater()
        self.text.show()
        self._show_text()
        if "edit" in self.tools:
            self.tools["edit"].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the editor on Esc and save it on Ctrl+Enter."""
        enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if event.key() == Qt.Key.Key_Escape and self._editor is not None:
            self.end_editing()
        elif enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier and self._editor is not None:
            self._write(self._editor.findChildren(ProseField)[0].text)
        else:
            super().keyPressEvent(event)

    # Details

    def _show_details(self, shown: bool) -> None:
        if shown and self._details.layout() is None:
            self._fill_details()
        self._details.setVisible(shown)

    def _fill_details(self) -> None:
        column = QVBoxLayout(self._details)
        column.setContentsMargins(0, 0, 0, SPACE_1)
        column.setSpacing(SPACE_2)
        found, number = self.one.recollection, QLocale()
        told = memory_labels.likely_words(self.one)
        score = tr("score {score}").format(score=number.toString(found.score, "f", 2)) if found.score else ""
        column.addWidget(wrapped(" · ".join(part for part in (told, score) if part), small=True))
        for because in found.because:
            value = f" · {number.toString(because.value, 'f', 2)}" if because.value else ""
            column.addWidget(wrapped(f"– {reason_words(because)}{value}", small=True))
        for trace in self.one.traces:
            self._fill_trace(column, trace)
        if " ".join(found.text.split()) != " ".join(self.one.text.split()):
            column.addWidget(wrapped(tr("As sent to the model"), field=True, small=True))
            column.addWidget(wrapped(found.text, small=True))

    def _fill_trace(self, column: QVBoxLayout, trace: Trace) -> None:
        lead, number = trace.lead, QLocale()
        parts = [memory_labels.lead_words(lead)]
        if lead.words:
            parts.append(tr("shared words: {words}").format(words=", ".join(lead.words)))
        if lead.cosine:
            parts.append(tr("similarity {cosine}").format(cosine=number.toString(lead.cosine, "f", 2)))
        column.addWidget(wrapped(memory_labels.cited(lead.text, 240), quiet=True))
        column.addWidget(wrapped(" · ".join(parts), small=True))
        if trace.whence is not None and trace.whence != self.one.whence:
            column.addWidget(self._source(trace.whence))

    def sizeHint(self) -> QSize:
        return QSize(200, super().sizeHint().height())
