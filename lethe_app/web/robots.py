"""Check of a site's robots.txt: whether programs may read a page, and how often."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakValueDictionary

import httpx
from protego import Protego

from lethe_app.errors import PageUnreadable
from lethe_app.web.addresses import host_of
from lethe_app.web.http import BeforeRequest, Fetcher

PRODUCT = "Lethe"
"""Product name that rules for this program are addressed to."""
MAX_RULES_BYTES = 500_000
"""Bytes of robots.txt that are parsed."""
CACHE_SECONDS = 3600.0
"""Seconds for which the rules of a site are cached; failures (`FAILURE_CACHE_SECONDS`) are retried sooner."""
FAILURE_CACHE_SECONDS = 120.0
"""Seconds for which it is remembered that the rules of a site could not be read."""
MAX_SITES = 200
"""Maximum number of sites whose rules are cached."""
MAX_DELAY = 10.0
"""Maximum seconds of a `Crawl-delay` that are waited between two pages."""
_OVERLOAD_STATUSES = {429}
PAGE_TYPES = {"text/html", "application/xhtml+xml"}
"""Media types of a page that a site without robots.txt sends with status 200."""
_VERSION = re.compile(r"^(\s*user-agent\s*:\s*[a-z_-]+)/.*$", re.IGNORECASE | re.MULTILINE)
"""Version of a product in a rule (`Lethe/1.0`). Protego takes it for a part of the name; RFC 9309 does not."""


Key = TypeVar("Key")
Value = TypeVar("Value")


def put_newest(values: dict[Key, Value], key: Key, value: Value, limit: int) -> None:
    """Put a value at the end of a dictionary that keeps the newest `limit` ones."""
    values.pop(key, None)
    values[key] = value
    while len(values) > limit:
        del values[next(iter(values))]


class RobotsRules:
    """Rules of one site for this program by RFC 9309: the longest matching pattern decides; of equal ones, an allowing one."""

    def __init__(self, text: str = "") -> None:
        self._parsed = Protego.parse(_VERSION.sub(r"\1", text))

    def allows(self, url: str) -> bool:
        """Return whether the page at an absolute address, with its query, may be read."""
        return self._parsed.can_fetch(url, PRODUCT)

    @property
    def delay(self) -> float:
        """Seconds between two visits; 0 if the site does not specify any."""
        return self._parsed.crawl_delay(PRODUCT) or 0.0


ALLOW_ALL = RobotsRules()


@dataclass(frozen=True)
class _CachedRules:
    expires_at: float
    rules: RobotsRules = ALLOW_ALL
    is_closed: bool = False
    """True if the site reports an error or overload and must not be visited for now."""


class RobotsCache:
    """Cache of the rules of some sites, in memory."""

    def __init__(self) -> None:
        self._cache: dict[str, _CachedRules] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Locks by site: concurrent checks wait for the one that is fetching the rules."""

    async def check_page(self, url: httpx.URL, fetcher: Fetcher, before: BeforeRequest, moment: float) -> float:
        """Return the seconds the site requires between two pages, 0 if it does not say. Raise PageUnreadable if the page
        must not be read, or NotAllowed.
        """
        site = f"{url.scheme}://{url.netloc.decode('ascii')}"
        async with self._locks.setdefault(site, asyncio.Lock()):
            cached = self._cache.get(site)
            if cached is None or cached.expires_at <= moment:
                cached = await self._fetch_rules(site, fetcher, before, moment)
                put_newest(self._cache, site, cached, MAX_SITES)
        if cached.is_closed:
            raise PageUnreadable(f"“{host_of(url)}” is currently unavailable.", "Try again later.")
        if not cached.rules.allows(str(url)):
            raise PageUnreadable(f"“{host_of(url)}” does not allow programs to read this page.", "Open it in your browser.")
        return min(cached.rules.delay, MAX_DELAY)

    async def _fetch_rules(self, site: str, fetcher: Fetcher, before: BeforeRequest, moment: float) -> _CachedRules:
        """Fetch the rules. A site without rules, or whose rules cannot be fetched, allows everything; one with server errors
        is closed for now.
        """
        try:
            response = await fetcher.fetch(f"{site}/robots.txt", before)
        except PageUnreadable:
            return _CachedRules(moment + FAILURE_CACHE_SECONDS)
        if response.status >= 500 or response.status in _OVERLOAD_STATUSES:
            return _CachedRules(moment + FAILURE_CACHE_SECONDS, is_closed=True)
        if response.status != httpx.codes.OK or response.kind in PAGE_TYPES:
            return _CachedRules(moment + CACHE_SECONDS)
        return _CachedRules(moment + CACHE_SECONDS, RobotsRules(response.body[:MAX_RULES_BYTES].decode("utf-8-sig", "replace")))
