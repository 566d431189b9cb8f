"""Check of a site's robots.txt: whether programs may read a page, and how often."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass
from weakref import WeakValueDictionary

import httpx
from protego import Protego

from lethe_app.errors import PageUnreadable
from lethe_app.web.addresses import host_of
from lethe_app.web.http import Before, Fetcher

NAME = "Lethe"
"""Product name that rules for this program are addressed to."""
LONGEST = 500_000
"""Bytes of robots.txt that are parsed."""
STAYS = 3600.0
"""Seconds for which the rules of a site are cached; failures (`TROUBLE_STAYS`) are retried sooner."""
TROUBLE_STAYS = 120.0
MOST_SITES = 200
MOST_DELAY = 10.0
_LATER = {429}
PAGES = {"text/html", "application/xhtml+xml"}
"""Media types of a page that a site without robots.txt sends with status 200."""
_VERSION = re.compile(r"^(\s*user-agent\s*:\s*[a-z_-]+)/.*$", re.IGNORECASE | re.MULTILINE)
"""Version of a product in a rule (`Lethe/1.0`). Protego takes it for a part of the name; RFC 9309 does not."""


class RobotsRules:
    """Rules of one site for this program by RFC 9309: the longest matching pattern decides; of equal ones, an allowing one."""

    def __init__(self, text: str = "") -> None:
        self._parsed = Protego.parse(_VERSION.sub(r"\1", text))

    def allows(self, url: str) -> bool:
        """Return whether the page at an absolute address, with its query, may be read."""
        return self._parsed.can_fetch(url, NAME)

    @property
    def delay(self) -> float:
        """Seconds between two visits; 0 if the site does not specify any."""
        return self._parsed.crawl_delay(NAME) or 0.0


ALL = RobotsRules()


@dataclass(frozen=True)
class _Known:
    until: float
    rules: RobotsRules = ALL
    is_closed: bool = False
    """True if the site reports an error or overload and must not be visited for now."""


class Robots:
    """Cache of the rules of some sites, in memory."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Locks by site: concurrent checks wait for the one that is fetching the rules."""

    async def check(self, url: httpx.URL, fetcher: Fetcher, before: Before, moment: float) -> float:
        """Return the seconds the site requires between two pages, 0 if it does not say. Raise PageUnreadable if the page
        must not be read, or NotAllowed.
        """
        site = f"{url.scheme}://{url.netloc.decode('ascii')}"
        async with self._asking.setdefault(site, asyncio.Lock()):
            known = self._known.get(site)
            if known is None or known.until <= moment:
                known = self._known[site] = await self._ask(site, fetcher, before, moment)
                self._known.move_to_end(site)
                while len(self._known) > MOST_SITES:
                    self._known.popitem(last=False)
        if known.is_closed:
            raise PageUnreadable(f"“{host_of(url)}” is currently unavailable.", "Try again later.")
        if not known.rules.allows(str(url)):
            raise PageUnreadable(f"“{host_of(url)}” does not allow programs to read this page.", "Open it in your browser.")
        return min(known.rules.delay, MOST_DELAY)

    async def _ask(self, site: str, fetcher: Fetcher, before: Before, moment: float) -> _Known:
        """Fetch the rules. A site without rules, or whose rules cannot be fetched, allows everything; one with server errors
        is closed for now.
        """
        try:
            answer = await fetcher.fetch(f"{site}/robots.txt", before)
        except PageUnreadable:
            return _Known(moment + TROUBLE_STAYS)
        if answer.status >= 500 or answer.status in _LATER:
            return _Known(moment + TROUBLE_STAYS, is_closed=True)
        if answer.status != httpx.codes.OK or answer.kind in PAGES:
            return _Known(moment + STAYS)
        return _Known(moment + STAYS, RobotsRules(answer.body[:LONGEST].decode("utf-8-sig", "replace")))
