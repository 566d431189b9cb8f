"""Result of a recall test: the memories a message would recall with their reasons, and those that matched but were not used."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from lethe_app.domain.recall import BlockedMemory, RecalledMemory, TurnMemory
from lethe_app.ui.chat.memory_labels import format_block_label
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.formatting import insert_break_points, shorten_text, truncate_text
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.reason_labels import format_block_reason
from lethe_app.ui.pages.memories.labels import format_measured_values, format_reasons
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import create_card, fill_layout
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

MAX_BLOCKED = 12
MAX_TITLES = 4
"""Conversations in the prompt that are named."""


class RecallPreview(QWidget):
    """Cards of the memories a message would recall, best first; `memory_requested` emits the GUID of a memory to select in the
    list.
    """

    memory_requested = Signal(str)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = create_text_label("", "section")
        self.close_button = build_button(self.tr("Close"))
        self.close_button.clicked.connect(self.closed)
        head = build_row((self._title, 1), (self.close_button, 0, Qt.AlignmentFlag.AlignTop))
        self._column = build_column(head, spacing=SPACE_3, parent=self)

    def show_result(
        self, text: str, memory: TurnMemory, is_listed: Callable[[str], bool], titles_in_prompt: Sequence[str] = ()
    ) -> None:
        """Show the result of a recall test; `is_listed` returns whether the memory with a GUID is in the list.

        `titles_in_prompt` are those of conversations and memories that are in the prompt word for word.
        """
        title = self.tr("Memories recalled by “{text}”").format(text=truncate_text(text, 80))
        self._title.setText(insert_break_points(title))
        cards = [self._build_card(recollection, is_listed) for recollection in memory.recalled]
        if not memory.recalled:
            text = self.tr("None. What is always in the prompt, such as core facts and summaries, is not listed here.")
            cards.append(build_small_label(text))
        if titles_in_prompt:
            cards.append(build_small_label(insert_break_points(self._name_titles_in_prompt(titles_in_prompt))))
        if memory.blocked:
            cards.append(self._build_blocked_card(memory.blocked[:MAX_BLOCKED]))
        fill_layout(self._column, cards, start=1)  # below the head
        names = [recollection.title or _shorten(recollection.text) for recollection in memory.recalled]
        announce(self, ". ".join((self._title.text(), *(names or [self.tr("None")]))))

    def _build_card(self, recollection: RecalledMemory, is_listed: Callable[[str], bool]) -> QWidget:
        card, column = create_card()
        column.setSpacing(SPACE_2)
        title = create_text_label(insert_break_points(f"◆ {recollection.title or _shorten(recollection.text, 400)}"), "memory")
        text_label = create_text_label(insert_break_points(_shorten(recollection.text, 400)))
        if not recollection.title:
            text_label.hide()  # it is the title
        reasons_label = build_small_label(insert_break_points(format_reasons(recollection)))
        reasons_label.setToolTip(format_measured_values(recollection))
        card.setAccessibleName(recollection.title or _shorten(recollection.text))
        for widget in (title, text_label, reasons_label):
            column.addWidget(widget)
        details = [self.tr("from the world {world}").format(world=recollection.world)] if recollection.world else []
        if recollection.likelihood < 1:
            details.append(self.tr("{percent} % likely to be relevant").format(percent=round(100 * recollection.likelihood)))
        if details:
            column.addWidget(build_small_label(" · ".join(details)))
        if is_listed(str(recollection.memory)):
            button = build_button(self.tr("Show in list"))
            button.setAccessibleName(
                self.tr("Show “{what}” in the list").format(what=recollection.title or _shorten(recollection.text))
            )
            button.clicked.connect(lambda: self.memory_requested.emit(str(recollection.memory)))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _name_titles_in_prompt(self, titles: Sequence[str]) -> str:
        named = ", ".join(self.tr("“{title}”").format(title=_shorten(title)) for title in titles[:MAX_TITLES])
        if len(titles) > MAX_TITLES:
            named = self.tr("{titles} and {n} more").format(titles=named, n=len(titles) - MAX_TITLES)
        text = self.tr("In the prompt word for word, and therefore not recalled: {titles}.")
        return text.format(titles=named)

    def _build_blocked_card(self, blocked: list[BlockedMemory]) -> QWidget:
        card, column = create_card(self.tr("Matched, but not used"))
        column.setSpacing(SPACE_1)
        for memory in blocked:
            parts = (memory.title, memory.world, format_block_label(memory), format_block_reason(memory.why, memory.values))
            column.addWidget(build_small_label(insert_break_points(" · ".join(part for part in parts if part))))
        return card


def _shorten(text: str, max_length: int = 60) -> str:
    # Passages are quoted.
    return shorten_text(" ".join(line.removeprefix("> ") for line in text.splitlines()), max_length)
