"""Classification of chat lines as evidence: questions, greetings and small talk state nothing that could be recalled.

The rules cover English. In other languages a sentence is a question if it ends with a question mark, and everything else
counts as a statement.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, query_words

SENTENCE = re.compile(r"[^.!?…\n。！？؟]+[.!?…。！？؟]*[\"”’)*]*")
MESSAGE_PASSAGE = re.compile(r'^[^"]{0,200}? said, "(.*)"$', re.DOTALL)
"""Text of a message passage, as `passage_builder.message_passages` writes it."""
CACHE_SIZE = 20_000
"""Lines whose result is cached; each entry is a text and a few flags."""

_BEFORE = (
    r"^\W*(?:(?:so|and|but|or|oh|ah|hey|hi|hello|well|ok|okay|now|please|say|listen|by the way|btw|hm+|um+|anyway|then|also"
    r"|wait|yeah|yes|no|right|cool|wow|thanks|quick question|\w+(?=,))\b[\s,.!…—-]*){0,4}"
)
_AUXILIARY = (
    r"(?:is|are|was|were|am|do|does|did|have|has|had|can|could|will|would|should|shall|may|might|must|['’]?s|['’]re|['’]d)"
)
_SUBJECT = r"(?:i|we|you|u|he|she|it|they|this|that|there|these|those|my|your|our|his|her|their|the|any\w*|some\w*)"
QUESTION_START = re.compile(
    _BEFORE + r"(?:"
    rf"(?:what|who|whom|where|when|why|how)\s*{_AUXILIARY}\b"
    rf"|(?:what|which|whose|how)(?:\s+(?!(?:i|we|you|he|she|it|they|a)\b)\w+){{1,3}}?\s+{_AUXILIARY}\s+{_SUBJECT}\b"
    rf"|what (?:about|if|else)\b|how (?:about|come)\b"
    rf"|(?:isn|aren|wasn|weren|don|doesn|didn|haven|hasn|hadn|can|couldn|won|wouldn|shouldn)['’]?t {_SUBJECT}\b"
    rf"|{_AUXILIARY} {_SUBJECT}\b"
    r")",
    re.IGNORECASE,
)
"""Beginning of a question, also without a question mark."""
REQUEST_START = re.compile(
    _BEFORE + r"(?:(?:can|could|would|will) (?:you|u) )?(?:please )?(?:"
    # “tell me off” and “tell me apart” ask for nothing.
    r"remind me|tell me(?! (?:off|apart))|help me remember|refresh my memory|guess what\W*$"
    r"|i(?:['’]ve| have|['’]m)? (?:\w+ )?(?:forgot(?:ten)?|forget(?:ting)?|wonder(?:ing)?)\b"
    r"|i (?:\w+ )?(?:can(?:no|['’])?t|could(?:n['’]?t| not)|do(?:n['’]?t| not)) (?:\w+ )?(?:remember|recall|know) "
    r"(?:if|whether|what|who|where|when|which|why|how|the|my|our|his|her|their)\b"
    r")",
    re.IGNORECASE,
)
"""Question in the form of a statement."""
STATEMENT_START = re.compile(
    _BEFORE + r"(?:i|we|he|she|it|they|my|our|there|this)(?:['’](?:m|ve|re|s|d|ll))?\b(?! (?:wonder|guess))", re.IGNORECASE
)
"""Beginning of a statement, also before a question mark (“I have a dog, remember?”)."""
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
    """What one chat line states and asks."""

    has_statement: bool
    """True if at least one sentence is neither question nor greeting nor small talk."""
    has_unaddressed_statement: bool
    """True if at least one of those sentences does not mention the addressee."""
    is_about_speaker: bool
    """True if it asks about its speaker: “What is my dog called?”."""
    is_about_others: bool
    """True if it asks about something else in distinctive words: “How was the concert in Paris?”."""


@lru_cache(CACHE_SIZE)
def classify_line(text: str) -> LineAssertions:
    """Classify a line. `text` is a message or the text of a message passage."""
    quoted = MESSAGE_PASSAGE.match(text)
    sentences = [found for found in SENTENCE.findall(quoted[1] if quoted else text) if found.strip()]
    asking = [sentence for sentence in sentences if is_question(sentence)]
    stating = [sentence for sentence in sentences if sentence not in asking and _has_content(sentence, ())]
    return LineAssertions(
        has_statement=bool(stating),
        has_unaddressed_statement=any(not SECOND_PERSON.search(sentence) for sentence in stating),
        is_about_speaker=any(FIRST_PERSON.search(sentence) for sentence in asking),
        is_about_others=any(not FIRST_PERSON.search(one) and not EVERYDAY_WORDS.issuperset(query_words(one)) for one in asking),
    )


def is_question(sentence: str) -> bool:
    """Return whether a sentence is a question or a request for information or a reminder."""
    if REQUEST_START.match(sentence):
        return True
    if sentence.rstrip('"”’)* \n').endswith(("?", "？", "؟")):
        return not STATEMENT_START.match(sentence)
    return bool(QUESTION_START.match(sentence))


def is_statement(sentence: str, participants: Collection[str] = ()) -> bool:
    """Return whether a sentence states something: it is no question, and more than courtesy in everyday words."""
    return not is_question(sentence) and _has_content(sentence, participants)


def _has_content(sentence: str, participants: Collection[str]) -> bool:
    """Return whether a sentence that is no question is more than courtesy in everyday words."""
    words = query_words(sentence, participants)
    distinctive_count = sum(word not in EVERYDAY_WORDS for word in words)
    if _COURTESY.match(sentence):
        return distinctive_count > 1 or (distinctive_count == 1 and bool(POSSESSIVE.search(sentence)))
    return distinctive_count > 0 or (bool(words) and bool(FIRST_PERSON.search(sentence)))


def is_evidence(text: str, speaker: str, personas: Collection[str], previous_line: str = "") -> bool:
    """Return whether a message may count as evidence for its session.

    A persona's line must state something that is not about the user, and must not answer a question that the user asks about
    themselves (`previous_line` is the line above it): what a persona says about the user is either known from the user or
    invented. If `personas` is empty, people talk to people, and what somebody asks another about is something they know of.
    """
    line = classify_line(text)
    if not personas:
        return line.has_statement or (line.is_about_others and not line.is_about_speaker)
    if speaker not in personas:
        return line.has_statement
    return line.has_unaddressed_statement and not (previous_line and classify_line(previous_line).is_about_speaker)


def strip_small_talk(text: str, participants: Collection[str] = ()) -> str:
    """Return a message without its greetings, thanks and empty questions, or unchanged if nothing else is in it.

    The names of participants in `participants` do not count as distinctive words.
    """
    sentences = SENTENCE.findall(text)
    kept = [sentence for sentence in sentences if _has_substance(sentence, participants)]
    return " ".join(sentence.strip() for sentence in kept) if 0 < len(kept) < len(sentences) else text


def _has_substance(sentence: str, participants: Collection[str]) -> bool:
    """Return whether a sentence states something, or asks with a distinctive word or about its speaker."""
    if not is_question(sentence):
        return is_statement(sentence, participants)
    return bool(FIRST_PERSON.search(sentence)) or not EVERYDAY_WORDS.issuperset(query_words(sentence, participants))


def is_request(text: str) -> bool:
    """Return whether a message asks for something remembered: it consists of questions, or asks about its speaker."""
    sentences = [sentence for sentence in SENTENCE.findall(text) if _has_substance(sentence, ())]
    asking = [sentence for sentence in sentences if is_question(sentence)]
    return bool(asking) and (len(asking) == len(sentences) or any(map(FIRST_PERSON.search, asking)))


MAX_WORDS = 60
"""Words above which a message is searched in parts: the single vector of a long text is near to nothing."""
MAX_PARTS = 6
"""Maximum number of parts besides the first."""


def split_query(text: str, participants: Collection[str] = ()) -> list[str]:
    """Return the parts of a long message that are searched separately: its last question, or the whole text if it has none,
    then its other sentences in order.

    A short message is one part; of a very long one several sentences share a part.
    """
    if len(text.split()) <= MAX_WORDS:
        return [text]
    sentences = [sentence.strip() for sentence in SENTENCE.findall(text) if _has_substance(sentence, participants)]
    last = next((sentence for sentence in reversed(sentences) if is_question(sentence)), None)
    others = [sentence for sentence in sentences if sentence != last]
    sentences_per_part = -(-len(others) // MAX_PARTS)
    groups = [
        " ".join(others[index : index + sentences_per_part]) for index in range(0, len(others), max(1, sentences_per_part))
    ]
    return [*([last] if last else [text]), *groups]
