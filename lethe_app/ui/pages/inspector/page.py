"""Page “Prompt inspector”: the exact prompt of a reply with tokens per section, cuts, reprocessed tokens and changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale, Qt, QTimer
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QStackedWidget, QTabBar, QWidget

from lethe_app.domain.chat import Message, Role
from lethe_app.domain.prompt import PartTokens, join_spans
from lethe_app.errors import StorageError
from lethe_app.services.chat.prompt_inspector import PromptInspection, PromptInspector
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.token_counts import TokenCountService
from lethe_app.ui.chat.memory_card_parts import CardButton
from lethe_app.ui.core.formatting import format_token_count, shorten_text
from lethe_app.ui.core.labels.dates import format_day, format_time, local_day
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4, SPACE_8
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.inspector.colours import section_title
from lethe_app.ui.pages.inspector.diff import common_prefix_length, compare_prompts, part_at
from lethe_app.ui.pages.inspector.summary import DEFAULT_WIDTH, PromptSummary, format_missing_text
from lethe_app.ui.pages.inspector.text import PromptText
from lethe_app.ui.pages.page import Page
from lethe_app.ui.transcript.chat_view import ChatView
from lethe_app.ui.widgets.card_column import create_splitter
from lethe_app.ui.widgets.labels import build_heading, build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.table import SearchField

MIN_SEARCH_WIDTH = 96
PROMPT_TAB, CHANGES_TAB = 0, 1
"""Tabs of the page: the prompt, and its changes since the previous prompt."""
RETRY_INTERVAL_MS = 1000
"""Interval in milliseconds at which the page looks for the prompt of a reply that is still being generated."""


class InspectorPage(Page):
    """Page about one reply, at first the one on display in the memory panel; arrow buttons lead to the replies before and
    after it.
    """

    def __init__(
        self,
        context: PageContext,
        chat_view: ChatView,
        reply_id: UUID | None,
        clock: Callable[[], datetime],
        prompt_inspector: PromptInspector,
        token_counts: TokenCountService,
        sessions: SessionService,
    ) -> None:
        super().__init__(context.theme, QCoreApplication.translate("InspectorPage", "Prompt inspector"))
        self._context, self._tasks = context, context.tasks
        self._prompt_inspector, self._token_counts, self._sessions = prompt_inspector, token_counts, sessions
        self.reply_id, self._view, self._clock = reply_id, chat_view, clock
        self._reply_ids: list[UUID] = []
        self.inspection: PromptInspection | None = None
        self._share: PartTokens | None = None
        self._build()
        self._connect()
        self._retry_timer = QTimer(self, singleShot=True, interval=RETRY_INTERVAL_MS)
        self._retry_timer.timeout.connect(self._load_newest)
        self._start_loading()

    def _build(self) -> None:
        self.previous_reply_button = CardButton(
            self.theme, "chevron-up", self.tr("Previous reply"), lambda: self._move_to_reply(-1)
        )
        self.next_reply_button = CardButton(self.theme, "chevron-down", self.tr("Next reply"), lambda: self._move_to_reply(1))
        for tool in (self.previous_reply_button, self.next_reply_button):
            self._buttons.addWidget(tool)
        self.copy_section_button = self.add_button(self.tr("Copy section"), lambda: self._copy_text(self._section_text()))
        self.copy_prompt_button = self.add_button(self.tr("Copy prompt"), self._copy_prompt, "copy")
        self.copy_prompt_button.setToolTip(self.tr("Copy the whole prompt as sent to the model"))
        self.summary = PromptSummary(self.theme)
        self.summary.hide()
        self.prompt_text = PromptText(self.theme)
        self._empty_title, self._empty_text = build_heading(""), build_small_label("")
        for label in (self._empty_title, self._empty_text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        empty_state = QWidget()
        build_column(1, self._empty_title, self._empty_text, 2, spacing=SPACE_2, margins=SPACE_8, parent=empty_state)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.prompt_text)
        self._stack.addWidget(empty_state)
        right = QWidget()
        bar = self._build_bar()
        build_column(bar, self.first_difference_label, (self._stack, 1), parent=right)
        split = create_splitter(self.summary, right, stretch_index=1)
        split.setSizes([self.summary.scale_width(DEFAULT_WIDTH), 920])
        self.body.addWidget(split, 1)

    def _build_bar(self) -> QHBoxLayout:
        """Build the row with the tabs and the search field."""
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(self.tr("View"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)  # two short tabs are never cut; the search field gives way
        self.tabs.addTab(self.tr("Prompt"))
        self.tabs.addTab(self.tr("Changes"))
        self.search = SearchField(self.theme, self.tr("Search prompt"))
        self.search.down_pressed.connect(self.prompt_text.setFocus)
        self.search.setMinimumWidth(MIN_SEARCH_WIDTH)
        self.match_count_label = QLabel()
        self.match_count_label.setProperty("small", True)
        self.previous_match_button = CardButton(
            self.theme, "chevron-up", self.tr("Previous match  Shift+Enter"), lambda: self.prompt_text.go_to_match(-1)
        )
        self.next_match_button = CardButton(
            self.theme, "chevron-down", self.tr("Next match  Enter"), lambda: self.prompt_text.go_to_match(1)
        )
        self.first_difference_label = build_small_label("")
        self.first_difference_label.setContentsMargins(SPACE_4, 0, SPACE_4, SPACE_2)
        buttons = (self.previous_match_button, self.next_match_button)
        margins = (SPACE_2, SPACE_2, SPACE_3, SPACE_2)
        return build_row(self.tabs, 1, self.search, self.match_count_label, *buttons, spacing=SPACE_2, margins=margins)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self._show_view)
        self.search.textChanged.connect(self.prompt_text.search)
        self.search.returnPressed.connect(self._go_to_match)
        self.prompt_text.matches_changed.connect(self._update_match_count)
        self.summary.chosen.connect(self._select_section)
        self.summary.opened.connect(self._open_section)
        self._update_match_count(0, 0)

    # which reply

    def _load_newest(self) -> None:
        self.reply_id = None
        self._start_loading()

    def _start_loading(self) -> None:
        self._retry_timer.stop()
        self._tasks.start_task(self._load_reply(), key="inspector")

    async def _load_reply(self) -> None:
        session = self._context.current_session()
        if session is not None:
            outline = await self._sessions.outline(session.guid)
            self._reply_ids = [item.id for item in outline if item.role is Role.ASSISTANT and not item.hidden]
        if self.reply_id not in self._reply_ids:
            self.reply_id = self._reply_ids[-1] if self._reply_ids else None
        message = await self._load_message(self.reply_id) if self.reply_id is not None else None
        self.inspection = await self._prompt_inspector.prompt_of(message.id) if message is not None else None
        self._update_header(message)
        self._show_inspection()
        if self.inspection is not None and self.inspection.spans and self.inspection.previous:
            await self._show_first_difference(self.inspection)

    async def _load_message(self, message_id: UUID) -> Message | None:
        try:
            return await self._sessions.message(message_id)
        except StorageError:
            return None

    def _move_to_reply(self, offset: int) -> None:
        if self.reply_id in self._reply_ids:
            position = self._reply_ids.index(self.reply_id) + offset
            if 0 <= position < len(self._reply_ids):
                self.reply_id = self._reply_ids[position]
                self._start_loading()

    def _update_header(self, message: Message | None) -> None:
        position = self._reply_ids.index(self.reply_id) if self.reply_id in self._reply_ids else -1
        self.previous_reply_button.setEnabled(position > 0)
        self.next_reply_button.setEnabled(0 <= position < len(self._reply_ids) - 1)
        if message is None:
            self.subtitle.set_full_text("")
            return
        day, today = local_day(message.time), local_day(self._clock())
        when = format_time(message.time) if day == today else f"{format_day(day, today)}, {format_time(message.time)}"
        text = self.tr("Reply by {name}, {when}: {words}")
        excerpt = shorten_text(message.content.replace("*", ""), 80)
        self.subtitle.set_full_text(text.format(name=message.speaker_name, when=when, words=excerpt))

    # what is shown

    def _show_inspection(self) -> None:
        inspection = self.inspection
        has_text = inspection is not None and bool(inspection.spans)
        self.summary.show_inspection(inspection)
        if self.summary.table.hasFocus() and inspection is None:
            self.back.setFocus()  # a hidden table would pass the focus to any widget
        self.summary.setVisible(inspection is not None)
        if self.back.hasFocus():
            self.first_focus_widget().setFocus()
        self.copy_prompt_button.setEnabled(has_text)
        for part in (self.tabs, self.search, self.copy_prompt_button, self.copy_section_button):
            part.setVisible(has_text)
        self._select_section(None)
        has_previous = has_text and inspection is not None and bool(inspection.previous)
        self.tabs.setTabVisible(CHANGES_TAB, has_previous)  # the first reply has no earlier prompt to compare with
        if not has_previous:
            self.tabs.setCurrentIndex(PROMPT_TAB)
        for widget in (self.search, self.previous_match_button, self.next_match_button):
            widget.setEnabled(has_text)
        self._stack.setCurrentIndex(0 if has_text else 1)
        if inspection is None and self._is_generating():
            title, text = self.tr("Reply in progress"), self.tr("The prompt appears here as soon as the reply is finished.")
            self.subtitle.set_full_text("")
            self._retry_timer.start()
        elif inspection is None:
            title = self.tr("No prompt recorded")
            text = self.tr("Greetings are not generated by a model, and the prompts of older replies were not recorded.")
        else:
            title = self.tr("Prompt text no longer stored")
            text = f"{format_missing_text(inspection)} {self.tr('Its sections and their tokens are listed on the left.')}"
        self._empty_title.setText(title)
        self._empty_text.setText(text)
        self.first_difference_label.setVisible(False)
        self._show_view(self.tabs.currentIndex())

    def _is_generating(self) -> bool:
        """Return whether the reply is the newest one and still being generated; its prompt is stored when it is finished."""
        is_newest = bool(self._reply_ids) and self.reply_id == self._reply_ids[-1]
        return is_newest and self._view.chat_model.growing_row is not None

    def _show_view(self, view: int) -> None:
        inspection = self.inspection
        if inspection is None:
            self.prompt_text.show_spans(())
        elif view == CHANGES_TAB:
            self.prompt_text.show_lines(compare_prompts(inspection.previous, inspection.spans))
        else:
            self.prompt_text.show_spans(inspection.spans)
        self.first_difference_label.setVisible(view == CHANGES_TAB and bool(self.first_difference_label.text()))

    async def _show_first_difference(self, inspection: PromptInspection) -> None:
        """Show the position of the first difference from the previous prompt; the tokens before it came from the KV cache."""
        shared = common_prefix_length(inspection.previous, inspection.spans)
        part = part_at(inspection.spans, shared)
        tokens = await self._token_counts.count_one(join_spans(inspection.spans)[:shared])
        # Another reply may have been chosen while the tokens were counted.
        if inspection is not self.inspection:
            return
        if part is None:
            text = self.tr("Everything in this prompt was already in the previous one.")
        else:
            text = self.tr("The first {tokens} are the same. The first difference is in “{part}”.").format(
                tokens=format_token_count(tokens), part=section_title(part)
            )
        self.first_difference_label.setText(text)
        self.first_difference_label.setVisible(self.tabs.currentIndex() == CHANGES_TAB)

    def _select_section(self, share: PartTokens | None) -> None:
        self._share = share
        self.copy_section_button.setEnabled(bool(self._section_text()))
        if share is not None and self.tabs.currentIndex() == PROMPT_TAB:
            self.prompt_text.go_to_part(share.part, share.session)

    def _open_section(self, share: PartTokens) -> None:
        self.tabs.setCurrentIndex(PROMPT_TAB)
        self._select_section(share)
        self.prompt_text.setFocus()

    def _section_text(self) -> str:
        """Return the text of the selected section."""
        share, inspection = self._share, self.inspection
        if share is None or inspection is None:
            return ""
        key = (share.part, share.session)
        return "".join(span.text for span in inspection.spans if (span.part, span.session) == key).strip()

    def _copy_prompt(self) -> None:
        self._copy_text(join_spans(self.inspection.spans) if self.inspection is not None else "")

    def _copy_text(self, text: str) -> None:
        if text:
            QApplication.clipboard().setText(text)
            self._context.notifier.notify(self.tr("Copied to the clipboard."))

    def _go_to_match(self) -> None:
        # The signal returnPressed does not carry the modifier keys.
        is_backwards = QApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier
        self.prompt_text.go_to_match(-1 if is_backwards else 1)

    def _update_match_count(self, current: int, count: int) -> None:
        locale = QLocale()
        count_text = self.tr("{at} of {count}").format(at=locale.toString(current), count=locale.toString(count))
        self.match_count_label.setText(count_text if count else self.tr("no matches") if self.search.text().strip() else "")
        for tool in (self.previous_match_button, self.next_match_button):
            tool.setVisible(count > 0)

    def first_focus_widget(self) -> QWidget:
        return self.back if self.summary.isHidden() else self.summary.table


def create_page(environment: PageEnvironment, _route: object) -> InspectorPage:
    """Create the page with the services that it calls."""
    window = environment.window
    return environment.create(InspectorPage, reply_id=window.memory_panel.reply_id, clock=window.clock)
