"""Text of an HTML page by heading, without scripts, styles and menus."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from lethe_app.domain.passage import HEADING_SEPARATOR, DocumentSection
from lethe_app.errors import FileError

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "li", "ul", "ol", "dl", "dt", "dd", "table", "tr", "pre", "blockquote", "br",
    "hr", "figure", "figcaption", "address", "header", "aside", "details", "summary", "body",
})  # fmt: skip
"""Elements whose text is a paragraph of its own."""
CELLS = ("td", "th")
CELL_SEPARATOR = " · "
IGNORED = frozenset({"script", "style", "nav", "footer", "noscript", "template", "form", "svg", "iframe", "head", "button"})
MAX_DEPTH = 250
"""Nesting up to which elements are read; libxml2 refuses deeper documents by itself at 256."""
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


def read_html(content: bytes | str, file_name: str) -> list[DocumentSection]:
    """Return the text of a page as sections by heading, in order. Raise FileError if it is no HTML."""
    if isinstance(content, str):
        content = _DECLARATION.sub("", content).encode("utf-8", "replace")
        parser = HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    else:
        parser = HTMLParser(no_network=True, remove_comments=True, remove_pis=True)
    if not content.strip():
        return []
    try:
        root = document_fromstring(content, parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise FileError(file_name, "is not an HTML page that can be read") from error
    sections, pieces, headings = list[DocumentSection](), list[str](), list[tuple[int, str]]()
    for piece in (*_walk(root, 0), (1, "")):  # the end of the page ends the last section as well
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        lines = (" ".join(line.split()).strip(CELL_SEPARATOR) for line in "".join(pieces).split("\n"))
        if text := "\n".join(line for line in lines if line):
            titles = dict.fromkeys(title for _level, title in headings if title)
            sections.append(DocumentSection(text, HEADING_SEPARATOR.join(titles)))
        headings, pieces = [*(heading for heading in headings if heading[0] < piece[0]), piece], []
    return sections


def _walk(element: HtmlElement, depth: int) -> Iterator[str | tuple[int, str]]:
    """Yield the text below an element, with line ends around blocks, and its headings with their levels."""
    tag = element.tag if isinstance(element.tag, str) else ""
    if tag in HEADINGS:
        yield HEADINGS.index(tag) + 1, " ".join(element.text_content().split())[:200]
    elif tag and tag not in IGNORED and depth < MAX_DEPTH:
        is_block = tag in BLOCKS
        if is_block:
            yield "\n"
        yield _one_line(element.text)
        for child in element:
            yield from _walk(child, depth + 1)
        if is_block or tag in CELLS:
            yield "\n" if is_block else CELL_SEPARATOR
    if element.tail and depth:
        yield _one_line(element.tail)


def _one_line(text: str | None) -> str:
    """Return text with its line ends as spaces: in HTML they end no paragraph."""
    return re.sub(r"\s+", " ", text) if text else ""
