"""Panel beside the transcript: the memories that were recalled for a reply, the reasons, and what was not used."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from lethe_app.domain.recall import count_recalled
from lethe_app.ui.chat.memory_card_parts import (
    CardButton,
    CollapsibleHeading,
    LinkButton,
    MoodLine,
    connect_with_action,
    create_selectable_label,
)
from lethe_app.ui.core.accessibility import chain_focus
from lethe_app.ui.core.formatting import format_count, format_recall_counts, shorten_text
from lethe_app.ui.core.icons import render_icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_8
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_heading
from lethe_app.ui.widgets.layouts import ContentArea, build_column, build_row

if TYPE_CHECKING:
    from uuid import UUID

    from lethe_app.domain.recall import BlockedMemory
    from lethe_app.services.chat.reply_source_reader import ReplySources
    from lethe_app.ui.chat.memory_card import CardContext, MemoryCard

MAX_BLOCKED_SHOWN = 12
"""Maximum number of unused memories that are listed; the others are only counted."""


class MemoryPanel(QFrame):
    """View of the recall of one reply. It emits requests as signals, which `ui/controllers/memory_panel.py` handles."""

    command_chosen = Signal(str, object)
    """Emitted with a command of a `MemoryCard` and its subject, or with “mark relevant” and the id of a memory."""
    text_saved = Signal(object, str)
    """Emitted with the `ReplyMemory` and its new text."""
    newest_requested = Signal()
    """Emitted to show the newest reply."""
    prompt_requested = Signal()
    """Emitted to open the prompt inspector for the reply."""
    close_requested = Signal()
    focus_left = Signal()
    """Emitted on Esc, to return the focus to the conversation."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("memory_panel")
        self.setAccessibleName(self.tr("Memory panel"))
        self._theme = theme
        self._shown_sources: tuple[ReplySources, CardContext] | None = None
        self.reply_id: UUID | None = None
        """Id of the reply of the panel, also while the panel is hidden; the prompt inspector opens with the same reply."""
        self._expanded_cards: set[UUID] = set()
        self._is_newest = True
        self._expanded_sections = {"kept back": False, "always": False}
        self.cards: list[MemoryCard] = []
        self._icon_labels: list[QLabel] = []
        self.mood_line = MoodLine()
        build_column(self._build_header(), self.mood_line, (self._build_scroll_area(), 1), self._build_footer(), parent=self)
        theme.changed.connect(self._apply_theme)

    # Fixed parts

    def _build_header(self) -> QFrame:
        head = QFrame()
        head.setObjectName("header")
        head.setMinimumHeight(52)
        self.title = build_heading(self.tr("In this reply"))
        self.subtitle = QLabel()
        self.subtitle.setProperty("small", True)
        text_column = build_column(self.title, self.subtitle)
        self.prompt_button = CardButton(
            self._theme, "eye", self.tr("Open prompt inspector for this reply"), self.prompt_requested.emit
        )
        self.close_button = CardButton(self._theme, "close", self.tr("Hide memory panel"), self.close_requested.emit)
        build_row(
            (text_column, 1),
            self.prompt_button,
            self.close_button,
            spacing=SPACE_1,
            margins=(SPACE_4, SPACE_2, SPACE_2, SPACE_2),
            parent=head,
        )
        return head

    def _build_scroll_area(self) -> QScrollArea:
        content = QWidget()
        self._column = build_column(1, spacing=SPACE_3, margins=SPACE_3, parent=content)
        self.scroll_area = ContentArea(content)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return self.scroll_area

    def _build_footer(self) -> QFrame:
        self._link_bar = QFrame()
        self._link_bar.setObjectName("foot")
        self._flow = FlowLayout(self._link_bar, margin=SPACE_2, spacing=SPACE_1)
        self._link_bar.hide()
        return self._link_bar

    def add_link(self, label: str, action: QAction) -> None:
        """Add a button at the bottom that opens a page by its action."""
        button = QPushButton(label)
        button.setProperty("small", True)
        connect_with_action(button, action)
        self._flow.addWidget(button)
        self._link_bar.show()

    # Content

    def set_reply_title(self, subtitle: str, *, is_newest: bool) -> None:
        """Set the subtitle that names the reply, and whether it is the newest one."""
        self.subtitle.setText(subtitle)
        self._is_newest = is_newest

    def show_sources(self, sources: ReplySources, reply_context: CardContext) -> None:
        """Show the recall of one reply; do nothing if it did not change, or while a card of the same reply is edited. For
        the same reply, scroll position and expanded cards are kept.
        """
        if (sources, reply_context.persona_name) == self._shown_state:
            return
        if any(card.is_editing for card in self.cards) and self._is_same_reply(sources):
            return  # a rebuild would discard what the user is editing
        scroll_value = self.scroll_area.verticalScrollBar().value() if self._is_same_reply(sources) else 0
        self._expanded_cards = (
            {card.memory_id for card in self.cards if card.heading.isChecked()} if self._is_same_reply(sources) else set()
        )
        self._shown_sources = (sources, reply_context)
        had_focus = self.scroll_area.isAncestorOf(self.focusWidget() or self)
        self.setUpdatesEnabled(False)
        self._clear_content()
        self._fill_content(sources, reply_context)
        if had_focus:
            self.first_focus_widget().setFocus()
        self.setUpdatesEnabled(True)
        self.scroll_area.verticalScrollBar().setValue(scroll_value)

    def show_explanation(self, title: str, text: str) -> None:
        """Show an explanation instead of cards."""
        self._shown_sources = None
        self._clear_content()
        self._add_explanation(title, text)

    @property
    def _shown_state(self) -> tuple[ReplySources, str] | None:
        return (self._shown_sources[0], self._shown_sources[1].persona_name) if self._shown_sources is not None else None

    def _is_same_reply(self, sources: ReplySources) -> bool:
        shown_message = self._shown_sources[0].user_message if self._shown_sources is not None else None
        return shown_message is not None and sources.user_message is not None and shown_message.id == sources.user_message.id

    def _clear_content(self) -> None:
        self.cards.clear()
        self._icon_labels.clear()
        while self._column.count() > 1:
            item = self._column.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def _add_widget(self, widget: QWidget) -> None:
        self._column.insertWidget(self._column.count() - 1, widget)

    def _fill_content(self, sources: ReplySources, reply_context: CardContext) -> None:
        # Imported with the first memory, so that building the window does not wait for these modules.
        from lethe_app.ui.chat.memory_card import AlwaysInPrompt, MemoryCard  # noqa: PLC0415
        from lethe_app.ui.chat.memory_labels import explain_no_memories  # noqa: PLC0415

        if not self._is_newest:
            self._add_widget(
                LinkButton(
                    self.tr("Back to the newest reply ↓"), self.tr("Back to the newest reply"), self.newest_requested.emit
                )
            )
        if sources.recalled:
            self._add_widget(create_selectable_label(self._format_counts(sources), "small"))
        else:
            self._add_explanation(*explain_no_memories(sources, reply_context.persona_name))
        for one in sorted(sources.recalled, key=lambda one: one.is_world and not one.recollection.is_notebook):
            card = MemoryCard(self._theme, one, reply_context, is_open=one.recollection.memory in self._expanded_cards)
            card.command_chosen.connect(self.command_chosen)
            card.text_saved.connect(self.text_saved)
            self.cards.append(card)
            self._add_widget(card)
        if sources.stable_content:
            section = AlwaysInPrompt(self._theme, sources.stable_content, is_open=self._expanded_sections["always"])
            section.heading.toggled.connect(partial(self._expanded_sections.__setitem__, "always"))
            self._add_widget(section)
        if sources.session_notes.strip():
            self._add_session_notes(sources.session_notes)
        if sources.blocked:
            self._add_blocked_section(sources)
        self._set_tab_order()

    def _set_tab_order(self) -> None:
        """Set the tab order from top to bottom; Qt's default is the order in which the widgets were created."""
        inside = self.scroll_area.widget()
        parts = [
            *(inside.findChildren(QAbstractButton) if inside is not None else ()),
            *self._link_bar.findChildren(QPushButton),
        ]
        stops = [
            self.prompt_button,
            self.close_button,
            self.mood_line.page_button,
            *(part for part in parts if part.isVisibleTo(self)),
        ]
        chain_focus(*stops)

    def _format_counts(self, sources: ReplySources) -> str:
        """Return the numbers of memories, world entries and passages of documents in words."""
        counts = count_recalled(one.recollection for one in sources.recalled)
        return self.tr("Used: {what}").format(what=format_recall_counts(counts))

    def _add_explanation(self, title: str, text: str) -> None:
        icon_label = QLabel()
        icon_label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._icon_labels.append(icon_label)
        headline = create_selectable_label(title, "field")
        text_label = create_selectable_label(text, "quiet")
        for label in (headline, text_label):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        container = QWidget()
        build_column(
            icon_label, headline, text_label, spacing=SPACE_2, margins=(SPACE_4, SPACE_8, SPACE_4, SPACE_4), parent=container
        )
        self._add_widget(container)
        self._apply_theme()

    def _add_session_notes(self, notes: str) -> None:
        from lethe_app.ui.chat.memory_labels import format_session_notes  # noqa: PLC0415

        card = QFrame()
        heading = create_selectable_label(self.tr("Conversation notes"), "small")
        heading.setToolTip(self.tr("What you said about yourself in this conversation; always in view of the persona"))
        text = create_selectable_label(format_session_notes(notes), "quiet")
        build_column(heading, text, spacing=SPACE_1, margins=(SPACE_2, SPACE_1, SPACE_2, SPACE_1), parent=card)
        self._add_widget(card)

    def _add_blocked_section(self, sources: ReplySources) -> None:
        count = len(sources.blocked)
        words = self.tr("Irrelevant or not used · {count}") if sources.unwanted else self.tr("Not used · {count}")
        words = words.format(count=count)
        self.blocked_heading = CollapsibleHeading(
            self._theme, words, is_open=self._expanded_sections["kept back"] or bool(sources.unwanted)
        )
        self.blocked_heading.setToolTip(self.tr("Memories and entries that matched but were not used, and why"))
        content = QWidget()
        content.setVisible(self.blocked_heading.isChecked())
        column = build_column(spacing=SPACE_2, margins=(SPACE_2, 0, SPACE_2, 0), parent=content)
        ordered = sorted(sources.blocked, key=lambda one: one not in sources.unwanted)
        for one in ordered[:MAX_BLOCKED_SHOWN]:
            self._add_blocked_memory(column, one, is_unwanted=one in sources.unwanted)
        if (more := count - MAX_BLOCKED_SHOWN) > 0:
            column.addWidget(
                create_selectable_label(format_count(more, self.tr("And {n} more."), self.tr("And {n} more.")), "small")
            )
        self.blocked_heading.toggled.connect(content.setVisible)
        self.blocked_heading.toggled.connect(partial(self._expanded_sections.__setitem__, "kept back"))
        self._add_widget(self.blocked_heading)
        self._add_widget(content)

    def _add_blocked_memory(self, column: QVBoxLayout, blocked_memory: BlockedMemory, *, is_unwanted: bool) -> None:
        from lethe_app.ui.chat import memory_labels  # noqa: PLC0415 - not needed to open the window
        from lethe_app.ui.core.reason_labels import format_block_reason  # noqa: PLC0415

        name = blocked_memory.title or self.tr("Untitled")
        column.addWidget(
            create_selectable_label(
                self.tr("{name} · {world}").format(name=name, world=blocked_memory.world) if blocked_memory.world else name
            )
        )
        reason_label = create_selectable_label(memory_labels.format_block_label(blocked_memory), "small")
        reason_label.setToolTip(format_block_reason(blocked_memory.why, blocked_memory.values))
        column.addWidget(reason_label)
        if is_unwanted:
            tooltip = self.tr("Mark “{name}” as relevant to this reply").format(name=shorten_text(name, 40))
            column.addWidget(
                LinkButton(
                    self.tr("Mark as relevant"),
                    tooltip,
                    lambda: self.command_chosen.emit("mark relevant", blocked_memory.memory),
                )
            )

    def _apply_theme(self) -> None:
        for icon_label in self._icon_labels:
            icon_label.setPixmap(render_icon("memory", self._theme.palette.amber, ICON + SPACE_2, self.devicePixelRatioF()))

    def first_focus_widget(self) -> QWidget:
        """Return the widget for the keyboard focus: the first card, or the close button if there is none."""
        return self.cards[0].heading if self.cards else self.close_button

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.focus_left.emit()
        else:
            super().keyPressEvent(event)
