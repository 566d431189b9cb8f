"""Reading of a document of any known format; the format is told by the file name."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import PurePath

import mammoth
from markdown_it import MarkdownIt

from lethe_app.domain.passage import DOCUMENT_SUFFIXES, DocumentSection
from lethe_app.errors import FileError, UnknownFormat
from lethe_app.interchange.bundle_archive import Archive, BundleLimits
from lethe_app.interchange.documents.epub import read_epub
from lethe_app.interchange.documents.html import read_html
from lethe_app.interchange.documents.pdf import read_pdf
from lethe_app.interchange.json_text import decode_text

MAX_BYTES = 256 * 1024 * 1024
"""Maximum size of a file."""
MAX_CHARACTERS = 20_000_000
"""Maximum length of the text of a document: some 8,000 pages."""
WORD_LIMITS = BundleLimits(member=128 * 1024 * 1024, total=512 * 1024 * 1024, members=10_000)
"""Limits of a Word document in bytes, uncompressed."""
Progress = Callable[[float], None]
"""Function that receives the fraction read, 0 to 1."""


def read_document(content: bytes, file_name: str, on_progress: Progress) -> list[DocumentSection]:
    """Return the text of a document as sections, in order. Raise FileError if it cannot be read or contains no text, and
    UnknownFormat if its ending is not known.
    """
    if len(content) > MAX_BYTES:
        raise FileError(file_name, f"is larger than {MAX_BYTES // 1024 // 1024} MB")
    sections = [section for section in _read(content, file_name, on_progress) if section.text.strip()]
    if not sections:
        raise FileError(file_name, "contains no text", remedy="If its pages are pictures, recognise their text first.")
    if sum(len(section.text) for section in sections) > MAX_CHARACTERS:
        raise FileError(file_name, f"contains more than {MAX_CHARACTERS:,} characters")
    return sections


def _read(content: bytes, file_name: str, on_progress: Progress) -> list[DocumentSection]:
    match PurePath(file_name).suffix.lower():
        case ".pdf":
            return read_pdf(content, file_name, on_progress)
        case ".docx":
            return read_word(content, file_name)
        case ".epub":
            return read_epub(content, file_name, on_progress)
        case ".html" | ".htm" | ".xhtml":
            return read_html(content, file_name)
        case ".md" | ".markdown":
            html = MarkdownIt("commonmark", {"html": False}).enable("table").render(decode_text(content, file_name))
            return read_html(html, file_name)
        case ".txt":
            return [DocumentSection(decode_text(content, file_name))]
    raise UnknownFormat(file_name, "is no document that Lethe can read", remedy=f"It reads {', '.join(DOCUMENT_SUFFIXES)}.")


def read_word(content: bytes, file_name: str) -> list[DocumentSection]:
    """Return the text of a Word document as sections by heading. Raise FileError if it is damaged or protected."""
    archive = Archive(io.BytesIO(content), file_name, limits=WORD_LIMITS, is_external=True)
    if "word/document.xml" not in archive:
        raise FileError(file_name, "is not a Word document of the format .docx")
    try:
        html = mammoth.convert_to_html(io.BytesIO(content), convert_image=mammoth.images.img_element(lambda _image: {})).value
    except Exception as error:  # the library has no exceptions of its own; a damaged file raises whatever it runs into
        raise FileError(file_name, "is a damaged Word document") from error
    return read_html(html, file_name)
