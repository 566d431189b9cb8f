"""Asks DuckDuckGo, through a library that knows how its pages look today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lethe_app.domain.web import Found
from lethe_app.errors import SearchFailed
from lethe_app.web.search import clean_query, gathered
from lethe_app.web.threads import in_thread

SECONDS = 12
"""For one question."""
GRACE = 3
"""Seconds more than the library is told, for it to give up by itself."""
Ask = Callable[[str, int, str], list[Mapping[str, Any]]]
"""Query, how many hits, and the proxy or nothing → hits with `title`, `href` and `body`."""
LATER = "Try again in some minutes, or choose another search engine in the settings."


class DuckDuckGo:
    """The library opens connections of its own, which nothing here can see: it is imported only when it is to ask."""

    name = "DuckDuckGo"
    host = "html.duckduckgo.com"

    def __init__(self, proxy: str = "", ask: Ask | None = None) -> None:
        self._proxy, self._ask = proxy, ask or by_library

    async def search(self, query: str, count: int) -> list[Found]:
        """See `SearchEngine`."""
        words = clean_query(query)
        try:
            hits = await in_thread(lambda: self._ask(words, count, self._proxy), SECONDS + GRACE)
        except TimeoutError as error:
            raise SearchFailed("DuckDuckGo took too long.", LATER) from error
        return gathered(((_text(hit, "title"), _text(hit, "href"), _text(hit, "body")) for hit in hits), count)


def by_library(words: str, count: int, proxy: str) -> list[Mapping[str, Any]]:
    """The hits as the library gives them. Blocks. Raises SearchFailed and TimeoutError."""
    from ddgs import DDGS  # noqa: PLC0415 - nothing of it may be there before somebody searches
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException  # noqa: PLC0415

    try:
        return list(DDGS(proxy=proxy or None, timeout=SECONDS).text(words, max_results=count, backend="duckduckgo"))
    except TimeoutException as error:
        raise TimeoutError from error
    except RatelimitException as error:
        raise SearchFailed("DuckDuckGo is asked too often and wants a pause.", LATER) from error
    except DDGSException as error:
        if "no results" in str(error).lower():
            return []
        raise SearchFailed("DuckDuckGo could not be asked.", LATER) from error
    except Exception as error:  # a library that reads pages of others fails in many ways
        raise SearchFailed("DuckDuckGo answered in a way that nobody understands.", LATER) from error


def _text(hit: Mapping[str, Any], key: str) -> str:
    value = hit.get(key)
    return value if isinstance(value, str) else ""
