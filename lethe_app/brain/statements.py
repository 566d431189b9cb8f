"""Takes facts from a conversation by rules alone, for when no model can be trusted with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from lethe_app.brain import dating, short_answers
from lethe_app.brain.kinds import ANIMALS, RELATIVES
from lethe_app.brain.lasting import judge
from lethe_app.brain.pronouns import Spoken, mentioned, presented, spell_out
from lethe_app.brain.said import Said
from lethe_app.brain.sentences import clauses, sentences
from lethe_app.brain.third_person import possessive, rewrite
from lethe_app.domain.facts import FactKind
from lethe_app.retrieval.when import WEEKDAYS
from lethe_app.retrieval.words import cut, fold

LONGEST_MESSAGE = 4000
"""Characters of a message that are read; beyond lie pasted texts."""
_NAMED = re.compile(
    rf"\b[Mm]y (?P<who>(?:(?:older|younger|big|little|elder|twin|late|oldest|youngest|eldest) )?(?:{RELATIVES}|"
    rf"{ANIMALS})),? (?P<name>[A-Z][a-zà-öø-ÿ]+)\b(?! (?:and|or|&)\b)"
)
_NOT_NAMES = frozenset({"i", "and", "or", "who", "is", "was", "god", *WEEKDAYS})
_UNREAL = re.compile(r"(?:if|when|imagine|suppose|let's say|what if|pretend)\b", re.IGNORECASE)
_TELLING = re.compile(r"\b(?:I|my|me|we|our|he|she|her|his|him)\b|\bThe \w+ (?:is|will be|starts)\b", re.IGNORECASE)
_WORK = re.compile(
    r"^I(?:'m| am|'ve been| have been| work)?(?: working)? (?P<how>(?:as|at|for|in) .+|(?P<what>an? .+))", re.IGNORECASE
)
_NEARBY = 3
"""Messages back to the speaker's last one, in which somebody may have been named whom “she” means now."""
_BIRTHDAY = re.compile(r"(?:it's|it is|today is|today's) my (?:\w+ )?birthday(?P<when> today| tomorrow)?\Z", re.IGNORECASE)
_NEARLY_SILENT = re.compile(
    r"^(?P<kept>(?:I(?:'\w+)?|my \w+)(?: (?:am|have|do|don't|do not|can't|can))?) (?:just|actually|also|really|honestly|"
    r"literally|definitely|totally|truly|even|absolutely|simply|recently|currently|kind of|now)\b(?: (?:just|also|really|"
    r"even))?",
    re.IGNORECASE,
)
_EMPHATIC = re.compile(
    r"^(?P<kept>I) do(?= (?:have|like|love|enjoy|own|play|live|work|speak|collect|believe|hate|eat|drink)\b)"
)
_WITH_MINE = re.compile(r"\bmy (?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|family)\b", re.IGNORECASE)
_OUR_COUNTED = re.compile(r"\bour (?=\d|two\b|three\b|four\b|five\b|six\b)", re.IGNORECASE)
_HERE = re.compile(r" here(?= from)")
_OF_US = re.compile(
    r"^(?:we(?:'re| are|'ve| have| got)?(?= (?:getting married|expecting a|engaged|been (?:together|married|engaged)|"
    r"got married|married in|moved to (?!the (?:couch|sofa|other|next)\b)|adopted an?|bought an? (?:\w+ )?(?:house|"
    r"flat|boat|farm|cottage|car|van)|(?:two|three|four|five|six) (?:\w+ )?(?:kids|children|daughters|sons|cats|dogs)))|"
    r"we(?= have (?:two|three|four|five|six|an?) (?:\w+ )?(?:kids|children|daughters?|sons?|cats?|dogs?))|"
    r"our(?= (?:wedding|honeymoon|anniversary) (?:is|was) ))",
    re.IGNORECASE,
)
_ALONE = {"our": "my", "we": "I", "we're": "I'm", "we are": "I am", "we've": "I've", "we have": "I have", "we got": "I got"}


@dataclass(frozen=True)
class Statement:
    """One lasting thing somebody said of themselves, as a sentence about them that stands alone."""

    text: str
    """Third person, one sentence, with a full stop."""
    subject: str
    """The speaker's name."""
    messages: tuple[UUID, ...]
    """The message that says it; for an answer its question first."""
    time: datetime
    key: str = ""
    """The attribute it states, such as “home”: newer statements of the same subject and key supersede it; empty if they
    stand side by side."""
    kind: FactKind = FactKind.OTHER
    in_story: bool = False
    """It was said in character: a fact of this conversation's story only."""
    ends: tuple[str, ...] = ()
    """What no longer holds because of it, as sentences in the third person, such as “Tomas wants to run Berlin.”; whoever
    stores facts supersedes the known ones that say so."""


def extract(lines: Sequence[Said]) -> list[Statement]:
    """Lasting statements of both speakers about themselves, in the order in which they were made, each but once.

    English only: other languages yield nothing. Questions, hedges, moods of the moment, actions between asterisks, quotations
    and whatever cannot be read without its neighbours are passed over.
    """
    found: dict[str, Statement] = {}
    spoken: dict[str, tuple[int, list[Spoken]]] = {}
    for place, line in enumerate(lines):
        since, before = spoken.get(line.name, (max(-1, place - 2), []))
        if place - since > _NEARBY:
            before = []
        told = [one for other in lines[since + 1 : place] for one in mentioned(other.text, other.id, by_other=True)]
        here: list[Spoken] = []
        spoken[line.name] = (place, here)
        for statement in _of_line(lines, place, here, (*before, *told)):
            same = " ".join(sorted(map(fold, cut(statement.text))))
            if same in found:  # said again: the first wording stays, with both messages
                earlier = found[same]
                found[same] = replace(earlier, messages=tuple(dict.fromkeys((*earlier.messages, *statement.messages))))
            elif line.name:
                found[same] = statement
    return list(found.values())


def _of_line(lines: Sequence[Said], place: int, here: list[Spoken], before: Sequence[Spoken]) -> Iterator[Statement]:
    line = lines[place]
    own = list(_of_message(line, here, before))
    answered = _answered(lines, place)
    if answered and not any(answered.key and answered.key == statement.key for statement in own):
        own.insert(0, answered)
    yield from own
    yield from _names(line, own)


def _of_message(line: Said, here: list[Spoken], before: Sequence[Spoken]) -> Iterator[Statement]:
    """Sentence by sentence; `here` becomes those spoken of in it, `before` are those spoken of just before it."""
    parts = sentences(line.text[:LONGEST_MESSAGE])
    for number, sentence in enumerate(parts):
        if _UNREAL.match(sentence):
            here.append(Spoken("", "she or he", line.id))
            continue
        if sentence.endswith("?") or not _TELLING.search(sentence):
            here += mentioned(sentence, line.id)
            continue
        for part in clauses(sentence):
            clause, one = spell_out(part, here, before)
            here += mentioned(part, line.id)
            if one:
                here.append(one)
            yield from _of_clause(clause, line, here, *([one.source] if one and one.source != line.id else []))
        if number + 1 < len(parts) and (name := presented(sentence, parts[number + 1])):
            yield from _stated(name, f"{name.split()[1]} name", line)


def _of_clause(part: str, line: Said, here: list[Spoken], *more: UUID) -> Iterator[Statement]:
    counted = _OUR_COUNTED.sub("", part) if _WITH_MINE.search(part) else part  # “with my wife and our three dogs”
    clause = _HERE.sub("", _OF_US.sub(lambda found: _ALONE[found[0].lower()], counted))
    if birthday := _BIRTHDAY.match(clause):
        yield from _stated(f"my birthday is on {_day(birthday, line.time)}", "birthday", line)
    elif rule := judge(clause):
        if rule.key == "job" and (work := _WORK.match(clause)):
            here.append(Spoken(f"as {work['what']}" if work["what"] else work["how"], "work", line.id))
        yield from _stated(dating.resolve(clause, line.time.date(), event=rule.event), rule.key, line, *more)


def _day(found: re.Match[str], said: datetime) -> str:
    """Day and month, without a year."""
    words = dating.resolve((found["when"] or " today").strip(), said.date())
    return words.removeprefix("on ").rsplit(" ", 1)[0]


def _stated(clause: str, key: str, line: Said, *more: UUID) -> Iterator[Statement]:
    if key == "name" and fold(line.name) in fold(clause):
        return  # “Tomas's name is Tomas” tells nobody anything
    clause = _EMPHATIC.sub(r"\g<kept>", _NEARLY_SILENT.sub(r"\g<kept>", clause))
    if dating.MOVING.search(clause):
        return
    if text := rewrite(clause, line.name, ""):
        yield Statement(text, line.name, (*more, line.id), line.time, key)


def _answered(lines: Sequence[Said], place: int) -> Statement | None:
    """What a question of the other speaker and this short answer say together."""
    line = lines[place]
    if not place or lines[place - 1].name == line.name:
        return None
    asked = lines[place - 1]
    before = " ".join(other.text for other in lines[max(0, place - 5) : place] if other.name == line.name)
    full = short_answers.complete(asked.text, line.text, before)
    if not full:
        told = [other for other in lines[max(0, place - 2) : place] if _asks_birthday(other, line)]
        spoken = short_answers.birthday(line.text) if told else None
        if not spoken:
            return None
        full, asked = (spoken, "birthday"), told[-1]
    earlier = (_mentioned(full[1].removesuffix(" name"), lines[max(0, place - 5) : place], line.name, asked),)
    return next(_stated(*full, line, *filter(None, earlier), asked.id), None)


def _mentioned(who: str, lines: Sequence[Said], name: str, asked: Said) -> UUID | None:
    """The message that says whom the question means, if the question does not."""
    if not who or who in asked.text.lower():
        return None
    return next((line.id for line in reversed(lines) if line.name == name and who in line.text.lower()), None)


def _asks_birthday(other: Said, line: Said) -> bool:
    """Somebody asked for this speaker's birthday."""
    whose = "my" if other.name == line.name else "your"
    return bool(re.search(rf"\b{whose} birthday\b", other.text, re.IGNORECASE)) and other.text.rstrip().endswith("?")


def _names(line: Said, own: Sequence[Statement]) -> Iterator[Statement]:
    """“My husband Lars …” says at least what the husband is called."""
    for sentence in sentences(line.text[:LONGEST_MESSAGE]):
        for found in _NAMED.finditer(sentence):
            name, who = found["name"], found["who"]
            if fold(name) in _NOT_NAMES or sentence.endswith("?") or any(name in statement.text for statement in own):
                continue
            text = f"{possessive(line.name)} {who} is called {name}."
            yield Statement(text, line.name, (line.id,), line.time, f"{who} name")
