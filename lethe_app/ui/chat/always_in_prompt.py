"""Section of the memory panel for what every prompt of the session contains: core facts and summaries."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from lethe_app.services.chat.reply_sources import AlwaysThere
from lethe_app.ui.chat.memory_card_parts import Fold, wrapped
from lethe_app.ui.chat.memory_labels import shortened, unheaded
from lethe_app.ui.core.formatting import counted, joined
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme

LONGEST_SUMMARY = 300
"""Maximum number of characters shown of one summary."""


class AlwaysInPrompt(QWidget):
    """Collapsible section: a heading and the counts; expanded, the texts of the facts and summaries."""

    def __init__(self, theme: Theme, always: AlwaysThere, *, is_open: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        numbers = self._numbers(always)
        self.fold = Fold(theme, self.tr("Always in the prompt"), is_open=is_open)
        self.fold.setAccessibleName(self.tr("Always in the prompt: {what}").format(what=numbers))
        self.fold.setToolTip(self.tr("Facts and summaries included in every prompt of this conversation"))
        inside = QWidget()
        inside.setVisible(is_open)
        lines = QVBoxLayout(inside)
        lines.setContentsMargins(SPACE_2, SPACE_2, SPACE_2, 0)
        lines.setSpacing(SPACE_2)
        for fact in always.facts:
            lines.addWidget(wrapped(fact))
        for title, summary in always.summaries:
            lines.addWidget(wrapped(title or self.tr("An earlier conversation")))
            lines.addWidget(wrapped(shortened(unheaded(summary), LONGEST_SUMMARY), small=True))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.fold)
        row = wrapped(numbers, small=True)
        row.setContentsMargins(SPACE_2, 0, SPACE_2, 0)
        column.addWidget(row)
        column.addWidget(inside)
        self.fold.toggled.connect(inside.setVisible)

    def _numbers(self, always: AlwaysThere) -> str:
        facts = counted(len(always.facts), self.tr("{n} fact"), self.tr("{n} facts"))
        summaries = counted(
            len(always.summaries),
            self.tr("{n} summary of an earlier conversation"),
            self.tr("{n} summaries of earlier conversations"),
        )
        told = [words for words, texts in ((facts, always.facts), (summaries, always.summaries)) if texts]
        return joined(told)
