"""Detail pane of a session: its parts with their authors, notes, and transcript."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, cast
from uuid import UUID

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from lethe_app.domain.chat import ChatSession, PartRecord, SessionPart
from lethe_app.services.sessions.archive_queue import ArchiveProgress
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.chat.memory_labels import strip_headings
from lethe_app.ui.core.formatting import format_message_count
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.labels.messages import format_missing_summary, format_switch
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.record_page.commands import CommandButtons
from lethe_app.ui.pages.sessions.columns import format_part, format_part_record
from lethe_app.ui.pages.sessions.commands import PARTS_BY_FIELD
from lethe_app.ui.pages.sessions.notes import NOTES_FIELD
from lethe_app.ui.pages.sessions.transcript import Transcript, TranscriptReplay, list_message_actions
from lethe_app.ui.widgets.buttons import IconButton, build_button
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import ElidedLabel, build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

if TYPE_CHECKING:
    from lethe_app.ui.widgets.text_area import TextAreaField

MIN_WIDTH, WIDTH = 330, 480
FIELDS_BY_PART = {part: name for name, part in PARTS_BY_FIELD.items()}


class SessionDetail(DetailPane):
    """Detail pane of the selected session. `form` emits the user's changes; the page stores them."""

    regenerate_requested = Signal(object, object)
    """GUID of the session on display, and the `SessionPart` to regenerate."""
    message_action_requested = Signal(str, object)
    """Name of an action as in `list_message_actions`, and the message it applies to, or None."""

    def __init__(self, context: PageContext, sessions: SessionService, buttons: CommandButtons) -> None:
        """Create the pane; `buttons` are those of the commands on a session."""
        super().__init__(self.tr("Select a conversation to see its summary and messages."), MIN_WIDTH, WIDTH)
        self._context, self._sessions, self._buttons = context, sessions, buttons
        self.session: ChatSession | None = None
        """The session on display, with the user's unsaved changes."""
        self.notes = ""
        """Text of its notes, with the user's unsaved changes."""
        self._records: Mapping[SessionPart, PartRecord] = {}
        self._title = ""
        """Title under which the session is listed if it has no name."""
        self._author_labels: dict[SessionPart, ElidedLabel] = {}
        self.form, self.notes_form = Form(_form_specs(self), context.theme), Form([_notes_spec(self)], context.theme)
        self._summary_field = cast("TextAreaField", self.form.field_widget("content"))
        self.transcript = Transcript(context.theme)
        self._selection_hint = build_small_label("")
        self.replay = TranscriptReplay(self.transcript)
        tooltip = self.tr("Show the messages one after another at reading speed")
        self.replay_button = build_button(self.tr("Replay"), self.replay.toggle, tooltip=tooltip)
        self.replay.running_changed.connect(
            lambda is_running: self.replay_button.setText(self.tr("Pause") if is_running else self.tr("Replay"))
        )
        titles = list_message_actions()
        self.message_buttons = {name: build_button(titles[name][0]) for name in ("split", "above", "edit", "delete")}
        """Buttons for actions on the selected message, by action name."""
        for name, button in self.message_buttons.items():
            request = partial(self.message_action_requested.emit, name)
            button.clicked.connect(lambda _checked=False, request=request: request(self.transcript.message))
        self.transcript.action_requested.connect(self.message_action_requested)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(self.tr("Conversation"))
        self.tabs.tabBar().setAccessibleName(self.tr("View"))
        self.tabs.setDocumentMode(True)
        self.transcript.message_selected.connect(lambda _message: self._update_message_buttons())
        self._update_message_buttons()

    def _build_tabs(self) -> None:
        """Build the tabs when the first session is selected, so that the list is shown sooner."""
        self.tabs.addTab(self._build_details_tab(), self.tr("Details"))
        self.tabs.addTab(self._build_messages_tab(), self.tr("Messages"))
        self.addWidget(self.tabs)

    # what is shown

    def show_session(
        self, session: ChatSession, records: Mapping[SessionPart, PartRecord], notes: str, messages: int, title: str
    ) -> None:
        """Show the parts of a session, which is listed under `title`; its messages are loaded by `load_transcript`."""
        if not self.tabs.count():
            self._build_tabs()
        is_other = self.session is None or self.session.guid != session.guid
        self.session, self._records, self._title = session, records, title
        self.form.show_values(session.model_dump())
        self.set_field(NOTES_FIELD, notes)
        start_text = format_date_time(session.added)
        state = self.tr("ended") if session.archived else self.tr("open")
        text = self.tr("Started {day} · {count} · {state}")
        self._started_label.setText(text.format(day=start_text, count=format_message_count(messages), state=state))
        self._show_summary(session)
        self._show_authors()
        self.setCurrentWidget(self.tabs)
        self._switch_card.setVisible(not is_other and bool(self.switches_label.text()))
        self._context.tasks.start_task(self._load_switches(session.guid), key="session switches")
        if is_other:
            self._sheet.verticalScrollBar().setValue(0)

    def _show_summary(self, session: ChatSession) -> None:
        """Show title, summary and keywords as a text to read."""
        self.summary_title.setText(session.name or self._title)
        record = self._records.get(SessionPart.SUMMARY)
        missing_text = format_missing_summary(session.archived, record.state if record is not None else None)
        self.summary_text.setText(strip_headings(session.content) or missing_text)
        self._summary_field.setPlaceholderText(missing_text)
        keywords = ", ".join(session.keywords_main)
        self.summary_keywords.setText(self.tr("Keywords: {words}").format(words=keywords) if keywords else "")
        self.summary_keywords.setVisible(bool(keywords))

    async def _load_switches(self, guid: UUID) -> None:
        """Show the switches of mode and language in a session."""
        events = await self._sessions.languages.events_of(guid)
        if self.session is not None and self.session.guid == guid:
            self.switches_label.setText("\n".join(map(format_switch, events)))
            self._switch_card.setVisible(bool(events))

    def clear_session(self) -> None:
        self.session = None
        self.transcript.clear_session()
        self.setCurrentIndex(0)

    def set_field(self, name: str, value: object) -> None:
        """Update one field of the session on display."""
        if name == NOTES_FIELD:
            self.notes = str(value)
            self.notes_form.set_field(name, value)
        elif self.session is not None:
            self.session = self.session.model_copy(update={name: value})
            self.form.set_field(name, value)
            self._show_summary(self.session)

    def show_progress(self, progress: ArchiveProgress) -> None:
        """Show that a part of the session is being generated, or that this has ended."""
        if self.session is not None and progress.session == self.session.guid and progress.part is not None:
            self._author_labels[progress.part].set_full_text(self.tr("generating…"))
        elif self.session is not None:
            self._show_authors()

    async def load_transcript(self, guid: UUID) -> None:
        """Load the messages of a session again."""
        await self.transcript.show_session(self._sessions, guid)
        self._update_message_buttons()

    def focus_title(self) -> None:
        """Show the title in its field, to be changed."""
        if self.session is not None:
            self.tabs.setCurrentIndex(0)
            self.edit_button.setChecked(True)
            self.form.field_widget("name").setFocus(Qt.FocusReason.TabFocusReason)  # which selects what is there already

    def focus_first_field(self) -> None:
        """Focus the first field, or the transcript if its tab is open."""
        self.edit_button.setChecked(True)
        (self.form.field_widget("name") if self.tabs.currentIndex() == 0 else self.transcript).setFocus()

    def _show_authors(self) -> None:
        for part in FIELDS_BY_PART:
            self._author_labels[part].set_full_text(format_part_record(self._records.get(part)))

    def _update_message_buttons(self) -> None:
        message = self.transcript.message
        row = self.transcript.chat_model.row_of(message) if message is not None else None
        for name, is_possible in (("split", bool(row)), ("edit", row is not None), ("delete", row is not None)):
            self.message_buttons[name].setEnabled(is_possible)
        self._selection_hint.setText(
            self.tr("Select a message first, with a click or the arrow keys.")
            if row is None
            else self.tr("One message selected.")
        )
        insert_button = self.message_buttons["above"]
        insert_button.setEnabled(self.session is not None)
        insert_button.setText(list_message_actions()["above"][0] if row is not None else self.tr("Insert message at end"))

    # Building the pane.

    def _build_details_tab(self) -> QWidget:
        self._form_card, column = create_card()
        column.addWidget(self.form)
        self._form_card.hide()
        self.edit_button = build_button(self.tr("Edit details"))
        self.edit_button.setToolTip(self.tr("Show title, summary, keywords, plans and marks to edit or generate them again"))
        self.edit_button.setCheckable(True)
        self.edit_button.toggled.connect(self._form_card.setVisible)
        self.edit_button.clicked.connect(lambda is_on: self.focus_title() if is_on else None)
        self._buttons.insert_button(3, self.edit_button)
        self._started_label = build_small_label("")
        self.summary_title, self.summary_text = create_text_label("", "section"), create_text_label("")
        self.summary_text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.summary_text.setAccessibleName(self.tr("Summary"))
        self.summary_keywords = build_small_label("")
        for part, name in FIELDS_BY_PART.items():
            author_label = self._author_labels[part] = ElidedLabel()
            author_label.setProperty("small", True)
            self.form.add_title_widget(name, author_label)
            self.form.add_title_widget(name, self._build_regenerate_button(part))
        self._sheet.add_widget(self._buttons)
        self.add_card(self.summary_title, self._started_label, self.summary_text, self.summary_keywords)
        self._sheet.add_widget(self._form_card)
        self.switches_label = create_text_label("")
        self._switch_card, _column = self.add_card(self.switches_label, title=self.tr("Switches"))
        text = self.tr("Notes are included in the prompt while this conversation is open and are extended as you chat.")
        self.add_card(self.notes_form, title=self.tr("Conversation notes"), help_text=text)
        return self._sheet

    def _build_messages_tab(self) -> QWidget:
        page, foot, buttons = QWidget(), QWidget(), FlowLayout(spacing=SPACE_2)
        foot.setObjectName("foot")
        for button in self.message_buttons.values():
            buttons.addWidget(button)
        head = build_row((self._selection_hint, 1), self.replay_button)
        build_column(head, buttons, spacing=SPACE_1, margins=(SPACE_4, SPACE_2, SPACE_4, SPACE_3), parent=foot)
        build_column((self.transcript, 1), foot, parent=page)
        return page

    def _build_regenerate_button(self, part: SessionPart) -> IconButton:
        text, name = self.tr("Regenerate from the messages"), self.tr("Regenerate: {part}").format(part=format_part(part))
        button = IconButton(self._context.theme, "refresh", text, accessible_name=name, size=ICON - SPACE_1)
        button.clicked.connect(lambda: self.regenerate_requested.emit(cast("ChatSession", self.session).guid, part))
        return button


def _notes_spec(parent: QWidget) -> FieldSpec:
    tr = parent.tr
    help_text, example = tr("One note per line, in the form “name: value”."), tr("Example: “job: nurse”")
    return FieldSpec(NOTES_FIELD, tr("Notes"), FieldKind.TEXT_AREA, help_text, example, lines=2)


def _form_specs(parent: QWidget) -> list[FieldSpec]:
    tr = parent.tr
    return [
        FieldSpec("name", format_part(SessionPart.TITLE), placeholder=tr("No title yet")),
        FieldSpec("content", format_part(SessionPart.SUMMARY), FieldKind.TEXT_AREA, lines=4),
        FieldSpec(
            "keywords_main",
            format_part(SessionPart.KEYWORDS),
            FieldKind.TAGS,
            tr("Keywords you add recall this conversation when they are mentioned."),
            placeholder=tr("Add keyword"),
        ),
        FieldSpec("future_goals", format_part(SessionPart.GOALS), FieldKind.TEXT_LIST, lines=1, add_label=tr("Add plan")),
        FieldSpec(
            "relevance",
            format_part(SessionPart.RELEVANCE),
            FieldKind.INTEGER,
            tr("Importance from 1 (small talk) to 5 (unforgettable)."),
            minimum=1,
            maximum=5,
        ),
        FieldSpec(
            "is_roleplay",
            format_part(SessionPart.ROLEPLAY),
            FieldKind.CHECKBOX,
            tr("Keep facts said in character within this conversation, instead of as facts about you."),
        ),
        FieldSpec(
            "sticky",
            tr("Always included"),
            FieldKind.CHECKBOX,
            tr("Include this conversation in every prompt, whatever the topic."),
        ),
        FieldSpec("protected", tr("Protected"), FieldKind.CHECKBOX, tr("Prevent automatic changes and removal.")),
    ]
