"""Common parts of search engines: a query reduced to its words, and hits without duplicates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import Protocol

from lethe_app.domain.sanitize import cleaned
from lethe_app.domain.web import WebHit
from lethe_app.errors import LetheError, SearchFailed
from lethe_app.web.addresses import LONGEST, same_page
from lethe_app.web.html_text import one_line

LONGEST_QUERY = 200
LONGEST_TITLE, LONGEST_DESCRIPTION = 200, 600
LONGEST_READ = 5000
"""Maximum characters of a title or description that are processed, however much an engine sends."""
OTHER = "Choose another search engine in the settings."
_OUTSIDE = re.compile(r"[^\w\s'’.+#-]|_")
_BEFORE, _AFTER = "'’.+#-", "'’.-"
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
    parts = (part.lstrip(_BEFORE).rstrip(_AFTER) for part in _OUTSIDE.sub(" ", cleaned(query)).split())
    words = " ".join(part for part in parts if part)
    if len(words) > LONGEST_QUERY:
        whole = words[: LONGEST_QUERY + 1].rpartition(" ")[0]
        words = whole or words[:LONGEST_QUERY]
    if not any(letter.isalnum() for letter in words):
        raise SearchFailed("The search query is empty.", "Enter a few words.")
    return words


def gathered(hits: Iterable[tuple[str, str, str]], count: int) -> list[WebHit]:
    """Return hits from titles, addresses and descriptions: plain text, http(s) addresses only, every page once."""
    found: dict[str, WebHit] = {}
    for title, address, description in hits:
        if not address.lower().startswith(("http://", "https://")) or len(address) > LONGEST or not address.isprintable():
            continue
        hit = WebHit(_plain(title, LONGEST_TITLE), address, _plain(description, LONGEST_DESCRIPTION))
        found.setdefault(same_page(address), hit)
        if len(found) == count:
            break
    return list(found.values())


def _plain(text: str, most: int) -> str:
    return one_line(unescape(_TAG.sub("", text[:LONGEST_READ])), most)


def failed(name: str, error: LetheError) -> SearchFailed:
    """Return the error as SearchFailed of this search engine."""
    return SearchFailed(f"{name} could not be reached. {error.message}", error.remedy or OTHER)
