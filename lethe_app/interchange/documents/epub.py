"""Text of an EPUB book, chapter by chapter in reading order."""

from __future__ import annotations

import io
import posixpath
from collections.abc import Callable
from urllib.parse import unquote

from lxml import etree

from lethe_app.domain.passage import DocumentSection
from lethe_app.errors import FileError
from lethe_app.interchange.bundle_archive import Archive, BundleLimits
from lethe_app.interchange.documents.html import read_html

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
LIMITS = BundleLimits(member=32 * 1024 * 1024, total=1024 * 1024 * 1024, members=25_000)
"""Limits of a book in bytes, uncompressed."""


def read_epub(content: bytes, file_name: str, on_progress: Callable[[float], None]) -> list[DocumentSection]:
    """Return the text of a book as sections by chapter and heading. Raise FileError if it is damaged or protected."""
    archive = Archive(io.BytesIO(content), file_name, limits=LIMITS, is_external=True)
    package_path = _find_package(archive, file_name)
    package = _parse_xml(archive.read_member(package_path, LIMITS.member), file_name)
    paths = {
        item.get("id", ""): posixpath.normpath(posixpath.join(posixpath.dirname(package_path), unquote(item.get("href", ""))))
        for item in package.iterfind(".//{*}manifest/{*}item")
        if "html" in item.get("media-type", "")
    }
    chapters = [paths[ref] for item in package.iterfind(".//{*}spine/{*}itemref") if (ref := item.get("idref", "")) in paths]
    if _encrypted_paths(archive, file_name).intersection(chapters):
        raise FileError(file_name, "is protected against copying")
    sections: list[DocumentSection] = []
    for number, path in enumerate(chapters):
        on_progress(number / len(chapters))
        if path in archive:
            sections += read_html(archive.read_member(path, LIMITS.member), file_name)
    return sections


def _find_package(archive: Archive, file_name: str) -> str:
    """Return the path of the package document, which lists the chapters."""
    if CONTAINER not in archive:
        raise FileError(file_name, "is not an EPUB book")
    root = _parse_xml(archive.read_member(CONTAINER, LIMITS.member), file_name).find(".//{*}rootfile")
    path = root.get("full-path", "") if root is not None else ""
    if path not in archive:
        raise FileError(file_name, "is an EPUB book without a list of its chapters")
    return path


def _encrypted_paths(archive: Archive, file_name: str) -> set[str]:
    """Return the paths of encrypted members; fonts are often among them, which does not matter."""
    if ENCRYPTION not in archive:
        return set()
    root = _parse_xml(archive.read_member(ENCRYPTION, LIMITS.member), file_name)
    return {posixpath.normpath(unquote(item.get("URI", ""))) for item in root.iterfind(".//{*}CipherReference")}


def _parse_xml(content: bytes, file_name: str) -> etree._Element:
    """Parse XML without entities, external documents and network. Raise FileError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise FileError(file_name, "is a damaged EPUB book") from error
