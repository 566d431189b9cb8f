"""Folding of texts for search, so that case, accents, widths and spellings do not matter, and their division into words."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain

_MARK_BLOCKS = (range(0x300, 0x1E00), range(0x3099, 0x309B), range(0xA66F, 0xAC00), range(0xFE20, 0xFE30))
_MARKS = "".join(character for character in map(chr, chain(*_MARK_BLOCKS)) if unicodedata.category(character)[0] == "M")
"""Combining marks: accents, and the vowel signs of Indic scripts."""
_INVISIBLE = (
    "\u00ad\u0640\u200b\u200c\u200d\u200e\u200f\u20e3\u2060\ufe0e\ufe0f\ufeff\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
)
"""Signs that change nothing but the look: joiners, the Arabic elongation, variants and skin colours of emoji."""
_EMOJI = re.compile("[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]")
WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}{_INVISIBLE}])*")
"""Run of letters and digits, with their marks."""
SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
)
"""Characters of scripts written without spaces: Thai, Lao, Burmese, Khmer, Kana, Han."""
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
"""Korean syllables and letters. Particles are joined to words, so that a word is found only by its syllables."""
INDEXED_SINGLY = re.compile(f"{SPACELESS.pattern}|{HANGUL.pattern}")
"""Characters each of which the full-text index takes for a word."""
_TOKEN = re.compile(rf"{INDEXED_SINGLY.pattern}|{_EMOJI.pattern}|(?:(?!{INDEXED_SINGLY.pattern})(?:[^\W_]|[{_MARKS}]))+")
_CLUSTER = re.compile(rf"(?:[\u1100-\u115f][\u1160-\u11a7]*[\u11a8-\u11ff]*|.)[{_MARKS}{_INVISIBLE}\uff9e\uff9f]*", re.DOTALL)
"""Character with its marks, or the letters of a Korean syllable."""
_CHUNK = re.compile(rf"(?:[^\W_]|[{_MARKS}{_INVISIBLE}]|{_EMOJI.pattern})+")
_KANA_VOICING, _VIRAMA = 8, 9
_LETTER_MARKS = frozenset({0, _KANA_VOICING, _VIRAMA})
"""Combining classes of marks that make another letter: without its mark, “kagi” (key) would be “kaki” (oyster) in kana."""
_SPELLINGS = str.maketrans(
    dict.fromkeys(_INVISIBLE, "")
    | dict(zip("ıłŁøØđĐħðٱىیکة", "ilLoOdDhdاييكه", strict=True))
    | {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th"}
)
"""Letters that Unicode does not decompose; the Arabic ones after the normalisation of Lucene."""


def remove_accents(text: str) -> str:
    """Return the text without accents and differences of width or spelling: “Zoë” becomes “Zoe”."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    letters = "".join(letter for letter in decomposed if unicodedata.combining(letter) in _LETTER_MARKS)
    return unicodedata.normalize("NFC", letters.translate(_SPELLINGS))


def fold(text: str) -> str:
    """Return the text in lower case without accents: “Zoë” becomes “zoe”, “groß” “gross”."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()  # both, twice: each may leave something for the other
    return remove_accents(plain).casefold()


def index_text(text: str) -> str:
    """Return the text as the full-text index holds it: folded, with spaces around every character of a script in which words
    cannot be told apart, and with numbers in place of emoji, which the index would skip.
    """
    folded = fold(text)
    return folded if folded.isascii() else _EMOJI.sub(_name_emoji, INDEXED_SINGLY.sub(r" \g<0> ", folded))


def index_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and the length of each word of a text, with its form in `index_text`."""
    if text.isascii():
        yield from ((word.start(), len(word[0]), word[0].lower()) for word in WORD.finditer(text))
        return
    for chunk in _CHUNK.finditer(text):
        words = index_text(chunk[0]).split()
        if len(words) == 1 and _TOKEN.fullmatch(words[0]):
            yield chunk.start(), len(chunk[0]), words[0]
        elif words:
            yield from _words_in_clusters(chunk)


def split_words(text: str) -> list[str]:
    """Return the words of a text as spelled, without emoji; every character of a script without word boundaries is a word."""
    if text.isascii():
        return WORD.findall(text)
    return [
        form if INDEXED_SINGLY.match(form) else text[start : start + length]
        for start, length, form in index_words(text)
        if not _EMOJI.match(text[start])
    ]


def _words_in_clusters(chunk: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a chunk that consists of several."""
    clusters = _CLUSTER.findall(chunk[0])
    folded = [fold(cluster) for cluster in clusters]
    starts = list(accumulate(map(len, clusters), initial=chunk.start()))
    folded_ends = list(accumulate(map(len, folded)))
    for word in _TOKEN.finditer("".join(folded)):
        first, last = bisect_right(folded_ends, word.start()), bisect_right(folded_ends, word.end() - 1)
        form = _name_emoji(word).strip() if _EMOJI.match(word[0]) else word[0]
        yield starts[first], starts[last + 1] - starts[first], form


def _name_emoji(emoji: re.Match[str]) -> str:
    return f" emoji{ord(emoji[0])} "
