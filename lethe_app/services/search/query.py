"""Search queries: words in any inflection, a prefix for the last word, and quoted phrases that must match literally."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lethe_app.brain.vocabulary.stems import stem
from lethe_app.domain.list_items import Mark
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import INDEXED_SINGLY, index_text, index_words

PIECE_PATTERN = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]?|([^\s"“”„«»]+)')
MIN_PREFIX_LETTERS = 2
"""Minimum letters of a last word that is treated as a prefix; a single letter would match too many words."""
MAX_ENDING_LETTERS = 4
"""Maximum letters of an inflectional ending that may be cut off a word."""
MAX_TERMS = 12
"""Maximum number of terms of a query; further ones are ignored."""
CONTEXT_CHARACTERS = 70
"""Characters of context before the first mark of an excerpt."""
MAX_EXCERPT_CHARACTERS = 260
"""Maximum characters of an excerpt."""


@dataclass(frozen=True)
class QueryTerm:
    """Words that must occur next to each other."""

    words: tuple[str, ...]
    """The words, normalised by `fold`."""
    is_literal: bool
    """True if the words must match as spelled, not in another inflection."""
    is_prefix: bool = False
    """True if the last word is a prefix."""

    def matches(self, token: str, position: int) -> bool:
        """Return whether a normalised word of a text matches the term's word at index `position`."""
        word = self.words[position]
        if self.is_prefix and position == len(self.words) - 1 and token.startswith(word):
            return True
        if token == word or self.is_literal or self.is_prefix:
            return token == word
        return token[:2] == word[:2] and stem(token) == stem(word)

    @property
    def fts_expression(self) -> str:
        """Return the term as an FTS5 expression. It may match too much; `SearchQuery.find_marks` filters the results."""
        phrase = f'"{" ".join(self.words)}"'
        if not self.is_prefix:
            return phrase
        alternatives = [f"{phrase} *", phrase]
        if len(self.words) == 1:  # the index holds stems: “runni” leads to “run”, of which only “running” is kept then
            word = self.words[0]
            stems = [word[:length] for length in range(max(3, len(word) - MAX_ENDING_LETTERS), len(word))]
            alternatives += [f'"{prefix_stem}"' for prefix_stem in stems if prefix_stem not in STOP_WORDS]
        return f"({' OR '.join(alternatives)})"

    @property
    def required_letters(self) -> str:
        """Return letters that every match contains, for a quick check before the text is tokenised."""
        is_whole = self.is_literal or self.is_prefix
        words = [word if is_whole else word[: max(2, len(word) - MAX_ENDING_LETTERS)] for word in self.words]
        return max(words, key=len)


@dataclass(frozen=True)
class SearchQuery:
    """Terms that must all occur in a text, in any order."""

    terms: tuple[QueryTerm, ...]

    @classmethod
    def parse(cls, text: str) -> SearchQuery:
        """Parse the text of a search field. A last word that is not followed by a space or quotation mark counts as a
        prefix.
        """
        terms: list[QueryTerm] = []
        for piece in PIECE_PATTERN.finditer(text):
            words = tuple(word for _start, _length, word in index_words(piece[1] if piece[2] is None else piece[2]))
            if words:
                is_last = piece.end() == len(text) and piece[2] is not None
                is_prefix = is_last and len(words[-1]) >= MIN_PREFIX_LETTERS and not INDEXED_SINGLY.match(words[-1])
                terms.append(QueryTerm(words, is_literal=piece[2] is None or len(words) > 1, is_prefix=is_prefix))
        return cls(tuple(dict.fromkeys(terms))[:MAX_TERMS])

    @property
    def fts_expression(self) -> str:
        """Return the query as an FTS5 expression; empty if it has no terms."""
        return " AND ".join(term.fts_expression for term in self.terms)

    def has_whole_words(self, text: str) -> bool:
        """Return whether all terms occur in a text that matches, the last one not only as the beginning of a word."""
        whole = SearchQuery(tuple(replace(term, is_prefix=False) for term in self.terms))
        return whole == self or bool(whole.find_marks(text))

    def find_marks(self, text: str) -> list[Mark]:
        """Return start and length of every match in a text, sorted; empty unless all terms occur in it."""
        normalized = index_text(text)
        if not all(term.required_letters in normalized for term in self.terms):
            return []  # most passages from the word index match only by their date or speaker and are rejected here
        tokens = list(index_words(text))
        spans: list[Mark] = []
        for term in self.terms:
            positions = [position for position in range(len(tokens)) if _matches_at(term, tokens, position)]
            if not positions:
                return []
            spans += [tokens[position + step][:2] for position in positions for step in range(len(term.words))]
        return sorted(set(spans))


Token = tuple[int, int, str]
"""Start, length and folded form of a word."""


def _matches_at(term: QueryTerm, tokens: Sequence[Token], position: int) -> bool:
    if position + len(term.words) > len(tokens):
        return False
    return all(term.matches(tokens[position + step][2], step) for step in range(len(term.words)))


def build_excerpt(text: str, marks: Sequence[Mark]) -> tuple[str, tuple[Mark, ...]]:
    """Return the part of a one-line text around the first mark, with the marks inside it, shifted to the excerpt."""
    first = marks[0][0] if marks else 0
    begin = max(0, first - CONTEXT_CHARACTERS)
    if begin:
        begin = text.find(" ", begin, first) + 1 or begin
    part = text[begin : begin + MAX_EXCERPT_CHARACTERS]
    before = "…" if begin else ""
    after = "…" if begin + MAX_EXCERPT_CHARACTERS < len(text) else ""
    shift = len(before) - begin
    inside = (
        (start + shift, length)
        for start, length in marks
        if begin <= start and start + length <= begin + MAX_EXCERPT_CHARACTERS
    )
    return f"{before}{part.rstrip()}{after}", tuple(inside)
