"""Detail pane of a fact: its text, when and how often it was mentioned, and the messages it was extracted from."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.search.memory_lists import Source
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.pages.facts.labels import kind_in_words
from lethe_app.ui.pages.facts.table_model import maker_in_words, weight_in_words
from lethe_app.ui.pages.memories.labels import day_of
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.widgets.card_column import invitation, made_card, side_sheet
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.text_area import ProseField

LEAST_WIDTH, WIDTH = 320, 430
MOST_LINES = 4
"""Lines of a source message that are shown."""
MOST_SOURCES = 20


class FactDetail(QStackedWidget):
    """Detail pane of the selected fact. It only emits signals; the page carries out the actions."""

    worded = Signal(object, str)
    """The fact, and its new text."""
    pin_wanted = Signal(object, bool)
    forget_wanted = Signal(object)
    restore_wanted = Signal(object, bool)
    """The fact, and True if it is to supersede its successor."""
    source_wanted = Signal(object)
    fact_wanted = Signal(object)
    """GUID of another fact to select."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fact: ExtractedFact | None = None
        self._successor: UUID | None = None
        self._kept = ""
        """Text that was already emitted by `worded` but is not yet stored in the fact shown."""
        self.setMinimumWidth(LEAST_WIDTH)
        nothing = invitation(self.tr("Select a fact to see its sources."))
        self._sheet = side_sheet()
        self._build()
        self.addWidget(nothing)
        self.addWidget(self._sheet)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def _build(self) -> None:
        card, column = made_card()
        column.setSpacing(SPACE_2)
        self.field = ProseField(self.tr("Fact text"), 2, 10)
        self.field.edited.connect(lambda _text: self._follow())
        self.field.focused.connect(lambda there: None if there else self.apply_text())
        self.keep_button = self._button(self.tr("Save changes"), self.apply_text)
        self._told = explanation("")
        for widget in (self.field, self._told):
            column.addWidget(widget)
        column.addWidget(self.keep_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.pin = self._button(self.tr("Pin"), lambda: self._ask(self.pin_wanted, not self._shown.pinned))
        self.forget = self._button(self.tr("Forget…"), lambda: self.forget_wanted.emit(self._shown))
        self.again = self._button(self.tr("Restore fact"), lambda: self._ask(self.restore_wanted, False))
        self.instead = self._button(self.tr("Replace newer fact"), lambda: self._ask(self.restore_wanted, True))
        buttons = QWidget()
        flow = Flow(buttons, spacing=SPACE_2)
        for button in (self.pin, self.again, self.instead, self.forget):
            flow.addWidget(button)
        column.addWidget(buttons)
        self._replaced, replaced = made_card(self.tr("Replaced by"))
        self.successor = SourceButton("", "")
        self.successor.clicked.connect(lambda: self.fact_wanted.emit(self._successor))
        replaced.addWidget(self.successor)
        origin, self._sources = made_card(self.tr("Mentioned in"))
        self._sources.setSpacing(SPACE_1)
        for part in (card, self._replaced, origin):
            self._sheet.add(part)

    @property
    def _shown(self) -> ExtractedFact:
        assert self.fact is not None
        return self.fact

    def show_fact(self, fact: ExtractedFact | None, successor: ExtractedFact | None, *, is_core: bool) -> None:
        """Show a fact without its sources, which follow by `show_sources`. Unsaved text of the same fact is kept."""
        same = fact is not None and self.fact is not None and fact.guid == self.fact.guid
        typed = self.field.text if same and self.field.text.strip() != self._shown.fact else None
        self.fact, self._kept = fact, ""
        if fact is None:
            self.setCurrentIndex(0)
            return
        self.field.set_text(typed if typed is not None else fact.fact)
        self._told.setText(self._life(fact, is_core=is_core))
        self.pin.setText(self.tr("Unpin") if fact.pinned else self.tr("Pin"))
        self.pin.setVisible(not fact.superseded)
        self.again.setVisible(fact.superseded)
        self.instead.setVisible(fact.superseded and successor is not None)
        self._replaced.setVisible(fact.superseded and successor is not None)
        self._successor = successor.guid if successor is not None else None
        if successor is not None:
            since = self.tr("since {day}").format(day=day_of(successor.first_seen.timestamp()))
            self.successor.show_lines(successor.fact, since)
        self._follow()
        self.setCurrentWidget(self._sheet)
        if not same:
            self.show_sources(None)
            self._sheet.verticalScrollBar().setValue(0)

    def show_sources(self, sources: list[Source] | None) -> None:
        """Show the messages a fact was extracted from; None while they are being loaded."""
        # Item 0 is the title of the card.
        while (item := self._sources.takeAt(1)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        if sources is None:
            return
        for source in sources[:MOST_SOURCES]:
            self._sources.addWidget(self._source(source))
        if len(sources) > MOST_SOURCES:
            more = counted(len(sources) - MOST_SOURCES, self.tr("and {n} more"), self.tr("and {n} more"))
            self._sources.addWidget(explanation(more))
        if not sources:
            mine = self.tr("Added by you, or the conversation was deleted.")
            self._sources.addWidget(explanation(mine))

    def apply_text(self) -> None:
        """Emit `worded` if the text in the field was changed; an empty field gets the stored text back."""
        words = self.field.text.strip()
        if self.fact is not None and words and words not in {self.fact.fact, self._kept}:
            # A click on the button also takes the focus from the field, so this runs twice; the text is emitted once only.
            self._kept = words  # leaving the field by a click on the button is asking once
            self.worded.emit(self.fact, words)
        elif self.fact is not None and not words:
            self.field.set_text(self.fact.fact)
        self._follow()

    def _ask(self, signal: SignalInstance, value: bool) -> None:
        signal.emit(self._shown, value)

    def _follow(self) -> None:
        words = self.field.text.strip()
        self.keep_button.setVisible(self.fact is not None and bool(words) and words != self.fact.fact)

    def _life(self, fact: ExtractedFact, *, is_core: bool) -> str:
        first, last = day_of(fact.first_seen.timestamp()), day_of(fact.last_seen.timestamp())
        times = counted(fact.reference_count, self.tr("Mentioned once"), self.tr("Mentioned {n} times"))
        when = self.tr("{times}, on {day}") if first == last else self.tr("{times}, from {first} to {last}")
        parts = [when.format(times=times, day=first, first=first, last=last), kind_in_words(fact.kind)]
        if fact.key:
            parts.append(self.tr("Attribute: {key}").format(key=fact.key))
        if fact.in_story:
            parts.append(self.tr("Said in character, used in that conversation only"))
        parts.append(self.tr("Source: {whom}").format(whom=maker_in_words(fact.made_by)))
        if not fact.superseded and not fact.in_story:
            weight = self.tr("Weight {weight}, based on its type, number of mentions and age")
            parts.append(weight.format(weight=weight_in_words(fact)))
        if is_core:
            parts.append(self.tr("Always included"))
        return " · ".join(parts)

    def _source(self, source: Source) -> QPushButton:
        title = source.title or self.tr("Untitled conversation")
        said = f"{source.speaker}: “{source.words}”" if source.words else title
        below = f"{title}, {day_of(source.when.timestamp())}" if source.words else day_of(source.when.timestamp())
        button = SourceButton(said, below)
        button.clicked.connect(lambda: self.source_wanted.emit(source))
        return button

    def _button(self, words: str, slot: object) -> QPushButton:
        button = QPushButton(words)
        button.setProperty("filled", True)
        button.clicked.connect(slot)
        return button


class SourceButton(QPushButton):
    """Button with a text of at most `MOST_LINES` lines and one line below it, both elided; the tooltip has the whole text."""

    def __init__(self, first: str, second: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("row", True)
        self._lines = ("", "")
        self.show_lines(first, second)

    def show_lines(self, first: str, second: str) -> None:
        self._lines = (first, second)
        self.setToolTip(first)
        self.setAccessibleName(f"{first}, {second}")
        self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(120, super().sizeHint().height())

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room, metrics = max(self.width() - 3 * SPACE_2, 80), self.fontMetrics()
        first, second = self._lines
        lines = [*wrapped_lines(first, metrics, room), metrics.elidedText(second, Qt.TextElideMode.ElideRight, room)]
        # A single “&” in the text of a button marks a mnemonic.
        text = "\n".join(line.replace("&", "&&") for line in lines)
        if text != self.text():
            self.setText(text)
            self.updateGeometry()


def wrapped_lines(text: str, metrics: QFontMetrics, room: int) -> list[str]:
    """Return a text wrapped to at most `MOST_LINES` lines of `room` pixels; the last line is elided if the text is longer."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(lines) == MOST_LINES or metrics.horizontalAdvance(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, room) for line in lines]
