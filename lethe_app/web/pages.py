"""Reading of single web pages: asks robots.txt first, waits between visits to a site, and caches pages.

Pages are cached in memory only, while the program runs: a copy on disk would outlive its use by years, and would reveal to
anybody with access to the disk what was looked up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from lethe_app.domain.web import PageText, RequestPurpose
from lethe_app.errors import PageUnreadable
from lethe_app.web.addresses import check_address, host_of, page_key
from lethe_app.web.html_text import MAX_TEXT_LENGTH, extract_text
from lethe_app.web.http import ByteCounter, Fetcher, HttpResponse, NetworkRoute
from lethe_app.web.robots import RobotsCache, put_newest

READABLE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
PAUSE = 1.0
"""Seconds between two visits to the same site."""
CACHE_SECONDS = 24 * 3600.0
"""Seconds for which a page stays in the cache."""
MAX_PAGES, MAX_CACHED_CHARACTERS = 100, 5_000_000
STATUS_MEANINGS = {
    **dict.fromkeys((401, 403), ": access denied"),
    404: ": page not found",
    410: ": the page no longer exists",
    429: ": too many requests",
}
MAX_SITES = 1000
"""Maximum number of sites whose time of the last visit is kept."""

RequestListener = Callable[[RequestPurpose, str, str, ByteCounter], Awaitable[None]]
"""Callback before every request: purpose, host, address, and the counter of the response. An exception from it
prevents the request.
"""


@dataclass(frozen=True)
class WebClock:
    """Clock and sleep function, replaceable in tests."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class PageFetcher:
    """Reads web pages. Use one instance for the whole program, so that visits to a site are spaced whoever asks."""

    def __init__(self, times: WebClock | None = None, cache_seconds: float = CACHE_SECONDS) -> None:
        self._times, self._cache_seconds = times or WebClock(), cache_seconds
        self._robots = RobotsCache()
        self._next_visits: dict[str, float] = {}
        """Site → time from which it may be visited again."""
        self._cache: dict[str, tuple[float, PageText]] = {}

    async def read(self, address: str, route: NetworkRoute, on_request: RequestListener) -> PageText:
        """Return the text of a page. Raise NotAllowed or PageUnreadable."""
        # Different spellings of an address share one entry.
        key = page_key(str(check_address(address, allow_private=route.allow_private)))
        cached = self._cache.get(key)
        if cached is not None and cached[0] > self._times.clock():
            return cached[1]
        response = await self._fetch(address, route, on_request)
        page = await self._extract_page(response)
        put_newest(self._cache, key, (self._times.clock() + self._cache_seconds, page), MAX_PAGES)
        while sum(len(kept.text) for _until, kept in self._cache.values()) > MAX_CACHED_CHARACTERS:
            del self._cache[next(iter(self._cache))]
        return page

    def clear_cache(self) -> None:
        """Drop all cached pages."""
        self._cache.clear()

    async def _fetch(self, address: str, route: NetworkRoute, on_request: RequestListener) -> HttpResponse:
        fetcher, counter = Fetcher(route), ByteCounter()

        async def before(url: httpx.URL) -> None:
            await self._check_site(url, fetcher, on_request)
            await on_request(RequestPurpose.PAGE, host_of(url), str(url), counter)

        response = await fetcher.fetch(address, before, counter=counter, media_types=READABLE_TYPES)
        host = host_of(response.url)
        if response.status != httpx.codes.OK:
            meaning = STATUS_MEANINGS.get(response.status, ": server error" if response.status >= 500 else "")
            raise PageUnreadable(f"“{host}” returned status {response.status}{meaning}.")
        if response.kind and response.kind not in READABLE_TYPES:
            raise PageUnreadable(f"“{host}” did not send a web page, but {response.kind[:60]}.", "Only text can be read.")
        if not response.kind and b"\0" in response.body[:1000]:
            raise PageUnreadable(f"“{host}” did not send text.", "Only text can be read.")
        return response

    async def _check_site(self, url: httpx.URL, fetcher: Fetcher, on_request: RequestListener) -> None:
        """Check robots.txt for this page and wait until the site may be visited again."""
        counter = ByteCounter()

        async def before(robots: httpx.URL) -> None:
            await on_request(RequestPurpose.ROBOTS, host_of(robots), str(robots), counter)

        required_pause = await self._robots.check_page(url, fetcher, before, self._times.clock())
        site, moment = host_of(url), self._times.clock()
        visit_time = max(self._next_visits.get(site, moment), moment)
        # Set before waiting, so that a concurrent request to the same site waits for the visit after this one.
        put_newest(self._next_visits, site, visit_time + max(required_pause, PAUSE), MAX_SITES)
        if visit_time > moment:
            await self._times.sleep(visit_time - moment)

    async def _extract_page(self, response: HttpResponse) -> PageText:
        extracted = await extract_text(response.body, response.kind or "text/html", response.charset)
        host = host_of(response.url)
        if not extracted.text and not extracted.title:
            raise PageUnreadable(f"The page of “{host}” contains no text.", "It may consist of images or scripts.")
        is_cut = len(extracted.text) >= MAX_TEXT_LENGTH
        return PageText(str(response.url), extracted.title or host, extracted.text, is_cut, extracted.is_description)
