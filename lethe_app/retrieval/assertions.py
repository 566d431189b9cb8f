"""Decides which chat lines are evidence: questions, greetings and small talk state nothing that could be recalled.

The rules know English. In other languages a sentence is a question if it ends with a question mark, and everything else states
something.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from lethe_app.retrieval.query_terms import EVERYDAY, question

SENTENCE = re.compile(r"[^.!?…\n。！？؟]+[.!?…。！？؟]*[\"”’)*]*")
QUOTED = re.compile(r'^[^"]{0,200}? said, "(.*)"$', re.DOTALL)
"""A message as `render.message` writes it."""
CACHED = 20_000
"""Lines whose verdict is kept; a text and a few flags each."""

_BEFORE = (
    r"^\W*(?:(?:so|and|but|or|oh|ah|hey|hi|hello|well|ok|okay|now|please|say|listen|by the way|btw|hm+|um+|anyway|then|also"
    r"|wait|yeah|yes|no|right|cool|wow|thanks|quick question|\w+(?=,))\b[\s,.!…—-]*){0,4}"
)
_AUXILIARY = (
    r"(?:is|are|was|were|am|do|does|did|have|has|had|can|could|will|would|should|shall|may|might|must|['’]?s|['’]re|['’]d)"
)
_SUBJECT = r"(?:i|we|you|u|he|she|it|they|this|that|there|these|those|my|your|our|his|her|their|the|any\w*|some\w*)"
ASKING = re.compile(
    _BEFORE + r"(?:"
    rf"(?:what|who|whom|where|when|why|how)\s*{_AUXILIARY}\b"
    rf"|(?:what|which|whose|how)(?:\s+(?!(?:i|we|you|he|she|it|they|a)\b)\w+){{1,3}}?\s+{_AUXILIARY}\s+{_SUBJECT}\b"
    rf"|what (?:about|if|else)\b|how (?:about|come)\b"
    rf"|(?:isn|aren|wasn|weren|don|doesn|didn|haven|hasn|hadn|can|couldn|won|wouldn|shouldn)['’]?t {_SUBJECT}\b"
    rf"|{_AUXILIARY} {_SUBJECT}\b"
    r")",
    re.IGNORECASE,
)
"""How a question begins, also without a question mark."""
REQUESTING = re.compile(
    _BEFORE + r"(?:(?:can|could|would|will) (?:you|u) )?(?:please )?(?:"
    r"remind me|tell me(?! (?:off|apart))|help me remember|refresh my memory|guess what\W*$"
    r"|i(?:['’]ve| have|['’]m)? (?:\w+ )?(?:forgot(?:ten)?|forget(?:ting)?|wonder(?:ing)?)\b"
    r"|i (?:\w+ )?(?:can(?:no|['’])?t|could(?:n['’]?t| not)|do(?:n['’]?t| not)) (?:\w+ )?(?:remember|recall|know) "
    r"(?:if|whether|what|who|where|when|which|why|how|the|my|our|his|her|their)\b"
    r")",
    re.IGNORECASE,
)
"""A question in the form of a statement."""
STATING = re.compile(
    _BEFORE + r"(?:i|we|he|she|it|they|my|our|there|this)(?:['’](?:m|ve|re|s|d|ll))?\b(?! (?:wonder|guess))", re.IGNORECASE
)
"""How a statement begins, also before a question mark (“I have a dog, remember?”)."""
FIRST_PERSON = re.compile(r"\b(?:i|im|ive|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
POSSESSIVE = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
SECOND_PERSON = re.compile(r"\b(?:you|u|ur|your|yours|youre|youve|yourself)\b", re.IGNORECASE)
_COURTESY = re.compile(
    _BEFORE + r"(?:thank|thx|sorry|glad|congrat|good (?:morning|evening|night|afternoon|luck|job|for)|bye|see (?:you|ya)"
    r"|take care|talk (?:soon|later|to)|welcome|you['’]?(?:re|ve)|keep|hope|same|no (?:problem|worries)|let['’]?s"
    r"|i (?:(?:really|totally|do) )?(?:appreciate|agree|hope|know|see|get it|understand|bet|love (?:it|that)|can imagine)"
    r"|i['’]?m (?:so |really |very )?(?:glad|happy for|proud|sorry|here|fine|ok|okay)|it (?:really )?means|sounds|looks"
    r"|that(?:['’]?s| is| was| sounds)|have (?:fun|a (?:good|great|nice|safe|lovely|wonderful|blast)))\b",
    re.IGNORECASE,
)
"""Thanks, praise, good wishes and agreement."""


@dataclass(frozen=True)
class LineAssertions:
    """What one line of a conversation states."""

    states: bool
    """At least one sentence is no question, greeting or small talk."""
    states_of_itself: bool
    """At least one of those does not speak of the person it is said to."""
    asks_of_itself: bool
    """It asks about the one who says it: “What is my dog called?”."""
    asks_of_others: bool
    """It asks about something else in telling words: “How was the concert in Paris?”."""


@lru_cache(CACHED)
def read_line(text: str) -> LineAssertions:
    """Return what a line states. `text` is what was said, or a message as it stands in a passage."""
    quoted = QUOTED.match(text)
    sentences = [found for found in SENTENCE.findall(quoted[1] if quoted else text) if found.strip()]
    stating = [sentence for sentence in sentences if states(sentence)]
    asking = [sentence for sentence in sentences if asks(sentence)]
    return LineAssertions(
        states=bool(stating),
        states_of_itself=any(not SECOND_PERSON.search(sentence) for sentence in stating),
        asks_of_itself=any(FIRST_PERSON.search(sentence) for sentence in asking),
        asks_of_others=any(not FIRST_PERSON.search(one) and not EVERYDAY.issuperset(question(one).words) for one in asking),
    )


def asks(sentence: str) -> bool:
    """Return whether a sentence is a question or asks to be told or reminded."""
    if REQUESTING.match(sentence):
        return True
    if sentence.rstrip('"”’)* \n').endswith(("?", "？", "؟")):
        return not STATING.match(sentence)
    return bool(ASKING.match(sentence))


def states(sentence: str, present: Collection[str] = ()) -> bool:
    """Return whether a sentence states something: it is no question, and not only courtesy in words of every day."""
    if asks(sentence):
        return False
    words = question(sentence, present).words
    telling = sum(word not in EVERYDAY for word in words)
    if _COURTESY.match(sentence):
        return telling > 1 or (telling == 1 and bool(POSSESSIVE.search(sentence)))
    return telling > 0 or (bool(words) and bool(FIRST_PERSON.search(sentence)))


def is_evidence(text: str, speaker: str, personas: Collection[str], before: str = "") -> bool:
    """Return whether a message may speak for its session.

    A persona's line must state something that is not about the user, and not answer a question that the user asks about
    themselves (`before` is the line above it): what a persona says of the user is known from the user or invented. Where no
    persona is known, people talk to people, and what somebody asks another about is something they know of.
    """
    line = read_line(text)
    if not personas:
        return line.states or (line.asks_of_others and not line.asks_of_itself)
    if speaker not in personas:
        return line.states
    return line.states_of_itself and not (before and read_line(before).asks_of_itself)


def substance(text: str, present: Collection[str] = ()) -> str:
    """Return a message without its greetings, thanks and empty questions; the whole message where nothing else is in it.

    The names of those `present` tell nothing.
    """
    sentences = SENTENCE.findall(text)
    kept = [sentence for sentence in sentences if _has_substance(sentence, present)]
    return " ".join(sentence.strip() for sentence in kept) if 0 < len(kept) < len(sentences) else text


def _has_substance(sentence: str, present: Collection[str]) -> bool:
    """Return whether a sentence states something, or asks with a telling word or about the one who asks."""
    if not asks(sentence):
        return states(sentence, present)
    return bool(FIRST_PERSON.search(sentence)) or not EVERYDAY.issuperset(question(sentence, present).words)


def is_request(text: str) -> bool:
    """Return whether a message asks for something that may be remembered: it only asks, or asks about the one who says it."""
    sentences = [sentence for sentence in SENTENCE.findall(text) if _has_substance(sentence, ())]
    asking = [sentence for sentence in sentences if asks(sentence)]
    return bool(asking) and (len(asking) == len(sentences) or any(map(FIRST_PERSON.search, asking)))


LONG = 60
"""Words from which a message is searched for in parts: one vector of a long text is near to nothing."""
MOST_PARTS = 6


def parts_of(text: str, present: Collection[str] = ()) -> list[str]:
    """Return the parts of a long message that are searched for one by one: its last question, then what it states, in order.

    A short message is one part; of a very long one several sentences are taken together.
    """
    if len(text.split()) <= LONG:
        return [text]
    sentences = [sentence.strip() for sentence in SENTENCE.findall(text) if _has_substance(sentence, present)]
    last = next((sentence for sentence in reversed(sentences) if asks(sentence)), None)
    others = [sentence for sentence in sentences if sentence != last]
    together = -(-len(others) // MOST_PARTS)
    groups = [" ".join(others[place : place + together]) for place in range(0, len(others), max(1, together))]
    return [*([last] if last else [text]), *groups]
