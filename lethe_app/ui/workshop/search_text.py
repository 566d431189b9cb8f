"""What was found as Qt paints it: as it is read, in the direction of its script, counted in Qt's units."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextOption

from lethe_app.domain.finding import Hit, HitKind, Mark

SET_OFF = re.compile(r"(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)")


def as_read(hit: Hit) -> tuple[str, list[Mark]]:
    """The text and its marks without the asterisks that set actions off, which are not seen in the conversation either."""
    if hit.kind is not HitKind.MESSAGE:
        return hit.text, list(hit.marks)
    signs = [place for found in SET_OFF.finditer(hit.text) for place in range(*found.span())]
    text = SET_OFF.sub("", hit.text)
    ends = [(start, start + length) for start, length in hit.marks]
    moved = [(start - bisect_left(signs, start), end - bisect_left(signs, end)) for start, end in ends]
    return text, [(start, end - start) for start, end in moved]


def direction_of(text: str) -> QTextOption:
    """Lines of a script that runs leftward begin at the right edge."""
    strong = next((way for character in text if (way := unicodedata.bidirectional(character)) in {"L", "R", "AL"}), "L")
    if strong == "L":
        return QTextOption()
    option = QTextOption(Qt.AlignmentFlag.AlignRight)
    option.setTextDirection(Qt.LayoutDirection.RightToLeft)
    return option


def units(text: str) -> int:
    """How long Qt takes a text to be: an emoji counts twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
