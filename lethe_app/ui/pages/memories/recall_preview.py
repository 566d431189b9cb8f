"""Result of a recall test: the memories a message would recall with their reasons, and those that matched but were not used."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.recall import NotRecalled, Recollection, TurnMemory
from lethe_app.ui.chat.memory_card_parts import breakable
from lethe_app.ui.chat.memory_labels import kept_back_words
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.reason_labels import block_words
from lethe_app.ui.pages.memories.labels import number, reasons_in_words
from lethe_app.ui.pages.page import explanation, headline
from lethe_app.ui.widgets.card_column import made_card

MOST_BLOCKED = 12


class RecallView(QWidget):
    """Cards of the memories a message would recall, best first; `wanted` emits the GUID of a memory to select in the list."""

    wanted = Signal(str)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_3)
        head = QHBoxLayout()
        self._title = headline("")
        self._title.setWordWrap(True)
        self.close_button = QPushButton(self.tr("Close"))
        self.close_button.setProperty("filled", True)
        self.close_button.clicked.connect(self.closed)
        head.addWidget(self._title, 1)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self._column.addLayout(head)
        self._cards: list[QWidget] = []

    def show_memory(self, name: str, text: str, memory: TurnMemory, is_listed: Callable[[str], bool]) -> None:
        """Show the result of a recall test; `is_listed` returns whether the memory with a GUID is in the list."""
        for card in self._cards:
            self._column.removeWidget(card)
            # deleteLater() deletes in a later pass of the event loop; until then the old cards would be painted over the new
            # ones.
            card.hide()
            card.deleteLater()
        asked = text if len(text) <= 80 else f"{text[:79]}…"
        self._title.setText(breakable(self.tr("Memories recalled by “{text}”").format(text=asked)))
        self._cards = [self._card(one, is_listed) for one in memory.recalled]
        if not memory.recalled:
            self._cards.append(explanation(self.tr("None. {name} would reply without using memories.").format(name=name)))
        if memory.blocked:
            self._cards.append(self._kept_back(memory.blocked[:MOST_BLOCKED]))
        for card in self._cards:
            self._column.addWidget(card)

    def _card(self, one: Recollection, is_listed: Callable[[str], bool]) -> QWidget:
        card, column = made_card()
        column.setSpacing(SPACE_2)
        title = QLabel(breakable(f"◆ {one.title or _beginning(one.text)}"))
        title.setProperty("memory", True)
        words = QLabel(breakable(_beginning(one.text, 400)))
        why = explanation(breakable(reasons_in_words(one)))
        for label in (title, words):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        card.setAccessibleName(one.title or _beginning(one.text))
        for widget in (title, words, why):
            column.addWidget(widget)
        told = [self.tr("from the world {world}").format(world=one.world)] if one.world else []
        if one.likelihood < 1:
            told.append(self.tr("{percent} % likely to be relevant").format(percent=round(100 * one.likelihood)))
        if one.score:
            told.append(self.tr("score {score}").format(score=number(one.score)))
        if told:
            column.addWidget(explanation(" · ".join(told)))
        if is_listed(str(one.memory)):
            button = QPushButton(self.tr("Show in list"))
            button.setProperty("filled", True)
            button.setAccessibleName(self.tr("Show “{what}” in the list").format(what=one.title or _beginning(one.text)))
            button.clicked.connect(lambda: self.wanted.emit(str(one.memory)))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _kept_back(self, blocked: list[NotRecalled]) -> QWidget:
        card, column = made_card(self.tr("Matched, but not used"))
        column.setSpacing(SPACE_1)
        for one in blocked:
            told = (one.title, one.world, kept_back_words(one), block_words(one.why, one.values))
            column.addWidget(explanation(breakable(" · ".join(part for part in told if part))))
        return card


def _beginning(text: str, most: int = 60) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
