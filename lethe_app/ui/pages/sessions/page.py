"""Page “Conversations”: the sessions of a persona, their summaries and messages, and all edits of them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QPoint, QTimer, Signal
from PySide6.QtWidgets import QWidget

from lethe_app.domain.chat import SessionPart
from lethe_app.domain.list_items import SessionLine
from lethe_app.errors import StorageError
from lethe_app.services.sessions.transcript_text import format_transcript
from lethe_app.ui.core.formatting import format_count, format_message_count, truncate_text
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.routes import SearchRoute
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.dialogs.markdown_file import ask_for_markdown_file
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.list_page import PersonaListPage
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.sessions.commands import SessionEdits
from lethe_app.ui.pages.sessions.detail import SessionDetail
from lethe_app.ui.pages.sessions.labels import session_title
from lethe_app.ui.pages.sessions.message_actions import SessionMessageActions
from lethe_app.ui.pages.sessions.services import SessionPageServices
from lethe_app.ui.pages.sessions.table_model import (
    HIDEABLE_COLUMNS,
    MIN_TITLE_WIDTH,
    OPTIONAL_COLUMNS,
    WIDTHS,
    MarkChips,
    build_session_rows,
    mark_predicate,
)
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from lethe_app.ui.widgets.table import ColumnFit, SearchField, Table

MAX_SKIPPED_MESSAGES = 2
"""Messages up to which a session is skipped when facts are extracted from several."""
FIRST_BATCH_SIZE = 100
"""Sessions shown before all of them are loaded."""


MERGE_PAUSE_MS = 1_000
"""Milliseconds for which the button that merged keeps its place."""


class SessionPage(PersonaListPage):
    """Page with the list of sessions on the left and the selected session on the right."""

    end_requested = Signal(str)
    """Emitted with the id of a session that is to end now, so that its title, summary and facts are made."""

    def __init__(self, context: PageContext, persona_selector: PersonaSelector, services: SessionPageServices) -> None:
        super().__init__(context, QCoreApplication.translate("SessionPage", "Conversations"), persona_selector)
        self._services = services
        self._session_to_select: UUID | None = None
        self._is_merging = False
        """True until a merge is done, which must not be started twice."""
        self._is_fully_loaded = False
        """True once all sessions of the persona are listed."""
        self._transcript_session_id: UUID | None = None
        """Session whose transcript is loaded."""
        self.rows = build_session_rows(context.theme)
        self.edits = SessionEdits(self, context, services, self._show_field, self._on_edited)
        self._build()
        self._connect()
        self.persona_selector.emit_chosen()

    def _build(self) -> None:
        self.merge_button = self.add_button(self.tr("Merge conversations"), self.merge_selected)
        self.merge_button.setToolTip(self.tr("Merge the selected conversations in chronological order"))
        self.merge_button.hide()
        self._merge_timer = QTimer(self, singleShot=True, interval=MERGE_PAUSE_MS)
        self._merge_timer.timeout.connect(self._update_merge_button)
        self.delete_day_button = self.add_button(
            self.tr("Delete a day…"), lambda: self._context.run_action("erase_day"), "trash"
        )
        self.search = SearchField(self.theme, self.tr("Search titles and summaries"))
        self.search_messages_button = build_button(self.tr("Search messages"))
        self.search_messages_button.setToolTip(self.tr("Search the messages of all conversations for these words  Enter"))
        self.search_messages_button.hide()
        self.chips = MarkChips()
        empty = self.tr("No conversations yet. They are listed here after the first message.")
        self.table: Table[SessionLine] = Table(
            self.rows,
            self.theme,
            self.tr("Conversations"),
            empty,
            ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_TITLE_WIDTH, OPTIONAL_COLUMNS),
        )
        self.detail = SessionDetail(self._context, self._services.sessions, self._services.lookup, self)
        self.search.down_pressed.connect(self.table.setFocus)
        self._build_layout()

    def _build_layout(self) -> None:
        above = self._add_head(self._build_search_row(self.search, self.search_messages_button), self.chips)
        self.guard_undo(self.detail)
        self.panes = ListDetailPanes(self.theme, self.table, self.detail)
        self.panes.detail_in_front.connect(above.setHidden)
        self.body.addWidget(self.panes, 1)

    def _connect(self) -> None:
        services, detail = self._services, self.detail
        self._unsubscribers += [
            services.sessions.changed.add(self._reload_if_chosen),
            services.archive_queue.changed.add(detail.show_progress),
        ]
        self.persona_selector.chosen.connect(self._show_persona)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.search.returnPressed.connect(self.search_messages)
        self.search_messages_button.clicked.connect(self.search_messages)
        self.chips.changed.connect(self._filter)
        self.table.current_changed.connect(self._show_current)
        self.table.opened.connect(lambda _line: detail.focus_first_field())
        self.table.delete_requested.connect(self.delete_sessions)
        self.table.rename_requested.connect(detail.focus_title)
        self.table.menu_requested.connect(self._show_menu)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._update_merge_button())
        detail.form.changed.connect(self._on_field_edited)
        detail.regenerate_requested.connect(self._regenerate_part)
        detail.continue_requested.connect(self.continue_session)
        detail.end_requested.connect(self.end_session)
        detail.save_text_requested.connect(self.save_text)
        detail.merge_requested.connect(self.merge_with_next)
        detail.extraction_requested.connect(lambda: self.extract_again(self._current_lines()))
        detail.delete_requested.connect(lambda: self.delete_sessions(self._current_lines()))
        self.message_actions = SessionMessageActions(
            self._context,
            self._services.sessions,
            self.edits,
            detail,
            lambda: self.persona_selector.persona_name,
            lambda: session_title(self._current_lines()[0]),
        )
        detail.tabs.currentChanged.connect(lambda _tab: self._load_transcript())

    def first_focus_widget(self) -> QWidget:
        return self.search

    async def confirm_leave(self) -> bool:
        try:
            await self.edits.save()
            await self.detail.notes.save_notes()
        except StorageError as error:
            self._context.notifier.report_error(error)
        return True

    def close_page(self) -> None:
        self.detail.transcript.clear_session()
        super().close_page()
        self.edits.close()
        for key in ("detail", "transcript", "dialog"):
            self._context.tasks.cancel(f"session {key}")
        self._context.tasks.start_task(self.edits.save())
        self._context.tasks.start_task(self.detail.notes.save_notes())

    # the list

    def _show_persona(self, _persona: str) -> None:
        self.rows.set_rows([])
        self._is_fully_loaded = False
        self._schedule_reload()

    def _on_edited(self, session_to_select: UUID | None) -> None:
        """Reload the list and the transcript after sessions or messages were added, removed or changed."""
        self._is_merging = False
        self._session_to_select, self._transcript_session_id = session_to_select or self._session_to_select, None
        self._schedule_reload()

    async def _reload(self) -> None:
        persona_id = self.persona_selector.persona_id
        is_first = not self._is_fully_loaded
        if is_first:
            self.rows.set_rows(
                await self._services.session_editing.list_sessions(persona_id, FIRST_BATCH_SIZE)
            )  # all of them take a while
        self.rows.set_rows(await self._services.session_editing.list_sessions(persona_id))
        self._is_fully_loaded = True
        self.chips.show_applicable(self.rows.all_rows)
        self._update_count()
        current = self._context.current_session() if is_first and self.table.current_row is None else None
        current_id = current.guid if current is not None and self.detail.session is None else None
        session_to_select, self._session_to_select = self._session_to_select or current_id, None
        if (
            session_to_select is not None
            and not self.table.select_row(str(session_to_select))
            and session_to_select != current_id
        ):
            self._reset_filters()
            self.table.select_row(str(session_to_select))
        line = self.table.current_row
        if line is not None and not self.edits.unsaved_values(UUID(line.guid)):
            await self._load_detail(UUID(line.guid))

    def search_messages(self) -> None:
        """Search the messages for the words that were entered, on the search page."""
        if text := self.search.text().strip():
            self._context.navigator.open(SearchRoute(text))

    def _filter(self) -> None:
        has_text = bool(self.search.text().strip())
        self.search_messages_button.setVisible(has_text)
        self.table.no_match_text = (
            self.tr("No title or summary has these words. Press Enter to search the messages.") if has_text else ""
        )
        self.rows.set_filter(self.search.text(), mark_predicate(self.chips.selected_marks))
        self._update_count()

    def _reset_filters(self) -> None:
        self.chips.uncheck_all()
        self.search.clear()

    def _update_count(self) -> None:
        total = self.rows.row_total
        text = format_count(total, self.tr("{n} conversation"), self.tr("{n} conversations"))
        self._show_count(self.rows, text)
        self._update_merge_button()

    def _update_merge_button(self) -> None:
        if not self._is_merging and not self._merge_timer.isActive():
            self.merge_button.setEnabled(True)
            self.merge_button.setVisible(len(self.table.selected_rows) > 1)

    # The selected session.

    def _show_current(self, line: SessionLine | None) -> None:
        if line is None:
            self._transcript_session_id = None
            self.detail.clear_session()
        elif self.detail.session is None or str(self.detail.session.guid) != line.guid:
            self._context.tasks.start_task(self._load_detail(UUID(line.guid)), key="session detail")

    async def _load_detail(self, guid: UUID) -> None:
        await self.edits.save()
        try:
            session = await self._services.sessions.open(guid)
        except StorageError:
            return  # deleted meanwhile; the list is about to say so
        records = await self._services.archive_queue.parts(guid)
        line = self.table.current_row
        unsaved_values = self.edits.unsaved_values(guid)
        is_being_edited = bool(unsaved_values) and self.detail.session is not None and self.detail.session.guid == guid
        if line is not None and line.guid == str(guid) and not is_being_edited:
            session = session.model_copy(update=unsaved_values)
            self.detail.show_session(session, records, line.messages, session_title(line))
            self.detail.offer_merge(is_offered=self._next_session(line) is not None)
            self._load_transcript()

    def _load_transcript(self) -> None:
        session = self.detail.session
        if session is not None and self.detail.tabs.currentIndex() == 1 and self._transcript_session_id != session.guid:
            self._transcript_session_id = session.guid
            self._context.tasks.start_task(self.detail.load_transcript(session.guid), key="session transcript")

    def _on_field_edited(self, name: str, value: object) -> None:
        if self.detail.session is not None:
            self.edits.change_field(self.detail.session, name, value)

    def _show_field(self, guid: UUID, name: str, value: object) -> None:
        if self.detail.session is not None and self.detail.session.guid == guid:
            self.detail.set_field(name, value)

    def _current_lines(self) -> list[SessionLine]:
        return [self.table.current_row] if self.table.current_row is not None else []

    # what the buttons do

    def _regenerate_part(self, part: SessionPart) -> None:
        if self.detail.session is not None:
            self.edits.regenerate_part(self.detail.session.guid, part)

    def continue_session(self) -> None:
        """Open the session in the chat, at its end."""
        if self.detail.session is not None:
            self._context.open_session(self.detail.session.guid, None)

    def end_session(self) -> None:
        """End the selected session now, which makes its title, summary and facts."""
        if self.detail.session is not None:
            self.table.setFocus()  # the button goes
            self.end_requested.emit(str(self.detail.session.guid))

    def save_text(self) -> None:
        """Save the messages of the selected session as a Markdown file."""
        if self.detail.session is not None:
            title = session_title(self._current_lines()[0])
            self._context.tasks.start_task(self._ask_and_save_text(self.detail.session.guid, title), key="session dialog")

    async def _ask_and_save_text(self, guid: UUID, title: str) -> None:
        stem = "".join(letter if letter.isalnum() or letter in " -" else " " for letter in title)
        path = await ask_for_markdown_file(
            self._context.dialog_parent, self.tr("Save conversation"), " ".join(stem.split()) or self.tr("Conversation")
        )
        if path is not None:
            count = len(await self._services.sessions.outline(guid))
            text = format_transcript(title, await self._services.sessions.page(guid, 0, count), format_date_time)
            await self._services.fact_lists.save_text(path, text)
            self._context.notifier.notify(self.tr("Saved as {file}.").format(file=path.name))

    def merge_selected(self) -> None:
        """Merge the selected sessions."""
        if len(self.table.selected_rows) > 1:
            self._merge(self.table.selected_rows)

    def merge_with_next(self) -> None:
        """Merge the selected session with the one that started after it."""
        line = self.table.current_row
        following = self._next_session(line) if line is not None else None
        if line is not None and following is not None:
            self._merge([line, following])

    def _merge(self, lines: Sequence[SessionLine]) -> None:
        # The second click of a double click must neither merge once more nor hit a button that has moved below the pointer. The
        # focus goes to the result.
        for button in (self.detail.merge_button, self.merge_button):
            button.setEnabled(False)
        self._is_merging = True
        self._merge_timer.start()
        self.table.setFocus()
        self.edits.merge_sessions(lines)

    def _next_session(self, line: SessionLine) -> SessionLine | None:
        later = [candidate for candidate in self.rows.all_rows if candidate.began > line.began and candidate.guid != line.guid]
        return min(later, key=lambda other: other.began, default=None)

    def extract_again(self, lines: list[SessionLine]) -> None:
        """Extract the facts of these sessions again."""
        if lines:
            self._context.tasks.start_task(self._extract_and_notify(self.persona_selector.persona_id, lines))

    async def _extract_and_notify(self, persona_id: str, lines: list[SessionLine]) -> None:
        await self.edits.save()
        long_enough = [
            line for line in lines if line.messages > MAX_SKIPPED_MESSAGES
        ] or lines  # of several, none is too short to be asked for
        facts = [await self._services.fact_extraction.extract_session(persona_id, UUID(line.guid)) for line in long_enough]
        notice = format_count(sum(facts), self.tr("{n} fact was extracted."), self.tr("{n} facts were extracted."))
        self._context.notifier.notify(notice)

    def delete_sessions(self, lines: list[SessionLine]) -> None:
        """Move sessions to the trash after confirmation."""
        if lines:
            self._context.tasks.start_task(self._confirm_and_delete(lines), key="session dialog")

    async def _confirm_and_delete(self, lines: list[SessionLine]) -> None:
        title, count = truncate_text(session_title(lines[0])), format_message_count(sum(line.messages for line in lines))
        is_single = len(lines) == 1
        description = f"“{title}”" if is_single else self.tr("{n} conversations").format(n=len(lines))
        question = ConfirmDialog(
            self._context.dialog_parent,
            self.tr("Delete this conversation?") if is_single else self.tr("Delete {what}?").format(what=description),
            self.tr("Everything learnt only there will no longer be remembered. You can restore all of it from the Trash."),
            self.tr("Delete {what} ({count})").format(what=description, count=count),
        )
        if await run_dialog(question):
            self.edits.delete_sessions(lines)

    def _show_menu(self, position: QPoint) -> None:
        lines = self.table.selected_rows
        if not lines:
            return
        is_single, merge_title = len(lines) == 1, self.tr("Merge conversations")
        entries = [
            MenuEntry(self.tr("Continue conversation"), self.continue_session, is_single),
            MenuEntry(self.tr("Rename\tF2"), self.detail.focus_title, is_single),
            MenuEntry(self.tr("End now"), self.end_session, is_single and not lines[0].archived),
            MenuEntry(self.tr("Save as text…"), self.save_text, is_single),
            MenuEntry(
                self.tr("Extract facts again") if lines[0].archived else self.tr("Extract facts now"),
                lambda: self.extract_again(lines),
            ),
            MenuEntry(self.tr("Merge with next"), self.merge_with_next, is_single and self._next_session(lines[0]) is not None),
            MenuEntry(
                self.tr("Merge conversations: select two or more") if is_single else merge_title,
                self.merge_selected,
                not is_single,
            ),
            MenuEntry(self.tr("Delete…\tDel"), lambda: self.delete_sessions(lines)),
        ]
        popup_menu(self, position, entries)


def create_page(environment: PageEnvironment, _route: object) -> SessionPage:
    """Create the page with the services that it calls."""
    services = environment.services
    group = SessionPageServices(
        services.sessions,
        services.session_editing,
        services.message_editing,
        services.archive_queue,
        services.fact_extraction,
        services.memory_lookup,
        services.trash,
        services.fact_lists,
    )
    page = SessionPage(environment.context, environment.create_persona_selector(), group)
    page.detail.transcript.set_avatars(environment.chat_view.render_avatar)
    page.end_requested.connect(environment.window.sidebar.end_requested)
    return page
