"""Sanitise untrusted text: remove control characters, invisible characters and bidirectional overrides."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that render as nothing although their Unicode category is not C (format or control)."""
_BREAKS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def sanitized(text: str) -> str:
    r"""Return the visible part of `text` in NFC: no control, zero-width, tag or private-use characters. Line breaks become
    `\n`, runs of spaces become one space, and more than one empty line becomes one.
    """
    text = _BREAKS.sub("\n", text)
    visible = "".join(letter for letter in text if letter in "\n\t" or unicodedata.category(letter)[0] != "C")
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFC", visible))
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in visible.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
