"""Page “Prompt inspector”: the exact prompt of a reply with tokens per section, cuts, reprocessed tokens and changes."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale, Qt, QTimer
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from lethe_app.domain.chat import Message, Role
from lethe_app.domain.prompt import PromptPart, Share
from lethe_app.errors import StorageError
from lethe_app.services.chat.prompt_inspector import Inspection
from lethe_app.ui.chat.memory_card_parts import CardButton
from lethe_app.ui.chat.memory_labels import shortened
from lethe_app.ui.core.formatting import tokens_in_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4, SPACE_8
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.inspector.colours import title_of
from lethe_app.ui.pages.inspector.diff import compare, part_at, shared_beginning, text_of
from lethe_app.ui.pages.inspector.summary import USUAL, Account
from lethe_app.ui.pages.inspector.text import PromptText
from lethe_app.ui.pages.page import Page, explanation, headline
from lethe_app.ui.transcript.dates import clock_words, day_words, local_day
from lethe_app.ui.transcript.view import ChatView
from lethe_app.ui.widgets.card_column import side_by_side
from lethe_app.ui.widgets.table import SearchField

LEAST_SEARCH = 96
WORDS, CHANGES = 0, 1
"""Tabs of the page: the prompt, and its changes since the previous prompt."""
AGAIN_MS = 1000
"""Interval in milliseconds at which the page looks for the prompt of a reply that is still being generated."""


class InspectorPage(Page):
    """Page about one reply, at first the one on display in the memory panel; arrow buttons lead to the replies before and
    after it.
    """

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("InspectorPage", "Prompt inspector"))
        self._place, self._services, self._bridge = place, place.services, place.bridge
        self.reply: UUID | None = place.window.memory.reply
        self._replies: list[UUID] = []
        self.inspection: Inspection | None = None
        self._part: PromptPart | None = None
        self._build()
        self._connect()
        self._waiting = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._waiting.timeout.connect(self._load_newest)
        self._load()

    def _build(self) -> None:
        self.before = CardButton(self.theme, "chevron-up", self.tr("Previous reply"), lambda: self._walk(-1))
        self.after = CardButton(self.theme, "chevron-down", self.tr("Next reply"), lambda: self._walk(1))
        for tool in (self.before, self.after):
            self._buttons.addWidget(tool)
        self.copy_part = self.add_button(self.tr("Copy section"), self._copy_part)
        self.copy_all = self.add_button(self.tr("Copy prompt"), self._copy_all, "copy")
        self.copy_all.setToolTip(self.tr("Copy the whole prompt as sent to the model"))
        self.account = Account(self.theme)
        self.text = PromptText(self.theme)
        self._nothing = _Nothing()
        self._stack = QStackedWidget()
        self._stack.addWidget(self.text)
        self._stack.addWidget(self._nothing)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._bar())
        column.addWidget(self.first)
        column.addWidget(self._stack, 1)
        split = side_by_side(self.account, right, grows=1)
        split.setSizes([self.account.wanted(USUAL), 920])
        self.body.addWidget(split, 1)

    def _bar(self) -> QHBoxLayout:
        """Build the row with the tabs and the search field."""
        self.views = QTabBar()
        self.views.setAccessibleName(self.tr("View"))
        self.views.setDrawBase(False)
        self.views.addTab(self.tr("Prompt"))
        self.views.addTab(self.tr("Changes"))
        self.search = SearchField(self.theme, self.tr("Search prompt"))
        self.search.below = self.text
        self.search.setMinimumWidth(LEAST_SEARCH)
        self.matches = QLabel()
        self.matches.setProperty("small", True)
        self.previous = CardButton(self.theme, "chevron-up", self.tr("Previous match  Shift+Enter"), lambda: self.text.step(-1))
        self.next = CardButton(self.theme, "chevron-down", self.tr("Next match  Enter"), lambda: self.text.step(1))
        self.first = explanation("")
        self.first.setContentsMargins(SPACE_4, 0, SPACE_4, SPACE_2)
        row = QHBoxLayout()
        row.setContentsMargins(SPACE_2, SPACE_2, SPACE_3, SPACE_2)
        row.setSpacing(SPACE_2)
        row.addWidget(self.views)
        row.addStretch(1)
        for widget in (self.search, self.matches, self.previous, self.next):
            row.addWidget(widget)
        return row

    def _connect(self) -> None:
        self.views.currentChanged.connect(self._show_words)
        self.search.textChanged.connect(self.text.search)
        self.search.returnPressed.connect(self._step)
        self.text.found.connect(self._count)
        self.account.chosen.connect(self._choose)
        self.account.opened.connect(self._open_part)
        self._count(0, 0)

    # which reply

    def _load_newest(self) -> None:
        self.reply = None
        self._load()

    def _load(self) -> None:
        self._waiting.stop()
        self._bridge.spawn(self._read(), lane="inspector")

    async def _read(self) -> None:
        session = self._place.session()
        if session is not None:
            outline = await self._services.sessions.outline(session.guid)
            self._replies = [one.id for one in outline if one.role is Role.ASSISTANT and not one.hidden]
        if self.reply not in self._replies:
            self.reply = self._replies[-1] if self._replies else None
        message = await self._message(self.reply) if self.reply is not None else None
        self.inspection = await self._services.inspecting.prompt_of(message.id) if message is not None else None
        self._tell_which(message)
        self._show()
        if self.inspection is not None and self.inspection.spans and self.inspection.previous:
            await self._tell_first(self.inspection)

    async def _message(self, reply: UUID) -> Message | None:
        try:
            return await self._services.sessions.message(reply)
        except StorageError:
            return None

    def _walk(self, by: int) -> None:
        if self.reply in self._replies:
            at = self._replies.index(self.reply) + by
            if 0 <= at < len(self._replies):
                self.reply = self._replies[at]
                self._load()

    def _tell_which(self, message: Message | None) -> None:
        at = self._replies.index(self.reply) if self.reply in self._replies else -1
        self.before.setEnabled(at > 0)
        self.after.setEnabled(0 <= at < len(self._replies) - 1)
        if message is None:
            self.subtitle.set_full("")
            return
        day, today = local_day(message.time), local_day(self._place.window.clock())
        when = clock_words(message.time) if day == today else f"{day_words(day, today)}, {clock_words(message.time)}"
        words = self.tr("Reply by {name}, {when}: {words}")
        said = shortened(message.content.replace("*", ""), 80)
        self.subtitle.set_full(words.format(name=message.speaker_name, when=when, words=said))

    # what is shown

    def _show(self) -> None:
        found = self.inspection
        has_words = found is not None and bool(found.spans)
        self.account.show_inspection(found)
        self.copy_all.setEnabled(has_words)
        self._choose(None)
        self.views.setTabEnabled(CHANGES, has_words and found is not None and bool(found.previous))
        if not self.views.isTabEnabled(CHANGES):
            self.views.setCurrentIndex(WORDS)
        for widget in (self.search, self.previous, self.next):
            widget.setEnabled(has_words)
        self._stack.setCurrentWidget(self.text if has_words else self._nothing)
        if found is None and self._is_being_written():
            self._nothing.say(
                self.tr("Reply in progress"), self.tr("The prompt appears here as soon as the reply is finished.")
            )
            self.subtitle.set_full("")
            self._waiting.start()
        elif found is None:
            self._nothing.say(
                self.tr("No prompt recorded"),
                self.tr("Greetings are not generated by a model, and the prompts of older replies were not recorded."),
            )
        elif not found.spans:
            self._nothing.say(
                self.tr("Prompt text no longer stored"),
                self.tr(
                    "Only the newest prompts are stored in full, and none with text that was forgotten or changed since. "
                    "The sections of this prompt and their tokens are listed on the left."
                ),
            )
        self.first.setVisible(False)
        self._show_words(self.views.currentIndex())

    def _is_being_written(self) -> bool:
        """Return whether the reply is the newest one and still being generated; its prompt is stored when it is finished."""
        is_newest = bool(self._replies) and self.reply == self._replies[-1]
        view = self._place.window.chat.view
        return is_newest and isinstance(view, ChatView) and view.chat.growing_row is not None

    def _show_words(self, view: int) -> None:
        found = self.inspection
        if found is None:
            self.text.show_spans(())
        elif view == CHANGES:
            self.text.show_lines(compare(found.previous, found.spans))
        else:
            self.text.show_spans(found.spans)
        self.first.setVisible(view == CHANGES and bool(self.first.text()))

    async def _tell_first(self, found: Inspection) -> None:
        """Show the position of the first difference from the previous prompt; the tokens before it came from the KV cache."""
        shared = shared_beginning(found.previous, found.spans)
        part = part_at(found.spans, shared)
        tokens = await self._services.counting.count_one(text_of(found.spans)[:shared])
        # Another reply may have been chosen while the tokens were counted.
        if found is not self.inspection:
            return
        if part is None:
            words = self.tr("Everything in this prompt was already in the previous one.")
        else:
            words = self.tr("The first {tokens} are the same. The first difference is in “{part}”.").format(
                tokens=tokens_in_words(tokens), part=title_of(part)
            )
        self.first.setText(words)
        self.first.setVisible(self.views.currentIndex() == CHANGES)

    def _choose(self, share: Share | None) -> None:
        self._part = share.part if share is not None else None
        words = self._words_of(self._part)
        self.copy_part.setEnabled(bool(words))
        if self._part is not None and self.views.currentIndex() == WORDS:
            self.text.go_to_part(self._part)

    def _open_part(self, share: Share) -> None:
        self.views.setCurrentIndex(WORDS)
        self._choose(share)
        self.text.setFocus()

    def _words_of(self, part: PromptPart | None) -> str:
        spans = self.inspection.spans if self.inspection is not None else ()
        return "".join(span.text for span in spans if span.part is part).strip()

    def _copy_part(self) -> None:
        self._copy(self._words_of(self._part))

    def _copy_all(self) -> None:
        self._copy(text_of(self.inspection.spans) if self.inspection is not None else "")

    def _copy(self, words: str) -> None:
        if words:
            QApplication.clipboard().setText(words)
            self._place.window.notifier.tell(self.tr("Copied to the clipboard."))

    def _step(self) -> None:
        # The signal returnPressed does not carry the modifier keys.
        back = QApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier
        self.text.step(-1 if back else 1)

    def _count(self, at: int, count: int) -> None:
        locale = QLocale()
        told = self.tr("{at} of {count}").format(at=locale.toString(at), count=locale.toString(count))
        self.matches.setText(told if count else self.tr("no matches") if self.search.text().strip() else "")
        for tool in (self.previous, self.next):
            tool.setVisible(count > 0)

    def first_focus(self) -> QWidget:
        return self.account.table


class _Nothing(QWidget):
    """Placeholder for a prompt whose text is not available."""

    def __init__(self) -> None:
        super().__init__()
        self._title, self._words = headline(""), explanation("")
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_8, SPACE_8, SPACE_8, SPACE_8)
        column.setSpacing(SPACE_2)
        column.addStretch(1)
        for label in (self._title, self._words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(label)
        column.addStretch(2)

    def say(self, title: str, words: str) -> None:
        self._title.setText(title)
        self._words.setText(words)
