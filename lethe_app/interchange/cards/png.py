"""Character cards in the text chunks of PNG pictures: `chara` (V1 and V2) and `ccv3` (V3), base64 of UTF-8 JSON.

Source: PNG specification, third edition, §11.3.3; keywords by the specifications of Character Card V2 and V3.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator, Mapping

from lethe_app.errors import FileError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CARD_KEYWORDS = ("ccv3", "chara")
"""Keywords of chunks with a card, the preferred one first."""
MAX_CHUNKS = 20_000
MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Maximum bytes of a chunk's text, unpacked."""
_TEXT_CHUNKS = (b"tEXt", b"zTXt", b"iTXt")


def read_texts(content: bytes, name: str) -> dict[str, bytes]:
    """Return the text chunks of a PNG picture by keyword in lower case; of several with one keyword the first counts.

    Checksums are not verified, because tools that edit chunks by hand do not always write them. Raise FileError if it is no
    PNG or has too many chunks.
    """
    if not content.startswith(SIGNATURE):
        raise FileError(name, "is not a PNG picture")
    texts: dict[str, bytes] = {}
    for number, (kind, data) in enumerate(_chunks(content)):
        if number > MAX_CHUNKS:
            raise FileError(name, f"contains more than {MAX_CHUNKS:,} chunks")
        if kind in _TEXT_CHUNKS:
            keyword, text = _read_text(kind, data)
            if text is not None:
                texts.setdefault(keyword.lower(), text)
    return texts


def decode_card(text: bytes, name: str) -> bytes:
    """Return the JSON of a card from the text of its chunk: base64, or plain JSON as some tools write it. Raise FileError."""
    stripped = text.strip()
    if stripped.startswith(b"{"):
        return stripped
    try:
        return base64.b64decode(stripped + b"=" * (-len(stripped) % 4), validate=False)
    except binascii.Error as error:
        raise FileError(name, "contains a card that is not valid base64") from error


def write_cards(picture: bytes, cards: Mapping[str, bytes], name: str) -> bytes:
    """Return the picture with these cards (JSON by keyword) before its end, in place of any it had; all other chunks stay.

    Raise FileError if it is no PNG.
    """
    if not picture.startswith(SIGNATURE):
        raise FileError(name, "is not a PNG picture")
    pieces = [SIGNATURE]
    for kind, data in _chunks(picture):
        if kind == b"IEND":
            break
        if kind in _TEXT_CHUNKS and _keyword(data).lower() in CARD_KEYWORDS:
            continue
        pieces.append(_chunk(kind, data))
    pieces += [_chunk(b"tEXt", keyword.encode("latin-1") + b"\0" + base64.b64encode(card)) for keyword, card in cards.items()]
    return b"".join([*pieces, _chunk(b"IEND", b"")])


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield type and data of every complete chunk."""
    position = len(SIGNATURE)
    while position + 12 <= len(content):
        (length,) = struct.unpack(">I", content[position : position + 4])
        kind = content[position + 4 : position + 8]
        if position + 12 + length > len(content):
            return
        yield kind, content[position + 8 : position + 8 + length]
        position += 12 + length


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _keyword(data: bytes) -> str:
    return data.partition(b"\0")[0][:79].decode("latin-1")


def _read_text(kind: bytes, data: bytes) -> tuple[str, bytes | None]:
    """Return keyword and text of a text chunk; None as the text if it is damaged or too large."""
    _, _, rest = data.partition(b"\0")
    if kind == b"zTXt":
        return _keyword(data), _unpack(rest[1:])
    if kind == b"iTXt":
        is_packed = rest[:1] == b"\1"
        text = rest[2:].partition(b"\0")[2].partition(b"\0")[2]
        return _keyword(data), _unpack(text) if is_packed else text
    return _keyword(data), rest if len(rest) <= MAX_TEXT_BYTES else None


def _unpack(packed: bytes) -> bytes | None:
    """Return the unpacked text; None if it is damaged or larger than `MAX_TEXT_BYTES`."""
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(packed, MAX_TEXT_BYTES)
    except zlib.error:
        return None
    return None if unpacker.unconsumed_tail else text
