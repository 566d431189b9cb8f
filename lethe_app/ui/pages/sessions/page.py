"""Page “Conversations”: the sessions of a persona, their summaries and messages, and all edits of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from uuid import UUID

from PySide6.QtCore import QCoreApplication, Signal

from lethe_app.domain.chat import ChatSession, PartRecord, SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.services.sessions.service import format_transcript
from lethe_app.ui.core.formatting import format_count, format_message_count, suggest_file_name, truncate_text
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.routes import SearchRoute
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, TextDialog, run_dialog
from lethe_app.ui.dialogs.message_details import MessageDetailsDialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand, single_command
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.pages.sessions.columns import build_columns, build_mark_filter, format_part, session_title
from lethe_app.ui.pages.sessions.commands import PARTS_BY_FIELD, SessionEdits, SessionPageServices
from lethe_app.ui.pages.sessions.detail import SessionDetail
from lethe_app.ui.pages.sessions.dialogs import InsertMessage
from lethe_app.ui.pages.sessions.notes import NOTES_FIELD, format_notes
from lethe_app.ui.widgets.buttons import build_button

MAX_SKIPPED_MESSAGES = 2
"""Messages up to which a session is skipped when facts are extracted from several."""
FIRST_BATCH_SIZE = 100
"""Sessions shown before all of them are loaded, which takes a while."""
MESSAGE_TASK = "session dialog"
"""Key of the task that asks about a message."""
MAX_QUOTE_LENGTH = 200
"""Characters of a message that a confirmation quotes."""
Lines = Sequence[SessionLine]
SessionDetails = tuple[ChatSession, Mapping[SessionPart, PartRecord], str]
"""Session, who made its parts, and its notes as text."""


class SessionPage(RecordPage[SessionLine]):
    """Page with the list of sessions on the left and the selected session on the right."""

    end_requested = Signal(str)
    """Emitted with the id of a session that is to end now, so that its title, summary and facts are made."""

    def __init__(self, context: PageContext, persona_selector: PersonaSelector, services: SessionPageServices) -> None:
        super().__init__(context, QCoreApplication.translate("SessionPage", "Conversations"), persona_selector)
        self._services = services
        self._is_merging = False
        """True until a merge is done, which must not be started twice."""
        self._transcript_session_id: UUID | None = None
        """Session whose transcript is loaded."""
        self.edits = SessionEdits(self, services, self._on_edited)
        menu_commands, detail_commands = self._build_commands()
        self.detail = SessionDetail(context, services.sessions, self.build_command_buttons(*detail_commands))
        self.search_messages_button = build_button(self.tr("Search messages"), self.search_messages)
        self.search_messages_button.setToolTip(self.tr("Search the messages of all conversations for these words  Enter"))
        self.search_messages_button.hide()
        self.build_list(
            RecordSpec(
                name=self.tr("Conversations"),
                columns=build_columns(context.theme),
                key=attrgetter("guid"),
                search_text=attrgetter("searched"),
                search_hint=self.tr("Search titles and summaries"),
                is_folded=True,
                empty_text=self.tr("No conversations yet. They are listed here after the first message."),
                filters=[build_mark_filter(self)],
                commands=menu_commands,
                format_total=lambda total: format_count(total, self.tr("{n} conversation"), self.tr("{n} conversations")),
            ),
            detail=self.detail,
            search_row=[self.search_messages_button],
        )
        self.add_button(self.tr("Delete a day…"), lambda: context.run_action("erase_day"), "trash")
        self.follow(services.sessions.changed)
        self._unsubscribers.append(services.archive_queue.changed.add(self.detail.show_progress))
        self.search.returnPressed.connect(self.search_messages)
        self.detail.form.changed.connect(self._on_field_edited)
        self.detail.notes_form.changed.connect(self._on_field_edited)
        self.detail.regenerate_requested.connect(self.edits.regenerate_part)
        self.detail.tabs.currentChanged.connect(lambda _tab: self._load_transcript())
        self.detail.message_action_requested.connect(self._run_message_action)

    def _build_commands(self) -> tuple[list[RecordCommand[SessionLine]], list[RecordCommand[SessionLine]]]:
        """Return the commands of the list, and those beside the session on display."""
        tr = self.tr
        proceed: RecordCommand[SessionLine] = single_command(
            tr("Continue conversation"), lambda line: self._context.open_session(UUID(line.guid), None), is_primary=True
        )
        edit: RecordCommand[SessionLine] = single_command(
            tr("Edit"), lambda _line: self.detail.focus_first_field(), (Key.OPEN,), in_menu=False
        )
        rename: RecordCommand[SessionLine] = single_command(
            tr("Rename"), lambda _line: self.detail.focus_title(), (Key.RENAME,)
        )
        end = single_command(
            tr("End now"),
            self._end_session,
            is_shown=lambda line: not line.archived,
            tooltip=tr("Summarise this conversation and learn its facts without waiting"),
            keeps_place=True,
        )
        save_tooltip = tr("Save all messages of this conversation as a Markdown file")
        save_text = single_command(tr("Save as text…"), self._ask_and_save_text, tooltip=save_tooltip)
        extract = RecordCommand[SessionLine](
            lambda lines: tr("Extract facts again") if lines[0].archived else tr("Extract facts now"),
            self._extract_and_notify,
            tooltip=tr("Extract the facts again from the current text of this conversation"),
        )
        merge_with_next: RecordCommand[SessionLine] = single_command(
            tr("Merge with next"),
            lambda line: self._merge([line, self._next_session(line) or line]),
            is_shown=lambda line: self._next_session(line) is not None,
            is_enabled=lambda _line: not self._is_merging,
            tooltip=tr("Merge this conversation with the one that started after it"),
            keeps_place=True,
        )
        merge = RecordCommand[SessionLine](
            tr("Merge conversations"),
            self._merge,
            minimum=2,
            is_enabled=lambda _lines: not self._is_merging,
            in_head=True,
            tooltip=tr("Merge the selected conversations in chronological order"),
        )
        delete = RecordCommand[SessionLine](
            tr("Delete…"), self.edits.delete_sessions, (Key.DELETE,), confirm=self._confirm_deletion
        )
        details = [proceed, end, save_text, extract, merge_with_next, delete]
        return [proceed, edit, rename, end, save_text, extract, merge_with_next, merge, delete], details

    def close_page(self) -> None:
        self.detail.transcript.clear_session()
        super().close_page()
        self._context.tasks.cancel("session transcript")

    # The list

    async def load_batches(self) -> AsyncIterator[Lines]:
        list_sessions, first = self._services.session_editing.list_sessions, list[SessionLine]()
        if not self.loader.is_loaded:
            first = await list_sessions(self.persona_id, FIRST_BATCH_SIZE)
            yield first
        yield (await list_sessions(self.persona_id))[len(first) :]

    def on_persona_chosen(self) -> None:
        current = self._context.current_session()
        if current is not None:
            self.select_when_loaded(str(current.guid))

    def search_messages(self) -> None:
        """Search the messages for the words that were entered, on the search page."""
        if text := self.search.text().strip():
            self._context.navigator.open(SearchRoute(text))

    def no_match_text(self) -> str:
        has_text = bool(self.search.text().strip())
        self.search_messages_button.setVisible(has_text)
        text = self.tr("No title or summary has these words. Press Enter to search the messages.")
        return text if has_text else super().no_match_text()

    # The selected session

    def show_record(self, record: SessionLine | None) -> None:
        if record is None:
            self._transcript_session_id = None
            self.detail.clear_session()

    async def load_details(self, record: SessionLine) -> SessionDetails:
        guid = UUID(record.guid)
        session = await self._services.sessions.open(guid)
        notes = format_notes(await self._services.memory_lookup.load_notes(guid))
        return session, await self._services.archive_queue.parts(guid), notes

    def show_details(self, record: SessionLine, details: SessionDetails) -> None:
        session, parts, notes = details
        unsaved = self.saver.unsaved_values(record.guid)
        if unsaved and self.detail.session is not None and self.detail.session.guid == session.guid:
            return  # it is being edited
        notes = str(unsaved.pop(NOTES_FIELD, notes))
        self.detail.show_session(session.model_copy(update=unsaved), parts, notes, record.messages, session_title(record))
        self._load_transcript()

    def _load_transcript(self) -> None:
        session = self.detail.session
        if session is not None and self.detail.tabs.currentIndex() == 1 and self._transcript_session_id != session.guid:
            self._transcript_session_id = session.guid
            self._context.tasks.start_task(self.detail.load_transcript(session.guid), key="session transcript")

    def _on_field_edited(self, name: str, value: object) -> None:
        session, title = self.detail.session, self.tr("changing a conversation")
        if name == NOTES_FIELD:
            title = self.tr("Conversation notes")
        elif name in PARTS_BY_FIELD:
            title = format_part(PARTS_BY_FIELD[name])
        if session is not None:
            old = self.detail.notes if name == NOTES_FIELD else getattr(session, name)
            self.saver.change_field(title, str(session.guid), name, old, value)

    def show_field(self, key: Hashable, name: str, value: object) -> None:
        if self.detail.session is not None and str(self.detail.session.guid) == key:
            self.detail.set_field(name, value)

    async def store_fields(self, key: Hashable, values: Mapping[str, object]) -> None:
        await self.edits.store_fields(UUID(str(key)), values)

    # Commands

    def _on_edited(self, session_to_select: UUID | None) -> None:
        """Note that sessions or messages were added, removed or changed."""
        self._is_merging, self._transcript_session_id = False, None
        if session_to_select is not None:
            self.select_when_loaded(str(session_to_select))

    def _end_session(self, line: SessionLine) -> None:
        self.table.setFocus()  # the button goes
        self.end_requested.emit(line.guid)

    async def _ask_and_save_text(self, line: SessionLine) -> None:
        """Ask for a file and save the messages of a session as Markdown."""
        title, guid, sessions = session_title(line), UUID(line.guid), self._services.sessions
        messages = await sessions.page(guid, 0, len(await sessions.outline(guid)))
        text, stem = format_transcript(title, messages, format_date_time), suggest_file_name(title, self.tr("Conversation"))
        await self.ask_and_save_text(self.tr("Save conversation"), stem, text, self._services.fact_lists.save_text)

    def _merge(self, lines: Lines) -> None:
        # The second click of a double click must not merge once more. The focus goes to the result.
        self._is_merging = True
        self.update_commands()
        self.table.setFocus()
        self.edits.merge_sessions(lines)

    def _next_session(self, line: SessionLine) -> SessionLine | None:
        later = [candidate for candidate in self.rows.all_rows if candidate.began > line.began and candidate.guid != line.guid]
        return min(later, key=lambda other: other.began, default=None)

    async def _extract_and_notify(self, lines: Lines) -> None:
        """Extract the facts of these sessions again."""
        await self.saver.save()
        # Of several, none is too short to be asked for.
        long_enough = [line for line in lines if line.messages > MAX_SKIPPED_MESSAGES] or lines
        extract, persona_id = self._services.fact_extraction.extract_session, self.persona_id
        facts = [await extract(persona_id, UUID(line.guid)) for line in long_enough]
        notice = format_count(sum(facts), self.tr("{n} fact was extracted."), self.tr("{n} facts were extracted."))
        self._context.notifier.notify(notice)

    def _run_message_action(self, action: str, message: UUID | None) -> None:
        """Run an action on a message of the session on display; without one only insertion is possible, at the end."""
        session, start_task = self.detail.session, self._context.tasks.start_task
        if session is None:
            return
        if action in {"above", "below"}:
            is_below = action == "below" and message is not None
            above = self.detail.transcript.next_message(message) if is_below and message is not None else message
            start_task(self._ask_and_insert(session.guid, above), key=MESSAGE_TASK)
        elif message is not None and action == "split":
            self.edits.split_session(message, session_title(self.selected_records[0]))
        elif message is not None and action == "open":
            self._context.open_session(session.guid, message)
        elif message is not None:
            start_task(self._ask_and_change(action, message), key=MESSAGE_TASK)

    async def _ask_and_insert(self, guid: UUID, above: UUID | None) -> None:
        above_text = self.tr("The message is inserted above the selected one, with the date of the one before it.")
        end_text = self.tr("The message is added at the end, with the date of the last one.")
        dialog = InsertMessage(self._context.dialog_parent, self.persona_name, above_text if above is not None else end_text)
        if await run_dialog(dialog):
            self.edits.insert_message(guid, dialog.entered_text, by_user=dialog.user_radio.isChecked(), above=above)

    async def _ask_and_change(self, action: str, message_id: UUID) -> None:
        """Show the details of a message, or change or delete it after asking."""
        message, parent = await self._services.sessions.message(message_id), self._context.dialog_parent
        author = message.speaker_name or self.tr("unknown speaker")
        if action == "details":
            await run_dialog(MessageDetailsDialog(parent, message))
        elif action == "edit":
            title = self.tr("Edit message by {name}").format(name=author)
            dialog = TextDialog(parent, title, self.tr("Save changes"), self.tr("Message text"), message.content)
            if await run_dialog(dialog) and dialog.entered_text != message.content:
                self.edits.edit_message(message, dialog.entered_text)
        else:
            quote = truncate_text(" ".join(message.content.split()), MAX_QUOTE_LENGTH)
            button = self.tr("Delete message by {name}").format(name=author)
            if await run_dialog(ConfirmDialog(parent, self.tr("Delete this message?"), quote, button)):
                transcript = self.detail.transcript
                transcript.select_message(transcript.next_message(message.id))  # where the reader is when it is gone
                self.edits.delete_message(message)

    def _confirm_deletion(self, lines: Lines) -> ConfirmDialog:
        title, count = truncate_text(session_title(lines[0])), format_message_count(sum(line.messages for line in lines))
        is_single = len(lines) == 1
        description = f"“{title}”" if is_single else self.tr("{n} conversations").format(n=len(lines))
        return ConfirmDialog(
            self._context.dialog_parent,
            self.tr("Delete this conversation?") if is_single else self.tr("Delete {what}?").format(what=description),
            self.tr("Everything learnt only there will no longer be remembered. You can restore all of it from the Trash."),
            self.tr("Delete {what} ({count})").format(what=description, count=count),
        )


def create_page(environment: PageEnvironment) -> SessionPage:
    """Create the page with its services, and connect it to the window."""
    services = environment.create(SessionPageServices)
    page = environment.create(SessionPage, services=services)
    page.detail.transcript.set_avatars(environment.chat_view.render_avatar)
    page.end_requested.connect(partial(environment.window.sidebar.command_chosen.emit, "end_session"))
    return page
