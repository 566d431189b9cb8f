"""Keyword matching: plain keywords in one Aho-Corasick pass regardless of their number, regular expressions with a time
limit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from time import thread_time
from typing import NamedTuple

import ahocorasick
import regex  # type: ignore[import-untyped, unused-ignore]

from lethe_app.brain.lore.regex_keywords import KeywordRegex, find_problem, parse_expression
from lethe_app.brain.vocabulary.normalize import (
    CHARACTER_KINDS,
    CharacterKind,
    boundary_kinds,
    normalize_quotes,
    normalize_text,
)
from lethe_app.searchable_text import remove_accents

PATTERN_SECONDS = 0.05
"""CPU seconds for one regular expression in one text; normal ones need microseconds. Measured per thread, so other work does
not count.
"""
PATTERNS_SECONDS = 0.25
"""CPU seconds for all regular expressions in all texts of one search."""
TEXT_CACHE_SIZE = 4096
"""Number of normalised texts that are cached."""

_FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}


class Keyword(NamedTuple):
    """Keyword with its options; a regular expression uses only its own flags."""

    text: str
    whole_word: bool = True
    case_sensitive: bool = False


class KeywordMatcher:
    """Immutable set of keywords, identified by their index in the given sequence.

    Results are cached per text, so that an unchanged message costs one look-up.
    """

    def __init__(self, keywords: Sequence[Keyword]) -> None:
        plain: list[tuple[int, Keyword]] = []
        expressions: list[tuple[int, KeywordRegex]] = []
        for number, keyword in enumerate(keywords):
            expression = parse_expression(keyword.text.strip())
            if expression is None:
                plain.append((number, keyword))
            else:
                expressions.append((number, expression))
        self._caseless = _PlainKeywords(item for item in plain if not item[1].case_sensitive)
        self._cased = _PlainKeywords(item for item in plain if item[1].case_sensitive)
        self._patterns = _RegexKeywords(expressions)
        self._find_words_cached = lru_cache(TEXT_CACHE_SIZE)(self._find_words)

    def find(self, texts: Sequence[str]) -> list[frozenset[int]]:
        """Return the numbers of the matching keywords of each text."""
        words = [self._find_words_cached(text) for text in texts]
        if not self._patterns:
            return words
        return [found | more for found, more in zip(words, self._patterns.find(texts), strict=True)]

    @property
    def problems(self) -> dict[int, str]:
        """Return the keywords that can never match, with the reason."""
        return self._patterns.problems

    def _find_words(self, text: str) -> frozenset[int]:
        return self._caseless.find(text, keep_case=False) | self._cased.find(text, keep_case=True)


class _FoldedKeyword(NamedTuple):
    """Payload of the automaton for one folded keyword."""

    length: int
    front_kind: CharacterKind
    back_kind: CharacterKind
    substring_numbers: list[int]
    """Numbers of the keywords that may also match within a word."""
    whole_word_numbers: list[int]


def fold_keyword(text: str, *, keep_case: bool) -> str:
    """Return a keyword or a text in the form in which they are compared: normalised, without accents, as search compares."""
    return normalize_text(remove_accents(text), keep_case=keep_case)


class _PlainKeywords:
    """Plain keywords with the same case sensitivity."""

    def __init__(self, keywords: Iterable[tuple[int, Keyword]]) -> None:
        words: dict[str, _FoldedKeyword] = {}
        for number, keyword in keywords:
            folded = fold_keyword(keyword.text, keep_case=keyword.case_sensitive)
            if not folded:
                continue
            word = words.get(folded)
            if word is None:
                word = words[folded] = _FoldedKeyword(len(folded), *boundary_kinds(folded), [], [])
            needs_boundary = keyword.whole_word and (word.front_kind or word.back_kind)
            (word.whole_word_numbers if needs_boundary else word.substring_numbers).append(number)
        self._automaton = _build_automaton(words) if words else None

    def find(self, text: str, *, keep_case: bool) -> frozenset[int]:
        found: set[int] = set()
        if self._automaton is None:
            return frozenset()
        text = f" {fold_keyword(text, keep_case=keep_case)} "  # so that every keyword has a neighbour on both sides
        for end, (length, front, back, anywhere, alone) in self._automaton.iter(text):
            if anywhere:
                found.update(anywhere)
            if (
                alone
                and alone[0] not in found
                and not (front and CHARACTER_KINDS[text[end - length]] is front)
                and not (back and CHARACTER_KINDS[text[end + 1]] is back)
            ):
                found.update(alone)
        return frozenset(found)


def find_matches(expression: KeywordRegex, text: str) -> list[tuple[int, int]]:
    """Return all non-empty matches of an expression as character ranges; empty if it is invalid or exceeds the time limit."""
    patterns = _RegexKeywords([(0, expression)])
    softened = normalize_quotes(text)
    try:
        found = [match.span() for pattern in patterns.compiled for match in pattern.finditer(softened, timeout=PATTERN_SECONDS)]
    except (TimeoutError, MemoryError, RuntimeError):
        return []
    # Normalisation may change the length of a text; the ranges would then not fit the original.
    return [span for span in found if span[0] < span[1]] if len(softened) == len(text) else []


def _build_automaton(words: dict[str, _FoldedKeyword]) -> ahocorasick.Automaton:
    automaton = ahocorasick.Automaton()
    for folded, word in words.items():
        automaton.add_word(folded, word)
    automaton.make_automaton()
    return automaton


class _RegexKeywords:
    """Regular expressions from untrusted lorebooks; invalid and slow ones are skipped and reported."""

    def __init__(self, expressions: Sequence[tuple[int, KeywordRegex]]) -> None:
        self._broken: dict[int, str] = {}
        self._untried: set[int] = set()
        self._patterns: list[tuple[int, regex.Pattern[str]]] = []
        self._cached: OrderedDict[str, frozenset[int]] = OrderedDict()
        for number, expression in expressions:
            self._compile(number, expression)

    def __len__(self) -> int:
        return len(self._patterns)

    @property
    def compiled(self) -> list[regex.Pattern[str]]:
        """Return the valid patterns."""
        return [pattern for _number, pattern in self._patterns]

    @property
    def problems(self) -> dict[int, str]:
        untried = dict.fromkeys(self._untried, "was not tried, because all regular expressions together took too long")
        return {**untried, **self._broken}

    def find(self, texts: Sequence[str]) -> list[frozenset[int]]:
        self._untried = set()
        deadline = thread_time() + PATTERNS_SECONDS
        found = [self._search_cached(text, deadline) for text in texts]
        broken = self._broken.keys()  # also those that failed just now, after they were found in a newer text
        return [numbers - broken for numbers in found]

    def _compile(self, number: int, expression: KeywordRegex) -> None:
        problem = find_problem(expression.pattern)
        if not problem:
            flags = sum(_FLAGS[flag] for flag in set(expression.flags) & _FLAGS.keys())
            try:
                self._patterns.append((number, regex.compile(normalize_quotes(expression.pattern), flags)))
            except (regex.error, RecursionError, ValueError, KeyError, OverflowError, MemoryError) as error:
                problem = f"is no regular expression: {error}"
        if problem:
            self._broken[number] = problem

    def _search_cached(self, text: str, deadline: float) -> frozenset[int]:
        cached = self._cached.get(text)
        if cached is not None:
            self._cached.move_to_end(text)
            return cached
        found = self._search(normalize_quotes(text), deadline)
        # An incomplete search must not be cached, because the skipped patterns may match next time.
        if not self._untried:
            self._cached[text] = found
            if len(self._cached) > TEXT_CACHE_SIZE:
                self._cached.popitem(last=False)
        return found

    def _search(self, text: str, deadline: float) -> frozenset[int]:
        found = set()
        for number, pattern in self._patterns:
            if number in self._broken:
                continue
            seconds_left = deadline - thread_time()
            if seconds_left < PATTERN_SECONDS:
                self._untried.add(number)
                continue
            try:
                if pattern.search(text, timeout=PATTERN_SECONDS):
                    found.add(number)
            except (TimeoutError, MemoryError, RuntimeError):
                self._broken[number] = "takes too long and is left out until it is changed"
        return frozenset(found)


Span = tuple[int, int]
"""Character range: start included, end excluded."""


def find_spans(keyword: Keyword, text: str) -> list[Span]:
    """Return all character ranges of `keyword` in `text`, in order; empty for an expression that is invalid or too slow."""
    expression = parse_expression(keyword.text.strip())
    if expression is not None:
        return find_matches(expression, text)
    key = fold_keyword(keyword.text, keep_case=keyword.case_sensitive)
    if not key:
        return []
    folded, origins = _fold_with_origins(text, keep_case=keyword.case_sensitive)
    found: list[Span] = []
    start = folded.find(key)
    while start >= 0:
        end = start + len(key)
        fits = not keyword.whole_word or _is_whole_word(key, folded, start, end)
        if fits:
            found.append((origins[start][0], origins[end - 1][1]))
        start = folded.find(key, end if fits else start + 1)
    return found


def _fold_with_origins(text: str, *, keep_case: bool) -> tuple[str, list[Span]]:
    """Return the folded text, and for each of its characters the source range in the original text."""
    folded, origins = "", list[Span]()
    for cluster in regex.finditer(r"\X", text):  # a character with its combining marks
        plain = fold_keyword(cluster[0], keep_case=keep_case)
        if cluster[0].isspace() and not folded.endswith(" "):
            plain = " "
        folded += plain
        origins += [cluster.span()] * len(plain)
    return folded, origins


def _is_whole_word(key: str, folded: str, start: int, end: int) -> bool:
    front, back = boundary_kinds(key)
    before = CHARACTER_KINDS[folded[start - 1] if start else " "]
    after = CHARACTER_KINDS[folded[end] if end < len(folded) else " "]
    return not (front and before is front) and not (back and after is back)
