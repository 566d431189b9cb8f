"""Validation of untrusted images by their header: format and size, without decoding them."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

MAX_BYTES = 32 * 1024 * 1024
"""Maximum bytes of a bitmap image: a photograph of `MAX_PIXELS`, or the largest picture of a card."""
MAX_SVG_BYTES = 256 * 1024
"""Maximum bytes of an SVG, whose whole text is searched for unsafe elements."""
MAX_SIDE, MAX_PIXELS = 16_384, 50_000_000
"""Maximum side length and number of pixels; a larger image takes too much memory to display for an avatar."""

# An SVG is a program of sorts: whatever could load another file, run a script or expand is not accepted.
UNSAFE_IN_SVG = re.compile(
    rb"<!doctype|<!entity|<\?xml-stylesheet|<(?:[\w.-]+:)?(?:script|image|foreignobject|use|animate)|\bon[a-z]+\s*=|@import"
    rb"|href\s*=\s*[\"'](?!#)|url\(\s*[\"']?(?!#)",
    re.IGNORECASE,
)
NON_FRAME_MARKERS = frozenset({0xC4, 0xC8, 0xCC})
"""JPEG markers within the range of frame markers (SOF) that do not begin a frame."""
_EXIF_DIRECTORY, _USER_COMMENT = 0x8769, 0x9286
_MAX_ENTRIES = 1000
_COMMENT_HEADER = 8
"""Bytes before the text of a comment, which name its encoding."""


def find_problem(content: bytes, suffix: str) -> str:
    """Return what is wrong with the image as the end of a sentence; empty if it is valid. `suffix` is that of its file,
    such as `.png`.
    """
    if len(content) > MAX_BYTES:
        return f"is larger than {MAX_BYTES // 1024 // 1024} MB"
    if suffix == ".svg":
        return _find_svg_problem(content)
    read_size = SIZE_READERS.get(suffix)
    size = read_size(content) if read_size is not None else None
    if size is None:
        return "is not an image of the type its name says"
    width, height = size
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        return f"is an image of {width} × {height} pixels, which is not a valid portrait size"
    return ""


def find_suffix(content: bytes) -> str:
    """Return the file suffix of a bitmap image by its content; empty if it is none that Lethe shows."""
    return next((suffix for suffix, read_size in SIZE_READERS.items() if read_size(content) is not None), "")


def _find_svg_problem(content: bytes) -> str:
    if len(content) > MAX_SVG_BYTES:
        return f"is a drawing of more than {MAX_SVG_BYTES // 1024} KB"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "is not an image of the type its name says"
    if not re.match(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<svg[\s>]", content, re.DOTALL):
        return "is not an image of the type its name says"
    if UNSAFE_IN_SVG.search(content):
        return "is a drawing that refers to external content"
    return ""


def _png(content: bytes) -> tuple[int, int] | None:
    if not content.startswith(b"\x89PNG\r\n\x1a\n") or content[12:16] != b"IHDR" or len(content) < 33:
        return None
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def _gif(content: bytes) -> tuple[int, int] | None:
    if content[:6] not in {b"GIF87a", b"GIF89a"} or len(content) < 13:
        return None
    width, height = struct.unpack("<HH", content[6:10])
    return width, height


def jpeg_segments(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield marker and data of the segments of a JPEG picture, up to the picture itself."""
    position = 2
    while position + 4 <= len(content) and content[position] == 0xFF:
        marker, (length,) = content[position + 1], struct.unpack(">H", content[position + 2 : position + 4])
        if marker == 0xFF:  # padding
            position += 1
            continue
        if marker == 0xDA or length < 2:
            return
        yield marker, content[position + 4 : position + 2 + length]
        position += 2 + length


def _jpeg(content: bytes) -> tuple[int, int] | None:
    """Return the size in the frame header."""
    if not content.startswith(b"\xff\xd8\xff"):
        return None
    for marker, data in jpeg_segments(content):
        if 0xC0 <= marker <= 0xCF and marker not in NON_FRAME_MARKERS and len(data) >= 5:
            height, width = struct.unpack(">HH", data[1:5])
            return width, height
    return None


def _webp(content: bytes) -> tuple[int, int] | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return None
    kind = content[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
    if kind == b"VP8L" and content[20] == 0x2F:
        bits = int.from_bytes(content[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", content[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


SIZE_READERS = {".png": _png, ".gif": _gif, ".jpg": _jpeg, ".jpeg": _jpeg, ".webp": _webp}
"""Functions by file suffix that return width and height, or None if the bytes are another format."""
SUFFIXES = (*SIZE_READERS, ".svg")


def read_comment(content: bytes) -> bytes | None:
    """Return the text of the comment in a picture's Exif metadata, without its encoding; None if there is none."""
    exif = _find_in_webp(content) if content[:4] == b"RIFF" else _find_in_jpeg(content)
    return _read_user_comment(exif.removeprefix(b"Exif\0\0")) if exif else None


def _find_in_jpeg(content: bytes) -> bytes | None:
    segments = jpeg_segments(content) if content[:2] == b"\xff\xd8" else ()
    return next((data for marker, data in segments if marker == 0xE1 and data.startswith(b"Exif\0\0")), None)


def _find_in_webp(content: bytes) -> bytes | None:
    position = 12
    while position + 8 <= len(content):
        kind, (length,) = content[position : position + 4], struct.unpack("<I", content[position + 4 : position + 8])
        if kind == b"EXIF":
            return content[position + 8 : position + 8 + length]
        position += 8 + length + length % 2
    return None


def _read_user_comment(tiff: bytes) -> bytes | None:
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None or len(tiff) < 8:
        return None
    (first,) = struct.unpack(f"{order}I", tiff[4:8])
    comment = _find_tag(tiff, order, first, _USER_COMMENT)
    if comment is None:
        pointer = _find_tag(tiff, order, first, _EXIF_DIRECTORY)
        comment = _find_tag(tiff, order, pointer[1], _USER_COMMENT) if pointer else None
    if comment is None:
        return None
    length, offset = comment
    return tiff[offset : offset + length][_COMMENT_HEADER:]


def _find_tag(tiff: bytes, order: str, directory: int, tag: int) -> tuple[int, int] | None:
    """Return count and value of a tag in the directory at that offset."""
    if directory + 2 > len(tiff):
        return None
    (count,) = struct.unpack(f"{order}H", tiff[directory : directory + 2])
    for number in range(min(count, _MAX_ENTRIES)):
        entry = tiff[directory + 2 + 12 * number : directory + 14 + 12 * number]
        if len(entry) < 12:
            return None
        found, _, length, value = struct.unpack(f"{order}HHII", entry)
        if found == tag:
            return length, value
    return None
