"""Documents of our own making, in every format that Lethe reads."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from html import escape

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = f"""<w:styles xmlns:w="{WORD}">{
    "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in (1, 2)
    )
}</w:styles>"""


def pdf(pages: Sequence[str], outline: Sequence[tuple[int, str]] = ()) -> bytes:
    """A PDF with these texts, a line of text for each line, and an outline of page indices and titles."""
    objects: list[bytes] = []

    def add(body: str | bytes) -> int:
        objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(objects)

    catalog, tree, font = add(""), add(""), add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for text in pages:
        lines = "".join(f"({line.translate({40: '[', 41: ']', 92: '/'})}) Tj T*\n" for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td\n{lines}ET".encode("latin-1")
        content = add(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        resources = f"/Resources << /Font << /F1 {font} 0 R >> >>"
        kids.append(add(f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R {resources} >>"))
    objects[tree - 1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>".encode()
    entries = ""
    if outline:
        root, first = len(objects) + 1, len(objects) + 2
        add(f"<< /Type /Outlines /First {first} 0 R /Last {first + len(outline) - 1} 0 R /Count {len(outline)} >>")
        for index, (page, title) in enumerate(outline):
            following = f"/Next {first + index + 1} 0 R" if index + 1 < len(outline) else ""
            add(f"<< /Title ({title}) /Parent {root} 0 R /Dest [{kids[page]} 0 R /Fit] {following} >>")
        entries = f"/Outlines {root} 0 R"
    objects[catalog - 1] = f"<< /Type /Catalog /Pages {tree} 0 R {entries} >>".encode()
    file = io.BytesIO(b"%PDF-1.4\n")
    file.seek(0, io.SEEK_END)
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    file.write(b"trailer << /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, catalog, start))
    return file.getvalue()


def word(paragraphs: Sequence[tuple[int, str]]) -> bytes:
    """A .docx with these paragraphs: the level of a heading, or 0, and the text."""
    styles = {level: f'<w:pPr><w:pStyle w:val="Heading{level}"/></w:pPr>' if level else "" for level in range(3)}
    body = "".join(f"<w:p>{styles[level]}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for level, text in paragraphs)
    types = (
        '<Default Extension="xml"'
        ' ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    )
    return packed(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">{types}</Types>',
            "_rels/.rels": relationship("officeDocument", "word/document.xml"),
            "word/_rels/document.xml.rels": relationship("styles", "styles.xml"),
            "word/styles.xml": STYLES,
            "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def relationship(kind: str, target: str) -> str:
    """The part of a .docx that leads to another one."""
    one = f'<Relationship Id="r1" Type="{OFFICE}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{PACKAGE}/relationships">{one}</Relationships>'


def epub(chapters: Sequence[str], *, encrypted: Sequence[str] = ()) -> bytes:
    """A book with these chapters as XHTML, in this order; the list of members has them the other way round."""
    numbered = list(enumerate(chapters, 1))
    manifest = "".join(
        f'<item id="c{number}" href="text/c%20{number}.xhtml" media-type="application/xhtml+xml"/>'
        for number, _ in numbered[::-1]
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number, _ in numbered)
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{manifest}</manifest>'
        f"<spine>{spine}</spine></package>",
        **{f"OEBPS/text/c {number}.xhtml": f"<?xml version='1.0' encoding='utf-8'?><html><head><title>t</title></head>"
           f"<body>{chapter}</body></html>" for number, chapter in numbered},
    }  # fmt: skip
    if encrypted:
        references = "".join(f'<CipherReference URI="{uri}"/>' for uri in encrypted)
        members["META-INF/encryption.xml"] = f"<encryption>{references}</encryption>"
    return packed(members)


def packed(members: dict[str, str]) -> bytes:
    """A ZIP archive of text files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file.getvalue()
