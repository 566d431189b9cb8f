"""Page “Documents”: what a persona or a world knows from files, and what a question finds in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from lethe_app.domain.passage import DOCUMENT_SUFFIXES, Document
from lethe_app.errors import LetheError
from lethe_app.services.documents.knowledge_base import DocumentQuery, KnowledgeBase
from lethe_app.services.documents.service import DocumentService
from lethe_app.services.indexing.service import IndexingService
from lethe_app.ui.core.file_transfers import FileTransfers
from lethe_app.ui.core.formatting import format_bytes, format_count, truncate_text
from lethe_app.ui.core.labels.dates import format_relative_date
from lethe_app.ui.core.routes import DocumentsRoute, Route
from lethe_app.ui.dialogs.bundle_parts import TransferProgressDialog, run_with_progress
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.dialogs.files import ask_for_files, build_name_filter
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.documents.detail import DocumentDetail, format_passages
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand, page_command
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table_model import Column

SEARCH_DELAY_MS = 250
"""Delay in milliseconds after the last key before a question is asked."""
NOTICE_DELAY_S = 0.15
"""Seconds that a search takes before the page says that it searches."""
MAX_ERRORS = 3
"""Maximum number of files that could not be read, of which the reason is shown."""
HIT_COUNT = 8


class DocumentsPage(RecordPage[Document]):
    """Page with the documents of a persona or world on the left, and what a question finds in them on the right."""

    hides_head = False

    def __init__(
        self,
        context: PageContext,
        owner_selector: PersonaSelector,
        documents: DocumentService,
        knowledge_base: KnowledgeBase,
        indexing: IndexingService,
        file_transfers: FileTransfers,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("DocumentsPage", "Documents"), owner_selector)
        self._documents, self._knowledge_base, self._indexing = documents, knowledge_base, indexing
        self._file_transfers = file_transfers
        self._waiting = 0
        """Number of passages that the answer on display could not compare by meaning yet."""
        self._is_loaded = False
        """True once the documents were listed for the first time."""
        self._shows_answer = False
        """True if the answer to the typed question is on display, or about to be."""
        self._listed_document: UUID | None = None
        """Document that was selected last."""
        self._passage: UUID | None = None
        """Passage to show of the document that a route led to."""
        self.setAcceptDrops(True)
        self.detail = DocumentDetail()
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_DELAY_MS)
        self.build_list(
            RecordSpec(
                name=self.tr("Documents"),
                columns=self._build_columns(),
                key=attrgetter("guid"),
                search_text=attrgetter("title"),
                search_hint=self.tr("Ask the documents"),
                empty_text=self.tr(
                    "No documents yet. Drop files or a folder here: PDF, Word, EPUB, HTML, Markdown or text.\n"
                    "For example the manual of a game, notes on a world, or a novel that you both have read."
                ),
                commands=self._build_commands(),
                format_total=lambda count: format_count(count, self.tr("{n} document"), self.tr("{n} documents")),
            ),
            detail=self.detail,
            head=[
                build_small_label(
                    self.tr(
                        "Passages that answer your message are recalled with it, and named with document and page. Documents "
                        "are read on this computer only, and the files stay as they are."
                    )
                )
            ],
        )
        self.question, self.add_documents_button = self.search, self.button(self.tr("Add documents…"))
        self.follow(documents.changed)
        self._unsubscribers.append(indexing.changed.add(lambda _progress: self._ask_again()))
        self._task_keys.append("ask documents")
        self._search_timer.timeout.connect(self._ask)
        self.question.textChanged.connect(self._on_question_edited)
        self.question.returnPressed.connect(self._ask)
        self.table.clicked.connect(lambda _index: self._show_document(self.table.current_row))

    def _build_columns(self) -> list[Column[Document]]:
        def colour(document: Document) -> str:
            return self.theme.palette.danger if document.trouble else ""

        tr, by_date = self.tr, attrgetter("added")
        return [
            Column(tr("Document"), attrgetter("title"), width=0, min_width=160, colour=colour),
            Column(tr("Contents"), lambda one: format_passages(one.chunks), attrgetter("chunks"), width=120, hides_at=2),
            Column(tr("File size"), lambda one: format_bytes(one.size), attrgetter("size"), width=90, hides_at=3),
            Column(tr("Added"), lambda one: format_relative_date(one.added), by_date, width=110, hides_at=1),
        ]

    def _build_commands(self) -> list[RecordCommand[Document]]:
        tr = self.tr
        reload_tooltip = tr("Reload the documents whose files have changed")
        return [
            page_command(tr("Add documents…"), self._choose_files, "plus", is_primary=True),
            page_command(tr("Reload"), lambda: self._read_changed_files(self.persona_id), "refresh", tooltip=reload_tooltip),
            RecordCommand(
                tr("Remove…"),
                self._remove,
                (Key.DELETE,),
                confirm=self._confirm_removal,
                in_head=True,
                icon="trash",
                tooltip=tr("Remove the selected documents; their files remain"),
            ),
        ]

    def first_focus_widget(self) -> QWidget:
        return self.question if self.rows.row_total else self.add_documents_button

    def show_route(self, route: Route) -> None:
        """Show the documents of the persona or world that a route names, or a passage of one."""
        if not isinstance(route, DocumentsRoute) or not route.owner:
            return
        if route.document is None:
            self.choose_persona(route.owner)
            self.reload()
        else:
            self.question.clear()
            self._search_timer.stop()  # it would show the list
            self._passage = route.passage
            self.go_to_record(route.owner, route.document)

    # The list

    @property
    def search_words(self) -> str:
        """Return no words: what is typed is a question, which filters nothing."""
        return ""

    async def load_records(self) -> Sequence[Document]:
        return await self._documents.documents_of([self.persona_id])

    def after_load(self) -> None:
        has_documents = bool(self.rows.row_total)
        self.question.setEnabled(has_documents)
        self.question.setPlaceholderText(
            self.tr("Ask the documents") if has_documents else self.tr("Add documents to ask them something")
        )
        if has_documents and self.focusWidget() is self.add_documents_button and not self._is_loaded:
            self.question.setFocus()  # nobody was to press the button, the list was just not loaded yet
        self._is_loaded = True

    def show_record(self, record: Document | None) -> None:
        """Show the document that the user has moved to; an answer stays, and is renewed when the list was loaded again."""
        guid = record.guid if record is not None else None
        has_moved, self._listed_document = guid != self._listed_document, guid
        is_chosen = has_moved and record is not None and self.table.hasFocus()
        if self.question.text().strip() and (record is None or (self._shows_answer and not is_chosen)):
            self._ask()
        else:
            self._show_document(record)

    def _show_document(self, document: Document | None) -> None:
        """Show a document from its beginning, or from the passage that a route led to."""
        passage, self._passage = self._passage, None
        self._shows_answer = False
        self._search_timer.stop()
        self._context.tasks.cancel("ask documents")
        is_same = document is not None and document == self.detail.document
        if not is_same or passage is not None:  # reloading the list must not scroll away what is being read
            self.detail.show_document(document)
            if document is not None:
                self._context.tasks.start_task(self._show_text(document, passage), key="document text")

    async def _show_text(self, document: Document, passage: UUID | None) -> None:
        chunks = await self._documents.passages_of(document.guid, passage)
        if self.detail.document == document:
            self.detail.show_text(chunks, is_passage=passage is not None)

    # Questions

    def _on_question_edited(self, text: str) -> None:
        self._shows_answer = bool(text.strip())
        self._search_timer.start()

    def _ask(self) -> None:
        text = self.question.text().strip()
        if text:
            self._shows_answer = True
            self._context.tasks.start_task(self._show_answers(text), key="ask documents")
        else:
            self._show_document(self.table.current_row)
            self.panes.show_list(take_focus=False)

    async def _show_answers(self, text: str) -> None:
        owners = [self.persona_id]
        notice = asyncio.get_running_loop().call_later(NOTICE_DELAY_S, self.detail.show_search)
        try:
            waiting = await self._knowledge_base.count_waiting(owners)
            hits = await self._knowledge_base.search(DocumentQuery(text, owners), HIT_COUNT)
        finally:
            notice.cancel()
        if text == self.question.text().strip():
            self._waiting = waiting
            self.detail.show_hits(hits, waiting)
            self.panes.show_detail()

    def _ask_again(self) -> None:
        """Complete the answer on display once all passages are embedded."""
        progress = self._indexing.progress
        if self._waiting and self._shows_answer and not progress.changes + progress.without_meaning:
            self._ask()

    # Adding

    async def _choose_files(self) -> None:
        documents = build_name_filter(self.tr("Documents"), DOCUMENT_SUFFIXES)
        if files := await ask_for_files(self._context.dialog_parent, self.tr("Add documents"), documents):
            self.add_files(files)

    def add_files(self, paths: Sequence[Path]) -> None:
        """Read files, and those in folders, as documents of the persona or world on display."""
        self._context.tasks.start_task(self._add_files(self.persona_id, paths))

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

        await run_with_progress(dialog, self._file_transfers, read_all)
        for error in errors[:MAX_ERRORS]:
            self._context.notifier.report_error(error)
        if added:
            title = truncate_text(added[0].title, 60)
            text = self.tr("“{title}” was added.").format(title=title)
            text = text if len(added) == 1 else self.tr("{n} documents were added.").format(n=len(added))
            self._context.notifier.notify(text)
            if selected is None or self.is_current(selected):  # the user has selected no other one meanwhile
                self.select_when_loaded(added[0].guid)
            await self.loader.reload_and_wait()
            if self._shows_answer:
                self._ask()
            self.question.setFocus()  # what one adds a document for; a key would press “Add documents…” again
        elif not errors and not files:
            self._context.notifier.notify(self.tr("The folder contains no documents that can be read."))

    async def _read_changed_files(self, owner: str) -> None:
        dialog = TransferProgressDialog(self._context.dialog_parent, self.tr("Reading documents…"))
        changed = await run_with_progress(dialog, self._file_transfers, lambda report: self._documents.refresh([owner], report))
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

    def _confirm_removal(self, documents: Sequence[Document]) -> ConfirmDialog:
        count = format_count(len(documents), self.tr("{n} document"), self.tr("{n} documents"))
        what = f"“{truncate_text(documents[0].title, 60)}”" if len(documents) == 1 else count
        return ConfirmDialog(
            self._context.dialog_parent,
            self.tr("Remove {what}?").format(what=what),
            self.tr("Everything stored of it is deleted, also in recorded replies. The files themselves remain."),
            self.tr("Remove {what}").format(what=what),
            is_final=True,
        )

    async def _remove(self, documents: Sequence[Document]) -> None:
        await self._documents.remove([document.guid for document in documents])


def dropped_paths(event: QDropEvent) -> list[Path]:
    """Return the documents and folders among the dragged files."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return [path for path in paths if path.suffix.lower() in DOCUMENT_SUFFIXES or path.is_dir()]
