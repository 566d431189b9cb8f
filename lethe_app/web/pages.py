"""Reading of single web pages: asks robots.txt first, waits between visits to a site, and caches pages.

Pages are cached in memory only, while the program runs: a copy on disk would outlive its use by years, and would reveal to
anybody with access to the disk what was looked up.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from lethe_app.domain.web import PageText, Purpose
from lethe_app.errors import PageUnreadable
from lethe_app.web.addresses import checked, host_of, same_page
from lethe_app.web.html_text import LONGEST, words_of
from lethe_app.web.http import Fetcher, HttpResponse, Meter, NetworkRoute
from lethe_app.web.robots import Robots

TEXTS = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
PAUSE = 1.0
"""Seconds between two visits to the same site."""
STAYS = 24 * 3600.0
"""Seconds for which a page stays in the cache."""
MOST_PAGES, MOST_LETTERS = 100, 5_000_000
MOST_SITES = 1000

Leaving = Callable[[Purpose, str, str, Meter], Awaitable[None]]
"""Callback before every request: purpose, host, address, and the meter that counts the response. An exception from it
prevents the request.
"""


@dataclass(frozen=True)
class Times:
    """Clock and sleep function, replaceable in tests."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class PageFetcher:
    """Reads web pages. Use one instance for the whole program, so that visits to a site are spaced whoever asks."""

    def __init__(self, times: Times | None = None, pause: float = PAUSE, stays: float = STAYS) -> None:
        self._times, self._pause, self._stays = times or Times(), pause, stays
        self._robots = Robots()
        self._free: OrderedDict[str, float] = OrderedDict()
        """Site → time from which it may be visited again."""
        self._read: OrderedDict[str, tuple[float, PageText]] = OrderedDict()

    async def read(self, address: str, way: NetworkRoute, leaving: Leaving) -> PageText:
        """Return the text of a page. Raise NotAllowed or PageUnreadable."""
        key = same_page(str(checked(address, allow_private=way.allow_private)))
        known = self._read.get(key)
        if known is not None and known[0] > self._times.clock():
            return known[1]
        answer = await self._fetch(address, way, leaving)
        page = await self._understood(answer)
        self._keep(key, page)
        return page

    def clear_cache(self) -> None:
        """Drop all cached pages."""
        self._read.clear()

    async def _fetch(self, address: str, way: NetworkRoute, leaving: Leaving) -> HttpResponse:
        fetcher, meter = Fetcher(way), Meter()

        async def before(url: httpx.URL) -> None:
            await self._ask_site(url, fetcher, leaving)
            await leaving(Purpose.PAGE, host_of(url), str(url), meter)

        answer = await fetcher.fetch(address, before, meter=meter, kinds=TEXTS)
        host = host_of(answer.url)
        if answer.status != httpx.codes.OK:
            raise PageUnreadable(f"“{host}” returned status {answer.status}{_meaning(answer.status)}.")
        if answer.kind and answer.kind not in TEXTS:
            raise PageUnreadable(f"“{host}” did not send a web page, but {answer.kind[:60]}.", "Only text can be read.")
        if not answer.kind and b"\0" in answer.body[:1000]:
            raise PageUnreadable(f"“{host}” did not send text.", "Only text can be read.")
        return answer

    async def _ask_site(self, url: httpx.URL, fetcher: Fetcher, leaving: Leaving) -> None:
        """Check robots.txt for this page and wait until the site may be visited again."""
        meter = Meter()

        async def before(robots: httpx.URL) -> None:
            await leaving(Purpose.ROBOTS, host_of(robots), str(robots), meter)

        wanted = await self._robots.check(url, fetcher, before, self._times.clock())
        site, moment = host_of(url), self._times.clock()
        turn = max(self._free.get(site, moment), moment)
        self._free[site] = turn + max(wanted, self._pause)  # before waiting, so that whoever comes next waits longer
        self._free.move_to_end(site)
        while len(self._free) > MOST_SITES:
            self._free.popitem(last=False)
        if turn > moment:
            await self._times.sleep(turn - moment)

    async def _understood(self, answer: HttpResponse) -> PageText:
        words = await words_of(answer.body, answer.kind or "text/html", answer.charset)
        host = host_of(answer.url)
        if not words.text and not words.title:
            raise PageUnreadable(f"The page of “{host}” contains no text.", "It may consist of images or scripts.")
        cut = len(words.text) >= LONGEST
        return PageText(str(answer.url), words.title or host, words.text, cut, words.is_description)

    def _keep(self, key: str, page: PageText) -> None:
        self._read.pop(key, None)
        self._read[key] = (self._times.clock() + self._stays, page)
        while len(self._read) > MOST_PAGES or sum(len(kept.text) for _until, kept in self._read.values()) > MOST_LETTERS:
            self._read.popitem(last=False)


def _meaning(status: int) -> str:
    meanings = {
        401: ": access denied",
        403: ": access denied",
        404: ": page not found",
        410: ": the page no longer exists",
        429: ": too many requests",
    }
    return meanings.get(status, ": server error" if status >= 500 else "")
