"""Completion of sentences that share a subject, and detection of whom a question and its answer are about."""

from __future__ import annotations

import re

from lethe_app.brain.text.sentences import sentences, strip
from lethe_app.brain.vocabulary.entities import ANIMALS, JOBS, RELATIVES, STATES

_YOUR_OWN = re.compile(rf"\byour ((?:[a-z]+ )?(?:{RELATIVES}|{ANIMALS}))\b(?!'s)", re.IGNORECASE)
_YOU_DO = re.compile(r"\b(?:do|are|did|have|were|will|would|can|could) you\b", re.IGNORECASE)
_OTHERS = re.compile(
    rf"\b(?:he|she|they|him|her|them|his|their)\b|(?:\b(?:is|does|did|has|was|will|about|and|And)|'s) "
    rf"(?!I\b)[A-Z][a-z]+\b|\bthe (?:\w+ )?(?:{RELATIVES}|{ANIMALS}|baby)\b"
)
_DONE = re.compile(
    r"(?:died|passed away|left|moved|retired|lives|works|teaches|runs|drives|studies|plays|loves|hates|was an?|is an?|married|"
    r"used to|grew up|turned|turns)\b",
    re.IGNORECASE,
)
_IS_ONE = re.compile(rf"(?:I'm|I am) (?:(?:\w+ irl|\d\d|(?-i:[A-Z])\w+|[a-z]+)$|from )|\d\d$|{STATES}$", re.IGNORECASE)
_IS_STATE = re.compile(
    rf"(?:\d\d(?: years old| yo)?|{STATES}|from [\w' ]+|an? (?:\w+ ){{0,2}}(?:{JOBS}|[a-z]{{3,}}(?:er|or|ist|ian)))",
    re.IGNORECASE,
)
_SUBJECT = re.compile(rf"^(?P<who>I(?:'\w+)?\b|my (?:[\w-]+ ){{0,2}}?(?:{RELATIVES})(?: [A-Z]\w+)?(?= ))", re.IGNORECASE)
_GOES_ON = re.compile(
    r", (?=(?:(?:just|only|also|still|recently|then) )?(?:started|moved|retired|dropped out|grew up|died|left|quit|lost|sold|"
    r"bought|finished|married|divorced|used to|studied|been|never (?:had|been|smoked|married)|got (?:married|divorced|an?)|"
    r"turned|lived|worked|trained|joined|met (?:my|his|her|him|them))\b)",
    re.IGNORECASE,
)


def split(sentence: str) -> list[str]:
    """Return “I drive a bus, started at 5” as two sentences with the same subject; any other sentence as it is."""
    if listed := _listed(sentence):
        return listed
    subject = _SUBJECT.match(sentence)
    head, *rest = _GOES_ON.split(sentence)
    if not subject or not rest or sentence.endswith("?") or re.search(r"\bwho\b", head):
        return [sentence]
    who = "I" if subject["who"].upper().startswith("I") else subject["who"]
    return [f"{head}.", *(_of_subject(who, part) for part in rest)]


def _listed(sentence: str) -> list[str]:
    """Return “I'm 34, divorced, 2 kids” as one sentence for each part; an empty list if the sentence is no such list."""
    if "," not in sentence:
        return []
    parts = [part.strip() for part in strip(sentence).split(",")]
    if len(parts) < 2 or sentence.endswith("?") or not _IS_ONE.match(parts[0]) or parts[-1].startswith("and "):
        return []
    made = [f"{parts[0]}.", *(f"I'm {part}." for part in parts[1:] if _IS_STATE.fullmatch(part) and len(part.split()) < 5)]
    return made if len(made) > 1 else []


def _of_subject(who: str, part: str) -> str:
    short = re.sub(r"^(?P<silent>(?:just|only|also|still|recently|then) )(?=been|never)", "", part, flags=re.IGNORECASE)
    if re.match(r"(?:been|never (?:had|been|smoked|married))\b", short, re.IGNORECASE):
        return f"{who} {'have' if who == 'I' else 'has'} {short}"
    if who != "I" and re.match(r"been\b|got\b", part, re.IGNORECASE):
        part = f"has {part}"
    return f"{who} {part}"


def asked_about(message: str) -> str:
    """Return whom the question at the end of a message is about: “you”, “my dad” or “other”; empty if it does not end with a
    question.
    """
    asked = next((part for part in reversed(sentences(message)[-2:]) if part.endswith("?")), "")
    if not asked:
        return ""
    theirs = _YOUR_OWN.findall(asked)
    if len(theirs) == 1 and not _YOU_DO.search(asked):
        return f"my {theirs[0].lower()}"
    if re.search(r"\byou\b", asked, re.IGNORECASE):
        return "you"
    return "other" if _OTHERS.search(asked) else "you"


def of_other(sentence: str, who: str) -> str:
    """Return “left when I was 6” as “my dad left when I was 6” if the question was about the dad; any other sentence
    unchanged.
    """
    if who in {"", "you", "other"} or not _DONE.match(sentence):
        return sentence
    return f"{who} {_lower(sentence)}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
