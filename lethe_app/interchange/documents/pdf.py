"""Text of a PDF, page by page, with the headings of its outline."""

from __future__ import annotations

import io
import logging
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from lethe_app.domain.passage import DocumentSection
from lethe_app.errors import FileError

FAILURES = (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError, OSError)
"""Exceptions that pypdf raises for damaged files, besides its own."""
MAX_PAGES = 20_000
logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of every repair of a damaged file
_HYPHENATED = re.compile(r"(?<=[a-z])[-\u00ad]\n(?=[a-z])")
_LINE_END = re.compile(r"(?<![.!?…:;。！？\n])\n(?=\S)")
"""Line end within a paragraph: the line before it does not end a sentence."""


def read_pdf(content: bytes, file_name: str, on_progress: Callable[[float], None]) -> list[DocumentSection]:
    """Return the text of a PDF, a section for each page. Raise FileError if it is damaged or protected by a password.

    A page that cannot be read is left out.
    """
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise FileError(file_name, "is protected by a password")
        page_count = len(reader.pages)
    except FAILURES as error:
        raise FileError(file_name, "is not a PDF that can be read") from error
    if page_count > MAX_PAGES:
        raise FileError(file_name, f"has more than {MAX_PAGES:,} pages")
    outline = sorted(_outline(reader), key=lambda entry: entry[0])
    starts = [page for page, _title in outline]
    sections: list[DocumentSection] = []
    for index in range(page_count):
        on_progress(index / page_count)
        heading = outline[bisect_right(starts, index) - 1][1] if outline and starts[0] <= index else ""
        with suppress(*FAILURES):
            # The lines of a paragraph are joined, and words that were hyphenated at a line end made whole.
            text = _LINE_END.sub(" ", _HYPHENATED.sub("", reader.pages[index].extract_text())).strip()
            sections.append(DocumentSection(text, heading, index + 1))
    return sections


def _outline(reader: PdfReader) -> Iterator[tuple[int, str]]:
    """Yield page index and title of the outline entries, as far as they can be read."""

    def walk(entries: list[Any]) -> Iterator[tuple[int, str]]:
        for entry in entries:
            if isinstance(entry, list):
                yield from walk(entry)
            else:
                page = reader.get_destination_page_number(entry)
                if page is not None and page >= 0 and entry.title:
                    yield page, " ".join(str(entry.title).split())[:200]

    with suppress(*FAILURES):
        yield from walk(reader.outline)
