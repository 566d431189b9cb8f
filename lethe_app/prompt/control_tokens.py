"""Disarming of control tokens in texts of users and models, by inserting invisible characters."""

from __future__ import annotations

import re
from collections.abc import Iterable

JOINER = "\u200d"
"""Zero-width joiner: invisible, and part of no control token."""


class ControlTokenFilter:
    """Breaks up the control tokens of one model in any text. Text without control tokens is returned unchanged."""

    def __init__(self, control_tokens: Iterable[str]) -> None:
        tails: dict[str, set[str]] = {}
        for token in control_tokens:
            if len(token) > 1 and not token.isspace():
                tails.setdefault(token[0], set()).add(token[1:])
        # Each branch begins with a literal character, which lets the regex engine skip ordinary text quickly. The rest is a
        # lookahead, so that overlapping tokens are all found.
        branches = [f"{re.escape(head)}(?={'|'.join(map(re.escape, sorted(rest)))})" for head, rest in sorted(tails.items())]
        self._pattern = re.compile("|".join(branches)) if branches else None

    def __call__(self, text: str) -> str:
        """Return the text with control tokens broken up: `<|im_end|>` becomes `<` + joiner + `|im_end|>`."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: match[0] + JOINER, text)
