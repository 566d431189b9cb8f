"""Detection of explicit requests for memory (“What did I tell you about …”), for which the recall thresholds are lowered.

English only: in any other language nothing is detected, and the message is treated like any other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from lethe_app.brain.vocabulary.normalize import normalize_text as plain
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, parse_query, split_words

MAX_CHARACTERS = 2000
"""Characters of a message in which a request is searched."""
_ADVERBS = r"(?:(?:still|even|also|perhaps|maybe|by any chance|ever|already|once|actually|really|just|not|again) )*"
_MENTIONED = (
    r"(?:tell|told|say|said|mention(?:ed)?|talk(?:ed)?|speak|spoken|spoke|show|showed|shown|write|written|wrote|discuss(?:ed)?)"
    r"(?: (?:to|with) (?:you|each other))?(?: you)?(?: (?:anything|something|everything|a lot|much|before|already|once))*"
)
_ABOUT = r" (?:about|of|on|regarding|concerning) "
_TOPIC_START = r"(?:that|how|what|where|who|when|why|my|our|his|her|their)\b"
_KNOW = r"(?:know|remember|recall)"
_REQUEST_PATTERNS = tuple(
    re.compile(rf"^{pattern}(?P<topic>.+)", re.IGNORECASE)
    for pattern in (
        rf"(?:do|don't|did|can|can't|could|would) (?:you|u) {_ADVERBS}(?:remember|recall) ",
        rf"(?:you )?{_ADVERBS}remember (?=(?:when|how|that|the|my|our|your|his|her|their|what|who|where|which)\b.*\?)",
        rf"(?:do|don't|did) you {_ADVERBS}know(?: anything| something| a bit| a little| much| more| all)?{_ABOUT}",
        rf"(?:do|don't) you {_ADVERBS}know (?=(?:what|who|where|when|how|which)\b(?: \S+){{0,2}} (?:my|our)\b)",
        rf"(?:what|how much|anything|something)(?: else)?(?: (?:do|did|can|could) you)? {_ADVERBS}{_KNOW}{_ABOUT}",
        rf"what(?: else)? have you (?:learnt|learned|heard|noted|kept|got){_ABOUT}",
        (
            r"(?:what|when|where|how (?:often|much))(?: else)? (?:did|have|had|was it(?: that)?) (?:i|we) "
            rf"{_ADVERBS}{_MENTIONED}{_ABOUT}"
        ),
        rf"(?:have|haven't|had|did|didn't) (?:i|we) {_ADVERBS}{_MENTIONED}(?:{_ABOUT}| (?={_TOPIC_START}))",
        rf"(?:have|haven't|had|did|didn't) (?:i|we) {_ADVERBS}mention(?:ed)?(?: to you)? ",
        r"(?:what|who|where|when|which|how)\b(?: was| were| is| are| did| do| does|'s)? (?=.*\bagain ?\?)",
        rf"(?:(?:please )?tell me |say |list )?(?:what|everything|all)(?: that)? you {_ADVERBS}{_KNOW}{_ABOUT}",
        r"(?:(?:please|can you|could you|would you) )?remind me (?:(?:again )?(?:of|about) |(?=(?:what|who|where|when|how)\b))",
    )
)
_SENTENCE_END = re.compile(r"(?<=[.?!…])\s+|[\n\"*]+")
OPENING_WORDS = re.compile(
    r"^(?:(?:(?:so|and|but|oh|hey|hi|hello|well|ok|okay|now|please|say|listen|by the way|btw|hm+|um+|tell me|anyway|then)\b|"
    r"\w+(?=,))[\s,.…—-]+){0,3}",
    re.IGNORECASE,
)
"""Fillers, or a name, before the question."""
_POSSESSIVE_TOPIC = re.compile(
    r"\b(?:my|our|your) (?:(?:new|old|own|first|last|best|other|little|big|favou?rite) )*"
    r"(?P<what>family|friends?|kids?|job|work|home|house|room|town|name|story|stories|plans?|place|picture|wife|car)\b",
    re.IGNORECASE,
)
"""Everyday words that are a topic only with a possessive."""


_REQUEST_WORDS = frozenset("again anything everything yet called named names mentioned discussed conversation".split())  # noqa: SIM905
"""Words that belong to the phrase of the request, not to its topic."""


@dataclass(frozen=True)
class RequestedTopic:
    """Topic of an explicit request for memory."""

    words: frozenset[str]
    """Stems of the topic's words."""
    names: frozenset[str]
    """Stems of those words that are written like names; a text without them is about something else."""

    def is_covered_by(self, texts: Iterable[str]) -> bool:
        """Return whether the texts together contain every name and more than half of all words of the topic."""
        found_words = self.words.intersection(stem(word) for text in texts for word in split_words(text))
        return self.names <= found_words and 2 * len(found_words) > len(self.words)


def find_requested_topic(text: str, present_names: Collection[str] = ()) -> RequestedTopic | None:
    """Return the topic of the last request for memory in a text; None if there is no request, or if it has no topic.

    Names of those `present_names` are not topics: nearly every memory of the persona is about them.
    """
    # Of several questions in a message the last one is the one to answer.
    for sentence in reversed(_SENTENCE_END.split(plain(text[:MAX_CHARACTERS], keep_case=True))):
        request = OPENING_WORDS.sub("", sentence.strip(), count=1)
        found = next((match["topic"] for pattern in _REQUEST_PATTERNS if (match := pattern.match(request))), "")
        if found and (requested := parse_topic(found, present_names)):
            return requested
    return None


def parse_topic(phrase: str, present_names: Collection[str]) -> RequestedTopic | None:
    """Return the topic named in a phrase: its content words or, if all of them are everyday words, those with a possessive.
    None if there are neither.
    """
    query = parse_query(f"about {phrase}", present_names)
    topic_words = {word for word in query.words if word not in EVERYDAY_WORDS} - _REQUEST_WORDS
    words = topic_words or {match["what"].lower() for match in _POSSESSIVE_TOPIC.finditer(phrase)}
    return RequestedTopic(frozenset(map(stem, words)), frozenset(map(stem, query.names & words))) if words else None
