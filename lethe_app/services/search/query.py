"""What the user looks for: words in any form, the beginning of the last one, and phrases in quotation marks word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lethe_app.brain.vocabulary.stems import stem
from lethe_app.domain.search_results import Mark
from lethe_app.retrieval.query_terms import SPACELESS, STOP_WORDS, WORD, cut, fold

QUOTED = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]?|([^\s"“”„«»]+)')
LEAST_BEGINNING = 2
"""Letters of a word that is still being written; one letter begins too many."""
LONGEST_ENDING = 4
MOST_TERMS = 12
AROUND = 70
"""Characters shown before the first mark."""
LONGEST = 260
"""Characters of a line in a list."""


@dataclass(frozen=True)
class Term:
    """Words that have to stand side by side."""

    words: tuple[str, ...]
    """Folded."""
    is_literal: bool
    """As they are spelled, and in no other form."""
    is_begun: bool = False
    """The last word may go on."""

    def is_meant(self, token: str, place: int) -> bool:
        """Is this folded word of a text the one at that place of the term?"""
        word = self.words[place]
        if self.is_begun and place == len(self.words) - 1 and token.startswith(word):
            return True
        return token == word or (not (self.is_literal or self.is_begun) and _alike(token, word))

    @property
    def match(self) -> str:
        """As the word index is asked for it."""
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
        """Letters without which it cannot be there."""
        whole = self.is_literal or self.is_begun
        words = [word if whole else word[: max(2, len(word) - LONGEST_ENDING)] for word in self.words]
        return max(words, key=len)


@dataclass(frozen=True)
class SearchQuery:
    """All terms have to be found in one text, in any order."""

    terms: tuple[Term, ...]

    @classmethod
    def parse(cls, text: str) -> SearchQuery:
        """What `text` asks for. A word that nothing follows yet counts as begun."""
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
        """All of it in the language of the word index; empty where nothing is asked for."""
        return " AND ".join(term.match for term in self.terms)

    def marks(self, text: str) -> list[Mark]:
        """Where the terms stand in a text; none unless all of them do."""
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
    """Start, length and folded form of each word; every character of a script without spaces is one."""
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
    """The part of a one-line text around the first mark, with the marks that are in it."""
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
