"""Fingerprint of a short text: the stems of its content words, its numbers, and whether it is negated."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from lethe_app.brain.vocabulary.normalize import normalize_text as plain
from lethe_app.brain.vocabulary.stems import root
from lethe_app.dates.words import SPELLED_NUMBERS
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import WORD, fold

_NOT = re.compile(r"(?:\b(?:ca|wo|sha))?n't\b|\bcannot\b")
_DENIALS = frozenset({"no", "not", "never", "none", "neither", "nor", "without", "nobody", "nothing", "nowhere"})
_SKIPPED_WORDS = STOP_WORDS | _DENIALS
_NUMBERS = {word: str(number) for number, word in enumerate(SPELLED_NUMBERS)}


@dataclass(frozen=True)
class TextFingerprint:
    """Content of a text without its stop words."""

    stems: tuple[str, ...]
    """Stems of the content words and numbers, in text order; all words if the text has no content words."""
    numbers: frozenset[str]
    """Numbers, in digits, and words that contain digits."""
    is_negated: bool
    """True if the text contains a negation."""

    @property
    def words(self) -> frozenset[str]:
        """The stems without the numbers."""
        return frozenset(self.stems) - self.numbers


def compute_fingerprint(text: str) -> TextFingerprint:
    """Compute the fingerprint of a text. Contractions are expanded first, so that “isn’t” is a negation and “Mara’s” counts
    as Mara.
    """
    folded = _fold_words(text)
    # Never empty, so that texts without content words are distinguished as well.
    order = tuple(_content_stems(folded)) or tuple(folded) or (fold(text).strip(),)
    return TextFingerprint(order, frozenset(filter(_is_number, order)), is_negated=not _DENIALS.isdisjoint(folded))


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the content words, numbers included; empty if the text has none."""
    return frozenset(_content_stems(_fold_words(text)))


def fingerprint_digest(text: str) -> str:
    """Return a hash of the fingerprint, 32 hexadecimal digits. Texts with the same words and negation get the same hash,
    whatever the order and inflection of their words. Deleted facts are stored as such hashes, so the function must not
    change its results.
    """
    fingerprint = compute_fingerprint(text)
    payload = "\0".join([*sorted({*fingerprint.stems}), "not" if fingerprint.is_negated else ""])
    # Imported text may contain lone surrogates, which UTF-8 refuses to encode by default.
    return hashlib.blake2b(payload.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _fold_words(text: str) -> list[str]:
    return [fold(word) for word in WORD.findall(_NOT.sub(" not ", plain(text, keep_case=False)))]


def _content_stems(folded: list[str]) -> list[str]:
    words = (_NUMBERS.get(word, word) for word in folded if word not in _SKIPPED_WORDS)
    return [word if _is_number(word) else root(word) for word in words]


def _is_number(word: str) -> bool:
    return any(sign.isdigit() for sign in word)
