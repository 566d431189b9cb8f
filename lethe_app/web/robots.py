"""Asks a site's robots.txt whether programs may read a page, and how fast."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from urllib.robotparser import RobotFileParser

import httpx

from lethe_app.errors import PageUnreadable
from lethe_app.web.addresses import host_of
from lethe_app.web.fetching import Before, Fetcher

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


@dataclass(frozen=True)
class _Rules:
    until: float
    parser: RobotFileParser | None = None
    """None where everything is allowed."""
    is_closed: bool = False
    """The site is in trouble, and wants to be left alone for now."""


class Robots:
    """Remembers the rules of some sites while the program runs."""

    def __init__(self) -> None:
        self._rules: OrderedDict[str, _Rules] = OrderedDict()

    async def check(self, url: httpx.URL, fetcher: Fetcher, before: Before, moment: float) -> float:
        """Seconds the site wants between two pages, 0 where it says nothing. Raises NotAllowed and PageUnreadable."""
        site = f"{url.scheme}://{url.netloc.decode('ascii')}"
        rules = self._rules.get(site)
        if rules is None or rules.until <= moment:
            rules = self._rules[site] = await self._ask(site, fetcher, before, moment)
            self._rules.move_to_end(site)
            while len(self._rules) > MOST_SITES:
                self._rules.popitem(last=False)
        if rules.is_closed:
            raise PageUnreadable(f"“{host_of(url)}” is in trouble and cannot be asked now.", "Try again later.")
        if rules.parser is None:
            return 0.0
        if not rules.parser.can_fetch(NAME, str(url)):
            raise PageUnreadable(f"“{host_of(url)}” does not want programs to read this page.", "Open it in your browser.")
        delay = rules.parser.crawl_delay(NAME)
        return min(float(delay or 0), MOST_DELAY)

    async def _ask(self, site: str, fetcher: Fetcher, before: Before, moment: float) -> _Rules:
        """Sites without rules, or whose rules cannot be had, allow everything; those that fail want to be left alone."""
        try:
            answer = await fetcher.fetch(f"{site}/robots.txt", before)
        except PageUnreadable:
            return _Rules(moment + TROUBLE_STAYS)
        if answer.status >= 500 or answer.status in _LATER:
            return _Rules(moment + TROUBLE_STAYS, is_closed=True)
        if answer.status != httpx.codes.OK or answer.kind not in {"text/plain", ""}:
            return _Rules(moment + STAYS)
        parser = RobotFileParser()
        parser.parse(answer.body[:LONGEST].decode("utf-8-sig", "replace").splitlines())
        return _Rules(moment + STAYS, parser)
