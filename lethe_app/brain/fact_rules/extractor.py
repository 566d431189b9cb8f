"""Rule-based extraction of facts from a session, used when no model is qualified for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from lethe_app.brain.dates import resolve
from lethe_app.brain.dialogue.dialogue_acts import DialoguePiece, joined, read_pieces
from lethe_app.brain.fact_rules import endings, fragments, told_facts
from lethe_app.brain.fact_rules.attributes import key_of, kind_of
from lethe_app.brain.fact_rules.durability import Rule, judge, plain
from lethe_app.brain.fact_rules.first_person_clauses import alone, bare, subordinate, with_subject
from lethe_app.brain.fact_rules.pronouns import Referent, mentioned, presented, spell_out
from lethe_app.brain.fact_rules.sentence_features import is_telling, question_words
from lethe_app.brain.fact_rules.third_person import rewrite
from lethe_app.brain.people.introductions import introduced, own_name
from lethe_app.brain.people.known_people import People, covers, is_nameless, is_run_on
from lethe_app.brain.question_answers import completion, everyday
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.sentences import clauses, sentences
from lethe_app.brain.text.spelling import tidy
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.domain.chat import Role
from lethe_app.domain.facts import FactKind
from lethe_app.retrieval.query_terms import EVERYDAY, WORD, cut, fold

LONGEST_MESSAGE = 4000
"""Characters of a message that are read; longer ones mostly contain pasted text."""
_UNREAL = re.compile(r"(?:if|when(?! (?:I was|we were)\b)|imagine|suppose|let's say|what if|pretend)\b", re.IGNORECASE)
_GAME = re.compile(
    r"(?:let's|shall we|wanna|want to) (?:play|pretend|roleplay|do a scene)\b|(?:never have I ever|two truths)\b", re.IGNORECASE
)
_IRONIC = re.compile(
    r"^(?:oh,? (?:sure|yeah|yes|great|joy|right)|yeah,? right|because (?:of course|obviously|clearly)|how (?:nice|"
    r"lovely))\b|\bjust love (?:when|how|getting|"
    r"waiting|being|having to|sitting)\b|\b(?:shooting|killing|eating|murdering|stealing) (?:people|kids|children|babies|"
    r"humans)\b|(?<!or )\bnot\W*$|\b(?:thinks?|says|claims|reckons) (?:it's|that's) (?:just |only )?because\b",
    re.IGNORECASE,
)
"""Irony, and words with a special meaning in a trade, as a photographer shoots people."""
_TELLING = re.compile(
    r"\b(?:I|my|me|we|our|he|she|her|his|him)\b|\bthe (?:\w+ ){1,2}(?:is|will be|starts|got|was|has been)\b", re.IGNORECASE
)
_WORK = re.compile(
    r"^I(?:'m| am|'ve been| have been| work)?(?: working)? (?P<how>(?:as|at|for|in) .+|(?P<what>an? .+))", re.IGNORECASE
)
MOST_EARLIER = 200
"""Number of the latest plans and habits among which the one changed by a message is searched."""
SHORT_CHANGE = 20
"""Words up to which a message that announces a change is about nothing else."""
_NEARBY = 3
"""Messages back to the speaker's last one in which somebody may be named to whom a pronoun refers."""
_BIRTHDAY = re.compile(
    r"(?:it's|it is|today is|today's) my (?:\w+ )?birthday(?P<when> today| tomorrow|(?: on| this| next) .+)?\Z", re.IGNORECASE
)
_NEARLY_SILENT = re.compile(
    r"^(?P<kept>(?:I(?:'\w+)?|my \w+)(?: (?:am|have|do|don't|do not|can't|can))?) (?:just|actually|also|really|honestly|"
    r"literally|definitely|totally|truly|even|absolutely|simply|recently|currently|kind of|now)\b(?: (?:just|also|really|"
    r"even))?",
    re.IGNORECASE,
)
_EMPHATIC = re.compile(
    r"^(?P<kept>I) do(?= (?:have|like|love|enjoy|own|play|live|work|speak|collect|believe|hate|eat|drink)\b)"
)
_NAME_IS = re.compile(r"(?<=\w)'s(?= (?:from|in|at|an?|the|\d|married|pregnant|not|also|called|[a-z]+ing)\b)")
_CALLED = re.compile(
    rf"(?:'s|their| an?) (?P<who>(?:[a-z-]+ )?(?:{RELATIVES}|{ANIMALS})),?(?: is)?(?: (?:called|named))?,? "
    rf"(?P<name>[A-Z][^\W\d_]+)\b"
)
"""Name with a relation, as in “Tomas's daughter Emma …”, “… a dog called Max”."""
_FULL_NAME = re.compile(r"\bname is [A-Z][\w'-]+ [A-Z][\w'-]+")
_HERE = re.compile(r" here(?= from)")
_CONTRASTED = re.compile(r"\b(?:never|not|n't|almost|wanted|before|always thought|only had)\b", re.IGNORECASE)
_CONTRAST = re.compile(r"\W*\b(?:but|until|till|however|yet|except)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """Lasting statement of a speaker about themselves, as a third-person sentence that is understood alone."""

    text: str
    """One third-person sentence with a full stop."""
    subject: str
    """Name of the speaker."""
    messages: tuple[UUID, ...]
    """Ids of the messages that state it; for an answer the question comes first."""
    time: datetime
    key: str = ""
    """Attribute key such as “home”: a newer statement of the same subject and key supersedes it. Empty if statements do not
    exclude each other.
    """
    kind: FactKind = FactKind.OTHER
    in_story: bool = False
    """True if it was made in character; it then belongs to the story of this session only."""
    ends: tuple[str, ...] = ()
    """Sentences in the third person that no longer hold because of it, such as “Tomas wants to run Berlin.” The caller that
    stores facts supersedes the known ones with these texts.
    """


@dataclass
class _Reading:
    """State of one pass over the lines."""

    is_played: bool
    """True if the lines are in character."""
    speakers: frozenset[str] = frozenset()
    """Names of the speakers, which are not accepted as names of anybody else."""
    found: dict[str, Statement] = field(default_factory=dict)
    spoken: dict[str, tuple[int, list[Referent]]] = field(default_factory=dict)
    """By speaker: the index of their last message and whom they mentioned in it."""
    named: dict[tuple[str, str], str] = field(default_factory=dict)
    """Relation by speaker and name, such as “daughter”."""
    people: dict[str, People] = field(default_factory=dict)

    def add(self, statement: Statement) -> None:
        """Add a statement. If it is repeated, the first wording stays and gets the ids of both messages."""
        if statement.key == "name" and any(statement.text.endswith(f" is {name}.") for name in self.speakers):
            return
        if statement.key.endswith(" name") and any(statement.text.endswith(f" called {name}.") for name in self.speakers):
            return
        same = " ".join(sorted(map(fold, cut(statement.text))))
        if same in self.found:
            earlier = self.found[same]
            self.found[same] = replace(earlier, messages=tuple(dict.fromkeys((*earlier.messages, *statement.messages))))
        elif statement.subject:
            self.found[same] = statement
        if called := _CALLED.search(statement.text):
            self.named[statement.subject, called["name"]] = called["who"]
            if called.start() == len(statement.subject):
                self.people.setdefault(statement.subject, People()).learn(called["name"], called["who"], statement.messages[-1])

    def merge(self, statement: Statement, names: Sequence[str]) -> None:
        """Add a statement about people of these names in place of worse wordings from the same message."""
        for key, one in [(key, one) for key, one in self.found.items() if one.messages[-1] == statement.messages[-1]]:
            if is_run_on(one.text, names) or is_nameless(one.text, statement.text, names):
                del self.found[key]
            elif covers(one.text, statement.text, names):
                return
        self.add(statement)

    def knows(self, name: str, noun: str) -> bool:
        """Return whether a statement of this speaker already mentions such a thing of theirs."""
        own = re.compile(rf"(?:'s|their|\ban?|\d|two|three|four) (?:[\w-]+ )*{re.escape(noun)}", re.IGNORECASE)
        return any(one.subject == name and own.search(one.text) for one in self.found.values())


def extract(lines: Sequence[Utterance]) -> list[Statement]:
    """Return the lasting statements of all speakers about themselves without duplicates, in the order of their messages.

    English only: other languages yield nothing. Questions, hedges, momentary states and everything that is not understood
    alone are skipped. Utterances in character are read separately and marked `in_story`. The result is cached for the last
    two sessions.
    """
    return list(_extracted(tuple(lines)))


@lru_cache(maxsize=2)  # facts, title and summary of a conversation all begin with it
def _extracted(lines: Sequence[Utterance]) -> tuple[Statement, ...]:
    pieces = read_pieces(lines)
    parts = list(map(joined, pieces))
    places = {line.id: place for place, line in enumerate(lines)}
    stated = _read([replace(line, text=part.plain) for line, part in zip(lines, parts, strict=True)], is_played=False)
    in_character = [replace(line, text=part.in_character) for line, part in zip(lines, parts, strict=True) if part.in_character]
    played = _read(in_character, is_played=True)
    told = _in_own_words(lines, pieces, stated)
    every = [*told, *(replace(one, in_story=True) for one in played)]
    return tuple(sorted(every, key=lambda one: places[one.messages[0]]))


def _in_own_words(
    lines: Sequence[Utterance], pieces: Sequence[Sequence[DialoguePiece]], stated: Sequence[Statement]
) -> list[Statement]:
    """Return the statements together with what users tell beyond them; a statement that contains less than the user's words
    is replaced.

    A statement with a key stays, because the key is needed; only a plan's key is passed on to the longer sentence.
    """
    held = {one.text: one for one in stated}
    of_message: dict[UUID, list[Statement]] = {}
    for one in stated:
        for message in one.messages:
            of_message.setdefault(message, []).append(one)
    heard = question_words(" ".join({line.name for line in lines}))
    before: dict[str, told_facts.UserMessage] = {}
    for place, line in enumerate(lines):
        if line.role is not Role.USER:
            continue
        here = [one for one in of_message.get(line.id, ()) if one.text in held]
        asked = lines[place - 1] if place and lines[place - 1].name != line.name else None
        turn = told_facts.read(line, pieces[place], asked)
        earlier_plans: dict[str, frozenset[str]] = {}
        if endings.announces_change(line.text[:LONGEST_MESSAGE]):
            plans = [one for one in held.values() if _may_change(one, line)][-MOST_EARLIER:]
            earlier_plans = {one.text: _plan_words(one) for one in plans}
            turn = told_facts.with_subjects_kept(turn, frozenset[str]().union(*earlier_plans.values()))
        for told in told_facts.find(turn, before.get(line.name), [one.text for one in here], heard):
            words, key = content_words(told.text), ""
            for one in here:
                if (not one.key or one.kind is FactKind.PLAN) and content_words(one.text) <= words:
                    held.pop(one.text, None)
                    key = one.key
            earlier = held.get(told.text)
            messages = tuple(dict.fromkeys((*(earlier.messages if earlier else ()), *told.messages)))
            time, kind = (earlier.time, earlier.kind) if earlier else (line.time, told.kind)
            over = _changed_plan(earlier_plans, line.text, told.text)
            held[told.text] = Statement(told.text, line.name, messages, time, key, kind, ends=over)
        before[line.name] = turn
        heard.update(*(question_words(piece.text) for piece in pieces[place]))
    return list(held.values())


def _may_change(earlier: Statement, line: Utterance) -> bool:
    """Return whether an announced change may refer to this earlier statement of the same speaker."""
    is_other = line.id not in earlier.messages and earlier.subject == line.name and earlier.time <= line.time
    is_plan = earlier.kind is FactKind.PLAN or earlier.key.startswith("plan ")
    return is_other and (is_plan or (not earlier.key and earlier.kind in {FactKind.TASTE, FactKind.EVENT, FactKind.OTHER}))


def _changed_plan(earlier: Mapping[str, frozenset[str]], message: str, told: str) -> tuple[str, ...]:
    """Return the earlier statement that a fact told in a message most likely changes; empty if they share too few words."""
    is_short = len(message.split()) <= SHORT_CHANGE
    words = content_words(told) | (content_words(message) if is_short else frozenset())
    likely = max(reversed(list(earlier.items())), key=lambda one: len(one[1] & words), default=None)
    if likely is None or not (is_short or endings.announces_change(told)):
        return ()
    return (likely[0],) if len(likely[1] & words) >= (1 if is_short else 2) else ()


def _plan_words(earlier: Statement) -> frozenset[str]:
    """Return the stems of the words that show the topic of a statement, without names, relatives and times."""
    words = [word for word in WORD.findall(earlier.text) if len(word) > 3 and word.islower() and not is_telling(word)]
    return content_words(" ".join(words)) - _everyday() - content_words(f"{earlier.subject} said asked")


@lru_cache(maxsize=1)
def _everyday() -> frozenset[str]:
    """Return the stems of words that occur in every conversation."""
    return content_words(" ".join(EVERYDAY))


def _read(lines: Sequence[Utterance], *, is_played: bool) -> list[Statement]:
    reading = _Reading(is_played, frozenset(line.name for line in lines))
    for place, line in enumerate(lines):
        since, before = reading.spoken.get(line.name, (max(-1, place - 2), []))
        if place - since > _NEARBY:
            before = []
        told = [one for other in lines[since + 1 : place] for one in mentioned(other.text, other.id, by_other=True)]
        here: list[Referent] = []
        reading.spoken[line.name] = (place, here)
        for statement in _of_line(reading, lines, place, (*before, *told)):
            reading.add(statement)
        between = [other.text for other in lines[since + 1 : place] if other.name != line.name]
        mine = reading.people.setdefault(line.name, People())
        for one in mine.read_message(line, place, between) if line.role is Role.USER else ():
            # `_stated` uses only key and event of a rule; the pattern is a placeholder here and in similar calls.
            rule = Rule(_BIRTHDAY, one.key, event=bool((known := judge(one.clause)) and known.event))
            for statement in _stated(one.clause, rule, line, *one.sources):
                reading.merge(statement, one.names)
        if not is_played:
            for statement in _in_passing(reading, line):
                reading.add(statement)
    return list(reading.found.values())


def _of_line(reading: _Reading, lines: Sequence[Utterance], place: int, before: Sequence[Referent]) -> list[Statement]:
    line = lines[place]
    asked = lines[place - 1] if place and lines[place - 1].name != line.name else None
    own = list(_of_message(reading, line, before, asked))
    spoken = completion.read(lines, place)
    answered = next(_stated(spoken.clause, Rule(_BIRTHDAY, spoken.key), line, *spoken.messages), None) if spoken else None
    if answered and not any(answered.key and answered.key == statement.key for statement in own):
        own.insert(0, answered)
    if not answered and line.role is Role.USER:
        own += _completed(reading, lines, place, own)
    return own


def _completed(reading: _Reading, lines: Sequence[Utterance], place: int, own: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements an answer makes together with its question, unless the message makes them in full."""
    line = lines[place]
    for asked, clause, key in everyday.read(lines, place):
        for made in _stated(_with_relation(reading, line.name, clause), Rule(_BIRTHDAY, key), line, asked):
            words = set(cut(fold(made.text)))
            if not any(words <= set(cut(fold(one.text))) or (key and one.key == key) for one in own):
                yield made


def _of_message(reading: _Reading, line: Utterance, before: Sequence[Referent], asked: Utterance | None) -> Iterator[Statement]:
    """Yield the statements of a message sentence by sentence. `before` are the people mentioned just before it, `asked` is
    the message it replies to.
    """
    here = reading.spoken[line.name][1]
    text = line.text[:LONGEST_MESSAGE]
    exchanged = endings.exchange(tidy(text))
    if exchanged:
        yield from _stated(exchanged[0], Rule(re.compile("")), line, ends=exchanged[1:])
    parts = [part for sentence in sentences(text) for part in fragments.split(sentence)]
    # A message that proposes a game states nothing about the speaker.
    if parts and _GAME.match(parts[0]):
        return
    who = fragments.asked_about(asked.text) if asked else ""
    for number, sentence in enumerate(parts):
        if _UNREAL.match(sentence) or _IRONIC.search(sentence):
            here.append(Referent("", "she or he", line.id))
            continue
        full = _in_full(_with_relation(reading, line.name, sentence), who if line.role is Role.USER else "other")
        if full.endswith("?") or not _TELLING.search(full):
            here += mentioned(full, line.id)
            continue
        for part in clauses(full):
            clause, one = spell_out(part, here, before)
            here += mentioned(part, line.id)
            if one:
                here.append(one)
            more = [one.source] if one and one.source != line.id else []
            if not (exchanged and "instead" in full) and not _is_cut_off(part, full):
                yield from _of_clause(reading, clause, line, *more)
        if number + 1 < len(parts) and (name := presented(sentence, parts[number + 1])):
            yield from _stated(name, Rule(re.compile(""), f"{name.split()[1]} name"), line)


def _in_full(sentence: str, who: str) -> str:
    """Add the missing subject to a sentence, according to whom the preceding question is about."""
    return with_subject(sentence) if who in {"", "you"} else fragments.of_other(sentence, who)


def _with_relation(reading: _Reading, speaker: str, sentence: str) -> str:
    """Return “Emma turned ten” as “my daughter Emma turned ten” if Emma is known as the speaker's daughter."""
    first = re.match(r"[A-Z][\w-]+(?=(?:'s)? \w)", sentence)
    who = reading.named.get((speaker, first[0])) if first else None
    return f"my {who} {_NAME_IS.sub(' is', sentence, count=1)}" if who else sentence


def _is_cut_off(part: str, sentence: str) -> bool:
    """Return whether a clause such as “I've never had a cat before” is continued by a contrast such as “but I have one now”."""
    place = sentence.find(part.split(" ", 1)[-1])
    after = sentence[place + len(part.split(" ", 1)[-1]) :] if place >= 0 else ""
    return bool(_CONTRASTED.search(part) and _CONTRAST.match(after))


def _of_clause(reading: _Reading, part: str, line: Utterance, *more: UUID) -> Iterator[Statement]:
    clause = bare(_HERE.sub("", alone(part)))
    if birthday := _BIRTHDAY.match(clause):
        yield from _stated(f"my birthday is on {_day(birthday, line.time)}", Rule(_BIRTHDAY, "birthday"), line)
    elif rule := judge(clause):
        if rule.key == "job" and (work := _WORK.match(clause)):
            here = reading.spoken[line.name][1]
            here.append(Referent(f"as {work['what']}" if work["what"] else work["how"], "work", line.id))
        yield from _stated(clause, rule, line, *more)
    elif within := subordinate(clause):
        yield from _of_clause(reading, within, line, *more)


def _day(found: re.Match[str], said: datetime) -> str:
    """Return day and month, without a year."""
    words = resolve.resolve((found["when"] or " today").strip(), said.date())
    return re.sub(r" \d{4}\Z", "", words.removeprefix("on "))


def _stated(clause: str, rule: Rule, line: Utterance, *more: UUID, ends: Sequence[str] = ()) -> Iterator[Statement]:
    """Yield the first-person clause as a statement if it can be rewritten in the third person."""
    text = plain(clause)
    key = key_of(clause, text, rule.key)
    if key == "name" and fold(line.name) in map(fold, cut(clause)) and not _FULL_NAME.search(clause):
        return  # “Tomas's name is Tomas” tells nobody anything
    dated = resolve.resolve(clause, line.time.date(), event=rule.event)
    bared = _EMPHATIC.sub(r"\g<kept>", _NEARLY_SILENT.sub(r"\g<kept>", dated))
    if resolve.MOVING.search(bared):
        return
    if told := rewrite(bared, line.name, ""):
        over = tuple(filter(None, (rewrite(end, line.name, "") for end in (*ends, *endings.ended(clause)))))
        yield Statement(told, line.name, (*more, line.id), line.time, key, kind_of(text, key), ends=over)


def _in_passing(reading: _Reading, line: Utterance) -> Iterator[Statement]:
    """Yield the facts a message implies, unless a statement of the same speaker contains them."""
    if name := own_name(tidy(line.text[:LONGEST_MESSAGE])):
        yield from _stated(f"my name is {name}", Rule(_BIRTHDAY, "name"), line)
    for sentence in sentences(line.text[:LONGEST_MESSAGE]):
        for clause, key in introduced(sentence):
            last = clause.rstrip(".").rsplit(" ", 1)[-1]
            if not reading.knows(line.name, last) and not any(
                one.subject == line.name and re.search(rf"\b{re.escape(last)}\b", one.text) for one in reading.found.values()
            ):
                yield from _stated(clause, judge(clause) or Rule(_BIRTHDAY, key), line)
