"""Brings a text and a keyword to one spelling, so that quotes, dashes, widths and case do not keep them apart."""

from __future__ import annotations

import unicodedata
from enum import IntEnum

_SAME = {
    **dict.fromkeys("‘’‚‛ʼʹ′´`＇", "'"),
    **dict.fromkeys("“”„‟″〝〞＂", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u00ad\u200b\u2060\ufeff"),  # soft hyphens and other marks of no width
}
_PLAIN = {ord(sign): plain for sign, plain in _SAME.items()}
_PLAIN_QUOTES = {ord(sign): plain for sign, plain in _SAME.items() if plain in {"'", '"'}}

_UNSPACED = (
    (0x0E00, 0x0FFF),  # Thai, Lao, Tibetan
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue, Khmer signs
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x2E80, 0x312F),  # radicals, kana, bopomofo
    (0x31A0, 0x4DBF),  # more of these, ideographs
    (0x4E00, 0xA4CF),  # ideographs, Yi
    (0xA9E0, 0xA9FF),  # more Burmese
    (0xAA60, 0xAADF),  # more Burmese, Tai Viet
    (0xF900, 0xFAFF),  # compatibility ideographs
    (0x16FE0, 0x1B2FF),  # Tangut, Khitan, more kana, Nushu
    (0x20000, 0x3FFFF),  # more ideographs
)
_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF))


class CharacterKind(IntEnum):
    """How a character takes part in words."""

    NONE = 0
    """Punctuation and space; also letters of scripts without spaces, where a word ends is not to be seen."""
    WORD = 1
    """Letters, digits and combining marks. Not the underscore, which is emphasis here."""
    HANGUL = 2
    """Words begin after a space, but particles are joined to their end."""


def _is_in(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


class _Kinds(dict[str, CharacterKind]):
    """Every character met so far."""

    def __missing__(self, character: str) -> CharacterKind:
        code = ord(character)
        if not (character.isalnum() or unicodedata.category(character).startswith("M")) or _is_in(code, _UNSPACED):
            kind = CharacterKind.NONE
        else:
            kind = CharacterKind.HANGUL if _is_in(code, _HANGUL) else CharacterKind.WORD
        self[character] = kind
        return kind


KINDS = _Kinds()
"""The kind of any character."""


def fold(text: str, *, keep_case: bool) -> str:
    """NFKC with plain quotes and dashes, single spaces, none at the ends and, unless kept, without case."""
    if text.isascii():
        text = text.replace("`", "'")
        return " ".join((text if keep_case else text.lower()).split())
    text = unicodedata.normalize("NFKC", text.translate(_PLAIN))
    if not keep_case:
        text = unicodedata.normalize("NFKC", text.casefold())
    return " ".join(text.translate(_PLAIN).split())


def soften(text: str) -> str:
    """For regular expressions and what they search: composed characters and plain quotes, everything else as it was."""
    return unicodedata.normalize("NFC", text.translate(_PLAIN_QUOTES)) if not text.isascii() else text.replace("`", "'")


def edges(folded: str) -> tuple[CharacterKind, CharacterKind]:
    """What may not stand before and after a keyword that is to be a word of its own; NONE is no condition.

    An edge that is no letter needs nothing around it (“C++”, “@x”, “(king)”), nor does one in a script without spaces. Before
    a Korean word there must be no other syllable; after it a particle may follow.
    """
    back = KINDS[folded[-1]]
    return KINDS[folded[0]], CharacterKind.NONE if back is CharacterKind.HANGUL else back
