"""Detect from its wording whether a message asks for a web search, and extract the search query."""

from __future__ import annotations

import re
from enum import IntEnum

MAX_QUERY_LENGTH = 200
"""Maximum length of a query in characters, as search engines accept it."""
MIN_QUERY_LENGTH = 3
"""Minimum length in characters of what remains of the message as a query."""
_EXPLICIT_REQUEST = re.compile(
    r"\b(?:search(?:ing)? (?:for|the (?:web|internet|net)|on ?line|up)|search (?:google|duckduckgo|brave)"
    r"|look(?:ing)? (?:\w+ ){0,5}up\b(?! (?:at|to)\b)|google\b|duckduckgo"
    r"|(?:find|look|check|see|read|search)\b.{0,50}\b(?:on ?line|(?:on|in) the (?:web|internet|net))"
    r"|(?:ask|check|browse|consult|use) the (?:web|internet)|web ?search)",
    re.IGNORECASE,
)
_POSSIBLE_REQUEST = re.compile(
    r"\b(?:what(?:'s|’s| is| are| was| were)|who(?:'s|’s| is| are| was| were)|where(?:'s|’s| is| are| can)"
    r"|when(?:'s|’s| is| are| was| does| do| did| will)|how (?:many|much|old|far|long|tall|big|high|deep)"
    r"|do you know|have you heard|the (?:latest|newest|current)|news (?:about|of|on)|look(?:ing)? for"
    r"|find out|the (?:web|internet)|weather|forecast|opening hours|price of|release date)\b",
    re.IGNORECASE,
)
_POLITE_PREFIX = re.compile(
    r"^\W*(?:(?:hey|hi|hello|so|well|ok(?:ay)?|oh|and|please|now)\b[\s,]*)*"
    r"(?:(?:can|could|would|will) you (?:please |just |maybe |perhaps )*|please |i (?:want|need|would like|'d like) you to |"
    r"let(?:'|’)s |i(?:'|’)d like to |go and |try to )?",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:search(?:ing)?(?: (?:the|on the|in the) (?:web|internet|net)| on ?line| google| duckduckgo)?(?: for| up| about)?"
    r"|google(?: for)?|look up(?: on ?line)?(?: about)?|look (?:on|in) the (?:web|internet)(?: for)?"
    r"|find out(?: on ?line)?(?: about)?|ask the (?:web|internet)(?: about| for)?"
    r"|check (?:on ?line|the (?:web|internet))(?: for| about)?|web ?search(?: for)?)\b\s*",
    re.IGNORECASE,
)
_REQUEST_SUFFIX = re.compile(
    r"[\s,]*\b(?:(?:on|in) the (?:web|internet|net)|on ?line|for me|please|with google|will you|would you|can you|up)\b\W*$",
    re.IGNORECASE,
)
_SEPARATED_VERB = re.compile(r"^look (.+?) up\b(.*)$", re.IGNORECASE)


class WebIntent(IntEnum):
    """How explicitly a message asks for a web search."""

    NONE = 0
    POSSIBLE = 1
    """Wording that only a language model can decide."""
    EXPLICIT = 2


def detect_web_intent(text: str) -> WebIntent:
    """Classify the web intent of a message by regular expressions, cheap enough to run on every message."""
    if _EXPLICIT_REQUEST.search(text):
        return WebIntent.EXPLICIT
    return WebIntent.POSSIBLE if _POSSIBLE_REQUEST.search(text) else WebIntent.NONE


def extract_query(text: str) -> str:
    """Return the search query in the user's own words, without the request around it; used where no model extracts it."""
    sentence = next(
        (candidate for candidate in re.split(r"(?<=[.!?])\s+|\n", text.strip()) if _EXPLICIT_REQUEST.search(candidate)),
        text.strip(),
    )
    query = _POLITE_PREFIX.sub("", sentence, count=1)
    query = _SEPARATED_VERB.sub(r"\1\2", query)
    verb = _VERB.search(query)
    query = query[verb.end() :] if verb and len(query) - verb.end() >= MIN_QUERY_LENGTH else query
    previous = ""
    while query != previous:
        previous, query = query, _REQUEST_SUFFIX.sub("", query)
    cleaned = " ".join(re.sub(r"[\"“”«»<>{}\[\]|]", " ", query).split())
    return cleaned.strip(" .,;:!?-")[:MAX_QUERY_LENGTH].strip()
