"""Turns the name of a persona, world or preset into a file name that every system can hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

LONGEST_STEM_BYTES = 120
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
"""What Windows takes for a device whatever the ending: https://learn.microsoft.com/windows/win32/fileio/naming-a-file"""


def stem_for(name: str, taken: Collection[str]) -> str:
    """A short file name of letters, digits and hyphens, in any script, that is in no way one of those `taken`."""
    letters = (character if unicodedata.category(character)[0] in "LMN" else "-" for character in _folded(name))
    stem = _shortened(re.sub("-+", "-", "".join(letters)).strip("-")) or "unnamed"
    if RESERVED.fullmatch(stem):
        stem = f"{stem}-file"
    occupied = {_folded(other) for other in taken}
    candidate, number = stem, 2
    while candidate in occupied:
        candidate, number = f"{stem}-{number}", number + 1
    return candidate


def is_plain(stem: str) -> bool:
    """Does it name a file of the folder itself, and nothing outside?"""
    return bool(stem) and not stem.startswith(".") and not any(character in stem for character in "/\\:\0")


def _folded(name: str) -> str:
    """Names that some system would take for the same become the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _shortened(stem: str) -> str:
    return stem.encode()[:LONGEST_STEM_BYTES].decode(errors="ignore").strip("-")
