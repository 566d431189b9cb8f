"""Puts clauses into the first person singular: “we went …” as “I went …”, “Just moved to …” as “I moved to …”."""

from __future__ import annotations

import re

from lethe_app.brain.general_words import ACHIEVED
from lethe_app.brain.kinds import JOBS
from lethe_app.brain.verbs import is_past

_WITH_MINE = re.compile(r"\bmy (?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|family)\b", re.IGNORECASE)
_OUR_COUNTED = re.compile(r"\bour (?=\d|two\b|three\b|four\b|five\b|six\b)", re.IGNORECASE)
_WE = re.compile(r"^(?:we|our)\b", re.IGNORECASE)
_WITH_LISTENER = re.compile(
    r"\b(?:you|your|together|each other)\b|"
    r"^we (?:just |already |once )?(?:talked|chatted|spoke|discussed|agreed|said|met|begin|start|continue|leave|split|"
    r"broke|separated|divorced|share)\b|"
    r"^we(?:'ll| will| should| can| could| might| must| need| have to|'d| would)\b",
    re.IGNORECASE,
)
"""Where “we” may mean the one spoken to, or two who part."""
_ALONE = (
    (re.compile(r"(?<=^we) both\b", re.IGNORECASE), ""),
    (re.compile(r"\bwe're\b", re.IGNORECASE), "I'm"),
    (re.compile(r"\bwe are\b", re.IGNORECASE), "I am"),
    (re.compile(r"\bwe were\b", re.IGNORECASE), "I was"),
    (re.compile(r"\bwe\b", re.IGNORECASE), "I"),
    (re.compile(r"\bour\b", re.IGNORECASE), "my"),
    (re.compile(r"\bourselves\b", re.IGNORECASE), "myself"),
    (re.compile(r"\b(?-i:us)\b", re.IGNORECASE), "me"),
)
_BEGUN = re.compile(
    r"^(?P<adverb>(?:just|finally|recently|also|still|currently|actually) )?(?P<verb>[a-z']+)(?= [\w'])", re.IGNORECASE
)
_BEGINS = frozenset(
    """
    adopted applied baked became booked bought broke built cooked did failed finished flew found gave got had handed hiked
    joined learned learnt left lost made met moved passed picked planted played quit ran received signed sold spent
    started stopped took tried turned visited volunteered was watched went won worked wrote
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
"""Past forms with which people begin a message about themselves without “I”."""
_DOING = re.compile(
    r"^(?P<adverb>(?:just|finally|currently|still|now|also|actually) )?(?P<verb>learning|planning|studying|training|"
    r"working|saving|writing|moving|thinking|trying|starting|expecting|volunteering|reading|building|getting ready|taking)"
    r"(?= (?:to|on|for|about|of|at|an?|my|the|as|in|with|[A-Z]|some|up)\b)",
    re.IGNORECASE,
)
_FINITE_LATER = re.compile(
    r"\b(?:is|are|was|has|have|does|will|would|can|could|makes?|made|helps?|gives?|feels?|sounds?|takes?|brings?|means?|"
    r"keeps?|lets?|"
    r"reminds?|fascinates?|inspires?|motivates?|seems?|looks?)\b"
)
"""“Learning German is fun” has its subject already."""
_BEEN = re.compile(r"^been (?=\w+ing\b)", re.IGNORECASE)
_STATE = re.compile(
    r"^(?:(?:still|happily|newly|recently) )?(?:(?:married|single|divorced|engaged|retired|pregnant|vegan|"
    r"vegetarian)(?=[\s,.!]|$)(?! (?:life|people|food|man|"
    r"woman|parents|restaurants?|recipes?)\b)|allergic to )",
    re.IGNORECASE,
)
"""“Married with two kids.”"""
_HERE = re.compile(rf"^(?:an? )?(?P<job>(?:[\w-]+ ){{0,2}}(?:{JOBS}|[a-z]+(?:er|or|ist|ian))) here\b", re.IGNORECASE)


_SHOWN = re.compile(
    r"^(?P<deed>I (?:\w+ly |just |even |also )?(?:made|bought|got|painted|took|found|wrote|built|drew|finished|read|saw|"
    r"adopted|baked|cooked|"
    r"tried|knitted|designed|created)) (?P<this>this|that|these|those) (?P<next>\w+)"
)
"""“I made this bowl”, of something shown."""
_NO_NOUN = frozenset(
    [
        "one",
        "is",
        "was",
        "for",
        "in",
        "last",
        "with",
        "on",
        "at",
        "by",
        "to",
        "from",
        "as",
        "because",
        "and",
        "but",
        "when",
        "while",
        "of",
        "after",
        "about",
        "that",
    ]
)
_OUR_OWN = re.compile(r"\bour(?= \w)")
_SAID_FIRST = re.compile(
    r"^(?:I(?:'m| am) (?:so |really |very |just )?(?:glad|happy|proud|excited|thrilled|relieved|sad|pleased) (?:to (?:say|"
    r"share|report|"
    r"announce|tell you) )?(?:that )?|I (?:can't believe|remember(?: when)?|forgot to (?:mention|say|tell you)|(?:just "
    r")?reali[sz]ed|"
    r"know|told you|mean|found out|should (?:mention|say)|must say|have to (?:say|admit|confess)|admit|guess you know)(?: "
    r"that)? |"
    r"(?:you know|did I (?:tell|mention)(?: to)?(?: you)?)(?: that)? )(?=(?:I|I'm|I've|my|we|we're|we've)\b)",
    re.IGNORECASE,
)
"""“I'm so happy that my sister …”, “I forgot to mention that I …”."""


def bare(clause: str) -> str:
    """Return the clause without what introduces it, and “this bowl”, of something shown, as “a bowl”."""
    clause = _SAID_FIRST.sub("", clause)
    if re.match(r"I\b", clause) and not re.search(r"\b(?:you|your|us|we)\b", clause, re.IGNORECASE):
        clause = _OUR_OWN.sub("my", clause)
    return _SHOWN.sub(_as_new, clause)


def _as_new(found: re.Match[str]) -> str:
    """Return “I made this bowl” as “I made a bowl”, “these bowls” as “bowls”."""
    word = found["next"]
    if found["this"] in {"these", "those"} or word.endswith("s") or word in _NO_NOUN:
        return found[0] if found["this"] in {"this", "that"} else f"{found['deed']} {word}"
    return f"{found['deed']} {'an' if word[0].lower() in 'aeiou' else 'a'} {word}"


def alone(clause: str) -> str:
    """Return a clause about “we” as one about “I”, where the one spoken to is not meant; any other unchanged."""
    counted = _OUR_COUNTED.sub("", clause) if _WITH_MINE.search(clause) else clause  # “with my wife and our three dogs”
    if not _WE.match(counted) or _WITH_LISTENER.search(counted):
        return counted
    for pattern, word in _ALONE:
        counted = pattern.sub(word, counted)
    return counted[:1].upper() + counted[1:]


def with_subject(sentence: str) -> str:
    """Return a sentence that begins with its verb (“Just moved to Leeds”) with the “I” that goes without saying."""
    if _HERE.match(sentence):
        return _HERE.sub(lambda found: f"I'm {'an' if found['job'][0].lower() in 'aeiou' else 'a'} {found['job']}", sentence)
    if _BEEN.match(sentence):
        return "I've been " + sentence[5:]
    found = _BEGUN.match(sentence)
    if _DOING.match(sentence) and not _FINITE_LATER.search(sentence):
        return f"I'm {sentence[:1].lower()}{sentence[1:]}"
    if _STATE.match(sentence):
        return f"I'm {sentence[:1].lower()}{sentence[1:]}"
    if found and found["verb"].lower() in _BEGINS | ACHIEVED and is_past(found["verb"]):
        return f"I {sentence[:1].lower()}{sentence[1:]}"
    return sentence
