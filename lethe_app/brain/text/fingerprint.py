"""What a short text comes down to: the words that carry it, whether it denies something, and the numbers in it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from lethe_app.brain.vocabulary.normalize import fold as plain
from lethe_app.brain.vocabulary.stems import root
from lethe_app.retrieval.query_terms import STOP_WORDS, WORD, fold

_NOT = re.compile(r"(?:\b(?:ca|wo|sha))?n't\b|\bcannot\b")
_DENIALS = frozenset({"no", "not", "never", "none", "neither", "nor", "without", "nobody", "nothing", "nowhere"})
_COUNTS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
)
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTS.split())}


@dataclass(frozen=True)
class TextFingerprint:
    """A text without its small words."""

    order: tuple[str, ...]
    """Stems of the words that carry it, and its numbers, as they follow each other; of a text without any, all its words."""
    numbers: frozenset[str]
    """Numbers, spelled in digits, and words with digits in them."""
    denied: bool
    """Does it say that something is not so?"""

    @property
    def words(self) -> frozenset[str]:
        """Without the numbers."""
        return frozenset(self.order) - self.numbers


def take(text: str) -> TextFingerprint:
    """Contractions are undone first, so that “isn’t” denies and “Mara’s” is Mara."""
    folded = _folded(text)
    order = tuple(_carrying(folded)) or tuple(folded) or (fold(text).strip(),)
    return TextFingerprint(order, frozenset(filter(_is_number, order)), denied=not _DENIALS.isdisjoint(folded))


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that lead somewhere, numbers among them; of a text without any, none."""
    return frozenset(_carrying(_folded(text)))


def digest(text: str) -> str:
    """The same for texts that say the same with the same words, in whatever order and form; 32 hexadecimal digits."""
    gist = take(text)
    told = "\0".join([*sorted({*gist.order}), "not" if gist.denied else ""])
    return hashlib.blake2b(told.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _folded(text: str) -> list[str]:
    return [fold(word) for word in WORD.findall(_NOT.sub(" not ", plain(text, keep_case=False)))]


def _carrying(folded: list[str]) -> list[str]:
    words = (_NUMBERS.get(word, word) for word in folded if word not in STOP_WORDS | _DENIALS)
    return [word if _is_number(word) else root(word) for word in words]


def _is_number(word: str) -> bool:
    return any(sign.isdigit() for sign in word)
