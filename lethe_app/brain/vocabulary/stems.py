"""Stemming of English words: `stem` is broad, for comparisons; `root` removes common endings only and has stable results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from lethe_app.language_tables import load_table
from lethe_app.searchable_text import fold

_VOWEL = re.compile("[aeiouy]")
ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ings", ""), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


@cache
def irregular_forms() -> Mapping[str, str]:
    """Return the base form of each irregular form."""
    return {form: base for base, forms in load_table("irregular_forms").items() for form in forms}


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem shared by the forms of a word. It is not always a word itself and serves for comparisons only."""
    low = fold(word)
    low = irregular_forms().get(low, low)
    for ending, replacement in ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= 3 and not low.endswith(("ss", "us", "is")):
            low = low[: -len(ending)] + replacement
            break
    if len(low) > 3 and low[-1] == low[-2] and low[-1] in "bdgklmnprt":
        low = low[:-1]
    if len(low) > 3 and low[-1] in "ey":
        low = low[:-1]
    return low


def root(word: str) -> str:
    """Return a normalised English word without its commonest endings, enough to recognise two forms of one word.

    Deleted facts are stored as hashes of these roots, so the function must not change its results.
    """
    if not word.isascii() or len(word) < 4:
        return word
    stripped = word if word.endswith(("ss", "us", "is")) else word.removesuffix("s")
    for ending in ("ing", "ed"):
        shortened = stripped.removesuffix(ending)
        if shortened != stripped and len(shortened) >= 3 and _VOWEL.search(shortened) and not stripped.endswith("eed"):
            stripped = shortened[:-1] if shortened[-1] == shortened[-2] and shortened[-1] not in "lsz" else shortened
            break
    stripped = stripped.removesuffix("e")
    return stripped[:-1] + "i" if stripped.endswith("y") else stripped
