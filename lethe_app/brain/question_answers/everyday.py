"""Completion of answers to everyday questions: “Any pets?” – “nope never had one”, “What do you play?” – “the banjo”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

from lethe_app.brain.people.noun_phrases import spelled
from lethe_app.brain.question_answers import patterns as asking
from lethe_app.brain.question_answers.answer_kinds import MINE, made
from lethe_app.brain.text.sentences import sentences, strip
from lethe_app.brain.text.utterance import Utterance

_COMPILED = [(re.compile(rf"(?:{pattern})\Z", re.IGNORECASE), kind, full, key) for pattern, kind, full, key in asking.QUESTIONS]
_BACK = 3
"""Number of messages back among which the question of an answer is searched."""
_ASKED_LAST = 3
"""Number of sentences at the end of a message among which its questions are searched."""
_FILLED = re.compile(
    r"(?:,? (?:then|by the way|these days|at the moment|right now|exactly|again|if I may(?: ask)?|if you don't mind(?: "
    r"me asking)?|"
    r"my dear|dear|friend|traveller|stranger|lass|lad|love|now|though|anyway|actually)|, [A-Z]\w+)$"
)
_ASKS = re.compile(r"(?:what|where|who|when|how|which|do|are|have|did|any|got|is|been)\b", re.IGNORECASE)
_PAST = {
    "begin": "began",
    "leave": "left",
    "quit": "quit",
    "get married": "got married",
    "lose": "lost",
    "buy": "bought",
    "start": "started",
    "finish": "finished",
    "stop": "stopped",
}
_SEX = {
    "he": re.compile(r"(?:mother|mum|mom|mam|daughter|sister|wife|girlfriend|niece|aunt|auntie|girl|gran|granny|nan|nani)$"),
    "she": re.compile(r"(?:father|dad|son|brother|husband|boyfriend|nephew|uncle|boy|grandad|lad)$"),
}
"""Relatives to whom the pronoun cannot refer."""


def read(lines: Sequence[Utterance], place: int) -> list[tuple[UUID, str, str]]:
    """Return the statements of the message at an index as an answer, each as the id of the question's message, a clause and
    its key.
    """
    name = lines[place].name
    asked = next((other for other in reversed(lines[max(0, place - _BACK) : place]) if other.name != name), None)
    if asked is None:
        return []
    before = " ".join(other.text for other in lines[max(0, place - 5) : place] if other.name == name)
    return [(asked.id, clause, key) for clause, key in complete(asked.text, lines[place].text, before)]


def complete(question: str, answer: str, before: str = "") -> list[tuple[str, str]]:
    """Return the statements an answer makes together with the question before it, as first-person clauses with their keys.

    `question` and `answer` are whole messages of two speakers; `before` is the answerer's previous text.
    """
    pieces = [spelled(strip(part)) for part in sentences(answer)[:3] if not part.endswith("?")]
    whole = " ".join(sentences(answer)[:1])
    if not pieces:
        return []
    for asked in _questions(question):
        for pattern, kind, full, key in _COMPILED:
            if found := pattern.match(asked):
                named = {name: (value or "").lower() for name, value in found.groupdict().items()}
                if "whose" in named and not (whose := _whose(found["whose"], before)):
                    continue
                if "whose" in named:
                    named["whose"] = whose
                if answered := made(kind, pieces, whole, asked, before, named):
                    return [_filled(one, full, key, named) for one in answered]
    return []


def _questions(message: str) -> list[str]:
    """Return the questions at the end of a message with and without fillers, the last first; for “So, where …” also “where
    …”.
    """
    found = []
    for part in reversed(sentences(message)[-_ASKED_LAST:]):
        if not part.endswith("?"):
            continue
        bare = part.strip(" ?!.,")
        found.append(bare)
        found.append(_FILLED.sub("", bare))
        tail = bare.rsplit(", ", 1)[-1]
        if tail != bare and _ASKS.match(tail):
            found.append(_FILLED.sub("", tail))
        found.append(strip(bare))
    return list(dict.fromkeys(found))


def _filled(answer: str | tuple[str, str], full: str, key: str, named: dict[str, str]) -> tuple[str, str]:
    """Return the full sentence of a pattern with its answer, and its key. An answer that is a clause already is returned
    unchanged.
    """
    if isinstance(answer, tuple):
        return answer
    what = named.get("what", "")
    if "past" in named:
        named = {**named, "verb": _past(named["past"])}
    text = full.format(
        whose=named.get("whose", ""),
        name=named.get("name", ""),
        answer=answer,
        verb=named.get("verb", ""),
        rest=named.get("rest", ""),
        what=what,
        work=answer,
    )
    return text, key.format(what=what, answer=answer)


def _past(verb: str) -> str:
    return _PAST.get(verb) or (f"{verb}d" if verb.endswith("e") else f"{verb[:-1]}ied" if verb.endswith("y") else f"{verb}ed")


def _whose(who: str, before: str) -> str:
    """Return whom “he” or “your son” refers to: the relative the speaker mentioned last, or a name; empty if unknown."""
    if who.lower().startswith("your "):
        return f"my {who[5:].lower()}"
    if who.lower() not in {"he", "she", "it", "they"}:
        return who
    spoken = list(MINE.finditer(before.lower()))
    fits = [
        found["who"]
        for found in spoken
        if not found["who"].endswith("s") and (who.lower() not in _SEX or not _SEX[who.lower()].search(found["who"]))
    ]
    return f"my {fits[-1]}" if fits else ""
