"""Asks a site's robots.txt whether programs may read a page, and how fast."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from weakref import WeakValueDictionary

import httpx

from lethe_app.errors import PageUnreadable
from lethe_app.web.addresses import host_of
from lethe_app.web.http import Before, Fetcher
from lethe_app.web.robots_rules import RobotsRules, read

NAME = "Lethe"
"""What rules for us are addressed to."""
LONGEST = 500_000
"""Bytes that are read of the rules."""
STAYS = 3600.0
"""Seconds for which the rules of a site are known; troubles are asked about again sooner."""
TROUBLE_STAYS = 120.0
MOST_SITES = 200
MOST_DELAY = 10.0
_LATER = {429}
PAGES = {"text/html", "application/xhtml+xml"}
"""What a site sends that has no rules, and says so politely."""

ALL = RobotsRules()


@dataclass(frozen=True)
class _Known:
    until: float
    rules: RobotsRules = ALL
    is_closed: bool = False
    """The site is in trouble, and wants to be left alone for now."""


class Robots:
    """Remembers the rules of some sites while the program runs."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By site: who comes while it is being asked waits for the answer."""

    async def check(self, url: httpx.URL, fetcher: Fetcher, before: Before, moment: float) -> float:
        """Seconds the site wants between two pages, 0 where it says nothing. Raises NotAllowed and PageUnreadable."""
        site = f"{url.scheme}://{url.netloc.decode('ascii')}"
        async with self._asking.setdefault(site, asyncio.Lock()):
            known = self._known.get(site)
            if known is None or known.until <= moment:
                known = self._known[site] = await self._ask(site, fetcher, before, moment)
                self._known.move_to_end(site)
                while len(self._known) > MOST_SITES:
                    self._known.popitem(last=False)
        if known.is_closed:
            raise PageUnreadable(f"“{host_of(url)}” is in trouble and cannot be asked now.", "Try again later.")
        if not known.rules.allows(url.raw_path.decode("ascii")):
            raise PageUnreadable(f"“{host_of(url)}” does not want programs to read this page.", "Open it in your browser.")
        return min(known.rules.delay, MOST_DELAY)

    async def _ask(self, site: str, fetcher: Fetcher, before: Before, moment: float) -> _Known:
        """Sites without rules, or whose rules cannot be had, allow everything; those that fail want to be left alone."""
        try:
            answer = await fetcher.fetch(f"{site}/robots.txt", before)
        except PageUnreadable:
            return _Known(moment + TROUBLE_STAYS)
        if answer.status >= 500 or answer.status in _LATER:
            return _Known(moment + TROUBLE_STAYS, is_closed=True)
        if answer.status != httpx.codes.OK or answer.kind in PAGES:
            return _Known(moment + STAYS)
        return _Known(moment + STAYS, read(answer.body[:LONGEST].decode("utf-8-sig", "replace"), NAME))
