"""Normalisation of texts and keywords, so that differences in quotes, dashes, widths and case do not prevent a match."""

from __future__ import annotations

import unicodedata
from enum import IntEnum

_REPLACEMENTS = {
    **dict.fromkeys("‘’‚‛ʼʹ′´`＇", "'"),
    **dict.fromkeys("“”„‟″〝〞＂", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u00ad\u200b\u2060\ufeff"),  # soft hyphens and other marks of no width
}
_CHARACTER_MAP = {ord(sign): plain for sign, plain in _REPLACEMENTS.items()}
_QUOTE_MAP = {ord(sign): plain for sign, plain in _REPLACEMENTS.items() if plain in {"'", '"'}}

_UNSPACED_SCRIPTS = (
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
    """Role of a character at a word boundary."""

    NONE = 0
    """Punctuation and space; also letters of scripts without spaces, in which word boundaries cannot be recognised."""
    WORD = 1
    """Letters, digits and combining marks. The underscore is excluded, because it marks emphasis in chats."""
    HANGUL = 2
    """Korean syllables: words begin after a space, but particles are joined to their end."""


def _is_in_ranges(code_point: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code_point <= last for first, last in ranges)


class _Kinds(dict[str, CharacterKind]):
    """Cache of the kind of each character, filled on access."""

    def __missing__(self, character: str) -> CharacterKind:
        code_point = ord(character)
        if not (character.isalnum() or unicodedata.category(character).startswith("M")) or _is_in_ranges(
            code_point, _UNSPACED_SCRIPTS
        ):
            kind = CharacterKind.NONE
        else:
            kind = CharacterKind.HANGUL if _is_in_ranges(code_point, _HANGUL) else CharacterKind.WORD
        self[character] = kind
        return kind


CHARACTER_KINDS = _Kinds()
"""Kind of any character, by character."""


def normalize_text(text: str, *, keep_case: bool) -> str:
    """Normalise a text: NFKC, plain quotes and dashes, single spaces, no spaces at the ends, and casefolded unless
    `keep_case`.
    """
    # Fast path with the same result: NFKC does not change ASCII, and the backtick is the only ASCII quote to replace.
    if text.isascii():
        text = text.replace("`", "'")
        return " ".join((text if keep_case else text.lower()).split())
    text = unicodedata.normalize("NFKC", text.translate(_CHARACTER_MAP))
    if not keep_case:
        # Casefolding can produce sequences that are no longer normalised, so NFKC is applied a second time.
        text = unicodedata.normalize("NFKC", text.casefold())
    return " ".join(text.translate(_CHARACTER_MAP).split())


def normalize_quotes(text: str) -> str:
    """Normalise a regular expression or the text it searches: NFC and plain quotes only, so that no character with a meaning
    in the expression changes.
    """
    return unicodedata.normalize("NFC", text.translate(_QUOTE_MAP)) if not text.isascii() else text.replace("`", "'")


def boundary_kinds(folded: str) -> tuple[CharacterKind, CharacterKind]:
    """Return the character kinds that must not precede and follow a keyword that is to match as a whole word; NONE is no
    condition.

    An edge that is not a letter has no condition (“C++”, “@x”, “(king)”), nor has one in a script without spaces. Before a
    Korean word there must be no other syllable; after it a particle may follow.
    """
    last_kind = CHARACTER_KINDS[folded[-1]]
    return CHARACTER_KINDS[folded[0]], CharacterKind.NONE if last_kind is CharacterKind.HANGUL else last_kind
