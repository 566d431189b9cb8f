"""Validation of untrusted images by their header: format and size, without decoding them."""

from __future__ import annotations

import re
import struct

LARGEST = 8 * 1024 * 1024
LARGEST_DRAWING = 256 * 1024
LONGEST_SIDE, MOST_PIXELS = 16_384, 50_000_000
"""Maximum side length and number of pixels; a larger image takes too much memory to display for an avatar."""

# An SVG is a program of sorts: whatever could load another file, run a script or expand is not accepted.
UNSAFE_IN_DRAWINGS = re.compile(
    rb"<!doctype|<!entity|<\?xml-stylesheet|<(?:[\w.-]+:)?(?:script|image|foreignobject|use|animate)|\bon[a-z]+\s*=|@import"
    rb"|href\s*=\s*[\"'](?!#)|url\(\s*[\"']?(?!#)",
    re.IGNORECASE,
)
NO_FRAME = frozenset({0xC4, 0xC8, 0xCC})
"""JPEG markers within the range of frame markers (SOF) that do not begin a frame."""


def problem_of(content: bytes, ending: str) -> str:
    """Return what is wrong with the image as the end of a sentence; empty if it is valid. `ending` is a suffix such as
    `.png`.
    """
    if len(content) > LARGEST:
        return f"is larger than {LARGEST // 1024 // 1024} MB"
    if ending == ".svg":
        return _problem_of_drawing(content)
    measure = MEASURES.get(ending)
    size = measure(content) if measure is not None else None
    if size is None:
        return "is not an image of the type its name says"
    width, height = size
    if not (0 < width <= LONGEST_SIDE and 0 < height <= LONGEST_SIDE and width * height <= MOST_PIXELS):
        return f"is an image of {width} × {height} pixels, which is not a valid portrait size"
    return ""


def _problem_of_drawing(content: bytes) -> str:
    if len(content) > LARGEST_DRAWING:
        return f"is a drawing of more than {LARGEST_DRAWING // 1024} KB"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "is not an image of the type its name says"
    if not re.match(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<svg[\s>]", content, re.DOTALL):
        return "is not an image of the type its name says"
    if UNSAFE_IN_DRAWINGS.search(content):
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


def _jpeg(content: bytes) -> tuple[int, int] | None:
    """Walk through the segments to the frame header, which holds the size."""
    if not content.startswith(b"\xff\xd8\xff"):
        return None
    place = 2
    while place + 9 <= len(content) and content[place] == 0xFF:
        marker = content[place + 1]
        if marker == 0xFF:  # padding
            place += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in NO_FRAME:
            height, width = struct.unpack(">HH", content[place + 5 : place + 9])
            return width, height
        (length,) = struct.unpack(">H", content[place + 2 : place + 4])
        if length < 2:
            return None
        place += 2 + length
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


MEASURES = {".png": _png, ".gif": _gif, ".jpg": _jpeg, ".jpeg": _jpeg, ".webp": _webp}
"""Functions by file suffix that return width and height, or None if the bytes are another format."""
ENDINGS = (*MEASURES, ".svg")
