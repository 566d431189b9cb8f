"""Text of a Word document (.docx) by heading."""

from __future__ import annotations

import io

import mammoth

from lethe_app.domain.passage import DocumentSection
from lethe_app.errors import FileError
from lethe_app.interchange.bundle_archive import Archive, BundleLimits
from lethe_app.interchange.documents.html import read_html

LIMITS = BundleLimits(member=128 * 1024 * 1024, total=512 * 1024 * 1024, members=10_000)
"""Limits of a document in bytes, uncompressed."""


def read_word(content: bytes, file_name: str) -> list[DocumentSection]:
    """Return the text of a Word document as sections by heading. Raise FileError if it is damaged or protected."""
    archive = Archive(io.BytesIO(content), file_name, limits=LIMITS, is_external=True)
    if "word/document.xml" not in archive:
        raise FileError(file_name, "is not a Word document of the format .docx")
    try:
        html = mammoth.convert_to_html(io.BytesIO(content), convert_image=mammoth.images.img_element(lambda _image: {})).value
    except Exception as error:  # the library has no exceptions of its own; a damaged file raises whatever it runs into
        raise FileError(file_name, "is a damaged Word document") from error
    return read_html(html, file_name)
