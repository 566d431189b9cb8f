"""Detection of explicit requests for memory (“What did I tell you about …”), for which the recall thresholds are lowered.

English only: in any other language nothing is detected, and the message is treated like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

from lethe_app.brain.text.sentences import SENTENCE_BREAK
from lethe_app.brain.vocabulary.normalize import normalize_text as plain
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.language_tables import lazy_words, table_pattern
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, parse_query
from lethe_app.searchable_text import split_words

_pattern = partial(table_pattern, "memory_requests")

MAX_CHARACTERS = 2000
"""Characters of a message in which a request is searched."""
_REQUEST_WORDS = lazy_words("memory_request_words")
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
    for sentence in reversed(SENTENCE_BREAK.split(plain(text[:MAX_CHARACTERS], keep_case=True))):
        found = _pattern("request").match(strip_opening_words(sentence.strip()))
        if found and (requested := parse_topic(found["topic"], present_names)):
            return requested
    return None


def strip_opening_words(text: str) -> str:
    """Return the text without fillers, or a name, before a question."""
    return _pattern("opening_words").sub("", text, count=1)


def parse_topic(phrase: str, present_names: Collection[str]) -> RequestedTopic | None:
    """Return the topic named in a phrase: its content words or, if all of them are everyday words, those with a possessive.
    None if there are neither.
    """
    query = parse_query(f"about {phrase}", present_names)
    topic_words = {word for word in query.words if word not in EVERYDAY_WORDS} - _REQUEST_WORDS
    words = topic_words or {match["what"].lower() for match in _pattern("possessive_topic").finditer(phrase)}
    return RequestedTopic(frozenset(map(stem, words)), frozenset(map(stem, query.names & words))) if words else None
