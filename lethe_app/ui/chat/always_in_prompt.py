"""Section of the memory panel for what every prompt of the session contains: core facts and summaries."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from lethe_app.services.chat.reply_source_reader import StablePromptContent
from lethe_app.ui.chat.memory_card_parts import CollapsibleHeading, create_selectable_label
from lethe_app.ui.chat.memory_labels import strip_headings
from lethe_app.ui.core.formatting import format_count, join_with_and, shorten_text
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.layouts import build_column

MAX_SUMMARY_LENGTH = 300
"""Maximum number of characters shown of one summary."""


class AlwaysInPrompt(QWidget):
    """Collapsible section: a heading and the counts; expanded, the texts of the facts and summaries."""

    def __init__(self, theme: Theme, always: StablePromptContent, *, is_open: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
            lines.addWidget(create_selectable_label(shorten_text(strip_headings(summary), MAX_SUMMARY_LENGTH), "small"))
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
