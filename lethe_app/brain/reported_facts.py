"""Puts the facts that a conversation states into the lines of its summary."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lethe_app.brain.gist import content_words
from lethe_app.brain.quotable import Sentence, name_of, split_sentences, words
from lethe_app.brain.quoting import LONGEST, shorten
from lethe_app.brain.retelling import leans, retell_all, unrepeated, without_pictograms
from lethe_app.brain.said import Said
from lethe_app.brain.statements import Statement, extract
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind

LESSER = 0.6
"""What tastes, and facts of no kind, count in a summary against the others."""
VAGUE = 0.4
"""What a fact counts that begins with a pronoun, or is told in hardly any words."""
FEWEST_QUOTED = 2
"""Content words of an answer by which it is worth its question."""
FEWEST = 3
"""Content words without the speaker's name, from which a fact says something by itself."""
_QUOTED = re.compile(r"[^“”]+? said(?: on [^:“”]+)?: “(?P<quote>[^“”]+)”")
"""A fact told in its speaker's own words alone."""
_NAMED = re.compile(r".+ (?:is|are) called (?P<names>.+)\.")
_LAST_QUOTED = re.compile(r'"(?P<said>[^"]*)"$')
_ENDS = re.compile(r"[.!?…](?= )")
_PLAIN_QUOTES = str.maketrans('“”"', '""\'')
_POINTS = re.compile(
    r"\b(?:this|these|those)\b(?! (?:week|month|year|summer|winter|spring|autumn|morning|evening|time|is|was))"
)
_LIGHT = frozenset({FactKind.TASTE, FactKind.OTHER})


@dataclass(frozen=True, slots=True)
class ReportedFact:
    """A fact about the user as a line of a summary."""

    text: str
    speaker: str
    lines: frozenset[int]
    """Places of the messages that state it."""
    words: frozenset[str]
    """Stems of its content words, without the speaker's name."""
    kind: FactKind
    weight: float
    """What it counts against other facts, up to 1."""


def reported_facts(lines: Sequence[Said]) -> list[ReportedFact]:
    """Return what a conversation states about its user and still holds at its end, in the order in which it was said.

    What is said in character, what another fact says with all its words, and names that another fact tells too are left out.
    """
    places = {line.id: place for place, line in enumerate(lines)}
    users = {line.name: name_of(line) for line in lines if line.role is Role.USER}
    found = [one for one in extract(lines) if one.subject in users and not one.in_story]
    ended = {text for one in found for text in one.ends}
    kept = _with_new_names([one for one in found if one.text not in ended])
    others = frozenset(line.name for line in lines) - users.keys()
    stems = [content_words(one.text) - content_words(f"{one.subject} said asked called") for one in kept]
    return [
        _reported(one, users[one.subject], frozenset(places[message] for message in one.messages), stems[place], others)
        for place, one in enumerate(kept)
        if not any(stems[place] < other or (stems[place] == other and place > index) for index, other in enumerate(stems))
    ]


def _with_new_names(facts: Sequence[Statement]) -> list[Statement]:
    """Return the facts without those that only tell a name which another one tells."""
    texts = [one.text for one in facts]
    return [one for one in facts if not (named := _NAMED.fullmatch(one.text)) or _is_new(named["names"], one.text, texts)]


def _is_new(names: str, text: str, texts: Sequence[str]) -> bool:
    return any(not any(name in other for other in texts if other != text) for name in re.findall(r"[^\W\d_]{2,}", names))


def _reported(
    fact: Statement, name: str, lines: frozenset[int], stems: frozenset[str], others: Collection[str]
) -> ReportedFact:
    text = without_pictograms(_worded(fact))
    for other in others:
        text = re.sub(rf",? {re.escape(other)}\.$", ".", text)
    weight = LESSER if fact.kind in _LIGHT else 1.0
    if leans(text) or len(stems) < FEWEST or _POINTS.search(text) or _says_little(text):
        weight = min(weight, VAGUE)
    return ReportedFact(text, name, lines, stems, fact.kind, weight)


def _says_little(text: str) -> bool:
    """Return whether what is quoted last is a word or two, or breaks off."""
    quoted = _LAST_QUOTED.search(text)
    return quoted is not None and (quoted["said"].endswith("…") or len(content_words(quoted["said"])) < FEWEST_QUOTED)


def _worded(fact: Statement) -> str:
    """Return the fact in the third person where all of its quotation can be told so, and else in few sentences of it."""
    found = _QUOTED.fullmatch(fact.text)
    if found:
        said = [_sentence(fact.subject, text) for text in split_sentences(found["quote"])]
        if (told := retell_all(said)) and len(told) <= LONGEST:
            return told
    if "“" not in fact.text:
        return unrepeated(fact.text, fact.subject)
    text = _shortened(fact.text).translate(_PLAIN_QUOTES).replace(' said: "', ' said, "')
    return text[:1].upper() + text[1:]


def _shortened(text: str) -> str:
    """Return a quotation without its last sentences where it is long."""
    if len(text) <= LONGEST:
        return text
    ends = [found.end() for found in _ENDS.finditer(text, text.rindex("“"), LONGEST)]
    return f"{text[: ends[-1]]}”" if ends else f"{shorten(text, LONGEST)}”"


def _sentence(name: str, text: str) -> Sentence:
    return Sentence(0, name, Role.USER, text, words(text), narrates=False, asks=text.rstrip().endswith("?"))
