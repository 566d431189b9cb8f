"""Search queries: words in any inflection, a prefix for the last word, and quoted phrases that must match literally."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lethe_app.brain.vocabulary.stems import stem
from lethe_app.domain.list_items import Mark
from lethe_app.retrieval.query_terms import SPACELESS, STOP_WORDS, WORD, cut, fold

QUOTED = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]?|([^\s"“”„«»]+)')
LEAST_BEGINNING = 2
"""Minimum letters of a last word that is treated as a prefix; a single letter would match too many words."""
LONGEST_ENDING = 4
"""Maximum letters of an inflectional ending that may be cut off a word."""
MOST_TERMS = 12
"""Maximum number of terms of a query; further ones are ignored."""
AROUND = 70
"""Characters of context before the first mark of an excerpt."""
LONGEST = 260
"""Maximum characters of an excerpt."""


@dataclass(frozen=True)
class Term:
    """Words that must occur next to each other."""

    words: tuple[str, ...]
    """The words, normalised by `fold`."""
    is_literal: bool
    """True if the words must match as spelled, not in another inflection."""
    is_begun: bool = False
    """True if the last word is a prefix."""

    def is_meant(self, token: str, place: int) -> bool:
        """Return whether a normalised word of a text matches the term's word at index `place`."""
        word = self.words[place]
        if self.is_begun and place == len(self.words) - 1 and token.startswith(word):
            return True
        return token == word or (not (self.is_literal or self.is_begun) and _alike(token, word))

    @property
    def match(self) -> str:
        """Return the term as an FTS5 expression. It may match too much; `SearchQuery.marks` filters the results."""
        phrase = f'"{" ".join(self.words)}"'
        if not self.is_begun:
            return phrase
        asked = [f"{phrase} *", phrase]
        if len(self.words) == 1:  # the index holds stems: “runni” leads to “run”, of which only “running” is kept then
            word = self.words[0]
            shorter = [word[:length] for length in range(max(3, len(word) - LONGEST_ENDING), len(word))]
            asked += [f'"{begun}"' for begun in shorter if begun not in STOP_WORDS]
        return f"({' OR '.join(asked)})"

    @property
    def root(self) -> str:
        """Return letters that every match contains, for a quick check before the text is tokenised."""
        whole = self.is_literal or self.is_begun
        words = [word if whole else word[: max(2, len(word) - LONGEST_ENDING)] for word in self.words]
        return max(words, key=len)


@dataclass(frozen=True)
class SearchQuery:
    """Terms that must all occur in a text, in any order."""

    terms: tuple[Term, ...]

    @classmethod
    def parse(cls, text: str) -> SearchQuery:
        """Parse the text of a search field. A last word that is not followed by a space or quotation mark counts as a
        prefix.
        """
        found: list[Term] = []
        for piece in QUOTED.finditer(text):
            words = tuple(fold(word) for word in cut(piece[1] if piece[2] is None else piece[2]))
            words = tuple(word for word in words if word)
            if words:
                last = piece.end() == len(text) and piece[2] is not None
                begun = last and len(words[-1]) >= LEAST_BEGINNING and not SPACELESS.search(words[-1])
                found.append(Term(words, is_literal=piece[2] is None or len(words) > 1, is_begun=begun))
        return cls(tuple(dict.fromkeys(found))[:MOST_TERMS])

    @property
    def match(self) -> str:
        """Return the query as an FTS5 expression; empty if it has no terms."""
        return " AND ".join(term.match for term in self.terms)

    def marks(self, text: str) -> list[Mark]:
        """Return start and length of every match in a text, sorted; empty unless all terms occur in it."""
        low = text.lower() if text.isascii() else fold(text)
        if not all(term.root in low for term in self.terms):
            return []  # at once, for most of what the word index offers has them in its date or its speaker
        tokens = list(_tokens(text))
        found: list[Mark] = []
        for term in self.terms:
            places = [place for place in range(len(tokens)) if _stands(term, tokens, place)]
            if not places:
                return []
            found += [tokens[place + step][:2] for place in places for step in range(len(term.words))]
        return sorted(set(found))


Token = tuple[int, int, str]


def _tokens(text: str) -> Iterator[Token]:
    """Yield start, length and normalised form of each word; in scripts without spaces every character is a word."""
    for word in WORD.finditer(text):
        spelled = word[0]
        if spelled.isascii():
            yield word.start(), len(spelled), spelled.lower()
        elif SPACELESS.search(spelled):
            for place, character in enumerate(spelled):
                yield word.start() + place, 1, fold(character)
        else:
            yield word.start(), len(spelled), fold(spelled)


def _stands(term: Term, tokens: Sequence[Token], place: int) -> bool:
    if place + len(term.words) > len(tokens):
        return False
    return all(term.is_meant(tokens[place + step][2], step) for step in range(len(term.words)))


def _alike(token: str, word: str) -> bool:
    return token[:2] == word[:2] and stem(token) == stem(word)


def excerpt(text: str, marks: Sequence[Mark]) -> tuple[str, tuple[Mark, ...]]:
    """Return the part of a one-line text around the first mark, with the marks inside it, shifted to the excerpt."""
    first = marks[0][0] if marks else 0
    begin = max(0, first - AROUND)
    if begin:
        begin = text.find(" ", begin, first) + 1 or begin
    part = text[begin : begin + LONGEST]
    before = "…" if begin else ""
    after = "…" if begin + LONGEST < len(text) else ""
    shift = len(before) - begin
    inside = ((start + shift, length) for start, length in marks if begin <= start and start + length <= begin + LONGEST)
    return f"{before}{part.rstrip()}{after}", tuple(inside)
