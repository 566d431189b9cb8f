"""Observations about the user that the persona proposes and the user confirms: “You always sail alone.” “Yes, exactly.”"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from lethe_app.brain.text.clauses import strip_fillers
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

MAX_WORDS = 24
"""Maximum number of words of an observation."""
_CONFIRMATION = re.compile(
    r"\W*(?:oh|ah|well|hm+|wow|haha)?\W*(?:(?:yes|yeah|yep|yup)\W+)?"
    r"(?:exactly|precisely|indeed|absolutely|definitely|true|correct|(?:so|very) true|you(?:['’]re| are) (?:quite |so )?right|"
    r"(?:that|it)(?:['’]s| is) (?:very |so |quite )?(?:true|right|correct|it|me)|(?:that|it) (?:really )?(?:is|does)|"
    r"i (?:really |certainly )?(?:do|am))\b"
    r"|\W*(?:yes|yeah|yep|yup)\W*\Z",
    re.IGNORECASE,
)
"""A reply that agrees with the whole statement before it."""
_RESERVATION = re.compile(
    r"\b(?:but|except|only|not|never|no|although|though|however|sometimes|kidding|joking)\b|n['’]t\b", re.IGNORECASE
)
_LEAD = re.compile(
    r"(?:(?:so|then|well|ah|oh|hm+|ok(?:ay)?|apparently|maybe|perhaps|i see|i know)[,:]? )*"
    r"(?:(?:it|that) (?:sounds|seems|looks|feels)(?: to me)? (?:like|as if|as though|that) "
    r"|i(?:['’]ve| have)? (?:think|notice[d]?|see|believe|guess|gather|suspect|suppose|feel|can tell|"
    r"get the (?:feeling|impression))(?: that)? )?",
    re.IGNORECASE,
)
_TAG = re.compile(
    r",? (?:then|right|correct|huh|no|yes|am i right|(?:do|don['’]t|are|aren['’]t) you|isn['’]t it|don['’]t you think)[?.!]*\Z",
    re.IGNORECASE,
)
_ABOUT_USER = re.compile(r"your?(?:['’](?:re|ve))?\b", re.IGNORECASE)
_SEEMS = re.compile(r"\b(I)(?: always)? (?:seem|appear)(?: to be)? (?!to\b)", re.IGNORECASE)
_SEEMS_TO = re.compile(r"\b(I)(?: always)? (?:seem|appear) to ", re.IGNORECASE)
_HABIT = re.compile(
    r"\b(?:always|never|usually|often|mostly|rarely|every|best|worst|happiest|most|least|prefer|enjoy|hate|love|like|need)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:today|tonight|now|just|yesterday|tomorrow|this|that|here|still|already|again|me|mine)\b", re.IGNORECASE
)
"""Words of what holds for the moment, or concerns both speakers."""
_REPLACEMENTS = (
    (r"\byou['’]re\b", "I'm"),
    (r"\byou['’]ve\b", "I've"),
    (r"\byou are\b", "I am"),
    (r"\byou were\b", "I was"),
    (r"\byour\b", "my"),
    (r"\byours\b", "mine"),
    (r"\byourself\b", "myself"),
    (
        r"(?:\A|(?<=\bthat )|(?<=\bbecause )|(?<=\bwhen )|(?<=\bif )|(?<=\bwhere )|(?<=\bwhat )|(?<=\band )|(?<=\bbut ))you\b",
        "I",
    ),
    (r"\byou\b", "me"),
)


class ConfirmedObservation(NamedTuple):
    """Observation that the user confirmed, as a sentence of the user."""

    message_id: UUID
    sentence: str
    is_habit: bool
    """True if it says what is usually or most so, which lasts whatever its verb is."""


def read_observation(lines: Sequence[Utterance], index: int) -> ConfirmedObservation | None:
    """Return the observation that the message at `index` confirms; None if it confirms none without reservation.

    The observation is the last sentence of the message before it, which must be about the user and no question but for a
    tag (“…, don't you?”).
    """
    line, before = lines[index], lines[index - 1] if index else None
    if line.role is not Role.USER or before is None or before.role is Role.USER:
        return None
    replies = extract_sentences(line.text)
    if not replies or not _CONFIRMATION.match(replies[0]) or _RESERVATION.search(replies[0]):
        return None
    if len(replies) > 1 and re.match(r"\W*(?:but|except|although|though|only)\b", replies[1], re.IGNORECASE):
        return None
    sentences = extract_sentences(before.text)
    sentence = _to_first_person(sentences[-1], line.name) if sentences else ""
    if not sentence or _PASSING.search(sentence):
        return None
    return ConfirmedObservation(before.id, sentence, bool(_HABIT.search(sentence)))


def _to_first_person(sentence: str, user_name: str) -> str:
    """Return an observation as the user would say it; empty if it is about somebody else or a question."""
    plain = sentence.strip().strip('“”"*_ ')
    plain = re.sub(rf",? {re.escape(user_name)}(?=[.!?]*\Z)", "", plain, flags=re.IGNORECASE) if user_name else plain
    statement = _LEAD.sub("", _TAG.sub("", plain), count=1).strip()
    if statement.endswith("?") or not _ABOUT_USER.match(statement) or len(statement.split()) > MAX_WORDS:
        return ""
    for pattern, replacement in _REPLACEMENTS:
        statement = re.sub(pattern, replacement, statement, flags=re.IGNORECASE)
    statement = _SEEMS.sub(r"\1 am ", _SEEMS_TO.sub(r"\1 ", statement))
    return strip_fillers(statement)
