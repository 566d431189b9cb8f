"""Asks DuckDuckGo, through a library that knows how its pages look today."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from threading import Lock
from typing import Any

from lethe_app.domain.web import WebHit
from lethe_app.errors import SearchFailed
from lethe_app.web.bounded_threads import in_thread
from lethe_app.web.search import clean_query, gathered

SECONDS = 12
"""For one question."""
GRACE = 3
"""Seconds more than the library is told, for it to give up by itself."""
Ask = Callable[[str, int, str], list[Mapping[str, Any]]]
"""Query, how many hits, and the proxy or nothing → hits with `title`, `href` and `body`."""
OF_THE_LIBRARY, NEVER = ("DDGS_PROXY", "PRIMP_PROXY"), "NO_PROXY"
"""Variables by which a proxy is named, and by which it is said for which hosts there is none."""
LATER = "Try again in some minutes, or choose another search engine in the settings."


class DuckDuckGo:
    """The library opens connections of its own, which nothing here can see: it is imported only when it is to ask."""

    name = "DuckDuckGo"
    host = "html.duckduckgo.com"

    def __init__(self, proxy: str = "", ask: Ask | None = None) -> None:
        self._proxy, self._ask = proxy, ask or by_library

    async def search(self, query: str, count: int) -> list[WebHit]:
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
        with nullcontext() if proxy else _unproxied:
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


class _Unproxied:
    """While it lasts, no proxy out of the environment is used: the settings name one or none, for searches as for pages.

    The library can be told in no other way. Several may search at the same time.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._kept = Lock(), 0, dict[str, str | None]()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._kept = {name: os.environ.pop(name, None) for name in (*OF_THE_LIBRARY, NEVER)}
                os.environ[NEVER] = "*"

    def __exit__(self, *_trouble: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                del os.environ[NEVER]
                os.environ.update({name: value for name, value in self._kept.items() if value is not None})


_unproxied = _Unproxied()


def _text(hit: Mapping[str, Any], key: str) -> str:
    value = hit.get(key)
    return value if isinstance(value, str) else ""
