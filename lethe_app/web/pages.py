"""Reads single pages as a considerate visitor: asks the site first, waits between visits, and remembers what it has read.

What was read is remembered in memory only, while the program runs: a copy on the disk would outlive its use by years, and tell
anybody with the disk in hand what was looked up.
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
"""Seconds for which a page that was read is not read again."""
MOST_PAGES, MOST_LETTERS = 100, 5_000_000
MOST_SITES = 1000

Leaving = Callable[[Purpose, str, str, Meter], Awaitable[None]]
"""Told of every request before it leaves: what for, the host, the address, and the meter that counts what comes.

What it raises keeps the request at home."""


@dataclass(frozen=True)
class Times:
    """The clock on the wall of this room, and how to wait."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class PageFetcher:
    """One for the whole program, so that its manners hold whoever asks."""

    def __init__(self, times: Times | None = None, pause: float = PAUSE, stays: float = STAYS) -> None:
        self._times, self._pause, self._stays = times or Times(), pause, stays
        self._robots = Robots()
        self._free: OrderedDict[str, float] = OrderedDict()
        """Site → the moment from which it may be visited again."""
        self._read: OrderedDict[str, tuple[float, PageText]] = OrderedDict()

    async def read(self, address: str, way: NetworkRoute, leaving: Leaving) -> PageText:
        """What the page says. Raises NotAllowed and PageUnreadable."""
        key = same_page(str(checked(address, allow_private=way.allow_private)))
        known = self._read.get(key)
        if known is not None and known[0] > self._times.clock():
            return known[1]
        answer = await self._fetch(address, way, leaving)
        page = await self._understood(answer)
        self._keep(key, page)
        return page

    def clear_cache(self) -> None:
        """Everything that was read."""
        self._read.clear()

    async def _fetch(self, address: str, way: NetworkRoute, leaving: Leaving) -> HttpResponse:
        fetcher, meter = Fetcher(way), Meter()

        async def before(url: httpx.URL) -> None:
            await self._ask_site(url, fetcher, leaving)
            await leaving(Purpose.PAGE, host_of(url), str(url), meter)

        answer = await fetcher.fetch(address, before, meter=meter, kinds=TEXTS)
        host = host_of(answer.url)
        if answer.status != httpx.codes.OK:
            raise PageUnreadable(f"“{host}” answered {answer.status}{_meaning(answer.status)}.")
        if answer.kind and answer.kind not in TEXTS:
            raise PageUnreadable(f"What “{host}” sent is no page but {answer.kind[:60]}.", "Only text can be read.")
        if not answer.kind and b"\0" in answer.body[:1000]:
            raise PageUnreadable(f"What “{host}” sent is no text.", "Only text can be read.")
        return answer

    async def _ask_site(self, url: httpx.URL, fetcher: Fetcher, leaving: Leaving) -> None:
        """May it be read, and is it time? Waits its turn otherwise."""
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
            raise PageUnreadable(f"There is no text on the page of “{host}”.", "It may be made of pictures or programs.")
        cut = len(words.text) >= LONGEST
        return PageText(str(answer.url), words.title or host, words.text, cut, words.is_description)

    def _keep(self, key: str, page: PageText) -> None:
        self._read.pop(key, None)
        self._read[key] = (self._times.clock() + self._stays, page)
        while len(self._read) > MOST_PAGES or sum(len(kept.text) for _until, kept in self._read.values()) > MOST_LETTERS:
            self._read.popitem(last=False)


def _meaning(status: int) -> str:
    meanings = {
        401: ": it is not for everybody",
        403: ": it is not for everybody",
        404: ": there is no such page",
        410: ": the page is gone",
        429: ": it is asked too often",
    }
    return meanings.get(status, ": it is in trouble" if status >= 500 else "")
