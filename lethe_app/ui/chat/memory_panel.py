"""Panel beside the transcript: the memories that were recalled for a reply, the reasons, and what was not used."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from lethe_app.ui.chat.memory_card_parts import CardButton, Fold, Link, wrapped
from lethe_app.ui.chat.mood_line import MoodLine
from lethe_app.ui.core.formatting import counted, memories_in_words
from lethe_app.ui.core.icons import picture
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_8
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.flow_layout import Flow

if TYPE_CHECKING:
    from uuid import UUID

    from lethe_app.domain.recall import NotRecalled
    from lethe_app.services.chat.reply_sources import ReplySources
    from lethe_app.ui.chat.memory_card import Around, MemoryCard

MOST_KEPT_BACK = 12
"""Maximum number of unused memories that are listed; the others are only counted."""


class MemoryPanel(QFrame):
    """View of the recall of one reply. It emits requests as signals, which `ui/controllers/memory_panel.py` handles."""

    pin_wanted = Signal(object, bool)
    """Emitted with the `Surfaced` memory and whether to pin it."""
    written = Signal(object, str)
    """Emitted with the `Surfaced` memory and its new text."""
    forget_wanted = Signal(object)
    """Emitted with the `Surfaced` memory that is to be forgotten."""
    objected = Signal(object)
    """Emitted with the `Surfaced` memory that the user marks as irrelevant."""
    withdrawn = Signal(object)
    """Emitted with the id of a memory whose mark as irrelevant is removed."""
    go_wanted = Signal(object)
    """Emitted with the `Whence` to go to."""
    newest_wanted = Signal()
    """Emitted to show the newest reply."""
    prompt_wanted = Signal()
    """Emitted to open the prompt inspector for the reply."""
    close_wanted = Signal()
    left = Signal()
    """Emitted on Esc, to return the focus to the conversation."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("memory_panel")
        self.setAccessibleName(self.tr("Memory panel"))
        self._theme = theme
        self._shown: tuple[ReplySources, Around] | None = None
        self.reply: UUID | None = None
        """Id of the reply of the panel, also while the panel is hidden; the prompt inspector opens with the same reply."""
        self._open_cards: set[UUID] = set()
        self._is_newest = True
        self._open_folds = {"kept back": False, "always": False}
        self.cards: list[MemoryCard] = []
        self._signs: list[QLabel] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.mood = MoodLine()
        column.addWidget(self._head())
        column.addWidget(self.mood)
        column.addWidget(self._middle(), 1)
        column.addWidget(self._foot())
        theme.changed.connect(self._dress)

    # Fixed parts

    def _head(self) -> QFrame:
        head = QFrame()
        head.setObjectName("header")
        head.setMinimumHeight(52)
        self.title = QLabel(self.tr("In this reply"))
        self.title.setProperty("section", True)
        self.subtitle = QLabel()
        self.subtitle.setProperty("small", True)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.title)
        words.addWidget(self.subtitle)
        self.prompt = CardButton(self._theme, "eye", self.tr("Open prompt inspector for this reply"), self.prompt_wanted.emit)
        self.close_button = CardButton(self._theme, "close", self.tr("Hide memory panel"), self.close_wanted.emit)
        row = QHBoxLayout(head)
        row.setContentsMargins(SPACE_4, SPACE_2, SPACE_2, SPACE_2)
        row.setSpacing(SPACE_1)
        row.addLayout(words, 1)
        row.addWidget(self.prompt)
        row.addWidget(self.close_button)
        return head

    def _middle(self) -> QScrollArea:
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.viewport().setAutoFillBackground(False)
        inside = QWidget()
        inside.setObjectName("sheet")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(SPACE_3, SPACE_3, SPACE_3, SPACE_3)
        self._column.setSpacing(SPACE_3)
        self._column.addStretch(1)
        self.area.setWidget(inside)
        return self.area

    def _foot(self) -> QFrame:
        self._links = QFrame()
        self._links.setObjectName("foot")
        self._flow = Flow(self._links, margin=SPACE_2, spacing=SPACE_1)
        self._links.hide()
        return self._links

    def add_link(self, words: str, action: QAction) -> None:
        """Add a button at the bottom that opens a page by its action."""
        button = QPushButton(words)
        button.setProperty("small", True)
        button.setToolTip(f"{action.text()}  {action.shortcut().toString()}".rstrip())
        button.setAccessibleName(action.text())
        button.clicked.connect(lambda _checked=False: action.trigger())
        self._flow.addWidget(button)
        self._links.show()

    # Content

    def show_reply(self, subtitle: str, *, is_newest: bool) -> None:
        """Set the subtitle that names the reply, and whether it is the newest one."""
        self.subtitle.setText(subtitle)
        self._is_newest = is_newest

    def show_behind(self, behind: ReplySources, around: Around) -> None:
        """Show the recall of one reply; do nothing if it did not change, or while a card of the same reply is edited. For
        the same reply, scroll position and expanded cards are kept.
        """
        if (behind, around.name) == self._told:
            return
        if any(card.is_editing for card in self.cards) and self._same_reply(behind):
            return  # what the reader is writing is not swept away
        place = self.area.verticalScrollBar().value() if self._same_reply(behind) else 0
        self._open_cards = {card.key for card in self.cards if card.fold.isChecked()} if self._same_reply(behind) else set()
        self._shown = (behind, around)
        self.setUpdatesEnabled(False)
        self._empty()
        self._fill(behind, around)
        self.setUpdatesEnabled(True)
        self.area.verticalScrollBar().setValue(place)

    def show_words(self, title: str, text: str) -> None:
        """Show an explanation instead of cards."""
        self._shown = None
        self._empty()
        self._say(title, text)

    @property
    def _told(self) -> tuple[ReplySources, str] | None:
        return (self._shown[0], self._shown[1].name) if self._shown is not None else None

    def _same_reply(self, behind: ReplySources) -> bool:
        asked = self._shown[0].asked if self._shown is not None else None
        return asked is not None and behind.asked is not None and asked.id == behind.asked.id

    def _empty(self) -> None:
        self.cards.clear()
        self._signs.clear()
        while self._column.count() > 1:
            item = self._column.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def _add(self, widget: QWidget) -> None:
        self._column.insertWidget(self._column.count() - 1, widget)

    def _fill(self, behind: ReplySources, around: Around) -> None:
        # Imported with the first memory, so that building the window does not wait for these modules.
        from lethe_app.ui.chat.always_in_prompt import AlwaysInPrompt  # noqa: PLC0415
        from lethe_app.ui.chat.memory_card import MemoryCard  # noqa: PLC0415
        from lethe_app.ui.chat.memory_labels import why_nothing  # noqa: PLC0415

        if not self._is_newest:
            self._add(Link(self.tr("Back to the newest reply ↓"), self.tr("Back to the newest reply"), self.newest_wanted.emit))
        if behind.surfaced:
            self._add(wrapped(self._how_many(behind), small=True))
        else:
            self._say(*why_nothing(behind, around.name))
        for one in sorted(behind.surfaced, key=lambda one: one.is_world):
            card = MemoryCard(self._theme, one, around, is_open=one.recollection.memory in self._open_cards)
            for signal, own in (
                (card.pin_wanted, self.pin_wanted),
                (card.written, self.written),
                (card.forget_wanted, self.forget_wanted),
                (card.objected, self.objected),
                (card.go_wanted, self.go_wanted),
            ):
                signal.connect(own)
            self.cards.append(card)
            self._add(card)
        if behind.always:
            always = AlwaysInPrompt(self._theme, behind.always, is_open=self._open_folds["always"])
            always.fold.toggled.connect(partial(self._open_folds.__setitem__, "always"))
            self._add(always)
        if behind.scratch.strip():
            self._add_scratch(behind.scratch)
        if behind.kept_back:
            self._add_kept_back(behind)
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Set the tab order from top to bottom; Qt's default is the order in which the widgets were created."""
        inside = self.area.widget()
        parts = [*(inside.findChildren(QAbstractButton) if inside is not None else ()), *self._links.findChildren(QPushButton)]
        stops = [self.prompt, self.close_button, self.mood.more, *(part for part in parts if part.isVisibleTo(self))]
        for one, next_one in pairwise(stops):
            QWidget.setTabOrder(one, next_one)

    def _how_many(self, behind: ReplySources) -> str:
        """Return the number of memories and of World Info entries in words."""
        entries = sum(one.is_world for one in behind.surfaced)
        memories = len(behind.surfaced) - entries
        told = [memories_in_words(memories)] if memories else []
        if entries:
            told.append(counted(entries, self.tr("{n} world entry"), self.tr("{n} world entries")))
        return self.tr("{what} used.").format(what=self.tr(" and ").join(told))

    def _say(self, title: str, text: str) -> None:
        sign = QLabel()
        sign.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._signs.append(sign)
        headline = wrapped(title, field=True)
        words = wrapped(text, quiet=True)
        for label in (headline, words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        around = QWidget()
        column = QVBoxLayout(around)
        column.setContentsMargins(SPACE_4, SPACE_8, SPACE_4, SPACE_4)
        column.setSpacing(SPACE_2)
        for widget in (sign, headline, words):
            column.addWidget(widget)
        self._add(around)
        self._dress()

    def _add_scratch(self, scratch: str) -> None:
        card = QFrame()
        column = QVBoxLayout(card)
        column.setContentsMargins(SPACE_2, SPACE_1, SPACE_2, SPACE_1)
        column.setSpacing(SPACE_1)
        column.addWidget(wrapped(self.tr("Conversation notes"), small=True))
        column.addWidget(wrapped(scratch.strip(), quiet=True))
        self._add(card)

    def _add_kept_back(self, behind: ReplySources) -> None:
        count = len(behind.kept_back)
        words = self.tr("Not used · {count}").format(count=count)
        self.kept_back = Fold(self._theme, words, is_open=self._open_folds["kept back"] or bool(behind.unwanted))
        self.kept_back.setToolTip(self.tr("Memories and entries that matched but were not used, and why"))
        inside = QWidget()
        inside.setVisible(self.kept_back.isChecked())
        column = QVBoxLayout(inside)
        column.setContentsMargins(SPACE_2, 0, SPACE_2, 0)
        column.setSpacing(SPACE_2)
        ordered = sorted(behind.kept_back, key=lambda one: one not in behind.unwanted)
        for one in ordered[:MOST_KEPT_BACK]:
            self._add_held(column, one, is_unwanted=one in behind.unwanted)
        if (more := count - MOST_KEPT_BACK) > 0:
            column.addWidget(wrapped(counted(more, self.tr("And {n} more."), self.tr("And {n} more.")), small=True))
        self.kept_back.toggled.connect(inside.setVisible)
        self.kept_back.toggled.connect(partial(self._open_folds.__setitem__, "kept back"))
        self._add(self.kept_back)
        self._add(inside)

    def _add_held(self, column: QVBoxLayout, one: NotRecalled, *, is_unwanted: bool) -> None:
        from lethe_app.ui.chat import memory_labels  # noqa: PLC0415 - not needed to open the window
        from lethe_app.ui.core.reason_labels import block_words  # noqa: PLC0415

        name = one.title or self.tr("Untitled")
        column.addWidget(wrapped(self.tr("{name} · {world}").format(name=name, world=one.world) if one.world else name))
        why = wrapped(memory_labels.kept_back_words(one), small=True)
        why.setToolTip(block_words(one.why, one.values))
        column.addWidget(why)
        if is_unwanted:
            told = self.tr("Mark “{name}” as relevant to this reply").format(name=memory_labels.shortened(name, 40))
            column.addWidget(Link(self.tr("Mark as relevant"), told, lambda: self.withdrawn.emit(one.memory)))

    def _dress(self) -> None:
        for sign in self._signs:
            sign.setPixmap(picture("memory", self._theme.palette.amber, ICON + SPACE_2, self.devicePixelRatioF()))

    def first_focus(self) -> QWidget:
        """Return the widget for the keyboard focus: the first card, or the close button if there is none."""
        return self.cards[0].fold if self.cards else self.close_button

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
