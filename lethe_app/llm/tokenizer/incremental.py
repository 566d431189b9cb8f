"""Incremental tokenisation of a prompt that mostly repeats the previous one: only the text after the last shared control
token is tokenised.

A byte-level BPE tokenizer splits the text at control tokens first, so the tokens before one of them never depend on the text
after it. A long conversation therefore costs only the tokenisation of its newest message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from lethe_app.llm.kv_cache.diff import common_prefix_length


class Retokenizer:
    """Tokenizer that caches one text with its tokens."""

    def __init__(self, tokenize: Callable[[str, bool], list[int]], control: dict[str, int]) -> None:
        """Wrap the engine's `tokenize`, whose second argument says whether the text begins a prompt.

        `control` maps the spellings at which the engine splits to their tokens; it is empty if splitting cannot be relied
        on.
        """
        self._tokenize = tokenize
        self._control_tokens = frozenset(control.values())
        self._spellings = match_any(control)
        self._max_lengths = longest_extensions(control)
        """Maximum length of a control token that begins with this one: if the text continues, it may be that longer one
        instead.
        """
        self._text = ""
        self._tokens: list[int] = []

    def tokenize(self, text: str) -> list[int]:
        """Return exactly the engine's tokens of the whole text."""
        split_end, count = self._last_shared_split(text)
        if count:
            self._tokens = self._tokens[: self._index_after(count)] + self._tokenize(text[split_end:], False)
        else:
            self._tokens = self._tokenize(text, True)
        self._text = text
        return self._tokens

    def _last_shared_split(self, text: str) -> tuple[int, int]:
        """Return the end of the last control token in the shared prefix, and the number of control tokens up to there."""
        if self._spellings is None:
            return 0, 0
        shared = common_prefix_length(self._text, text)
        split_end = count = 0
        for match in self._spellings.finditer(text, 0, shared):
            if match.start() + self._max_lengths[match[0]] > shared:
                break
            split_end, count = match.end(), count + 1
        return split_end, count

    def _index_after(self, count: int) -> int:
        """Return the index after the control token with this number in the cached tokens."""
        for index, token in enumerate(self._tokens):
            if token in self._control_tokens:
                count -= 1
                if count == 0:
                    return index + 1
        return 0


def match_any(spellings: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds the spellings as the engine does, longer ones first; None if there are none."""
    ordered = sorted((spelling for spelling in spellings if spelling), key=lambda spelling: -len(spelling.encode()))
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def longest_extensions(spellings: Iterable[str]) -> dict[str, int]:
    """Return for each spelling the length of the longest spelling that begins with it, which may be itself."""
    ordered = sorted(spelling for spelling in spellings if spelling)  # those that begin with one follow it at once
    lengths: dict[str, int] = {}
    for index in range(len(ordered) - 1, -1, -1):
        spelling, following = ordered[index], index + 1
        lengths[spelling] = len(spelling)
        while following < len(ordered) and ordered[following].startswith(spelling):
            lengths[spelling] = max(lengths[spelling], lengths[ordered[following]])
            following += 1
    return lengths
