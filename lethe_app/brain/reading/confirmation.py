"""Detect whether the user confirms a message; what only the persona proposed was never decided."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

_AGREEMENT = re.compile(
    r"^\W*(?:oh|well|ah|hm+|wow|mm+)?\W*(?:yes|yeah|yep|yup|sure|definitely|absolutely|of course|exactly|right|true|indeed|"
    r"correct|agreed|precisely|good (?:idea|point|thinking)|great idea|you(?:'re| are|’re) right|"
    r"that(?:'s| is|’s) (?:right|true|it)|sounds (?:good|right)|let(?:'s|’s)|i agree|i think so|ok(?:ay)?|deal)\b",
    re.IGNORECASE,
)


def is_confirmed(index: int, lines: Sequence[Utterance]) -> bool:
    """Return whether the message at index `index` is by the user, or the next message is the user's agreement to it."""
    if lines[index].role is Role.USER:
        return True
    next_line = lines[index + 1] if index + 1 < len(lines) else None
    return next_line is not None and next_line.role is Role.USER and bool(_AGREEMENT.match(next_line.text))
