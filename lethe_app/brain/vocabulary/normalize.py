"""Normalisation of texts and keywords, so that differences in quotes, dashes, widths and case do not prevent a match."""

from __future__ import annotations

import re
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

_SPACELESS = re.compile(
    "[\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaadf"  # Burmese, Tai Viet
    "\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf"  # Khmer, Tai Le, New Tai Lue, Tai Tham
    "\u2e80-\u312f\u31a0-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\U00020000-\U0003ffff"  # Kana, Bopomofo, Han, Yi
    "\U00016fe0-\U0001b2ff]"  # Tangut, Khitan, Nushu
)
"""Characters in which word boundaries cannot be recognised: more than retrieval indexes one by one."""
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")


class CharacterKind(IntEnum):
    """Role of a character at a word boundary."""

    NONE = 0
    """Punctuation and space; also letters of scripts without spaces, in which word boundaries cannot be recognised."""
    WORD = 1
    """Letters, digits and combining marks. The underscore is excluded, because it marks emphasis in chats."""
    HANGUL = 2
    """Korean syllables: words begin after a space, but particles are joined to their end."""


class _Kinds(dict[str, CharacterKind]):
    """Cache of the kind of each character, filled on access."""

    def __missing__(self, character: str) -> CharacterKind:
        if not (character.isalnum() or unicodedata.category(character).startswith("M")) or _SPACELESS.match(character):
            kind = CharacterKind.NONE
        else:
            kind = CharacterKind.HANGUL if _HANGUL.match(character) else CharacterKind.WORD
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
