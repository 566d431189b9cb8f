"""What all search engines have in common: a question cleaned of everything but its words, and hits without doubles."""

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
"""Characters of either that are looked at at all, however much an engine sends."""
OTHER = "Another search engine can be chosen in the settings."
_OUTSIDE = re.compile(r"[^\w\s'’.+#-]|_")
_BEFORE, _AFTER = "'’.+#-", "'’.-"
"""Signs stay inside words, as in don't, node.js, well-known, C++; before a word they would be orders to the engine."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


class SearchEngine(Protocol):
    """Somebody who can be asked."""

    name: str
    """As people call it."""
    host: str

    async def search(self, query: str, count: int) -> list[WebHit]:
        """At most `count` hits, the best first. Raises SearchFailed and NotAllowed; no hits are no failure."""
        ...


def clean_query(query: str) -> str:
    """Only the words, at most 200 characters of them. Raises SearchFailed where there are none."""
    parts = (part.lstrip(_BEFORE).rstrip(_AFTER) for part in _OUTSIDE.sub(" ", cleaned(query)).split())
    words = " ".join(part for part in parts if part)
    if len(words) > LONGEST_QUERY:
        whole = words[: LONGEST_QUERY + 1].rpartition(" ")[0]
        words = whole or words[:LONGEST_QUERY]
    if not any(letter.isalnum() for letter in words):
        raise SearchFailed("There is nothing to search for.", "A few words are needed.")
    return words


def gathered(hits: Iterable[tuple[str, str, str]], count: int) -> list[WebHit]:
    """Title, address and description of each, made plain; every page once, and only pages of the internet."""
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
    """The same trouble as the search engine's."""
    return SearchFailed(f"{name} could not be asked. {error.message}", error.remedy or OTHER)
