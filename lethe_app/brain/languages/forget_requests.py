"""Requests of the user to forget a line, a statement or all about a subject, in each language that has a table of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property

from lethe_app.brain.text.clauses import extract_clauses
from lethe_app.brain.text.fingerprint import compute_fingerprint, content_words
from lethe_app.brain.text.sentences import normalized_words
from lethe_app.domain.facts import ExtractedFact
from lethe_app.language_tables import alternatives, compile_table, languages_with, load_table, load_words
from lethe_app.searchable_text import SPACELESS, fold

MAX_LENGTH = 400
"""Characters of the longest sentence that is read as a request."""
MIN_PAIR_SHARE = 0.7
"""Minimum share of the pairs of characters of a statement that a sentence in a script without spaces must have to say it."""
MIN_COMMON_LETTERS = 4
"""Minimum common beginning of two inflected forms of a word in languages whose words have no stems here."""
MIN_RELATED_LETTERS, MIN_RELATED_SHARE = 5, 0.6
"""Minimum common beginning of two related words, as “allergy” and “allergic”, in letters and of the longer one."""
MAX_WORDS_BESIDE_NUMBER = 3
"""Content words that a sentence may have besides a bare number to say the same, as “Ben is 34 years old.”"""
_TABLE = "forgetting"
# The beginning of a sentence that reports what somebody said.
_QUOTED = re.compile(r"[\"“„«'‘][^\"“”„«»]+?(?:[\"”“»]|[,.!?]['’])[\s,]*\w")
_NAMED = re.compile(r"<([A-Z_]+)>")
_SPACE, _END = r"[\s,、。.!！…–—-]", r"[\s.!…。！?？]*"


class ForgetKind(Enum):
    """What is to be forgotten."""

    LINE_BEFORE = "line before"
    OWN_LINE = "own line"
    """The message itself, or the line before if it says nothing else."""
    STATEMENT = "statement"
    EVERYTHING = "everything"
    """All about a subject, of which the user is asked what."""


@dataclass(frozen=True)
class ForgetRequest:
    """Request in one sentence."""

    kind: ForgetKind
    language: str
    what: str = ""
    """Statement or subject, in the user's words."""
    rest: str = ""
    """What the sentence states besides, as “I moved” of “forget that I live in Porto, I moved”."""

    @property
    def is_about_user(self) -> bool:
        """Return whether all about the user is to be forgotten."""
        return not self.what or bool(compile_table(_TABLE, "subjects.user", self.language).fullmatch(self.what))

    @property
    def is_unclear(self) -> bool:
        """Return whether the words may mean several facts: a subject, a single word, or what somebody does who is not named."""
        is_about_others = compile_table(_TABLE, "others", self.language).match(self.what) is not None
        return self.kind is ForgetKind.EVERYTHING or is_about_others or len(self._words(self.what)) == 1

    def may_mean(self, text: str) -> bool:
        """Return whether the words of an unclear request may be meant by a text that has related forms of them."""
        wanted, said = self._words(self.what), self._words(text)
        return self.is_unclear and bool(wanted) and all(any(_is_related(one, word) for word in said) for one in wanted)

    def is_about(self, fact: ExtractedFact) -> bool:
        """Return whether the words name the attribute that a fact states, as “how old I am” does, or a subject to which it
        belongs: the user, or facts of its kind, such as work for “my job”.
        """
        kind = compile_table(_TABLE, f"kinds.{fact.kind}", self.language)
        has_subject = self.kind is ForgetKind.EVERYTHING and (self.is_about_user or kind.search(self.what))
        return bool(has_subject or compile_table(_TABLE, f"keys.{fact.key}", self.language).fullmatch(self.what))

    def is_said_by(self, text: str) -> bool:
        """Return whether a sentence says what is to be forgotten, or one of its clauses. An own line is said nowhere else."""
        is_anywhere = self.kind is not ForgetKind.OWN_LINE and not self.is_about_user
        return is_anywhere and any(self._is_said(each, text) for each in self._statements)

    @cached_property
    def _statements(self) -> Sequence[str]:
        """The clauses of what is to be forgotten, each of which is a statement of its own."""
        what = compile_table(_TABLE, "filler", self.language).sub("", self.what)
        clauses = extract_clauses(what) if self.language == "en" else []
        return clauses if len(clauses) > 1 else [what]

    def is_named_in(self, text: str) -> bool:
        """Return whether a text has any word of what is to be forgotten, as a reply to the request may; in a script without
        spaces more than one pair of characters.
        """
        return len(self._words(self.what) & self._words(text)) > bool(SPACELESS.search(self.what))

    def _is_said(self, what: str, text: str) -> bool:
        """Return whether a sentence has all content words of a statement, and the same negation."""
        wanted, said = self._words(what), self._words(text)
        if SPACELESS.search(self.what):
            return len(wanted & said) >= MIN_PAIR_SHARE * len(wanted)
        is_inflected = self.language != "en" and all(any(_is_same(a, b) for b in said) for a in wanted)
        if not wanted or not (wanted <= said or is_inflected):
            return False
        others, speakers, about_others = (
            compile_table(_TABLE, key, self.language) for key in ("others", "speakers", "about_others")
        )
        # “I'm pregnant” is said neither by “My sister is pregnant” nor by “Ana is pregnant”, unless it names her as well.
        other = about_others.match(text)
        is_others = other is not None and fold(other[0].split()[-1]) not in fold(what).split()
        is_of_another = (others.match(what) and speakers.match(text)) or (speakers.match(what) and is_others)
        is_denied = compute_fingerprint(what).is_negated != compute_fingerprint(text).is_negated
        # A bare number says too little: “I'm 34”.
        is_number = all(map(str.isdigit, wanted)) and len(said - wanted) > MAX_WORDS_BESIDE_NUMBER
        return not (is_of_another or is_denied or is_number)

    def _words(self, text: str) -> frozenset[str]:
        """Return the content words of a text, or the pairs of characters of one in a script without spaces."""
        if SPACELESS.search(self.what):
            return frozenset(normalized_words(text))
        skipped = load_words("stop_words", self.language)
        return content_words(" ".join(word for word in fold(text).split() if word.strip(".,;:!?") not in skipped))


def find_forget_request(sentence: str) -> ForgetRequest | None:
    """Return the request that a sentence makes; None if it is a question, a report or anything else."""
    text = sentence.strip(" *()[]")
    if len(text) > MAX_LENGTH:
        return None
    for language in languages_with(f"{_TABLE}.toml"):
        if compile_table(_TABLE, "cue", language).search(text) and _may_ask(text, language):
            for kind, pattern in _patterns(language):
                if match := pattern.fullmatch(text):
                    return _build_request(kind, language, match.groupdict())
    return None


def regrets_statement(sentence: str) -> bool:
    """Return whether a sentence only regrets what was said before, as “I shouldn't have said that.”"""
    return len(sentence) <= MAX_LENGTH and any(
        pattern.fullmatch(sentence)
        for language in languages_with(f"{_TABLE}.toml")
        for pattern in _compile(language, "regrets")
    )


def _may_ask(text: str, language: str) -> bool:
    """Return whether a text is no quotation, no threat and no question, but for one that asks to do something."""
    is_refused = _QUOTED.match(text) or compile_table(_TABLE, "threat", language).search(text)
    return not is_refused and (text[-1:] not in {"?", "？"} or bool(compile_table(_TABLE, "asking", language).search(text)))


def _build_request(kind: ForgetKind, language: str, groups: Mapping[str, str | None]) -> ForgetRequest:
    table, what, rest = load_table(_TABLE, language), groups.get("what") or "", groups.get("rest") or ""
    boundary = re.search(table.get("new_clause", "(?!)"), what, re.IGNORECASE)
    if boundary and boundary.start() and kind is not ForgetKind.OWN_LINE:
        what, rest = what[: boundary.start()], what[boundary.end() :]
    what = re.sub(table.get("said", "(?!)"), "", what, flags=re.IGNORECASE)
    return ForgetRequest(kind, language, what.strip(" ,;:"), rest.strip(" ,;:"))


@cache
def _patterns(language: str) -> Sequence[tuple[ForgetKind, re.Pattern[str]]]:
    """Return the patterns of whole sentences with their kinds, the more special ones first."""
    kinds = {
        "everything": (ForgetKind.EVERYTHING, ""),
        "line_alone": (ForgetKind.LINE_BEFORE, ""),
        "own": (ForgetKind.OWN_LINE, r"\s*[,;:–—]\s*(?P<what>\S.*)"),
        "line": (ForgetKind.LINE_BEFORE, r"\s*[,;:–—]\s*(?P<rest>\S.*)"),
        "statement": (ForgetKind.STATEMENT, ""),
    }
    return [(kind, pattern) for key, (kind, rest) in kinds.items() for pattern in _compile(language, key, rest)]


@cache
def _compile(language: str, key: str, rest: str = "") -> Sequence[re.Pattern[str]]:
    """Return the patterns under a key of a table for whole sentences, which `rest` may follow."""
    table = load_table(_TABLE, language)
    gap = _SPACE + ("+" if table.get("whole_words", True) else "*")
    start = rf"\W*(?:(?:{alternatives(table['opening'])}){gap})*"
    closing = rf"(?:{_SPACE}*(?:{alternatives(table['closing'])})(?!\w))*"
    return [
        re.compile(rf"{start}(?:{_expand(entry, table)}){closing}(?:{_END}{rest and '|'}{rest})", re.IGNORECASE)
        for entry in table.get(key, ())
    ]


def _expand(entry: str | Sequence[str], table: Mapping[str, str | Sequence[str]]) -> str:
    """Return a pattern with those that it names, in which what is to be forgotten leaves its end to the closing."""
    pattern = entry if isinstance(entry, str) else alternatives(entry)
    named = _NAMED.sub(lambda name: f"(?:{_expand(table[name[1].lower()], table)})", pattern)
    return named.replace(".+)", ".+?)").replace(".*)", ".*?)")


def _is_same(one: str, other: str) -> bool:
    """Return whether two words are equal or seem to be inflected forms of one word."""
    return one == other or _common_length(one, other) >= max(MIN_COMMON_LETTERS, max(len(one), len(other)) - 2)


def _is_related(one: str, other: str) -> bool:
    longer = max(len(one), len(other))
    return one == other or _common_length(one, other) >= max(MIN_RELATED_LETTERS, MIN_RELATED_SHARE * longer)


def _common_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
