"""Completes noun phrases that stand as a whole sentence: “two kids, Jaylen and Nia”, “31 years married”, “dentist tomorrow”."""

from __future__ import annotations

import re
from collections.abc import Callable

from lethe_app.brain.kinds import ANIMALS, CONDITIONS, EVENTS, JOBS, RELATIVES
from lethe_app.brain.verbs import BASE, is_past
from lethe_app.retrieval.words import MONTHS

Clauses = list[tuple[str, str]]
"""Clauses in the first person with their keys."""
COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2}|a couple of|several)"
YEARS = (
    r"(?:(?:about|nearly|almost|over|around|just over|roughly|going on|coming up on) )?(?:[a-z]+(?:-[a-z]+)?|\d{1,2}) "
    r"(?:odd )?(?:years?|months?|decades)"
)
FAMILY = rf"(?:{RELATIVES}|boys?|girls?|lads?|mam|little ones?|grandbab(?:y|ies)|bestie)"
KEPT = (
    rf"(?:{ANIMALS}|pythons?|staff(?:y|ie)|husk(?:y|ies)|pugs?|beagles?|dachshunds?|whippets?|springers?|rottweilers?|"
    rf"dobermans?|alsatians?|schnauzers?|chihuahuas?|mutts?|tabb(?:y|ies))"
)
_MOST_WORDS = 14
HAS_SUBJECT = re.compile(r"(?:I|my|he|she|it|they|we|you|that|this|there|the|his|her|our|their|what|how|why)\b", re.IGNORECASE)
_CONTRADICTS = re.compile(r"(?:not|no|but|jk|lol|kidding|if|or|in my|as if|allegedly|maybe|i wish)\b", re.IGNORECASE)
_HAS_NAME = r"(?:(?:,? (?:called|named)|,| -) (?P<names>[A-Z]?[a-z'-]+(?:(?:, (?:and )?| and | & )[A-Z]?[a-z'-]+){0,5}))?"
_OWNED = re.compile(
    rf"^(?:just |only |we have |got )*(?P<what>(?P<count>{COUNT}) (?:(?!of\b|in\b|on\b|for\b|with\b)[\w-]+ "
    rf"){{0,2}}?(?P<noun>{FAMILY}|{KEPT}))"
    rf"(?P<grown> (?:all )?(?:grown(?:[ -]up)?|adult))?{_HAS_NAME}$",
    re.IGNORECASE,
)
_IN_PLACE = re.compile(
    rf"^(?:just |only )*(?P<count>an?|one|my) (?P<what>(?:(?:big|little|older|younger|twin|baby|half) "
    rf")*(?P<noun>{FAMILY})) (?P<name>[A-Za-z][a-z'-]+)(?: (?:who's |living |over |up |down |out )?(?P<at>in "
    rf"(?!law\b)[\w' ]+))?$",
    re.IGNORECASE,
)
"""“a brother finbarr in boston”."""
_NOT_NAMES = frozenset(
    """
    a an and the but so now both all who what here there one two my his her their in on at for with from of to grown up too
    old young adult adults little lovely great good bad annoying again away already also is are was were live lives away
    mostly only just together nearby today tomorrow later yet still lol haha thank god thankfully sadly please
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
_WITHOUT = re.compile(
    rf"^no (?P<what>(?:{FAMILY}|{KEPT}|car|partner|driving licence)(?:,? (?:or|and|no) (?:{FAMILY}|{KEPT}|car))*)(?: "
    rf"yet| of my own| for me| here)?$",
    re.IGNORECASE,
)
_SPENT = re.compile(
    rf"^(?!(?:next|last|this|that|every|each|the|same)\b)(?P<span>{YEARS})"
    r"(?: (?:in|this|next|come) [a-z]+(?= (?:with|at|for)\b))?,? (?P<how>(?:with|at|as|for|in|on|"
    r"driving|teaching|nursing|working) (?!total|all|now|a row|may\b|(?:january|february|march|april|june|july|august|"
    r"september|october|november|december)\b).+)$",
    re.IGNORECASE,
)
_MARRIED = re.compile(
    rf"^(?:(?P<first>{YEARS})(?: (?:happily )?married)|(?:happily )?married (?:for )?(?P<last>{YEARS}))(?: .*)?$", re.IGNORECASE
)
_FORMER = (
    r"(?:(?:retired|former|trainee|student|junior|senior|night|freelance|primary|secondary|part-time|school|bus|train|"
    r"taxi|hospital|care|truck) )*"
)
_NAMED_JOB = rf"(?P<job>{_FORMER}(?:[a-z]+ )?(?:{JOBS}|[a-z]{{3,}}(?:er|or|ist|ian)))"
_LONG_JOB = re.compile(
    rf"^(?:an? )?{_NAMED_JOB}(?: (?P<at>(?:at|for|in|with) [\w' &.-]+?))?,? (?:for )?(?P<span>{YEARS})(?: now| in [a-z]+)?$",
    re.IGNORECASE,
)
_RETIRED = re.compile(
    r"^(?P<what>(?:retired|ex|former)[- ](?:[a-z]+ )?(?:" + JOBS + r"|[a-z]{3,}(?:er|or|ist|ian)))(?:,.*)?$", re.IGNORECASE
)
_PARENT = re.compile(
    rf"^(?P<what>(?:(?:single|proud|stay-at-home|working|full-time) )*(?:mum|mom|mother|dad|father|mam|gran|grandma|"
    rf"grandad|granddad)(?: (?:of|to) {COUNT}))$",
    re.IGNORECASE,
)
_ORIGIN = re.compile(
    r"^(?:originally from (?P<place>[\w' -]{3,30})|from (?P<other>[\w' -]{3,30}?) originally)(?:,.*)?$", re.IGNORECASE
)
_ILL = re.compile(
    rf"^(?:got )?(?P<what>(?:an? )?(?:(?:bad|dodgy|dicky|gammy|weak|type (?:1|2|one|two)) )(?:back|knees?|hips?|"
    rf"shoulders?|heart|ankles?|diabetes)|type (?:1|2|one|two) diabetic|{CONDITIONS})(?: since .+)?$",
    re.IGNORECASE,
)
_ONLY_CHILD = re.compile(r"^(?:an? )?only child$", re.IGNORECASE)
_YEARS_SHORT = re.compile(r"\byr(?P<several>s?)\b\.?", re.IGNORECASE)
_WITH = re.compile(r"\bw/?(?= (?:my|his|her|the|an?|[A-Z]|\w+))")
_SMALL = frozenset(
    ("and", "of", "the", "in", "on", "near", "de", "da", "la", "upon", "by", "a", "an", "with", "at", "for", "as", "to")
)


_APPOSED = re.compile(
    rf"^(?:just |only |with |little |and |also )*(?P<name>[A-Za-z][a-z'-]+),? (?:,|-)? ?(?:(?:that's|is) )?(?:my|our|a|an|the) "
    rf"(?P<what>(?:(?!of\b|in\b)[\w-]+ ){{0,2}}?(?P<noun>{FAMILY}|{KEPT}))(?:,.*)?$",
    re.IGNORECASE,
)
"""“biscuit, a springer”, “Virgil, our elderly dachshund”."""
_DAY = (
    r"(?:(?:on |next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: (?:morning|afternoon|evening))?|tomorrow|"
    r"next (?:week|month)|(?:on )?the "
    r"\d{1,2}(?:st|nd|rd|th)(?: of [a-z]+)?|(?:on )?\d{1,2}(?:st|nd|rd|th)?(?: of)? "
    rf"(?:{'|'.join(MONTHS)})|(?:on )?(?:{'|'.join(MONTHS)}) (?:the )?\d{{1,2}}(?:st|nd|rd|th)?)"
)
_EVENT_DUE = re.compile(
    rf"^(?:got |my |the |an? |have )*(?P<what>(?:(?!on\b|for\b|is\b)[\w'-]+ ){{0,2}}?(?:{EVENTS}|physio|dentist|"
    rf"hospital appointment|op|doctors?|gp|vet|"
    rf"biopsy|blood test|mri))(?: appt| appointment)?(?: (?:is|due|for (?P<whom>my [a-z ]+?)|for me|coming up))? "
    rf"(?P<day>{_DAY})(?: (?:at|in) .+)?(?:,.*)?$",
    re.IGNORECASE,
)


def due(found: re.Match[str]) -> Clauses:
    """Return the appointment that “dentist tomorrow” names."""
    what = found["what"].lower()
    what = {
        "op": "operation",
        "physio": "physio appointment",
        "dentist": "dentist appointment",
        "gp": "doctor's appointment",
        "doctor": "doctor's appointment",
        "doctors": "doctor's appointment",
        "vet": "vet's appointment",
    }.get(what, what)
    day = found["day"] if re.match(r"(?:on|next|this|tomorrow)\b", found["day"], re.IGNORECASE) else f"on {found['day']}"
    return [(f"I have {with_article(what)} {day}", "")]


def apposed(found: re.Match[str]) -> Clauses:
    """Return “biscuit, a springer” as whom the speaker has, by name."""
    name, noun = found["name"], found["noun"].lower()
    if (
        "," not in found[0][: found.end("name") - found.start() + 2]
        or name.lower() in _NOT_NAMES
        or name.lower() in BASE
        or is_past(name)
        or noun.endswith(("s", "children", "family"))
    ):
        return []
    if re.fullmatch(FAMILY, noun, re.IGNORECASE):
        return [(f"my {found['what'].lower()} is called {titled(name)}", f"{noun} name")]
    return [(f"I have {with_article(found['what'].lower())} called {titled(name)}", "")]


def stated(piece: str, *, asked: bool) -> Clauses:
    """Return what a noun phrase that is a whole sentence states, as clauses in the first person with their keys."""
    piece = spelled(piece)
    if HAS_SUBJECT.match(piece) or len(piece.split()) > _MOST_WORDS:
        return []
    parts = piece.split(", ")
    for last in range(len(parts), 0, -1):
        if (last == len(parts) or not _CONTRADICTS.match(parts[last])) and (
            found := _of_phrase(", ".join(parts[:last]), asked=asked)
        ):
            return found
    return []


def _of_phrase(piece: str, *, asked: bool) -> Clauses:
    if (found := _OWNED.match(piece)) and (asked or found["names"]):
        return owned(found)
    return next((made for pattern, make in _PHRASES if (found := pattern.match(piece)) and (made := make(found))), [])


def _in_place(found: re.Match[str]) -> Clauses:
    """Return “a brother finbarr in boston” as his name and where he lives."""
    if found["name"].lower() in _NOT_NAMES | BASE or is_past(found["name"]):
        return []
    who, name = found["what"].lower(), titled(found["name"])
    lives = [(f"my {who} {name} lives {titled(found['at'])}", "")] if found["at"] else []
    return [(f"my {who} is called {name}", f"{found['noun'].lower()} name"), *lives]


def _long_job(found: re.Match[str]) -> Clauses:
    at = f" {titled(found['at'])}" if found["at"] else ""
    return [(f"I have been {with_article(found['job'].lower())}{at} for {found['span'].lower()}", "job")]


def _ill(found: re.Match[str]) -> Clauses:
    what = re.sub(r"^an? ", "", found["what"].lower())
    if what.endswith("diabetic"):
        return [(f"I am a {what}", "")]
    return [(f"I have {what if what.endswith('s') or 'diabetes' in what else with_article(what)}", "")]


def owned(found: re.Match[str]) -> Clauses:
    """Return whom somebody has, of “two kids, jaylen and nia”, with their names where they are names."""
    what = found["what"].lower()
    if found["grown"]:
        what = f"{what.removesuffix(found['noun'].lower())}grown-up {found['noun'].lower()}"
    names = re.split(r", (?:and )?| and | & ", found["names"]) if found["names"] else []
    if any(name.lower() in _NOT_NAMES or is_past(name) for name in names):
        return []
    named = [name[:1].upper() + name[1:] for name in names]
    if not named:
        return [(f"I have {what}", "")]
    listed = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return [(f"I have {what} called {listed}", "")]


def spelled(text: str) -> str:
    """Return a text with short forms of chats written out: “12 yrs”, “w my ex”."""
    return _YEARS_SHORT.sub(r"year\g<several>", _WITH.sub("with", text))


def with_article(noun: str) -> str:
    """Return a noun with “a” or “an” if it has none."""
    return (
        noun if re.match(r"(?:an?|the|my|\d+|two|three|four|five) ", noun) else f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
    )


def titled(name: str) -> str:
    """Return a name typed without capitals with them; any other unchanged."""
    if not name.islower():
        return name
    words = name.split()
    return " ".join(word if word in _SMALL else word[:1].upper() + word[1:] for word in words)


_PHRASES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Clauses]], ...] = (
    (_IN_PLACE, _in_place),
    (_EVENT_DUE, due),
    (_APPOSED, apposed),
    (_WITHOUT, lambda found: [(f"I have no {found['what'].lower()}", "")]),
    (_MARRIED, lambda found: [(f"I have been married for {(found['first'] or found['last']).lower()}", "")]),
    (_LONG_JOB, _long_job),
    (_SPENT, lambda found: [(f"I have spent {found['span'].lower()} {found['how']}", "")]),
    (_RETIRED, lambda found: [(f"I am {with_article(found['what'].lower())}", "job")]),
    (_PARENT, lambda found: [(f"I am {with_article(found['what'].lower())}", "")]),
    (_ORIGIN, lambda found: [(f"I am from {titled(found['place'] or found['other'])}", "origin")]),
    (_ONLY_CHILD, lambda _found: [("I am an only child", "")]),
    (_ILL, _ill),
)
