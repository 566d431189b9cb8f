"""Stemming of English words: `stem` is broad, for comparisons; `root` removes common endings only and has stable results."""

from __future__ import annotations

import re
from functools import lru_cache

from lethe_app.retrieval.query_terms import fold

IRREGULAR = {
    form: base
    for base, forms in {
        "be": "am is are was were been being", "have": "has had having", "do": "does did done doing", "go": "goes went gone",
        "eat": "ate eaten", "drink": "drank drunk", "drive": "drove driven", "ride": "rode ridden", "write": "wrote written",
        "speak": "spoke spoken", "break": "broke broken", "choose": "chose chosen", "take": "took taken", "give": "gave given",
        "get": "got gotten getting", "see": "saw seen", "know": "knew known", "grow": "grew grown", "throw": "threw thrown",
        "fly": "flew flown flies", "draw": "drew drawn", "begin": "began begun", "swim": "swam swum", "sing": "sang sung",
        "run": "ran", "come": "came", "become": "became", "buy": "bought", "bring": "brought", "think": "thought",
        "teach": "taught", "catch": "caught", "sell": "sold", "tell": "told", "find": "found", "keep": "kept", "sleep": "slept",
        "leave": "left", "lose": "lost", "meet": "met", "make": "made", "pay": "paid", "say": "said", "win": "won",
        "build": "built", "spend": "spent", "send": "sent", "lend": "lent", "feel": "felt", "fall": "fell fallen",
        "hold": "held",
        "wear": "wore worn", "learn": "learnt", "sit": "sat", "stand": "stood", "strike": "struck", "lie": "lying",
        "die": "died dying", "child": "children", "man": "men", "woman": "women",
        "foot": "feet", "tooth": "teeth", "mouse": "mice",
        "wife": "wives", "knife": "knives", "life": "lives", "person": "people", "mum": "mom mummy", "dad": "daddy",
        "understand": "understood", "forget": "forgot forgotten", "wake": "woke woken", "steal": "stole stolen",
    }.items()
    for form in forms.split()
} | {"lives": "live"}  # fmt: skip
"""Irregular forms and their base form. “lives” is mapped to the verb, which is far more frequent than the noun."""

_VOWEL = re.compile("[aeiouy]")
ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ings", ""), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem shared by the forms of a word. It is not always a word itself and serves for comparisons only."""
    low = fold(word)
    if low in IRREGULAR:
        low = IRREGULAR[low]
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
