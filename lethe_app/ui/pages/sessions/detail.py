"""Detail pane of a session: its parts with their authors, notes, and transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QPushButton, QStackedWidget, QTabWidget, QToolButton, QVBoxLayout, QWidget

from lethe_app.domain.chat import ChatSession, PartRecord, SessionPart
from lethe_app.services.sessions.archive_queue import Archived
from lethe_app.ui.chat.chat_panel import ElidedLabel
from lethe_app.ui.core.formatting import messages_in_words
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.labels import moment_in_words
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.sessions.commands import PARTS
from lethe_app.ui.pages.sessions.labels import part_in_words, record_in_words
from lethe_app.ui.pages.sessions.notes import SessionNotes
from lethe_app.ui.pages.sessions.transcript import Transcript
from lethe_app.ui.widgets.card_column import invitation, made_card, side_sheet
from lethe_app.ui.widgets.fields import FieldKind, Spec
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.form import Form

LEAST_WIDTH, WIDTH = 330, 480
NAMES = {part: name for name, part in PARTS.items()}


class SessionDetail(QStackedWidget):
    """Detail pane of the selected session. `form` emits the user's changes; the page stores them."""

    again_wanted = Signal(object)
    """The `SessionPart` to regenerate."""
    go_wanted = Signal()
    merge_wanted = Signal()
    delete_wanted = Signal()
    extraction_wanted = Signal()

    def __init__(self, place: PageContext, page: Page) -> None:
        super().__init__(page)
        self._place = place
        self.session: ChatSession | None = None
        """The session on display, with the user's unsaved changes."""
        self._records: Mapping[SessionPart, PartRecord] = {}
        self._icons: list[Callable[[], None]] = []
        self._makers: dict[SessionPart, ElidedLabel] = {}
        self.setMinimumWidth(LEAST_WIDTH)
        self.form = Form(_specs(self), place.theme)
        self.notes = SessionNotes(place, page.undo)
        self.transcript = Transcript(place.theme)
        self.split, self.insert = self._button(self.tr("Split here")), self._button(self.tr("Insert message"))
        self.reword, self.take_away = self._button(self.tr("Edit…")), self._button(self.tr("Delete…"))
        self.reword.setAccessibleName(self.tr("Edit message"))
        self.take_away.setAccessibleName(self.tr("Delete message"))
        self.wishes = {"split": self.split, "above": self.insert, "edit": self.reword, "delete": self.take_away}
        """Buttons for actions on the selected message, by action name."""
        self.nothing = invitation(self.tr("Select a conversation to see its summary and messages."))
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(self.tr("Conversation"))
        self.tabs.tabBar().setAccessibleName(self.tr("View"))
        self.tabs.setDocumentMode(True)
        self.addWidget(self.nothing)
        place.theme.changed.connect(self._dress)
        self.transcript.chosen.connect(lambda _message: self._follow_message())
        self._follow_message()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def _put_together(self) -> None:
        """Build the tabs when the first session is selected, so that the list is shown sooner."""
        self.tabs.addTab(self._about(), self.tr("Details"))
        self.tabs.addTab(self._said(), self.tr("Messages"))
        self.addWidget(self.tabs)
        self._dress()

    # what is shown

    def show_session(self, session: ChatSession, records: Mapping[SessionPart, PartRecord], messages: int) -> None:
        """Show the parts of a session; its messages are loaded by `load_transcript`."""
        if not self.tabs.count():
            self._put_together()
        other = self.session is None or self.session.guid != session.guid
        self.session, self._records = session, records
        self.form.show_values(session.model_dump())
        began = moment_in_words(session.added)
        state = self.tr("archived") if session.archived else self.tr("open")
        words = self.tr("Started {day} · {count} · {state}")
        self._when.setText(words.format(day=began, count=messages_in_words(messages), state=state))
        self._show_makers()
        self.setCurrentWidget(self.tabs)
        self.notes.show_session(session.guid)
        if other:
            self._sheet.verticalScrollBar().setValue(0)

    def clear(self) -> None:
        self.session = None
        self.transcript.clear()
        self.setCurrentWidget(self.nothing)

    def set_field(self, name: str, value: object) -> None:
        """Update one field of the session on display."""
        assert self.session is not None
        self.session = self.session.model_copy(update={name: value})
        self.form.set_field(name, value)

    def show_progress(self, progress: Archived) -> None:
        """Show that a part of the session is being generated, or that this has ended."""
        if self.session is not None and progress.session == self.session.guid and progress.part is not None:
            self._note(progress.part, self.tr("generating…"))
        elif self.session is not None:
            self._show_makers()

    async def load_transcript(self, guid: UUID) -> None:
        """Load the messages of a session again."""
        await self.transcript.show_session(self._place.services.sessions, guid)
        self._follow_message()

    def focus_first_field(self) -> None:
        """Focus the first field, or the transcript if its tab is open."""
        (self.form.field("name") if self.tabs.currentIndex() == 0 else self.transcript).setFocus()

    def _show_makers(self) -> None:
        for part in NAMES:
            self._note(part, record_in_words(self._records.get(part)))

    def _note(self, part: SessionPart, words: str) -> None:
        self._makers[part].set_full(words)

    def _follow_message(self) -> None:
        message = self.transcript.message
        row = self.transcript.chat.row_of(message) if message is not None else None
        self.split.setEnabled(bool(row))
        for button in (self.reword, self.take_away):
            button.setEnabled(row is not None)
        self.insert.setEnabled(self.session is not None)
        self.insert.setText(self.tr("Insert message above") if row is not None else self.tr("Insert message at end"))

    def _dress(self) -> None:
        for put_on in self._icons:
            put_on()

    # Building the pane.

    def _about(self) -> QWidget:
        self._sheet = side_sheet()
        head = QWidget()
        flow = Flow(head, spacing=SPACE_2)
        self.go = self._button(self.tr("Continue conversation"), primary=True)
        self.merge, self.delete = self._button(self.tr("Merge with next")), self._button(self.tr("Delete…"))
        self.merge.setToolTip(self.tr("Merge this conversation with the one that started after it"))
        self.extract = self._button(self.tr("Extract facts again"))
        self.extract.setToolTip(self.tr("Extract the facts again from the current text of this conversation"))
        for button, signal in (
            (self.go, self.go_wanted),
            (self.extract, self.extraction_wanted),
            (self.merge, self.merge_wanted),
            (self.delete, self.delete_wanted),
        ):
            button.clicked.connect(signal)
            flow.addWidget(button)
        self._when = explanation("")
        card, column = made_card()
        column.addWidget(self._when)
        column.addWidget(self.form)
        for part, name in NAMES.items():
            maker = self._makers[part] = ElidedLabel()
            maker.setProperty("small", True)
            self.form.add_beside(name, maker)
            self.form.add_beside(name, self._again_button(part))
        self._sheet.add(head)
        self._sheet.add(card)
        self._sheet.add(self.notes)
        return self._sheet

    def _said(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        foot = QWidget()
        foot.setObjectName("foot")
        line = QVBoxLayout(foot)
        line.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_3)
        line.setSpacing(SPACE_1)
        line.addWidget(explanation(self.tr("Select a message first, with a click or the arrow keys.")))
        buttons = Flow(spacing=SPACE_2)
        for button in self.wishes.values():
            buttons.addWidget(button)
        line.addLayout(buttons)
        column.addWidget(self.transcript, 1)
        column.addWidget(foot)
        return page

    def _again_button(self, part: SessionPart) -> QToolButton:
        button = QToolButton()
        button.setIconSize(QSize(ICON - SPACE_1, ICON - SPACE_1))
        button.setAccessibleName(self.tr("Regenerate: {part}").format(part=part_in_words(part)))
        button.setToolTip(self.tr("Regenerate from the messages"))
        self._icons.append(lambda: button.setIcon(icon("refresh", self._place.theme.palette.muted)))
        self._icons[-1]()
        button.clicked.connect(lambda: self.again_wanted.emit(part))
        return button

    def _button(self, words: str, *, primary: bool = False) -> QPushButton:
        button = QPushButton(words)
        button.setProperty("primary" if primary else "filled", True)
        return button


def _specs(parent: QWidget) -> list[Spec]:
    tr = parent.tr
    return [
        Spec("name", part_in_words(SessionPart.TITLE), placeholder=tr("Untitled conversation")),
        Spec("content", part_in_words(SessionPart.SUMMARY), FieldKind.PROSE, lines=4, placeholder=tr("Not summarised yet")),
        Spec(
            "keywords_main",
            part_in_words(SessionPart.KEYWORDS),
            FieldKind.WORDS,
            tr("Keywords you add recall this conversation when they are mentioned."),
            placeholder=tr("Add keyword"),
        ),
        Spec("future_goals", part_in_words(SessionPart.GOALS), FieldKind.TEXTS, lines=1, add_words=tr("Add plan")),
        Spec(
            "relevance",
            part_in_words(SessionPart.RELEVANCE),
            FieldKind.WHOLE,
            tr("Importance from 1 (small talk) to 5 (unforgettable)."),
            lowest=1,
            highest=5,
        ),
        Spec(
            "is_roleplay",
            part_in_words(SessionPart.ROLEPLAY),
            FieldKind.SWITCH,
            tr("Keep facts said in character within this conversation, instead of as facts about you."),
        ),
        Spec(
            "sticky",
            tr("Always included"),
            FieldKind.SWITCH,
            tr("Include this conversation in every prompt, whatever the topic."),
        ),
        Spec("protected", tr("Protected"), FieldKind.SWITCH, tr("Prevent automatic changes and removal.")),
    ]
