"""Checks of an entry's keys: keys that would match nearly every message, keys that can never match, and conflicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from uuid import UUID

from lethe_app.brain.lore.keyword_matcher import Keyword, KeywordMatcher, fold_keyword
from lethe_app.brain.lore.regex_keywords import parse_expression
from lethe_app.brain.vocabulary.normalize import CHARACTER_KINDS, CharacterKind
from lethe_app.domain.clock import now
from lethe_app.domain.memory import WordLink
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.prompt.macros import unknown_macros
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import SPACELESS

MIN_MESSAGES = 8
"""Minimum number of messages for which the share of matching messages is computed."""
FREQUENT_SHARE = 0.4
"""Share of the user's messages from which a matching key is reported."""
BLOCKING_LINKS = frozenset({WordLink.NOT, WordLink.NOT_ALL})
"""Links with which a matching secondary key blocks the entry."""
SHORT_KEY_LETTERS = 3
"""Maximum letters of a key that is reported as too short if it need not be a whole word."""


class KeyProblem(StrEnum):
    """Problem of a key or an entry."""

    BROKEN = "broken"
    """Invalid regular expression."""
    NEVER = "never"
    """The key has no character that could match."""
    PUNCTUATION = "punctuation"
    """The key consists of punctuation only, which matches wherever it occurs."""
    FREQUENT = "frequent"
    """The key matches many of the user's own messages."""
    COMMON = "common"
    """The key matches nearly every message."""
    SHORT = "short"
    """The key has only a few letters, which occur inside many words."""
    DUPLICATE = "duplicate"
    """Another entry has the same key."""
    NO_KEYS = "no_keys"
    """The entry has no key and is not constant."""
    BLOCKED = "blocked"
    """Wherever the key matches, a secondary key matches too and blocks the entry."""
    ONLY_EXCLUSIONS = "only_exclusions"
    """The entry has no primary key: its only condition is that secondary keys are absent."""
    ZERO_PROBABILITY = "zero_probability"
    """The entry's probability is 0."""
    MACRO = "macro"
    """The entry's text contains an unknown macro."""
    EXPIRED = "expired"
    """The entry's end time has passed."""


INEFFECTIVE_PROBLEMS = frozenset({KeyProblem.BROKEN, KeyProblem.NEVER, KeyProblem.BLOCKED})
"""Problems with which a key never has an effect."""
ORDINARY_MESSAGES = (
    "Hello! How are you today?",
    "I don't know what you mean.",
    "*nods slowly* All right, let's go.",
    "Where did you get that?",
    "No, not yet. Maybe tomorrow morning.",
    "Tell me more about your family, please.",
    "She looked at the door and said nothing.",
    "Ok",
)
"""Ordinary messages: a regular expression that matches at least half of them matches nearly every message."""


@dataclass(frozen=True)
class KeyIssue:
    """Problem found by `check_entry`; `key` is empty if it concerns the whole entry."""

    problem: KeyProblem
    key: str = ""
    detail: str = ""
    """The syntax error, the conflicting key, the unknown macro, or the name of the other entry."""
    share: float = 0.0


@dataclass(frozen=True)
class WorldKeyIndex:
    """Entries of a world by normalised primary key; built once per version of the world."""

    entries: Mapping[str, Sequence[tuple[UUID, str]]] = field(default_factory=dict)

    @classmethod
    def build(cls, world: World) -> WorldKeyIndex:
        entries_by_key: defaultdict[str, list[tuple[UUID, str]]] = defaultdict(list)
        for entry in world.entries:
            for key in entry.keywords_main:
                entries_by_key[_normalize_key(key)].append((entry.guid, entry.name))
        return cls(entries_by_key)


def check_entry(entry: WorldEntry, index: WorldKeyIndex, user_messages: Sequence[str] = ()) -> list[KeyIssue]:
    """Return the problems of an entry and its keys. `user_messages` are messages of the user, with which the keys' frequency is
    measured.
    """
    issues = list(_check_entry_fields(entry))
    if not entry.keywords_main and not entry.keywords_secondary and not entry.sticky:
        return [*issues, KeyIssue(KeyProblem.NO_KEYS)]
    keys = [key for key in dict.fromkeys((*entry.keywords_main, *entry.keywords_secondary)) if key.strip()]
    keywords = [Keyword(key.strip(), entry.whole_word, entry.case_sensitive) for key in keys]
    matcher = KeywordMatcher(keywords)
    matches = matcher.find(user_messages) if len(user_messages) >= MIN_MESSAGES else []
    for number, key in enumerate(keys):
        share = sum(number in matched_numbers for matched_numbers in matches) / len(matches) if matches else 0.0
        issue = _check_key(key, entry, matcher.problems.get(number, ""), share)
        if issue is None and key in entry.keywords_main:
            others = [name for guid, name in index.entries.get(_normalize_key(key), ()) if guid != entry.guid]
            issue = KeyIssue(KeyProblem.DUPLICATE, key, others[0]) if others else None
        issues += [issue] if issue is not None else []
    return issues


def find_regex_error(key: str) -> str:
    """Return why a key of the form `/pattern/flags` is invalid; empty if it is valid or not a regular expression."""
    if parse_expression(key.strip()) is None:
        return "has no closing slash" if key.strip().startswith("/") and key.count("/") == 1 else ""
    return KeywordMatcher([Keyword(key.strip())]).problems.get(0, "")


def _check_entry_fields(entry: WorldEntry) -> Iterator[KeyIssue]:
    """Yield the problems that do not depend on a single key."""
    for macro in unknown_macros(entry.content) if "{{" in entry.content else ():
        yield KeyIssue(KeyProblem.MACRO, detail=macro)
    if entry.trigger_chance <= 0:
        yield KeyIssue(KeyProblem.ZERO_PROBABILITY)
    if entry.end_time is not None and entry.end_time <= now():
        yield KeyIssue(KeyProblem.EXPIRED)
    if not entry.keywords_main and not entry.sticky and entry.word_link in BLOCKING_LINKS:
        yield KeyIssue(KeyProblem.ONLY_EXCLUSIONS)


def _find_blocking_key(key: str, entry: WorldEntry) -> str:
    """Return the secondary key that matches wherever this key matches and blocks the entry; empty if there is none."""
    secondary_keys = [secondary_key for secondary_key in entry.keywords_secondary if secondary_key.strip()]
    if entry.word_link not in BLOCKING_LINKS or not secondary_keys or parse_expression(key.strip()) is not None:
        return ""
    matched = KeywordMatcher(
        [Keyword(secondary_key.strip(), entry.whole_word, entry.case_sensitive) for secondary_key in secondary_keys]
    ).find([key])[0]
    is_blocked = bool(matched) if entry.word_link is WordLink.NOT else len(matched) == len(secondary_keys)
    return secondary_keys[min(matched)] if is_blocked else ""


def _matches_ordinary_messages(key: str) -> bool:
    matches = KeywordMatcher([Keyword(key.strip())]).find(ORDINARY_MESSAGES)
    return 2 * sum(map(bool, matches)) >= len(matches)


def _check_key(key: str, entry: WorldEntry, problem: str, share: float) -> KeyIssue | None:
    is_expression = parse_expression(key.strip()) is not None
    normalized = fold_keyword(key, keep_case=entry.case_sensitive)
    is_main = key in entry.keywords_main
    issue: KeyIssue | None = None
    if problem:
        # Ordered by severity: only the first problem of a key is reported.
        issue = KeyIssue(KeyProblem.BROKEN, key, problem)
    elif not normalized:
        issue = KeyIssue(KeyProblem.NEVER, key)
    elif is_main and (blocking_key := _find_blocking_key(key, entry)):
        issue = KeyIssue(KeyProblem.BLOCKED, key, blocking_key)
    elif is_main and share >= FREQUENT_SHARE:
        issue = KeyIssue(KeyProblem.FREQUENT, key, share=share)
    elif is_expression and is_main and _matches_ordinary_messages(key):
        issue = KeyIssue(KeyProblem.COMMON, key)
    elif is_expression or "{{" in key or not is_main:
        issue = None
    elif not any(character.isalnum() for character in normalized):
        issue = KeyIssue(KeyProblem.PUNCTUATION, key)
    elif normalized.casefold() in STOP_WORDS and not entry.case_sensitive:
        issue = KeyIssue(KeyProblem.COMMON, key)
    elif _is_in_many_words(normalized, entry):
        issue = KeyIssue(KeyProblem.SHORT, key)
    return issue


def _is_in_many_words(normalized: str, entry: WorldEntry) -> bool:
    """Return whether the key is a single letter as a whole word, or a few letters anywhere; not in scripts that write words
    with one or two characters.
    """
    if SPACELESS.search(normalized) or any(CHARACTER_KINDS[character] is CharacterKind.HANGUL for character in normalized):
        return False
    return len(normalized) == 1 if entry.whole_word else len(normalized) <= SHORT_KEY_LETTERS


@lru_cache(65_536)
def _normalize_key(key: str) -> str:
    return fold_keyword(key, keep_case=False)
