"""Page “Prompt inspector”: the exact prompt of a reply with tokens per section, cuts, reprocessed tokens and changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale, Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QStackedWidget, QTabBar, QWidget

from lethe_app.domain.chat import Message, Role
from lethe_app.domain.prompt import PartTokens, PromptSpan, join_spans
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
        self._context, self._view, self._clock = context, chat_view, clock
        self._prompt_inspector, self._token_counts, self._sessions = prompt_inspector, token_counts, sessions
        self._reply_ids: list[UUID] = []
        self.inspection: PromptInspection | None = None
        self._share: PartTokens | None = None
        self.summary, self.prompt_text = PromptSummary(self.theme), PromptText(self.theme)
        self.summary.hide()
        self._build_head_buttons()
        self._build_body()
        self.tabs.currentChanged.connect(self._show_view)
        self.search.down_pressed.connect(self.prompt_text.setFocus)
        self.search.textChanged.connect(self.prompt_text.search)
        self.search.returnPressed.connect(self._go_to_match)
        self.prompt_text.matches_changed.connect(self._update_match_count)
        self.summary.table.current_changed.connect(self._select_section)
        self.summary.table.opened.connect(self._open_section)
        self._update_match_count(0, 0)
        self._retry_timer = QTimer(self, singleShot=True, interval=RETRY_INTERVAL_MS)
        self._retry_timer.timeout.connect(lambda: self._go_to_reply(None))
        self._go_to_reply(reply_id)

    def _build_head_buttons(self) -> None:
        def build_arrow(icon: str, tooltip: str, callback: Callable[[], object]) -> CardButton:
            return CardButton(self.theme, icon, tooltip, callback)

        text, tr = self.prompt_text, self.tr
        self.previous_reply_button = build_arrow("chevron-up", tr("Previous reply"), lambda: self._move_to_reply(-1))
        self.next_reply_button = build_arrow("chevron-down", tr("Next reply"), lambda: self._move_to_reply(1))
        self.previous_match_button = build_arrow("chevron-up", tr("Previous match  Shift+Enter"), lambda: text.go_to_match(-1))
        self.next_match_button = build_arrow("chevron-down", tr("Next match  Enter"), lambda: text.go_to_match(1))
        for tool in (self.previous_reply_button, self.next_reply_button):
            self._buttons.addWidget(tool)
        self.copy_section_button = self.add_button(tr("Copy section"), lambda: self._copy_text(self._section_text()))
        self.copy_prompt_button = self.add_button(tr("Copy prompt"), lambda: self._copy_text(join_spans(self._spans)), "copy")
        self.copy_prompt_button.setToolTip(tr("Copy the whole prompt as sent to the model"))

    def _build_body(self) -> None:
        """Build the summary, and beside it the row of the tabs and the search above the text."""
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(self.tr("View"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)  # two short tabs are never cut; the search field gives way
        self.tabs.addTab(self.tr("Prompt"))
        self.tabs.addTab(self.tr("Changes"))
        self.search = SearchField(self.theme, self.tr("Search prompt"))
        self.search.setMinimumWidth(MIN_SEARCH_WIDTH)
        self.match_count_label = QLabel()
        self.match_count_label.setProperty("small", True)
        self.first_difference_label = build_small_label("")
        self.first_difference_label.setContentsMargins(SPACE_4, 0, SPACE_4, SPACE_2)
        self._empty_title, self._empty_text = build_heading(""), build_small_label("")
        for label in (self._empty_title, self._empty_text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        empty_state, right, self._stack = QWidget(), QWidget(), QStackedWidget()
        build_column(1, self._empty_title, self._empty_text, 2, spacing=SPACE_2, margins=SPACE_8, parent=empty_state)
        self._stack.addWidget(self.prompt_text)
        self._stack.addWidget(empty_state)
        items = (self.search, self.match_count_label, self.previous_match_button, self.next_match_button)
        bar = build_row(self.tabs, 1, *items, spacing=SPACE_2, margins=(SPACE_2, SPACE_2, SPACE_3, SPACE_2))
        build_column(bar, self.first_difference_label, (self._stack, 1), parent=right)
        split = create_splitter(self.summary, right, stretch_index=1)
        split.setSizes([self.summary.scale_width(DEFAULT_WIDTH), 920])
        self.body.addWidget(split, 1)

    # which reply

    @property
    def _spans(self) -> tuple[PromptSpan, ...]:
        return self.inspection.spans if self.inspection is not None else ()

    def _go_to_reply(self, reply_id: UUID | None) -> None:
        """Load a reply of the session; None for the newest one."""
        self.reply_id = reply_id
        self._retry_timer.stop()
        self._context.tasks.start_task(self._load_reply(), key="inspector")

    async def _load_reply(self) -> None:
        session, message = self._context.current_session(), None
        if session is not None:
            outline = await self._sessions.outline(session.guid)
            self._reply_ids = [item.id for item in outline if item.role is Role.ASSISTANT and not item.hidden]
        if self.reply_id not in self._reply_ids:
            self.reply_id = self._reply_ids[-1] if self._reply_ids else None
        if self.reply_id is not None:
            with suppress(StorageError):  # deleted since
                message = await self._sessions.message(self.reply_id)
        self.inspection = await self._prompt_inspector.prompt_of(message.id) if message is not None else None
        self._update_header(message)
        self._show_inspection()
        if self._spans and self.inspection is not None and self.inspection.previous:
            await self._show_first_difference(self.inspection)

    def _move_to_reply(self, offset: int) -> None:
        if self.reply_id in self._reply_ids:
            position = self._reply_ids.index(self.reply_id) + offset
            if 0 <= position < len(self._reply_ids):
                self._go_to_reply(self._reply_ids[position])

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
        inspection, has_text = self.inspection, bool(self._spans)
        if inspection is not None:
            self.summary.show_inspection(inspection)
        elif self.summary.table.hasFocus():
            self.back.setFocus()  # a hidden table would pass the focus to any widget
        self.summary.setVisible(inspection is not None)
        if self.back.hasFocus():
            self.first_focus_widget().setFocus()
        for part in (self.tabs, self.search, self.copy_prompt_button, self.copy_section_button):
            part.setVisible(has_text)
        self.search.setEnabled(has_text)  # its text still counts matches
        self.copy_prompt_button.setEnabled(has_text)
        self._select_section(None)
        has_previous = has_text and inspection is not None and bool(inspection.previous)
        self.tabs.setTabVisible(CHANGES_TAB, has_previous)  # the first reply has no earlier prompt to compare with
        if not has_previous:
            self.tabs.setCurrentIndex(PROMPT_TAB)
        self._stack.setCurrentIndex(0 if has_text else 1)
        title, text = (
            self.tr("No prompt recorded"),
            self.tr("Greetings are not generated by a model, and the prompts of older replies were not recorded."),
        )
        is_newest = self._reply_ids[-1:] == [self.reply_id]
        if inspection is not None:
            title = self.tr("Prompt text no longer stored")
            text = f"{format_missing_text(inspection)} {self.tr('Its sections and their tokens are listed on the left.')}"
        elif is_newest and self._view.chat_model.growing_row is not None:  # its prompt is stored when it is finished
            title, text = self.tr("Reply in progress"), self.tr("The prompt appears here as soon as the reply is finished.")
            self.subtitle.set_full_text("")
            self._retry_timer.start()
        self._empty_title.setText(title)
        self._empty_text.setText(text)
        self.first_difference_label.clear()
        self._show_view(self.tabs.currentIndex())

    def _show_view(self, view: int) -> None:
        if view == CHANGES_TAB and self.inspection is not None:
            self.prompt_text.show_lines(compare_prompts(self.inspection.previous, self.inspection.spans))
        else:
            self.prompt_text.show_spans(self._spans)
        self.first_difference_label.setVisible(view == CHANGES_TAB and bool(self.first_difference_label.text()))

    async def _show_first_difference(self, inspection: PromptInspection) -> None:
        """Show the position of the first difference from the previous prompt; the tokens before it came from the KV cache."""
        text = join_spans(inspection.spans)
        shared = common_prefix_length(join_spans(inspection.previous), text)
        part = part_at(inspection.spans, shared)
        tokens = await self._token_counts.count_one(text[:shared])
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
        if self._share is None:
            return ""
        key = (self._share.part, self._share.session)
        return "".join(span.text for span in self._spans if (span.part, span.session) == key).strip()

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


def create_page(environment: PageEnvironment) -> InspectorPage:
    """Create the page with the services that it calls."""
    window = environment.window
    return environment.create(InspectorPage, reply_id=window.memory_panel.reply_id, clock=window.clock)
