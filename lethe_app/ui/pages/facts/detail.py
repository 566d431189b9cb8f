"""Detail pane of a fact: its text, when and how often it was mentioned, and the messages it was extracted from."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.search.fact_lists import FactSource
from lethe_app.ui.core.formatting import format_count, format_session_title, quote_message
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.labels.facts import format_attribute
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.pages.facts.table_model import format_kind_or_nothing, format_maker, format_weight
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.text_area import TextAreaField

MIN_WIDTH, WIDTH = 320, 430
MAX_LINES = 4
"""Lines of a source message that are shown."""
MAX_SOURCES = 20


class FactDetail(DetailPane):
    """Detail pane of the selected fact. It only emits signals; the page carries out the actions."""

    text_edited = Signal(str, str)
    """The text before the change, and the new one."""
    source_requested = Signal(object)
    fact_requested = Signal(object)
    """GUID of another fact to select."""

    def __init__(self, buttons: QWidget, parent: QWidget | None = None) -> None:
        """Create the pane; `buttons` are those of the commands on a fact."""
        super().__init__(self.tr("Select a fact to see its sources."), MIN_WIDTH, WIDTH, parent)
        self.fact: ExtractedFact | None = None
        self._successor: UUID | None = None
        self._text = ""
        """Text of the field before the change that is being emitted."""
        self.field = TextAreaField(self.tr("Fact text"), 2, 10)
        self.field.edited.connect(self._on_edited)
        self.field.focused.connect(lambda has_focus: None if has_focus else self._refill_empty_field())
        self._metadata_label = build_small_label("")
        saving = build_small_label(self.tr("Changes are saved as you type."))
        _card, column = self.add_card(self.field, saving, self._metadata_label, buttons)
        column.setSpacing(SPACE_2)
        self.successor_button = SourceButton("", "")
        self.successor_button.clicked.connect(lambda: self.fact_requested.emit(self._successor))
        self._successor_card, _column = self.add_card(self.successor_button, title=self.tr("Replaced by"))
        _card, self._source_column = self.add_card(title=self.tr("Mentioned in"))
        self._source_column.setSpacing(SPACE_1)

    def show_fact(
        self, fact: ExtractedFact | None, successor: ExtractedFact | None, unsaved_text: str | None, *, is_core: bool
    ) -> None:
        """Show a fact without its sources, which follow by `show_sources`; `unsaved_text` is what was typed and is not stored
        yet.
        """
        is_same = fact is not None and self.fact is not None and fact.guid == self.fact.guid
        self.fact = fact
        if fact is None:
            self.setCurrentIndex(0)
            return
        if not is_same or self.field.text.strip() != fact.fact:  # a space at the end may be followed by a word
            self.set_text(unsaved_text if unsaved_text is not None else fact.fact)
        self._metadata_label.setText(self._metadata_of(fact, is_core=is_core))
        self._metadata_label.setToolTip(self._rank_of(fact))
        self._successor_card.setVisible(fact.superseded and successor is not None)
        self._successor = successor.guid if successor is not None else None
        if successor is not None:
            since = self.tr("since {day}").format(day=format_date(successor.first_seen.timestamp()))
            self.successor_button.show_lines(successor.fact, since)
        self.setCurrentWidget(self._sheet)
        if not is_same:
            self.show_sources(None)
            self._sheet.verticalScrollBar().setValue(0)

    def set_text(self, text: str) -> None:
        """Show a text in the field without emitting `text_edited`."""
        self._text = text
        self.field.set_text(text)

    def _on_edited(self, text: str) -> None:
        before, self._text = self._text, text
        self.text_edited.emit(before, text)

    def _refill_empty_field(self) -> None:
        """Show the stored text again if the field was emptied, which stores nothing."""
        if self.fact is not None and not self.field.text.strip():
            self.set_text(self.fact.fact)

    def show_sources(self, sources: list[FactSource] | None) -> None:
        """Show the messages a fact was extracted from; None while they are being loaded."""
        widgets: list[QWidget] = [self._build_source_button(source) for source in (sources or [])[:MAX_SOURCES]]
        if sources is not None and len(sources) > MAX_SOURCES:
            more_text = format_count(len(sources) - MAX_SOURCES, self.tr("and {n} more"), self.tr("and {n} more"))
            widgets.append(build_small_label(more_text))
        if sources == []:
            widgets.append(build_small_label(self.tr("Added by you, or the conversation was deleted.")))
        fill_layout(self._source_column, widgets, start=1)  # below the title of the card

    def _metadata_of(self, fact: ExtractedFact, *, is_core: bool) -> str:
        first, last = format_date(fact.first_seen.timestamp()), format_date(fact.last_seen.timestamp())
        mentions = format_count(fact.reference_count, self.tr("Mentioned once"), self.tr("Mentioned {n} times"))
        when = self.tr("{times}, on {day}") if first == last else self.tr("{times}, from {first} to {last}")
        lines = [when.format(times=mentions, day=first, first=first, last=last)]
        lines.append(" · ".join(filter(None, (format_kind_or_nothing(fact), format_maker(fact.made_by)))))
        if fact.key and not fact.pinned and not fact.superseded:
            lines.append(self.tr("A new statement about “{key}” replaces this fact.").format(key=format_attribute(fact)))
        if fact.in_story:
            lines.append(self.tr("Said in character, used in that conversation only."))
        if is_core:
            lines.append(self.tr("Always included in the prompt."))
        return "\n".join(lines)

    def _rank_of(self, fact: ExtractedFact) -> str:
        """Return what decides whether the fact is always included; empty if it cannot be."""
        if fact.superseded or fact.in_story:
            return ""
        weight = self.tr("Weight {weight}, from its type, number of mentions and age, decides which facts are always included.")
        return weight.format(weight=format_weight(fact))

    def _build_source_button(self, source: FactSource) -> QPushButton:
        title = format_session_title(source.title)
        first_line = f"{source.speaker}: {quote_message(source.text)}" if source.text else title
        when = format_date(source.when.timestamp())
        second_line = f"{when}, {title}" if source.text else when  # a long title is cut, the date is not
        button = SourceButton(first_line, second_line)
        button.clicked.connect(lambda: self.source_requested.emit(source))
        return button


class SourceButton(QPushButton):
    """Button with a text of at most `MAX_LINES` lines and one line below it, both elided; the tooltip has the whole text."""

    def __init__(self, first: str, second: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("row", True)
        self._lines = ("", "")
        self.show_lines(first, second)

    def show_lines(self, first: str, second: str) -> None:
        self._lines = (first, second)
        self.setToolTip(first)
        self.setAccessibleName(f"{first}, {second}")
        self._elide_text()

    def minimumSizeHint(self) -> QSize:
        return QSize(120, super().sizeHint().height())

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide_text()

    def _elide_text(self) -> None:
        available_width, metrics = max(self.width() - 3 * SPACE_2, 80), self.fontMetrics()
        first, second = self._lines
        lines = [
            *wrap_text(first, metrics, available_width),
            metrics.elidedText(second, Qt.TextElideMode.ElideRight, available_width),
        ]
        # A single “&” in the text of a button marks a mnemonic.
        text = "\n".join(line.replace("&", "&&") for line in lines)
        if text != self.text():
            self.setText(text)
            self.updateGeometry()


def wrap_text(text: str, metrics: QFontMetrics, max_width: int) -> list[str]:
    """Return a text wrapped to at most `MAX_LINES` lines of `max_width` pixels; the last line may be elided."""
    lines = [""]
    for word in text.split():
        candidate = f"{lines[-1]} {word}".strip()
        if len(lines) == MAX_LINES or metrics.horizontalAdvance(candidate) <= max_width:
            lines[-1] = candidate
        else:
            lines.append(word)
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, max_width) for line in lines]
