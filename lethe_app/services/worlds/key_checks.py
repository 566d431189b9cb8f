"""Looks over an entry's keys before they disappoint: those that are nearly always said, and those that never can be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from uuid import UUID

from lethe_app.brain.lore.keyword_matcher import Keyword, KeywordMatcher
from lethe_app.brain.lore.regex_keywords import read_expression
from lethe_app.brain.vocabulary.normalize import KINDS, CharacterKind, fold
from lethe_app.domain.clock import now
from lethe_app.domain.memory import WordLink
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.prompt.macros import unknown_macros
from lethe_app.retrieval.query_terms import SPACELESS, STOP_WORDS

ENOUGH = 8
"""Messages from which on it means something how many of them have a word."""
OFTEN = 0.4
"""Share of the user's messages in which a key may stand before it is told."""
HOLDING = frozenset({WordLink.NOT, WordLink.NOT_ALL})
"""With these the other keys keep an entry asleep."""
SHORT = 3
"""Letters up to which a key that need not be a whole word is in many a word."""


class KeyProblem(StrEnum):
    """What is wrong with a key."""

    BROKEN = "broken"
    """A regular expression that cannot be read."""
    NEVER = "never"
    """There is nothing in it that could be found."""
    SIGNS = "signs"
    """Only punctuation, which is found wherever it stands."""
    OFTEN = "often"
    """In many of the user's own messages."""
    COMMON = "common"
    """A word that nearly every message has."""
    SHORT = "short"
    """A few letters that are inside many a word."""
    TWIN = "twin"
    """Another entry has it too."""
    KEYLESS = "keyless"
    """No key at all, and not constant."""
    HELD = "held"
    """Where it is said, another key is said too, and keeps the entry asleep."""
    ABSENT = "absent"
    """The entry waits for nothing but that something is not said."""
    LUCKLESS = "luckless"
    """It comes in none of a hundred cases."""
    MACRO = "macro"
    """What stands in braces in its text means nothing."""
    OVER = "over"
    """Its days have passed."""


HOPELESS = frozenset({KeyProblem.BROKEN, KeyProblem.NEVER, KeyProblem.HELD})
"""With these a key never does anything."""
ORDINARY = (
    "Hello! How are you today?",
    "I don't know what you mean.",
    "*nods slowly* All right, let's go.",
    "Where did you get that?",
    "No, not yet. Maybe tomorrow morning.",
    "Tell me more about your family, please.",
    "She looked at the door and said nothing.",
    "Ok",
)
"""What anybody might say: an expression that is found in half of it is found nearly everywhere."""


@dataclass(frozen=True)
class KeyIssue:
    """One thing to look at; `key` is empty where it concerns the entry as a whole."""

    trouble: KeyProblem
    key: str = ""
    detail: str = ""
    """What is broken, or the name of the other entry."""
    share: float = 0.0


@dataclass(frozen=True)
class Index:
    """Who has which key, for a whole world; made once per version of it."""

    entries: Mapping[str, Sequence[tuple[UUID, str]]] = field(default_factory=dict)

    @classmethod
    def build(cls, world: World) -> Index:
        found: defaultdict[str, list[tuple[UUID, str]]] = defaultdict(list)
        for entry in world.entries:
            for key in entry.keywords_main:
                found[_folded(key)].append((entry.guid, entry.name))
        return cls(found)


def check(entry: WorldEntry, index: Index, said: Sequence[str] = ()) -> list[KeyIssue]:
    """What a person should know about the keys of an entry; `said` are messages of theirs, by which keys are measured."""
    findings = list(_of_entry(entry))
    if not entry.keywords_main and not entry.keywords_secondary and not entry.sticky:
        return [*findings, KeyIssue(KeyProblem.KEYLESS)]
    keys = [key for key in dict.fromkeys((*entry.keywords_main, *entry.keywords_secondary)) if key.strip()]
    wanted = [Keyword(key.strip(), entry.whole_word, entry.case_sensitive) for key in keys]
    looked_for = KeywordMatcher(wanted)
    heard = looked_for.find(said) if len(said) >= ENOUGH else []
    for number, key in enumerate(keys):
        share = sum(number in found for found in heard) / len(heard) if heard else 0.0
        finding = _of_key(key, entry, looked_for.problems.get(number, ""), share)
        if finding is None and key in entry.keywords_main:
            finding = _shared(key, entry, index)
        findings += [finding] if finding is not None else []
    return findings


def objection_to(key: str) -> str:
    """Why a key written as `/pattern/flags` can never be found, while it is typed; nothing for any other."""
    if read_expression(key.strip()) is None:
        return "misses its closing slash" if key.strip().startswith("/") and key.count("/") == 1 else ""
    return KeywordMatcher([Keyword(key.strip())]).problems.get(0, "")


def _of_entry(entry: WorldEntry) -> Iterator[KeyIssue]:
    """What is wrong with it whatever its keys are."""
    for macro in unknown_macros(entry.content) if "{{" in entry.content else ():
        yield KeyIssue(KeyProblem.MACRO, detail=macro)
    if entry.trigger_chance <= 0:
        yield KeyIssue(KeyProblem.LUCKLESS)
    if entry.end_time is not None and entry.end_time <= now():
        yield KeyIssue(KeyProblem.OVER)
    if not entry.keywords_main and not entry.sticky and entry.word_link in HOLDING:
        yield KeyIssue(KeyProblem.ABSENT)


def _holder(key: str, entry: WorldEntry) -> str:
    """The other key that is said wherever this one is, and keeps the entry asleep; empty where there is none."""
    others = [one for one in entry.keywords_secondary if one.strip()]
    if entry.word_link not in HOLDING or not others or read_expression(key.strip()) is not None:
        return ""
    said = KeywordMatcher([Keyword(one.strip(), entry.whole_word, entry.case_sensitive) for one in others]).find([key])[0]
    is_held = bool(said) if entry.word_link is WordLink.NOT else len(said) == len(others)
    return others[min(said)] if is_held else ""


def _is_everywhere(key: str) -> bool:
    found = KeywordMatcher([Keyword(key.strip())]).find(ORDINARY)
    return 2 * sum(map(bool, found)) >= len(found)


def _of_key(key: str, entry: WorldEntry, problem: str, share: float) -> KeyIssue | None:
    is_expression = read_expression(key.strip()) is not None
    folded = fold(key, keep_case=entry.case_sensitive)
    is_main = key in entry.keywords_main
    found: KeyIssue | None = None
    if problem:
        found = KeyIssue(KeyProblem.BROKEN, key, problem)
    elif not folded:
        found = KeyIssue(KeyProblem.NEVER, key)
    elif is_main and (holder := _holder(key, entry)):
        found = KeyIssue(KeyProblem.HELD, key, holder)
    elif is_main and share >= OFTEN:
        found = KeyIssue(KeyProblem.OFTEN, key, share=share)
    elif is_expression and is_main and _is_everywhere(key):
        found = KeyIssue(KeyProblem.COMMON, key)
    elif is_expression or "{{" in key or not is_main:
        found = None
    elif not any(character.isalnum() for character in folded):
        found = KeyIssue(KeyProblem.SIGNS, key)
    elif folded.casefold() in STOP_WORDS and not entry.case_sensitive:
        found = KeyIssue(KeyProblem.COMMON, key)
    elif _is_in_many_words(folded, entry):
        found = KeyIssue(KeyProblem.SHORT, key)
    return found


def _is_in_many_words(folded: str, entry: WorldEntry) -> bool:
    """A single letter as a word, or a few letters anywhere; in scripts without spaces a sign or two are a word."""
    if SPACELESS.search(folded) or any(KINDS[character] is CharacterKind.HANGUL for character in folded):
        return False
    return len(folded) == 1 if entry.whole_word else len(folded) <= SHORT


def _shared(key: str, entry: WorldEntry, index: Index) -> KeyIssue | None:
    others = [name for guid, name in index.entries.get(_folded(key), ()) if guid != entry.guid]
    return KeyIssue(KeyProblem.TWIN, key, others[0]) if others else None


@lru_cache(65_536)
def _folded(key: str) -> str:
    return fold(key, keep_case=False)
