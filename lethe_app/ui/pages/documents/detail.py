"""Pane beside the list of documents: what a question finds in them, or what is stored of the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from lethe_app.domain.passage import Document, DocumentChunk
from lethe_app.services.documents.knowledge_base import MIN_LIKELIHOOD, DocumentHit
from lethe_app.ui.core.formatting import format_bytes, format_count, truncate_text
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label

MIN_WIDTH, WIDTH = 280, 460
MIN_PARAGRAPH_LENGTH = 120
"""Characters from which a line is a paragraph."""
MAX_BEGINNING_LENGTH = 3600
"""Characters of the beginning of a document that are shown."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Documents", text)


class DocumentDetail(DetailPane):
    """Pane with one card for each passage that was found, or with the selected document."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            _tr("Select a document, or type a question to see which passages answer it."), MIN_WIDTH, WIDTH, parent
        )
        self.setAccessibleName(_tr("Found passages"))
        self.document: Document | None = None
        """Document on display; None if that is the placeholder or what was found."""

    def show_document(self, document: Document | None) -> None:
        """Show where a document came from and when; None shows the placeholder."""
        self._sheet.clear_cards()
        self.document = document
        self.setCurrentIndex(0 if document is None else 1)
        if document is None:
            return
        lines = [
            document.path,
            f"{format_passages(document.chunks)} · {format_bytes(document.size)} · {format_date_time(document.added)}",
        ]
        if document.trouble:
            lines.append(_tr("The changed file could not be read: it {problem}.").format(problem=document.trouble))
        self._add_text_card(document.title, lines)

    def show_text(self, chunks: Sequence[DocumentChunk], *, is_passage: bool) -> None:
        """Show the first passages of the document on display below its card, or one of its passages and those after it."""
        title = _tr("How it continues") if is_passage else _tr("How it begins")
        if is_passage and chunks:
            self._add_text_card(chunks[0].location, [space_paragraphs(chunks[0].text)])
            chunks = chunks[1:]
        if not chunks:
            return
        parts = [chunks[0].text]
        for before, chunk in pairwise(chunks):  # a passage may begin within a paragraph
            is_continued = (before.heading, before.page) == (chunk.heading, chunk.page)
            parts += [" " if is_continued else "\n", chunk.text]
        text = truncate_text("".join(parts), MAX_BEGINNING_LENGTH)
        self._add_text_card(title, [space_paragraphs(text)])

    def show_search(self) -> None:
        """Show that the documents are being searched."""
        self._sheet.clear_cards()
        self.document = None
        self.setCurrentIndex(1)
        self._add_text_card("", [_tr("Searching…")])

    def show_hits(self, hits: Sequence[DocumentHit], waiting: int = 0) -> None:
        """Show what a question found, the best first, and which of it a message with this text would recall. The passages
        `waiting` to be embedded were searched by their words only, so that nothing found is no answer yet.
        """
        self._sheet.clear_cards()
        self.document = None
        self.setCurrentIndex(1)
        likely = [hit for hit in hits if hit.ranked.likelihood >= MIN_LIKELIHOOD]
        if waiting:
            text = _tr("Still being read: {passages}. This answer is completed as soon as they are.")
            self._add_text_card("", [text.format(passages=format_passages(waiting))])
        elif not likely:
            self._add_text_card("", [_tr("No document says anything about that.")])
        for hit in likely:
            effect = _tr("recalled by a message with this text") if hit.is_sure else _tr("too uncertain to be recalled")
            self._add_text_card(
                hit.chunk.location, [space_paragraphs(hit.chunk.text)], f"{hit.ranked.likelihood:.0%} · {effect}"
            )

    def _add_text_card(self, title: str, lines: Sequence[str], note: str = "") -> None:
        _card, column = self.add_card()
        if title:
            column.addWidget(create_text_label(title, "section"))
        if note:
            column.addWidget(build_small_label(note))
        for line in lines:
            label = create_text_label(line)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)


def format_passages(count: int) -> str:
    """Return a number of passages in words."""
    return format_count(count, _tr("{n} passage"), _tr("{n} passages"))


def space_paragraphs(text: str) -> str:
    """Return a text with an empty line between its paragraphs; the lines of a list or a poem stay together."""
    lines = text.split("\n")
    return ("\n\n" if any(len(line) > MIN_PARAGRAPH_LENGTH for line in lines) else "\n").join(lines)
