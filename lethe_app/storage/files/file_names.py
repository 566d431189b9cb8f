"""File names for personas, worlds and presets that are valid on every system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from lethe_app.errors import LetheError

MAX_STEM_BYTES = 120
"""Maximum length of a file name without extension, in UTF-8 bytes."""
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
"""Windows device names, reserved with any extension: https://learn.microsoft.com/windows/win32/fileio/naming-a-file."""


def tidy_name(name: str) -> str:
    """Return the name on one line, without control characters and those that turn the direction of text. Raise LetheError if
    nothing can be seen of it.
    """
    kinds = [(one, unicodedata.category(one)) for one in name]
    # Joiners stay, because emoji and the letters of some scripts need them.
    kept = (" " if kind == "Cc" else one for one, kind in kinds if kind != "Cf" or one in "\u200c\u200d")
    # Fillers count as letters, and the empty Braille pattern as a symbol.
    if not any(kind[0] in "LNPS" and one not in "\u115f\u1160\u2800\u3164\uffa0" for one, kind in kinds):
        raise LetheError("A name needs a letter or another sign that can be seen.")
    return unicodedata.normalize("NFC", " ".join("".join(kept).split()))


def unique_stem(name: str, taken: Collection[str]) -> str:
    """Return a short file name of letters, digits and hyphens, in any script, that equals none of `taken` on any system."""
    letters = (character if unicodedata.category(character)[0] in "LMN" else "-" for character in _fold_name(name))
    stem = _truncate_stem(re.sub("-+", "-", "".join(letters)).strip("-")) or "unnamed"
    if RESERVED.fullmatch(stem):
        stem = f"{stem}-file"
    folded_names = {_fold_name(other) for other in taken}
    candidate, number = stem, 2
    while candidate in folded_names:
        candidate, number = f"{stem}-{number}", number + 1
    return candidate


def is_plain_name(stem: str) -> bool:
    """Return whether the name is a plain file name without path separators, drive or leading dot."""
    return bool(stem) and not stem.startswith(".") and not any(character in stem for character in "/\\:\0")


def _fold_name(name: str) -> str:
    """Normalise a name so that names a file system may treat as equal become equal (case, Unicode composition)."""
    # Case folding may yield decomposed characters, so the result is composed again.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _truncate_stem(stem: str) -> str:
    return stem.encode()[:MAX_STEM_BYTES].decode(errors="ignore").strip("-")
