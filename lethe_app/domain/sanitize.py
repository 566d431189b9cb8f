"""Makes text of strangers plain: no control characters, no letters that nobody can see, no turned directions."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that show nothing though they do not count as format characters."""
_BREAKS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def cleaned(text: str) -> str:
    """What can be seen of `text`: without control characters, zero-width and tag characters, private use; breaks are `\\n`."""
    text = _BREAKS.sub("\n", text)
    seen = "".join(letter for letter in text if letter in "\n\t" or unicodedata.category(letter)[0] != "C")
    seen = _UNSEEN.sub("", unicodedata.normalize("NFC", seen))
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in seen.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
