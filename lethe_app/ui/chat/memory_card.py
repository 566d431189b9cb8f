"""Cards of the memory panel: a recalled memory or World Info entry with its text, the reason of the recall, its source and the
possible actions; and what every prompt of the session contains, core facts and summaries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from PySide6.QtCore import QLocale, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from lethe_app.services.chat.reply_source_reader import (
    FROM_FILES,
    RecallTrace,
    ReplyMemory,
    SourceKind,
    StablePromptContent,
    StatementOrigin,
)
from lethe_app.ui.chat import memory_labels
from lethe_app.ui.chat.memory_card_parts import CardButton, CollapsibleHeading, LinkButton, create_selectable_label
from lethe_app.ui.chat.memory_labels import tr
from lethe_app.ui.core.formatting import format_count, insert_break_points, join_with_and, shorten_text
from lethe_app.ui.core.icons import render_icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.reason_labels import format_reason
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import ElidedLabel
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.text_area import TextAreaField

COLLAPSED_LENGTH = 200
"""Characters of a memory shown before it is expanded."""
MAX_MATCHED_LINES = 2
"""Matched lines of an earlier session shown before the card is expanded."""
MAX_SUMMARY_LENGTH = 300
"""Maximum number of characters shown of one summary."""


@dataclass(frozen=True)
class CardContext:
    """Context of the reply that a card needs besides its memory."""

    user_message: str
    """The user's message that the reply answers; empty for a greeting."""
    persona_name: str
    """Name of the persona."""
    current_time: datetime
    """Current time, for the age of the source."""


class MemoryCard(QFrame):
    """Card that emits requests as signals; it changes no data itself."""

    command_chosen = Signal(str, object)
    """Emitted with one of the commands pin, unpin, forget, mark irrelevant and go to source, and the `ReplyMemory`, or the
    `StatementOrigin` to go to.
    """
    text_saved = Signal(object, str)
    """Emitted with the `ReplyMemory` and its new text."""

    def __init__(self, theme: Theme, memory: ReplyMemory, reply_context: CardContext, *, is_open: bool = False) -> None:
        """Build the card; `is_open` expands its details, such as scores."""
        super().__init__()
        self._theme, self.memory, self._reply_context = theme, memory, reply_context
        self.setProperty("panel", True)
        self.setProperty("card", "memory" if memory_labels.is_remembered(memory) else "world")
        self.reason_text = memory_labels.explain_recall(memory, reply_context.user_message, reply_context.persona_name)
        self.setAccessibleName(f"{memory_labels.format_kind(memory)}: {self._short_text(memory_labels.MAX_QUOTE_LENGTH)}")
        self.setAccessibleDescription(self.reason_text)
        self._is_text_expanded = False
        self._editor: QWidget | None = None
        self._column = build_column(
            self._build_header(), spacing=SPACE_2, margins=(SPACE_3, SPACE_3, SPACE_3, SPACE_2), parent=self
        )
        self._add_text()
        self._column.addWidget(create_selectable_label(self.reason_text, "quiet"))
        if memory.origin is not None:
            self._column.addWidget(self._create_source_link(memory.origin))
        self._details = QWidget()
        self._details.setVisible(is_open)
        self.heading = CollapsibleHeading(theme, tr("Details"), is_open=is_open)
        self.heading.setAccessibleName(tr("Details: {name}").format(name=self._short_text()))
        self.heading.toggled.connect(self._set_details_visible)
        self._column.addLayout(self._build_footer())
        self._column.addWidget(self._details)
        if is_open:
            self._build_details()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    @property
    def memory_id(self) -> UUID:
        """Return the id of the memory, or of the session or entry that the card shows."""
        return self.memory.recollection.memory

    def _short_text(self, max_length: int = 40) -> str:
        return shorten_text(memory_labels.format_card_text(self.memory, self._reply_context.persona_name), max_length)

    # Content

    def _build_header(self) -> QHBoxLayout:
        self._kind_icon = QLabel()
        self._kind_icon.setFixedSize(ICON - 4, ICON - 4)
        kind = ElidedLabel()
        kind.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        kind.setProperty("small", True)
        kind.setProperty("memory", memory_labels.is_remembered(self.memory))
        kind.set_full_text(memory_labels.format_kind(self.memory))
        title = self.memory.recollection.title
        line = build_row(self._kind_icon, (kind, 1), spacing=SPACE_1 + 2)
        self.title = title if self.memory.kind is not SourceKind.FACT else ""
        return line

    def _add_text(self) -> None:
        if self.title:
            self._column.addWidget(create_selectable_label(self.title, "field"))
        self.text_label = create_selectable_label("")
        self._column.addWidget(self.text_label)
        self._expand_link = LinkButton("", "", self._toggle_text)
        self._column.addWidget(self._expand_link)
        self._refresh_text()

    def _refresh_text(self) -> None:
        full_text = memory_labels.format_card_text(self.memory, self._reply_context.persona_name)
        matched_text = "\n".join(memory_labels.list_matched_lines(self.memory)[:MAX_MATCHED_LINES])
        is_long = len(full_text) > (len(matched_text) or COLLAPSED_LENGTH) + 40
        visible_text = (
            full_text if self._is_text_expanded or not is_long else matched_text or shorten_text(full_text, COLLAPSED_LENGTH)
        )
        self.text_label.setText(insert_break_points(visible_text))
        self._expand_link.setVisible(is_long)
        self._expand_link.set_label(tr("Show less") if self._is_text_expanded else tr("Show all"))

    def _toggle_text(self) -> None:
        self._is_text_expanded = not self._is_text_expanded
        self._refresh_text()

    def _create_source_link(self, source: StatementOrigin) -> LinkButton:
        words = memory_labels.format_source(source, self._reply_context.current_time)
        name = tr("Go to message: {where}") if source.message else tr("Go to conversation: {where}")
        return LinkButton(
            tr("{where} ↗").format(where=words),
            name.format(where=words),
            lambda: self.command_chosen.emit("go to source", source),
        )

    def _apply_theme(self) -> None:
        palette = self._theme.palette
        colour = palette.amber if memory_labels.is_remembered(self.memory) else palette.muted
        self._kind_icon.setPixmap(
            render_icon("book" if self.memory.kind in FROM_FILES else "remembered", colour, ICON - 4, self.devicePixelRatioF())
        )

    # Actions

    def _build_footer(self) -> QHBoxLayout:
        memory = self.memory
        line = build_row(self.heading, 1)
        self.tool_buttons: dict[str, CardButton] = {}
        if memory.can_be_pinned:
            words = tr("Unpin") if memory.pinned else tr("Pin (always included)")
            pin = self._add_tool_button(
                line, "pin", words, lambda: self.command_chosen.emit("unpin" if memory.pinned else "pin", memory)
            )
            pin.setCheckable(True)
            pin.setChecked(memory.pinned)
        if memory.can_be_edited:
            self._add_tool_button(line, "edit", tr("Edit memory"), self.open_editor)
        if memory.can_be_objected_to:
            words = tr("Mark as irrelevant")
            self._add_tool_button(line, "lower", words, lambda: self.command_chosen.emit("mark irrelevant", memory))
        if memory.can_be_forgotten:
            words = tr("Forget conversation") if memory.kind is SourceKind.CONVERSATION else tr("Forget memory")
            self._add_tool_button(line, "trash", words, lambda: self.command_chosen.emit("forget", memory))
        return line

    def _add_tool_button(self, line: QHBoxLayout, icon_name: str, tooltip: str, callback: Callable[[], object]) -> CardButton:
        tool = self.tool_buttons[icon_name] = CardButton(self._theme, icon_name, tooltip, callback)
        tool.setAccessibleDescription(self._short_text())
        line.addWidget(tool)
        return tool

    def open_editor(self) -> None:
        """Open an editor in place of the text; without effect if one is open."""
        if self._editor is not None:
            return
        field = TextAreaField(tr("Memory text"), 2, 12)
        field.set_text(self.memory.text)
        buttons = build_row(
            build_button(tr("Save"), lambda: self._save_text(field.text), primary=True),
            build_button(tr("Cancel"), self.close_editor),
            1,
            spacing=SPACE_2,
        )
        self._editor = QWidget()
        build_column(field, buttons, spacing=SPACE_2, parent=self._editor)
        self._column.insertWidget(self._column.indexOf(self.text_label), self._editor)
        self.text_label.hide()
        self._expand_link.hide()
        field.setFocus()
        field.selectAll()

    @property
    def is_editing(self) -> bool:
        return self._editor is not None

    def _save_text(self, text: str) -> None:
        if text.strip() and text.strip() != self.memory.text.strip():
            self.text_saved.emit(self.memory, text)
        self.close_editor()

    def close_editor(self) -> None:
        """Close the editor without saving; without effect if none is open."""
        if self._editor is None:
            return
        editor, self._editor = self._editor, None
        editor.hide()
        editor.deleteLater()
        self.text_label.show()
        self._refresh_text()
        if "edit" in self.tool_buttons:
            self.tool_buttons["edit"].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the editor on Esc and save it on Ctrl+Enter."""
        enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if event.key() == Qt.Key.Key_Escape and self._editor is not None:
            self.close_editor()
        elif enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier and self._editor is not None:
            self._save_text(self._editor.findChildren(TextAreaField)[0].text)
        else:
            super().keyPressEvent(event)

    # Details

    def _set_details_visible(self, is_visible: bool) -> None:
        if is_visible and self._details.layout() is None:
            self._build_details()
        self._details.setVisible(is_visible)

    def _build_details(self) -> None:
        column = build_column(spacing=SPACE_2, margins=(0, 0, 0, SPACE_1), parent=self._details)
        recollection, locale = self.memory.recollection, QLocale()
        likelihood_text = memory_labels.format_likelihood(self.memory)
        score = tr("score {score}").format(score=locale.toString(recollection.score, "f", 2)) if recollection.score else ""
        column.addWidget(create_selectable_label(" · ".join(part for part in (likelihood_text, score) if part), "small"))
        for reason in recollection.because:
            value = f" · {locale.toString(reason.value, 'f', 2)}" if reason.value else ""
            column.addWidget(create_selectable_label(f"– {format_reason(reason)}{value}", "small"))
        for trace in self.memory.traces:
            self._add_trace(column, trace)
        if " ".join(recollection.text.split()) != " ".join(self.memory.text.split()):
            column.addWidget(create_selectable_label(tr("As sent to the model"), "field", "small"))
            column.addWidget(create_selectable_label(recollection.text, "small"))

    def _add_trace(self, column: QVBoxLayout, trace: RecallTrace) -> None:
        lead, locale = trace.lead, QLocale()
        parts = [memory_labels.format_lead_kind(lead)]
        if lead.words:
            parts.append(tr("shared words: {words}").format(words=", ".join(lead.words)))
        if lead.cosine:
            parts.append(tr("similarity {cosine}").format(cosine=locale.toString(lead.cosine, "f", 2)))
        column.addWidget(create_selectable_label(memory_labels.quote_line(lead.text, 240), "quiet"))
        column.addWidget(create_selectable_label(" · ".join(parts), "small"))
        if trace.origin is not None and trace.origin != self.memory.origin:
            column.addWidget(self._create_source_link(trace.origin))

    def sizeHint(self) -> QSize:
        return QSize(200, super().sizeHint().height())


class AlwaysInPrompt(QWidget):
    """Collapsible section: a heading and the counts; expanded, the texts of the facts and summaries."""

    def __init__(self, theme: Theme, always: StablePromptContent, *, is_open: bool) -> None:
        super().__init__()
        counts_text = self._format_counts(always)
        self.heading = CollapsibleHeading(theme, self.tr("In every prompt now"), is_open=is_open)
        self.heading.setAccessibleName(self.tr("In every prompt now: {what}").format(what=counts_text))
        self.heading.setToolTip(
            self.tr("Facts and summaries included in every prompt of this conversation; earlier prompts may have had others")
        )
        content = QWidget()
        content.setVisible(is_open)
        lines = build_column(spacing=SPACE_2, margins=(SPACE_2, SPACE_2, SPACE_2, 0), parent=content)
        for fact in always.facts:
            lines.addWidget(create_selectable_label(fact))
        for title, summary in always.summaries:
            lines.addWidget(create_selectable_label(title or self.tr("An earlier conversation")))
            lines.addWidget(
                create_selectable_label(shorten_text(memory_labels.strip_headings(summary), MAX_SUMMARY_LENGTH), "small")
            )
        row = create_selectable_label(counts_text, "small")
        row.setContentsMargins(SPACE_2, 0, SPACE_2, 0)
        build_column(self.heading, row, content, parent=self)
        self.heading.toggled.connect(content.setVisible)

    def _format_counts(self, always: StablePromptContent) -> str:
        facts = format_count(len(always.facts), self.tr("{n} fact"), self.tr("{n} facts"))
        summaries = format_count(
            len(always.summaries),
            self.tr("{n} summary of an earlier conversation"),
            self.tr("{n} summaries of earlier conversations"),
        )
        return join_with_and([words for words, texts in ((facts, always.facts), (summaries, always.summaries)) if texts])
