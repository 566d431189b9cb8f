"""Classification of chat lines as evidence: questions, greetings and small talk state nothing that could be recalled.

The rules cover English. In other languages a sentence is a question if it ends with a question mark, and everything else
counts as a statement.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from lethe_app.language_tables import table_pattern
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, query_words

SENTENCE = re.compile(r"[^.!?…\n。！？؟]+[.!?…。！？؟]*[\"”’)*]*")
MESSAGE_PASSAGE = re.compile(r'^[^"]{0,200}? said, "(.*)"$', re.DOTALL)
"""Text of a message passage, as `passage_builder.message_passages` writes it."""
CACHE_SIZE = 20_000
"""Lines whose result is cached; each entry is a text and a few flags."""

FIRST_PERSON = re.compile(r"\b(?:i|im|ive|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
POSSESSIVE = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
SECOND_PERSON = re.compile(r"\b(?:you|u|ur|your|yours|youre|youve|yourself)\b", re.IGNORECASE)


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
    if _begins(sentence, "request_start"):
        return True
    if sentence.rstrip('"”’)* \n').endswith(("?", "？", "؟")):
        return not _begins(sentence, "statement_start")
    return _begins(sentence, "question_start")


def _begins(sentence: str, key: str) -> bool:
    """Return whether a sentence begins as the table of assertions says under a key."""
    return table_pattern("assertions", key).match(sentence) is not None


def is_statement(sentence: str, participants: Collection[str] = ()) -> bool:
    """Return whether a sentence states something: it is no question, and more than courtesy in everyday words."""
    return not is_question(sentence) and _has_content(sentence, participants)


def _has_content(sentence: str, participants: Collection[str]) -> bool:
    """Return whether a sentence that is no question is more than courtesy in everyday words."""
    words = query_words(sentence, participants)
    distinctive_count = sum(word not in EVERYDAY_WORDS for word in words)
    if _begins(sentence, "courtesy"):
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
    """Return a message without its greetings, thanks and empty questions; empty if it is courtesy in everyday words only, and
    unchanged if it asks in such words only.

    The names of participants in `participants` do not count as distinctive words.
    """
    sentences = SENTENCE.findall(text)
    kept = [sentence for sentence in sentences if _has_substance(sentence, participants)]
    if not kept and all(_is_courtesy(sentence, participants) for sentence in sentences):
        return ""
    return " ".join(sentence.strip() for sentence in kept) if 0 < len(kept) < len(sentences) else text


def _is_courtesy(sentence: str, participants: Collection[str]) -> bool:
    words = query_words(sentence, participants)
    return not words or (_begins(sentence, "courtesy") and EVERYDAY_WORDS.issuperset(words))


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
