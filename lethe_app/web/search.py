"""Common parts of search engines: a query reduced to its words, and hits without duplicates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import Protocol

from lethe_app.domain.web import WebHit, sanitized
from lethe_app.errors import SearchFailed
from lethe_app.web.addresses import MAX_ADDRESS_LENGTH, page_key
from lethe_app.web.html_text import one_line

MAX_QUERY_LENGTH = 200
MAX_TITLE_LENGTH, MAX_DESCRIPTION_LENGTH = 200, 600
MAX_READ_LENGTH = 5000
"""Maximum characters of a title or description that are processed, however much an engine sends."""
OTHER_ENGINE_ADVICE = "Choose another search engine in the settings."
_NON_WORD = re.compile(r"[^\w\s'’.+#-]|_")
_LEADING_SIGNS, _TRAILING_SIGNS = "'’.+#-", "'’.-"
"""Characters that stay inside words, as in don't, node.js, well-known, C++; before a word they would be search operators."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


class SearchEngine(Protocol):
    """Interface of a search engine."""

    name: str
    """Display name."""
    host: str

    async def search(self, query: str, count: int) -> list[WebHit]:
        """Return at most `count` hits, best first; no hits are no error. Raise SearchFailed or NotAllowed."""
        ...


def clean_query(query: str) -> str:
    """Return only the words of a query, at most 200 characters. Raise SearchFailed if there are none."""
    parts = (part.lstrip(_LEADING_SIGNS).rstrip(_TRAILING_SIGNS) for part in _NON_WORD.sub(" ", sanitized(query)).split())
    words = " ".join(part for part in parts if part)
    if len(words) > MAX_QUERY_LENGTH:
        whole = words[: MAX_QUERY_LENGTH + 1].rpartition(" ")[0]
        words = whole or words[:MAX_QUERY_LENGTH]
    if not any(letter.isalnum() for letter in words):
        raise SearchFailed("The search query is empty.", "Enter a few words.")
    return words


def collect_hits(hits: Iterable[tuple[str, str, str]], count: int) -> list[WebHit]:
    """Return hits from titles, addresses and descriptions: plain text, http(s) addresses only, every page once."""
    hits_by_page: dict[str, WebHit] = {}
    for title, address, description in hits:
        if (
            not address.lower().startswith(("http://", "https://"))
            or len(address) > MAX_ADDRESS_LENGTH
            or not address.isprintable()
        ):
            continue
        hit = WebHit(_plain_text(title, MAX_TITLE_LENGTH), address, _plain_text(description, MAX_DESCRIPTION_LENGTH))
        hits_by_page.setdefault(page_key(address), hit)
        if len(hits_by_page) == count:
            break
    return list(hits_by_page.values())


def _plain_text(text: str, max_characters: int) -> str:
    return one_line(unescape(_TAG.sub("", text[:MAX_READ_LENGTH])), max_characters)
