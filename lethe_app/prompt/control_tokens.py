"""Keeps what people and models write from being read as control tokens, by breaking up their spellings invisibly."""

from __future__ import annotations

import re
from collections.abc import Iterable

JOINER = "\u200d"
"""Zero-width joiner: invisible, and in no control token."""


class Disarmer:
    """Made once per model. Text without any control token comes back as it was."""

    def __init__(self, control_tokens: Iterable[str]) -> None:
        tails: dict[str, set[str]] = {}
        for token in control_tokens:
            if len(token) > 1 and not token.isspace():
                tails.setdefault(token[0], set()).add(token[1:])
        # Each branch begins with a literal character, which lets the engine skip ordinary text quickly; the rest is only
        # looked at and not consumed, so that tokens which overlap are all found.
        branches = [f"{re.escape(head)}(?={'|'.join(map(re.escape, sorted(rest)))})" for head, rest in sorted(tails.items())]
        self._pattern = re.compile("|".join(branches)) if branches else None

    def __call__(self, text: str) -> str:
        """`<|im_end|>` becomes `<` + joiner + `|im_end|>`."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: match[0] + JOINER, text)
