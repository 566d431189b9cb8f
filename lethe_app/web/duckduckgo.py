"""Search with DuckDuckGo through the library ddgs, which knows the current markup of its result pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from threading import Lock
from typing import Any

from lethe_app.domain.web import WebHit
from lethe_app.errors import SearchFailed
from lethe_app.web.bounded_threads import run_in_bounded_thread
from lethe_app.web.search import clean_query, collect_hits

SECONDS = 12
"""Time limit for one query."""
GRACE_SECONDS = 3
"""Additional seconds before the thread is abandoned, so that the library can time out by itself first."""
LibrarySearch = Callable[[str, int, str], list[Mapping[str, Any]]]
"""Function from query, number of hits and proxy (or an empty string) to hits with `title`, `href` and `body`."""
LIBRARY_PROXY_VARIABLES, NO_PROXY_VARIABLE = ("DDGS_PROXY", "PRIMP_PROXY"), "NO_PROXY"
"""Environment variables from which the library takes a proxy, and the one that lists hosts without proxy."""
RETRY_ADVICE = "Try again in a few minutes, or choose another search engine in the settings."


class DuckDuckGo:
    """DuckDuckGo search. The library opens connections of its own that cannot be checked here, so it is imported only for a
    search.
    """

    name = "DuckDuckGo"
    host = "html.duckduckgo.com"

    def __init__(self, proxy: str = "", search_library: LibrarySearch | None = None) -> None:
        self._proxy, self._search_library = proxy, search_library or search_with_ddgs

    async def search(self, query: str, count: int) -> list[WebHit]:
        """Return hits; see `SearchEngine.search`."""
        words = clean_query(query)
        try:
            hits = await run_in_bounded_thread(lambda: self._search_library(words, count, self._proxy), SECONDS + GRACE_SECONDS)
        except TimeoutError as error:
            raise SearchFailed("DuckDuckGo did not respond in time.", RETRY_ADVICE) from error
        return collect_hits(((_text(hit, "title"), _text(hit, "href"), _text(hit, "body")) for hit in hits), count)


def search_with_ddgs(query: str, count: int, proxy: str) -> list[Mapping[str, Any]]:
    """Return the library's hits. Blocking. Raise SearchFailed or TimeoutError."""
    from ddgs import DDGS  # noqa: PLC0415 - not loaded before somebody searches
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException  # noqa: PLC0415

    try:
        with nullcontext() if proxy else _unproxied:
            return list(DDGS(proxy=proxy or None, timeout=SECONDS).text(query, max_results=count, backend="duckduckgo"))
    except TimeoutException as error:
        raise TimeoutError from error
    except RatelimitException as error:
        raise SearchFailed("DuckDuckGo rejected the search because of too many requests.", RETRY_ADVICE) from error
    except DDGSException as error:
        if "no results" in str(error).lower():
            return []
        raise SearchFailed("DuckDuckGo could not be reached.", RETRY_ADVICE) from error
    except Exception as error:  # the library raises any exception for a page it cannot parse
        raise SearchFailed("DuckDuckGo sent an unreadable response.", RETRY_ADVICE) from error


class _Unproxied:
    """Context manager in which no proxy from the environment is used: only the settings name one, for searches as for pages.

    The library has no other way to disable it. Reentrant, because several searches may run at the same time.
    """

    def __init__(self) -> None:
        self._lock, self._depth, self._saved_variables = Lock(), 0, dict[str, str | None]()

    def __enter__(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._saved_variables = {
                    name: os.environ.pop(name, None) for name in (*LIBRARY_PROXY_VARIABLES, NO_PROXY_VARIABLE)
                }
                os.environ[NO_PROXY_VARIABLE] = "*"

    def __exit__(self, *_exception: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                del os.environ[NO_PROXY_VARIABLE]
                os.environ.update({name: value for name, value in self._saved_variables.items() if value is not None})


_unproxied = _Unproxied()


def _text(hit: Mapping[str, Any], key: str) -> str:
    value = hit.get(key)
    return value if isinstance(value, str) else ""
