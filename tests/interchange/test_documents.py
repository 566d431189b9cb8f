"""The text of documents: by heading and page, and nothing of what is hostile in them."""

from __future__ import annotations

import io
import random
import zipfile
from contextlib import suppress

import pytest

from lethe_app.domain.passage import DocumentSection
from lethe_app.errors import FileError, UnknownFormat
from lethe_app.interchange.documents.document import read_document
from tests.interchange.document_files import epub, packed, pdf, word


def read(content: bytes, name: str) -> list[DocumentSection]:
    return read_document(content, name, lambda _fraction: None)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_plain_text_in_any_usual_encoding(encoding: str):
    assert read("Grüße.\n\nEnde.".encode(encoding), "a.txt") == [DocumentSection("Grüße.\n\nEnde.")]


def test_markdown_by_heading():
    text = b"Before.\n\n# Ship\n\nThe *Petrel*.\n\n## Crew\n\n- Mira\n- Tomas\n\n# Port\n\n```\n# no heading\n```\n"

    assert read(text, "a.md") == [
        DocumentSection("Before."),
        DocumentSection("The Petrel.", "Ship"),
        DocumentSection("Mira\nTomas", "Ship › Crew"),
        DocumentSection("# no heading", "Port"),
    ]


def test_a_page_without_its_menus_and_scripts():
    page = b"""<html><head><title>Not this</title><style>p { color: red }</style></head><body>
        <nav>Home</nav><h1>The <i>Petrel</i></h1><p>A   ship
        of <b>oak</b>.<br>Two masts.</p><script>alert("no")</script>
        <table><tr><th>Name</th><th>Age</th></tr><tr><td>Mira</td><td>31</td></tr></table><footer>Imprint</footer></body>"""

    assert read(page, "a.html") == [DocumentSection("A ship of oak.\nTwo masts.\nName · Age\nMira · 31", "The Petrel")]


def test_a_word_document_by_heading():
    content = word([(1, "Ship"), (0, "The Petrel is a “brig”."), (2, "Crew"), (0, "Mira & Tomas")])

    assert read(content, "a.docx") == [
        DocumentSection("The Petrel is a “brig”.", "Ship"),
        DocumentSection("Mira & Tomas", "Ship › Crew"),
    ]


def test_a_book_in_the_order_in_which_it_is_read():
    content = epub(["<h1>One</h1><p>First.</p>", "<h1>Two</h1><p>Second.</p>"])

    assert read(content, "a.epub") == [DocumentSection("First.", "One"), DocumentSection("Second.", "Two")]


def test_a_pdf_page_by_page_with_the_headings_of_its_outline():
    pages = ["The ship was built at the har-\nbour of Sund.\nShe carries salt.", "Her master is\nTomas.", ""]

    assert read(pdf(pages, [(0, "The ship"), (1, "Her master")]), "a.pdf") == [
        DocumentSection("The ship was built at the harbour of Sund.\nShe carries salt.", "The ship", 1),
        DocumentSection("Her master is Tomas.", "Her master", 2),
    ]


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        (b"", "a.txt", "contains no text"),
        (pdf([""]), "a.pdf", "contains no text"),
        (b"%PDF-1.4 nothing", "a.pdf", "is not a PDF"),
        (b"no archive", "a.docx", "is not an archive"),
        (packed({"other.xml": ""}), "a.docx", "is not a Word document"),
        (packed({"word/document.xml": "<w:document"}), "a.docx", "is a damaged Word document"),
        (packed({"other.xml": ""}), "a.epub", "is not an EPUB book"),
        (epub(["<p>x</p>"], encrypted=["OEBPS/text/c%201.xhtml"]), "a.epub", "is protected against copying"),
        (b"\x89PNG", "a.png", "is no document that Lethe can read"),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, name: str, problem: str):
    with pytest.raises(FileError, match=problem) as raised:
        read(content, name)
    assert raised.value.path.name == name
    assert isinstance(raised.value, UnknownFormat) == (name == "a.png")


def test_a_bomb_is_refused_before_it_is_unpacked():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * (200 * 1024 * 1024))

    with pytest.raises(FileError):
        read(file.getvalue(), "a.docx")


def test_no_entity_of_a_book_is_resolved():
    book = epub(["<p>x</p>"])
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    path = "OEBPS/book.opf"
    entity = '<!DOCTYPE package [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    members[path] = entity + members[path].replace("<manifest>", "<metadata>&secret;</metadata><manifest>")

    assert read(packed(members), "a.epub") == [DocumentSection("x")]


def test_deep_nesting_ends_by_itself():
    assert read(b"<p>start</p>" + b"<div>" * 100_000 + b"deep", "a.html")[0].text.startswith("start")


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.epub", "a.html", "a.md", "a.txt"])
def test_damaged_files_raise_nothing_but_a_clear_error(name: str):
    whole = {
        "a.pdf": pdf(["One page.", "Another page."], [(0, "Start")]),
        "a.docx": word([(1, "Ship"), (0, "The Petrel.")]),
        "a.epub": epub(["<h1>One</h1><p>First.</p>"]),
        "a.html": b"<h1>A</h1><p>text</p>",
        "a.md": b"# A\n\ntext",
        "a.txt": b"text",
    }[name]
    draw = random.Random(name)
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 8)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        cut = draw.randint(len(damaged) // 2, len(damaged))
        with suppress(FileError):
            read(bytes(damaged[:cut]), name)
