"""Comments in the metadata of WEBP and JPEG pictures, where KoboldAI Lite and others put a character card.

Source: Exif 2.32, §4.6 (tag UserComment 0x9286 in the Exif directory 0x8769); RIFF container of WEBP; JPEG segments.
"""

from __future__ import annotations

import struct

from lethe_app.interchange.images import jpeg_segments

_EXIF_DIRECTORY, _USER_COMMENT = 0x8769, 0x9286
_MAX_ENTRIES = 1000
_COMMENT_HEADER = 8
"""Bytes before the text of a comment, which name its encoding."""


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
