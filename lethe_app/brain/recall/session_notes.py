"""Session notes: a few key-value pairs learnt in this session (name, home, mood, events), for prompts too small for more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lethe_app.brain.dialogue.dialogue_acts import read_parts
from lethe_app.brain.fact_rules.durability import find_matching_rule, normalize_clause
from lethe_app.brain.text.clauses import extract_clauses
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

MAX_VALUES = 24
"""Maximum number of values; the oldest one is dropped for a new one."""
MAX_VALUE_LENGTH = 60
"""Maximum characters of a value."""
QUEST = "current_quest"
"""Key of the quest, the only value that is also taken from a played scene."""

_END = r"(?=$|,| and | but | with | because | for now)"
_VALUE = rf"(?P<value>[\w'’& -]{{1,{MAX_VALUE_LENGTH}}}?)"
_RELATIVES = (
    "wife|husband|partner|girlfriend|boyfriend|sister|brother|mother|mum|mom|father|dad|son|daughter|aunt|uncle|cousin|niece|"
    "nephew|grandmother|grandfather|grandma|grandpa|best friend|friend|boss|neighbour|neighbor"
)
_COMPANIONS = rf"{_RELATIVES}|dog|cat|horse|parrot|rabbit|hamster"
_LASTING_RULES = tuple(
    (re.compile(pattern + r"\Z", re.IGNORECASE), key)
    for pattern, key in (
        (r"my (?:full |first |real )?name is (?P<value>[a-z][\w'-]*(?: [A-Z][\w'-]*){0,2})", "user_name"),
        (r"(?:I go by|(?:everyone|people|my friends) calls? me) (?P<value>[a-z][\w'-]*)", "user_name"),
        (rf"I(?:'m| am) (?:\w+ly )?(?:living|based) in {_VALUE}{_END}.*|I live in (?P<other>[\w' -]+?){_END}.*", "home"),
        (rf"I(?:'m| am| come) (?:originally )?from {_VALUE}{_END}.*", "origin"),
        (r"I(?:'m| am) (?P<value>\d{1,3})(?: years old)?", "age"),
        (rf"I work as an? {_VALUE}(?: (?:in|at|for|on) .*)?", "job"),
        (r"my birthday is (?:on )?(?P<value>.+)", "birthday"),
        (r"my favou?rite (?P<what>[a-z]+) is (?P<value>.+)", "favourite {what}"),
        (rf"I(?:'m| am) (?:\w+ly )?allergic to {_VALUE}{_END}.*|I have an? (?P<other>[\w' -]+?) allergy", "allergy"),
        (rf"I (?:play|am learning|'m learning)(?: to play)? the {_VALUE}(?= in | at |{_END[3:]}.*", "instrument"),
        (rf"my (?P<what>{_COMPANIONS})(?:'s name is| is called| is named) (?P<value>[\w' -]+)", "{what}"),
        (rf"I have an? (?:\w+ )?(?P<what>{_COMPANIONS}) (?:named|called) (?P<value>[\w'-]+)", "{what}"),
    )
)  # fmt: skip
_JOB = re.compile(r"I(?:'m| am) (?:an?|the) (?P<value>[\w' -]+?)(?: (?:in|at|for|on|with|by|from) .*)?\Z", re.IGNORECASE)
_MOODS = (
    r"(?:tired|exhausted|sad|happy|angry|furious|nervous|anxious|excited|bored|lonely|stressed|upset|scared|worried|hungry|"
    r"sick|depressed|relaxed|cheerful|miserable|frustrated|overwhelmed|heartbroken|hopeful|proud|sleepy|grumpy|thrilled|"
    r"terrified)"
)
_MOOD = re.compile(
    r"I(?:'m| am| feel|'m feeling| am feeling) (?:just |so |very |really |a bit |a little |quite |pretty |still |"
    rf"too )*(?P<value>{_MOODS})(?: (?:today|tonight|right now|about .*|after .*|because .*|now|and .*))?\Z",
    re.IGNORECASE,
)
_QUEST = re.compile(
    r"(?:(?:our|my|the|your) (?:quest|mission|task|goal) is(?: now)? to|(?:we|I) (?:must|have sworn to|"
    r"have vowed to)(?= (?:find|reach|rescue|save|retrieve|bring|defeat|destroy|deliver|recover|return|stop|slay|free|"
    r"protect|escort|steal|solve|catch|cross|carry|open|seal|win)\b)|(?:we're|we are|I'm|I am) (?:looking for|searching for|"
    r"on a quest to|on a mission to|hunting(?: for)?)) (?P<value>.{4,60})\Z",
    re.IGNORECASE,
)
_OCCASIONS = (
    "wedding|interview|exams?|surgery|operation|appointment|flight|graduation|funeral|concert|deadline|move|birthday party|"
    "holiday|trip|audition|first day"
)
_WHEN = r"(?:on |in )?(?P<value>(?:next |this |the )?[\w' ]{2,40})\Z"
_EVENTS = tuple(
    (re.compile(pattern, re.IGNORECASE), key)
    for pattern, key in (
        (rf"my (?P<what>(?:(?:{_RELATIVES})['’]s )?(?:\w+ )?(?:{_OCCASIONS})) (?:is|are) (?:going to be )?{_WHEN}", "{what}"),
        (
            rf"I(?: have|['’]ve)(?: got)? (?:an?|my) (?P<what>(?:\w+ )?(?:{_OCCASIONS})) (?=on|in|next|this|tomorrow){_WHEN}",
            "{what}",
        ),
        (
            rf"my (?P<what>{_RELATIVES})(?: \w+)?(?: is|['’]s) (?:getting married|marrying(?: \w+)?) {_WHEN}",
            "{what}'s wedding",
        ),
    )
)
_TIME = re.compile(
    r"\b(?:\d|today|tonight|tomorrow|week|weekend|month|year|spring|summer|autumn|fall|winter|morning|noon|evening|night|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|"
    r"december)",
    re.IGNORECASE,
)
"""Words of which the time of an event has at least one."""
_SEEKING = re.compile(r"(?:looking|searching) for|hunting", re.IGNORECASE)
_EMPTY = re.compile(
    r"\b(?:it|this|that|you|him|her|them|something|someone|here|there|words|trouble|what|ways?|excuses?|jobs?|job|keys)\b",
    re.IGNORECASE,
)

_POSSIBLE_VALUE = re.compile(r"\b(?:i|im|my|we|our|(?:the|your) (?:quest|mission|task|goal)|calls? me)\b", re.IGNORECASE)
"""Matches every message that can have a value. Most have none, and need not be classified sentence by sentence."""


def update_notes(lines: Sequence[Utterance], known: Mapping[str, str]) -> dict[str, str]:
    """Return `known` updated with what these lines state: key → value, newer values replace older ones, the newest key last.

    English only. Only what the user states as themselves counts, and a quest the user names in a played scene. Questions,
    hedges and quotations are ignored. `known` is not changed.
    """
    values = dict(known)
    if not any(line.role is Role.USER and _POSSIBLE_VALUE.search(line.text) for line in lines):
        return _newest_values(values)
    for line, parts in zip(lines, read_parts(lines), strict=True):
        if line.role is not Role.USER:
            continue
        for key, value in (
            *_extract_values(parts.plain),
            *(pair for pair in _extract_values(parts.in_character) if pair[0] == QUEST),
        ):
            # A repeated mood counts as new and moves to the end; other repeated values keep their place.
            if key != "mood" and values.get(key) == value:
                continue
            values.pop(key, None)
            values[key] = value
    return _newest_values(values)


def set_note(known: Mapping[str, str], key: str, value: str) -> dict[str, str]:
    """Return `known` with a value set by hand, the newest last; an empty value removes the key."""
    name, cleaned = clean_value(key), clean_value(value)
    values = {known_key: known_value for known_key, known_value in known.items() if known_key != name}
    return _newest_values({**values, name: cleaned} if name and cleaned else values)


def _newest_values(values: Mapping[str, str]) -> dict[str, str]:
    return dict(list(values.items())[-MAX_VALUES:])


def build_notes_block(values: Mapping[str, str]) -> str:
    """Return the prompt block “Known facts about this session: home=Porto, mood=tired.”, or an empty string if there are no
    values.
    """
    pairs = ", ".join(f"{key}={value}" for key, value in values.items() if value)
    return f"Known facts about this session: {pairs}." if pairs else ""


def _extract_values(text: str) -> Iterator[tuple[str, str]]:
    for sentence in extract_sentences(text[:4000]):
        if sentence.endswith("?") or re.match(r"(?:if|when|imagine|suppose|pretend)\b", sentence, re.IGNORECASE):
            continue
        for clause in extract_clauses(sentence):
            yield from _values_of_clause(clause)


def _values_of_clause(clause: str) -> Iterator[tuple[str, str]]:
    """Yield keys and values of one clause."""
    if (quest := _QUEST.match(clause)) and not _EMPTY.search(quest["value"]):
        verb = "find " if _SEEKING.search(quest[0][: quest.start("value")]) else ""
        yield QUEST, clean_value(verb + quest["value"])
    if mood := _MOOD.match(clause):
        yield "mood", mood["value"].lower()
    for pattern, key in _EVENTS:
        if (event := pattern.match(clause)) and _TIME.search(event["value"]):
            yield key.format(what=event["what"].lower().replace("’", "'")), clean_value(event["value"])
    rule = find_matching_rule(clause)
    if not rule:
        return
    for pattern, key in _LASTING_RULES:
        if found := pattern.match(clause):
            groups = found.groupdict()
            value = groups.get("value") or groups.get("other") or ""
            yield key.format(what=(groups.get("what") or "").lower()), clean_value(value)
    if rule.key == "job" and normalize_clause(clause).startswith("i am") and (found := _JOB.match(clause)):
        yield "job", clean_value(found["value"])


def clean_value(value: str) -> str:
    """Return the value on one line, without the characters that delimit values in the block."""
    return re.sub(r"[=,\s]+", " ", value).strip(" .!;:'\"")[:MAX_VALUE_LENGTH]
