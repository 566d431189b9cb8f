"""Page “Documents”: what a persona or a world knows from files, and what a question finds in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QPoint, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from lethe_app.domain.passage import DOCUMENT_SUFFIXES, Document
from lethe_app.errors import LetheError
from lethe_app.services.documents.knowledge_base import DocumentQuery, KnowledgeBase
from lethe_app.services.documents.service import DocumentService
from lethe_app.services.indexing.service import IndexingService
from lethe_app.ui.core.formatting import format_bytes, format_count, truncate_text
from lethe_app.ui.core.labels.dates import format_relative_date
from lethe_app.ui.core.routes import DocumentsRoute, Route
from lethe_app.ui.dialogs.bundle_parts import TransferProgressDialog, run_with_progress
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.documents.detail import DocumentDetail, format_passages
from lethe_app.ui.pages.list_page import PersonaListPage
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from lethe_app.ui.widgets.table import ColumnFit, SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

TITLE, PASSAGES, SIZE, ADDED = range(4)
WIDTHS = {PASSAGES: 120, SIZE: 90, ADDED: 110}
HIDEABLE_COLUMNS = (SIZE, PASSAGES, ADDED)
MIN_TITLE_WIDTH = 160
SEARCH_DELAY_MS = 250
"""Delay in milliseconds after the last key before a question is asked."""
NOTICE_DELAY_MS = 150
"""Milliseconds that a search takes before the page says that it searches."""
MAX_ERRORS = 3
"""Maximum number of files that could not be read, of which the reason is shown."""
HIT_COUNT = 8


class DocumentsPage(PersonaListPage):
    """Page with the documents of a persona or world on the left, and what a question finds in them on the right."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        documents: DocumentService,
        knowledge_base: KnowledgeBase,
        indexing: IndexingService,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("DocumentsPage", "Documents"), persona_selector)
        self._documents, self._knowledge_base, self._indexing = documents, knowledge_base, indexing
        self._waiting = 0
        """Number of passages that the answer on display could not compare by meaning yet."""
        self._is_loaded = False
        """True once the documents were listed for the first time."""
        self._route = DocumentsRoute()
        """Document and passage to show as soon as the list contains them."""
        self.rows = self._build_rows()
        self._build()
        self._connect()
        self.persona_selector.emit_chosen()
        self._schedule_reload()

    def _build_rows(self) -> FilteredTableModel[Document]:
        def colour(document: Document) -> str:
            return self.theme.palette.danger if document.trouble else ""

        columns = [
            Column[Document](self.tr("Document"), attrgetter("title"), width=0, colour=colour),
            Column[Document](
                self.tr("Contents"), lambda one: format_passages(one.chunks), attrgetter("chunks"), WIDTHS[PASSAGES]
            ),
            Column[Document](self.tr("File size"), lambda one: format_bytes(one.size), attrgetter("size"), WIDTHS[SIZE]),
            Column[Document](self.tr("Added"), lambda one: format_relative_date(one.added), attrgetter("added"), WIDTHS[ADDED]),
        ]
        return FilteredTableModel(columns, key=attrgetter("guid"), search_text=attrgetter("title"))

    def _build(self) -> None:
        self.setAcceptDrops(True)
        self.add_documents_button = self.add_button(self.tr("Add documents…"), self.choose_files, "plus", primary=True)
        self.refresh_button = self.add_button(self.tr("Reload"), self.read_changed_files, "refresh")
        self.refresh_button.setToolTip(self.tr("Reload the documents whose files have changed"))
        self.remove_button = self.add_button(self.tr("Remove…"), self.remove_selected, "trash")
        self.remove_button.setToolTip(self.tr("Remove the selected documents; their files remain"))
        self.question = SearchField(self.theme, self.tr("Ask the documents"))
        self.hint = build_small_label(
            self.tr(
                "Passages that answer your message are recalled with it, and named with document and page. Documents are read "
                "on this computer only, and the files stay as they are."
            )
        )
        empty_text = self.tr(
            "No documents yet. Drop files or a folder here: PDF, Word, EPUB, HTML, Markdown or text.\n"
            "For example the manual of a game, notes on a world, or a novel that you both have read."
        )
        self.table: Table[Document] = Table(
            self.rows, self.theme, self.tr("Documents"), empty_text, ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_TITLE_WIDTH)
        )
        self.detail = DocumentDetail(self)
        self._add_head(self._build_search_row(self.question), self.hint)
        self.panes = ListDetailPanes(self.theme, self.table, self.detail)
        self.body.addWidget(self.panes, 1)
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_DELAY_MS)
        self._notice_timer = QTimer(self, singleShot=True, interval=NOTICE_DELAY_MS)

    def _connect(self) -> None:
        self._unsubscribers.append(self._documents.changed.add(self._reload_if_chosen))
        self._unsubscribers.append(self._indexing.changed.add(lambda _progress: self._ask_again()))
        self.persona_selector.chosen.connect(lambda _owner: self._schedule_reload())
        self.question.textChanged.connect(lambda _text: self._search_timer.start())
        self.question.down_pressed.connect(self.table.setFocus)
        self._search_timer.timeout.connect(self._ask)
        self._notice_timer.timeout.connect(self.detail.show_search)
        self.question.returnPressed.connect(self._ask)
        self.table.current_changed.connect(self._show_current)
        self.table.clicked.connect(lambda _index: self._show_document(self.table.current_row))
        self.table.delete_requested.connect(lambda _rows: self.remove_selected())
        self.table.menu_requested.connect(self._show_menu)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._update_buttons())

    def first_focus_widget(self) -> QWidget:
        return self.question if self.rows.row_total else self.add_documents_button

    def show_route(self, route: Route) -> None:
        """Show the documents of the persona or world that a route names, or a passage of one."""
        if isinstance(route, DocumentsRoute) and route.owner:
            self._route = route
            if route.document is not None:
                self.question.clear()
                self._search_timer.stop()  # it would show the list
            self.persona_selector.choose_persona(route.owner)
            self._schedule_reload()

    def close_page(self) -> None:
        self._search_timer.stop()
        self._notice_timer.stop()
        super().close_page()

    # The list

    async def _reload(self) -> None:
        owner = self.persona_selector.persona_id
        documents = await self._documents.documents_of([owner]) if owner else []
        asked = bool(self.question.text().strip())
        is_current = self._is_question_current
        self.rows.set_rows(documents)
        self._show_count(self.rows, format_count(len(documents), self.tr("{n} document"), self.tr("{n} documents")))
        self._update_buttons()
        if documents and self.focusWidget() is self.add_documents_button and not self._is_loaded:
            self.question.setFocus()  # nobody was to press the button, the list was just not loaded yet
        self._is_loaded = True
        if self._route.document is not None and self.table.select_row(self._route.document):
            self._show_document(self.table.current_row, self._route.passage)
            self._route = DocumentsRoute()
            self.panes.show_detail()
            return
        current = self.table.current_row
        self._ask() if is_current or (asked and current is None) else self._show_document(current)

    def _update_buttons(self) -> None:
        has_documents = bool(self.rows.row_total)
        self.remove_button.setVisible(has_documents)
        self.remove_button.setEnabled(bool(self.table.selected_rows))
        self.refresh_button.setVisible(has_documents)
        self.question.setEnabled(has_documents)
        self.question.setPlaceholderText(
            self.tr("Ask the documents") if has_documents else self.tr("Add documents to ask them something")
        )

    @property
    def _is_question_current(self) -> bool:
        """True if the answer to the typed question is on display, or about to be: a list that is loaded meanwhile must not
        replace it.
        """
        is_answer_due = self._search_timer.isActive() or self._notice_timer.isActive()
        return bool(self.question.text().strip()) and (is_answer_due or self.detail.document is None)

    def _show_current(self, document: Document | None) -> None:
        """Show the document that the user has moved to; an answer stays when the list is only loaded again."""
        if self.table.hasFocus() or not self._is_question_current:
            self._show_document(document)

    def _show_document(self, document: Document | None, passage: UUID | None = None) -> None:
        """Show a document from its beginning or from a passage of it."""
        self._search_timer.stop()
        self._notice_timer.stop()
        self._context.tasks.cancel("ask documents")
        is_same = document is not None and document == self.detail.document
        if not is_same or passage is not None:  # reloading the list must not scroll away what is being read
            self.detail.show_document(document)
            if document is not None:
                self._context.tasks.start_task(self._show_text(document, passage), key="document text")

    async def _show_text(self, document: Document, passage: UUID | None) -> None:
        chunks = await self._documents.passages_of(document.guid, passage)
        if self.detail.document == document:
            self.detail.show_passage(chunks) if passage is not None else self.detail.show_beginning(chunks)

    # Questions

    def _ask(self) -> None:
        text = self.question.text().strip()
        if text:
            self._notice_timer.start()
            self._context.tasks.start_task(self._show_answers(text), key="ask documents")
        else:
            self._show_document(self.table.current_row)
            self.panes.show_list(take_focus=False)

    async def _show_answers(self, text: str) -> None:
        owners = [self.persona_selector.persona_id]
        try:
            waiting = await self._knowledge_base.count_waiting(owners)
            hits = await self._knowledge_base.search(DocumentQuery(text, owners), HIT_COUNT)
        except Exception:  # a cancelled search leaves the timer to the question that replaced it
            self._notice_timer.stop()
            raise
        self._notice_timer.stop()
        if text == self.question.text().strip():
            self._waiting = waiting
            self.detail.show_hits(hits, waiting)
            self.panes.show_detail()

    def _ask_again(self) -> None:
        """Complete the answer on display once all passages are embedded."""
        progress = self._indexing.progress
        if self._waiting and self._is_question_current and not progress.changes + progress.without_meaning:
            self._ask()

    # Adding

    def choose_files(self) -> None:
        """Let the user choose the files to add."""
        self._context.tasks.start_task(self._choose_files(), key="choose documents")

    async def _choose_files(self) -> None:
        patterns = " ".join(f"*{suffix}" for suffix in DOCUMENT_SUFFIXES)
        filters = f"{self.tr('Documents')} ({patterns})"
        dialog = QFileDialog(self._context.dialog_parent, self.tr("Add documents"), str(Path.home()), filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        if await run_dialog(dialog):
            self.add_files([Path(name) for name in dialog.selectedFiles()])

    def add_files(self, paths: Sequence[Path]) -> None:
        """Read files, and those in folders, as documents of the persona or world on display."""
        self._context.tasks.start_task(self._add_files(self.persona_selector.persona_id, paths))

    async def _add_files(self, owner: str, paths: Sequence[Path]) -> None:
        files, selected = await self._documents.find_files(paths), self.table.current_row
        added: list[Document] = []
        errors: list[LetheError] = []
        dialog = TransferProgressDialog(self._context.dialog_parent, self.tr("Reading documents…"))

        async def read_all(report: Callable[[float], None]) -> None:
            for number, file in enumerate(files):

                def on_progress(fraction: float, number: int = number) -> None:
                    report((number + fraction) / len(files))

                try:
                    added.append(await self._documents.add(owner, file, on_progress))
                except LetheError as error:
                    errors.append(error)

        await run_with_progress(dialog, self._context.file_transfers, read_all)
        for error in errors[:MAX_ERRORS]:
            self._context.notifier.report_error(error)
        if added:
            title = truncate_text(added[0].title, 60)
            text = self.tr("“{title}” was added.").format(title=title)
            text = text if len(added) == 1 else self.tr("{n} documents were added.").format(n=len(added))
            self._context.notifier.notify(text)
            await self._reload()
            is_current = self._is_question_current
            if self.table.current_row is None or selected is None or self.table.current_row.guid == selected.guid:
                self.table.select_row(added[0].guid)  # unless the user has selected another one meanwhile
            if is_current:
                self._ask()
            self.question.setFocus()  # what one adds a document for; a key would press “Add documents…” again
        elif not errors and not files:
            self._context.notifier.notify(self.tr("The folder contains no documents that can be read."))

    def read_changed_files(self) -> None:
        """Read the documents again whose files have changed."""
        self._context.tasks.start_task(self._read_changed_files(self.persona_selector.persona_id), key="refresh documents")

    async def _read_changed_files(self, owner: str) -> None:
        dialog = TransferProgressDialog(self._context.dialog_parent, self.tr("Reading documents…"))
        changed = await run_with_progress(
            dialog, self._context.file_transfers, lambda report: self._documents.refresh([owner], report)
        )
        if changed is not None:
            count = format_count(len(changed), self.tr("{n} document was reloaded."), self.tr("{n} documents were reloaded."))
            self._context.notifier.notify(count if changed else self.tr("No file has changed."))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept drags of files and folders."""
        if dropped_paths(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Add the dropped files."""
        paths = dropped_paths(event)
        if paths:
            event.acceptProposedAction()
            self.add_files(paths)

    # Removing

    def _show_menu(self, position: QPoint) -> None:
        if self.table.selected_rows:
            remove = MenuEntry(self.tr("Remove…\tDel"), self.remove_selected)
            popup_menu(self, position, [MenuEntry(self.refresh_button.text(), self.read_changed_files), remove])

    def remove_selected(self) -> None:
        """Remove the selected documents after a confirmation."""
        if documents := self.table.selected_rows:
            self._context.tasks.start_task(self._confirm_and_remove(documents), key="remove documents")

    async def _confirm_and_remove(self, documents: Sequence[Document]) -> None:
        count = format_count(len(documents), self.tr("{n} document"), self.tr("{n} documents"))
        what = f"“{truncate_text(documents[0].title, 60)}”" if len(documents) == 1 else count
        question = ConfirmDialog(
            self._context.dialog_parent,
            self.tr("Remove {what}?").format(what=what),
            self.tr("Everything stored of it is deleted, also in recorded replies. The files themselves remain."),
            self.tr("Remove {what}").format(what=what),
            is_final=True,
        )
        if await run_dialog(question):
            await self._documents.remove([document.guid for document in documents])


def dropped_paths(event: QDropEvent) -> list[Path]:
    """Return the documents and folders among the dragged files."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return [path for path in paths if path.suffix.lower() in DOCUMENT_SUFFIXES or path.is_dir()]
