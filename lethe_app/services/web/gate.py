"""Gate for all web access: closed unless the user allows it. Every request is logged and announced before it is sent."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from lethe_app.config.options import SearchProvider
from lethe_app.config.settings import Settings
from lethe_app.domain.clock import now
from lethe_app.domain.web import DayOut, Outgoing, PageText, Purpose, WebHit, day_of
from lethe_app.errors import LetheError, NotAllowed, WebError
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import AppState
from lethe_app.web.duckduckgo import DuckDuckGo
from lethe_app.web.html_text import Count, shortened
from lethe_app.web.http import Meter, NetworkRoute
from lethe_app.web.pages import PageFetcher
from lethe_app.web.search import SearchEngine, clean_query
from lethe_app.web.search_engines import Brave, SearXNG

SCOPE, LIST, DAYS = "outgoing", "list", "days"
MOST_KEPT, MOST_DAYS = 300, 60
"""Number of requests and of days that are logged."""
MORE_HITS = 2
"""Additional hits requested, because some are duplicates."""
NOT_ALLOWED = ("Internet search is not allowed.", "Allow it in the settings.")
_LIST = TypeAdapter(list[Outgoing])
_DAYS = TypeAdapter(dict[str, DayOut])

EngineFor = Callable[[Settings, NetworkRoute, Meter], SearchEngine]
"""Factory of the search engine. Raises SearchFailed if a key or an address is missing."""


def chosen_engine(settings: Settings, way: NetworkRoute, meter: Meter) -> SearchEngine:
    """Return the search engine selected in the settings. It connects to nothing and imports no library before its first
    search.
    """
    if settings.web_provider is SearchProvider.BRAVE:
        return Brave(settings.web_brave_key, way, meter=meter)
    if settings.web_provider is SearchProvider.SEARXNG:
        return SearXNG(settings.web_searxng_url, way, meter)
    return DuckDuckGo(way.proxy)


class WebGate:
    """Search the web and read pages. Every request carries a reason, which is logged."""

    def __init__(
        self,
        preferences: Preferences,
        state: AppState,
        count: Count,
        engine_for: EngineFor = chosen_engine,
        pages: PageFetcher | None = None,
        way: NetworkRoute | None = None,
    ) -> None:
        """Create the gate. `count` returns the tokens of texts; `way` is the network route as far as the settings do not
        define it.
        """
        self.changed: Listeners[Outgoing] = Listeners()
        """Emitted for every request before it is sent, and again when it has ended."""
        self._preferences, self._state, self._count = preferences, state, count
        self._engine_for, self._pages, self._usual = engine_for, pages or PageFetcher(), way or NetworkRoute()
        self._list: deque[Outgoing] | None = None
        self._days: dict[str, DayOut] = {}
        self._under_way: set[asyncio.Timeout] = set()
        self._trips = 0
        self._all_home = asyncio.Event()
        self._all_home.set()
        self._is_closed = False
        self._forget = preferences.changed.add(lambda _settings: self._stop_if_shut())

    # Requests

    @property
    def is_allowed(self) -> bool:
        """Return whether the user allows web access."""
        return self._preferences.current.web_allowed and not self._is_closed

    def check(self) -> None:
        """Raise NotAllowed unless web access is allowed."""
        if not self.is_allowed:
            raise NotAllowed(*NOT_ALLOWED)

    async def search(self, query: str, why: str, count: int = 0) -> list[WebHit]:
        """Return at most `count` hits (0: the number in the settings), best first; the list may be empty.

        Raise NotAllowed or SearchFailed.
        """
        async with self._trip(why) as trip:
            settings, meter, words = self._preferences.current, Meter(), clean_query(query)
            wanted = count or settings.web_results
            engine = self._engine_for(settings, self._way(), meter)
            await trip.leave(Purpose.SEARCH, engine.name, engine.host, words, meter)
            return (await engine.search(words, wanted + MORE_HITS))[:wanted]

    async def read(self, address: str, why: str, most_tokens: int = 0) -> PageText:
        """Return the text of a page, at most `most_tokens` (0: the number in the settings). Raise NotAllowed or
        PageUnreadable.
        """
        async with self._trip(why) as trip:

            async def leaving(purpose: Purpose, host: str, what: str, meter: Meter) -> None:
                await trip.leave(purpose, host, host, what, meter)

            page = await self._pages.read(address, self._way(), leaving)
        return await self._shortened(page, most_tokens or self._preferences.current.web_page_tokens)

    async def look_up(self, query: str, why: str, count: int = 0) -> list[tuple[WebHit, PageText]]:
        """Return the hits of a search, each with the text of its page; if the page cannot be read, with the engine's
        description.

        Raise NotAllowed or SearchFailed.
        """
        hits = await self.search(query, why, count)
        reading = [asyncio.ensure_future(self._read_or_described(hit, why)) for hit in hits]
        try:
            pages = [await page for page in reading]
        finally:
            for page in reading:
                page.cancel()
            await asyncio.gather(*reading, return_exceptions=True)
        self.check()
        return list(zip(hits, pages, strict=True))

    # Log

    async def outgoing(self) -> list[Outgoing]:
        """Return the logged requests, newest first."""
        return list(reversed(await self._known()))

    async def days(self) -> dict[str, DayOut]:
        """Return the daily totals by day (YYYY-MM-DD)."""
        await self._known()
        return dict(self._days)

    async def clear_log(self) -> None:
        """Clear the log, the daily totals and the page cache; requests in progress stay in the log."""
        known = await self._known()
        kept = [one for one in known if one.is_under_way]
        known.clear()
        known.extend(kept)
        self._days.clear()
        self._pages.clear_cache()
        await self._keep()

    async def close(self) -> None:
        """Cancel requests in progress and refuse new ones."""
        self._is_closed = True
        self._forget()
        self._stop_if_shut()
        await self._all_home.wait()

    # Internals

    def _way(self) -> NetworkRoute:
        settings = self._preferences.current
        return replace(self._usual, allow_private=settings.web_private_addresses, proxy=settings.proxy)

    async def _shortened(self, page: PageText, most: int) -> PageText:
        text, is_cut = await shortened(page.text, most, self._count)
        return PageText(page.address, page.title, text, is_cut or page.is_cut, page.is_description)

    async def _read_or_described(self, hit: WebHit, why: str) -> PageText:
        described = PageText(hit.address, hit.title, hit.description, is_description=True)
        try:
            page = await self.read(hit.address, why)
        except WebError:
            return described
        return page if len(page.text) >= len(hit.description) else described

    @asynccontextmanager
    async def _trip(self, why: str) -> AsyncIterator[Trip]:
        """Open a group of requests; it is cancelled at once when web access is switched off."""
        self.check()
        trip = Trip(self, why)
        self._trips += 1
        self._all_home.clear()
        try:
            async with asyncio.timeout(None) as alarm:
                self._under_way.add(alarm)
                try:
                    yield trip
                finally:
                    self._under_way.discard(alarm)
            await trip.end()
        except TimeoutError as error:
            await trip.end("internet search was switched off")
            raise NotAllowed("Internet search was switched off in the meantime.") from error
        except LetheError as error:
            await trip.end(error.message)
            raise
        except BaseException:
            await trip.end("stopped")
            raise
        finally:
            self._trips -= 1
            if not self._trips:
                self._all_home.set()

    def _stop_if_shut(self) -> None:
        if not self.is_allowed:
            alarms, self._under_way = self._under_way, set()
            for alarm in alarms:
                # A timeout that expires now cancels the request from outside, and `_trip` turns it into NotAllowed.
                alarm.reschedule(asyncio.get_running_loop().time())

    async def write_down(self, one: Outgoing) -> None:
        """Store a request in the log and notify listeners. Called by `Trip`."""
        known = await self._known()
        day = self._days.setdefault(day_of(one.when), DayOut())
        place = next((place for place, other in enumerate(known) if other.id == one.id), None)
        if place is None:
            known.append(one)
            day.requests += 1
        else:
            known[place] = one
        day.received += one.received
        await self._keep()
        self.changed.tell(one)

    async def _known(self) -> deque[Outgoing]:
        if self._list is None:
            stored = await self._state.get(SCOPE, LIST), await self._state.get(SCOPE, DAYS)
            try:
                kept, days = _LIST.validate_python(stored[0] or []), _DAYS.validate_python(stored[1] or {})
            except ValidationError:
                kept, days = [], {}
            if self._list is None:  # nobody else was quicker
                self._list, self._days = deque((_ended(one) for one in kept), maxlen=MOST_KEPT), days
        return self._list

    async def _keep(self) -> None:
        for day in sorted(self._days)[:-MOST_DAYS]:
            del self._days[day]
        await self._state.set(SCOPE, LIST, _LIST.dump_python(list(self._list or ()), mode="json"))
        await self._state.set(SCOPE, DAYS, _DAYS.dump_python(self._days, mode="json"))


class Trip:
    """Sequential requests of one search or page: a page may first need its robots.txt, and may redirect."""

    def __init__(self, surfing: WebGate, why: str) -> None:
        self._surfing, self._why = surfing, why
        self._now: tuple[Outgoing, Meter, int] | None = None

    async def leave(self, purpose: Purpose, to: str, host: str, what: str, meter: Meter) -> None:
        """Log a request before it is sent; if this raises, the request is not sent."""
        await self.end()
        self._surfing.check()
        one = Outgoing(purpose=purpose, to=to, host=host, what=what, why=self._why)
        self._now = one, meter, meter.received
        # The write awaits the database, and the user may switch web access off meanwhile; so the gate is checked before and
        # after.
        await self._surfing.write_down(one)
        self._surfing.check()

    async def end(self, trouble: str = "") -> None:
        """Log the end of the last request."""
        if self._now is not None:
            one, meter, before = self._now
            self._now = None
            done = {"ended": now(), "received": meter.received - before, "trouble": trouble}
            await self._surfing.write_down(one.model_copy(update=done))


def _ended(one: Outgoing) -> Outgoing:
    """Mark a request as ended that was in progress when the program ended."""
    return one.model_copy(update={"ended": one.when, "trouble": "Lethe was closed"}) if one.is_under_way else one
