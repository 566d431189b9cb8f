"""Sentences of a chat message: those the speaker utters, and all of them as written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.domain.chat import Role
from lethe_app.language_tables import table_pattern
from lethe_app.retrieval.passage_builder import SENTENCE_END
from lethe_app.searchable_text import SPACELESS, WORD, fold

_pattern = partial(table_pattern, "utterances")

_NOT_SPEECH = re.compile(
    r"```[\s\S]*?(?:```|\Z)|^>.*$|https?://\S+|\*[^*\n]*\*+|(?<!\w)_[^_\n]+_(?!\w)|~~[^~\n]*~~|^\*.*$|<[^>\n]*>", re.MULTILINE
)
"""Code, quoted lines, URLs, and actions between asterisks."""
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_QUOTED = re.compile(r"\"[^\"\n]*(?:\"|$)|«[^»\n]*»", re.MULTILINE)
_EMOJI = re.compile(
    r"(?<=[\w!?.)'\"])\s*[\u2600-\u27bf\u2b50\U0001f300-\U0001faff][\u2600-\u27bf\ufe0f\u200d\U0001f300-\U0001faff\s]*(?=[\w'])"
)
"""Emoji between two words, which end a sentence."""
_UNUSUAL_CHARACTERS = re.compile(r"[^\w\s.,;:!?'’()\-–—&/%$€£+#°]+")
_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[a-z]{2}[.!?])(?=[A-Z])|\n+|[()]|\s+[-–—]+\s+|—|\s*\.\.+\s*|[;:]\s|/s\b")
_NOT_AN_END = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|e\.g|i\.e|vs|No|approx|Jr|Sr)\.$")
SENTENCE_BREAK = re.compile(r"(?<=[?!…。？！])\s*|(?<=[^\d\W][.])\s+|[\n\"*]+")
"""End of a sentence of a request, in any script. A full stop after a digit is none, as in “2. Mai”."""
_HIRAGANA = re.compile("[\u3040-\u309f]{2}")
FIRST_PERSON_WORD = re.compile(
    r"(?<![\w'])(?:I|I'm|im|I've|ive|I'd|I'll|my|me|mine|we|we're|we've|our|us)(?!\w)", re.IGNORECASE
)
"""Word by which an English speaker refers to themselves, alone or with others."""
MAX_SENTENCE_LENGTH = 400
"""Characters after which a sentence ends even at an abbreviation, so that a text made of abbreviations does not become one."""


@lru_cache(maxsize=256)  # a line is read for itself, as an answer and as a question
def extract_sentences(message: str) -> tuple[str, ...]:
    """Return the sentences the speaker utters, each with its end mark, without actions, quotations, code and emoji."""
    text = _BOLD.sub(r"\1", correct_spelling(message))
    text = _NOT_SPEECH.sub("\n", text)
    text = _pattern("title").sub(r"\g<before> \g<title>", text)
    text = _pattern("work").sub(r"\g<title>", text)
    text = _UNUSUAL_CHARACTERS.sub(" ", _EMOJI.sub("\n", _QUOTED.sub("\n", text)))
    parts: list[str] = []
    text = _pattern("tag").sub(".", text)
    for part in filter(None, map(str.strip, (piece for piece in _END.split(text) if piece))):
        if parts and _NOT_AN_END.search(parts[-1]):
            parts[-1] += " " + part
        else:
            parts.append(part)
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one message."""

    line: int
    """Index of its message in the input."""
    name: str
    role: Role
    text: str
    """As written, without markup, on one line."""
    words: tuple[str, ...]
    """Normalised words; in scripts without spaces pairs of adjacent characters."""
    narrates: bool
    """True if it narrates an action instead of being speech."""
    asks: bool = False
    """True if it ends with a question mark."""
    in_story: bool = False
    """True if it is uttered or done in character."""
    weight: float = 1.0
    """Weight as a statement of the user, from 0 for mere context to 1 for the user's own words; see
    brain/summary/endorsed_lines.
    """


def normalized_words(text: str) -> tuple[str, ...]:
    """Return the normalised words of a text; where a script has no spaces, pairs of adjacent characters."""
    found: list[str] = []
    for word in WORD.findall(text):
        if word.isascii() or not SPACELESS.search(word):
            found.append(_folded(word))
        else:
            found += _character_pairs(word)
    return tuple(found)


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each on one line. An abbreviation does not end a sentence."""
    pending = ""
    for piece in (part for end in SENTENCE_END.split(text) for part in _pattern("small_beginning").split(end)):
        pending = " ".join(f"{pending} {piece}".split())
        if len(pending) > MAX_SENTENCE_LENGTH or not _pattern("abbreviated").search(pending[-8:]):
            if pending:
                yield pending
            pending = ""
    if pending:
        yield pending


def _character_pairs(word: str) -> Iterator[str]:
    if len(word) == 1:
        yield word
    for left, right in pairwise(word):
        if not _HIRAGANA.match(left + right):
            yield left + right


_folded = lru_cache(20_000)(fold)
