"""Detection of requests for the conversations of a time: “What did we talk about on May 2nd?”, “How was I last week?”.

Such a message asks for what was said then, although it may share no word with it. A message that only mentions a time (“I
was tired yesterday”, “my exam is on May 2nd”) is no request. English, and the basic forms of a few languages
(`dates/translation`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto
from functools import partial

from lethe_app.brain.recall.explicit_requests import RequestedTopic, parse_topic, strip_opening_words
from lethe_app.brain.text.sentences import SENTENCE_BREAK
from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.dates.expressions import TimeExpression, find_past_times, remove_times
from lethe_app.dates.translation import translate_to_english
from lethe_app.language_tables import table_pattern

_pattern = partial(table_pattern, "time_requests")

MAX_CHARACTERS = 2000
"""Characters of a message that are read."""


class TimelineEnd(Enum):
    """End of the list of all sessions."""

    FIRST = auto()
    LAST = auto()


@dataclass(frozen=True)
class TimeRequest:
    """Sessions that a message asks for."""

    times: tuple[TimeExpression, ...] = ()
    edge: TimelineEnd | None = None
    """With `times`, the first or last session of those days; alone, the first or last of all sessions."""
    skipped: int = 0
    """Sessions to skip from that end: 1 for “the time before last”."""
    topic: RequestedTopic | None = None
    """Topic the session must be about; with `times` it only decides which comes first."""

    @property
    def is_exact(self) -> bool:
        """True if every time is a single day."""
        return bool(self.times) and all(time.is_exact for time in self.times)


_ASKS_FOR_KNOWLEDGE = re.compile(r"\byou (?:\w+ )?know\b")

_CONTRACTED_DID = re.compile(r"\b(what|where|who|how|why|when)'?d (?=i\b|we\b|you\b)")
"""Contracted “did”, as in “what'd we do”."""


def find_time_request(text: str, today: date, present_names: Collection[str] = ()) -> TimeRequest | None:
    """Return the last request for a time in a message written on `today`; None if there is none."""
    sentences = [
        each for part in SENTENCE_BREAK.split(text[:MAX_CHARACTERS]) if (each := normalize_text(part, keep_case=True).strip())
    ]
    for index in range(len(sentences) - 1, -1, -1):
        sentence = sentences[index]
        if index and _pattern("memory_question").match(sentence.lower()):  # “I told you something yesterday. Do you remember?”
            sentence = f"{sentences[index - 1].rstrip('.')} - {sentence}"
        if (request := _parse_request(sentence, today, present_names)) is not None:
            return request
    return None


def _parse_request(sentence: str, today: date, present_names: Collection[str]) -> TimeRequest | None:
    translated = translate_to_english(sentence)
    lowered = translated or _CONTRACTED_DID.sub(r"\1 did ", sentence.lower())
    if not (translated or _is_past_question(lowered)):
        return None
    times = tuple(find_past_times(lowered, today))
    rest = remove_times(lowered)
    edge = TimelineEnd.FIRST if _pattern("first").search(rest) else TimelineEnd.LAST if _pattern("last").search(rest) else None
    if not times and edge is None:
        return None
    skipped = int(edge is TimelineEnd.LAST and _pattern("before_last").search(rest) is not None)
    # `parse_topic` reads English only, so a translated request has no topic.
    topic = None if translated else parse_topic(_pattern("request_words").sub(" ", remove_times(sentence)), present_names)
    return TimeRequest(times, edge, skipped, topic)


def _is_past_question(lowered: str) -> bool:
    """Return whether the sentence asks for the past that both share, or for the user's own past."""
    if _pattern("announcement").search(lowered):
        return False
    if _pattern("questions").search(lowered) or _pattern("opening_question").match(strip_opening_words(lowered)):
        return True
    shared = bool(_pattern("what_was_said").search(lowered) or _pattern("shared_talk").search(lowered))
    return (bool(_pattern("what_was_said").search(lowered)) or not _pattern("present").search(lowered)) and _is_recount_request(
        lowered, shared=shared
    )


def _is_recount_request(lowered: str, *, shared: bool) -> bool:
    """Return whether the sentence asks to remember, to recount or to resume. `shared`: it refers to what was said between
    them.
    """
    is_question = lowered.rstrip().endswith("?")
    if _pattern("asks_to_remember").search(lowered):
        return shared or (is_question and not _ASKS_FOR_KNOWLEDGE.search(lowered))
    if _pattern("asks_for_summary").search(lowered) or _pattern("asks_to_resume").search(lowered):
        return True
    if _pattern("asks_to_remind").search(lowered) or _pattern("says_forgotten").search(lowered):
        return shared or bool(_pattern("own_past").search(lowered))
    return shared and is_question
