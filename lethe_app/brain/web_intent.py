"""Detect from its wording whether a message asks for a web search, and extract the search query."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import partial

from lethe_app.language_tables import table_pattern

_pattern = partial(table_pattern, "web_intent")

MAX_QUERY_LENGTH = 200
"""Maximum length of a query in characters, as search engines accept it."""
MIN_QUERY_LENGTH = 3
"""Minimum length in characters of what remains of the message as a query."""
_SEPARATED_VERB = re.compile(r"^look (.+?) up\b(.*)$", re.IGNORECASE)


class WebIntent(IntEnum):
    """How explicitly a message asks for a web search."""

    NONE = 0
    POSSIBLE = 1
    """Wording that only a language model can decide."""
    EXPLICIT = 2


def detect_web_intent(text: str) -> WebIntent:
    """Classify the web intent of a message by regular expressions, cheap enough to run on every message."""
    if _pattern("explicit").search(text):
        return WebIntent.EXPLICIT
    return WebIntent.POSSIBLE if _pattern("possible").search(text) else WebIntent.NONE


def extract_query(text: str) -> str:
    """Return the search query in the user's own words, without the request around it; used where no model extracts it."""
    sentence = next(
        (candidate for candidate in re.split(r"(?<=[.!?])\s+|\n", text.strip()) if _pattern("explicit").search(candidate)),
        text.strip(),
    )
    query = _pattern("polite_prefix").sub("", sentence, count=1)
    query = _SEPARATED_VERB.sub(r"\1\2", query)
    verb = _pattern("verb").search(query)
    query = query[verb.end() :] if verb and len(query) - verb.end() >= MIN_QUERY_LENGTH else query
    previous = ""
    while query != previous:
        previous, query = query, _pattern("request_suffix").sub("", query)
    cleaned = " ".join(re.sub(r"[\"“”«»<>{}\[\]|]", " ", query).split())
    return cleaned.strip(" .,;:!?-")[:MAX_QUERY_LENGTH].strip()
