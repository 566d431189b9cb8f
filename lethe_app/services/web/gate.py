"""The one gate to the internet: shut unless the user opened it, and whatever leaves is told and written down before it goes."""

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
"""Requests and days that are written down."""
MORE_HITS = 2
"""Hits asked for beyond those wanted, since some are doubles."""
NOT_ALLOWED = ("Lethe may not use the internet.", "The settings can allow it.")
_LIST = TypeAdapter(list[Outgoing])
_DAYS = TypeAdapter(dict[str, DayOut])

EngineFor = Callable[[Settings, NetworkRoute, Meter], SearchEngine]
"""Raises SearchFailed where a key or an address is missing."""


def chosen_engine(settings: Settings, way: NetworkRoute, meter: Meter) -> SearchEngine:
    """Whom the settings name. Nothing is connected to, and no library of theirs imported, before it is asked."""
    if settings.web_provider is SearchProvider.BRAVE:
        return Brave(settings.web_brave_key, way, meter=meter)
    if settings.web_provider is SearchProvider.SEARXNG:
        return SearXNG(settings.web_searxng_url, way, meter)
    return DuckDuckGo(way.proxy)


class WebGate:
    """Searches and reads pages for whoever asks, each time saying why."""

    def __init__(
        self,
        preferences: Preferences,
        state: AppState,
        count: Count,
        engine_for: EngineFor = chosen_engine,
        pages: PageFetcher | None = None,
        way: NetworkRoute | None = None,
    ) -> None:
        """`count` tells the tokens of texts; `way` is how requests leave, as far as the settings do not say it."""
        self.changed: Listeners[Outgoing] = Listeners()
        """Told of every request before it leaves, and again when it is over."""
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

    # what one may ask

    @property
    def is_allowed(self) -> bool:
        """Has the user opened the gate?"""
        return self._preferences.current.web_allowed and not self._is_closed

    def check(self) -> None:
        """Raises NotAllowed unless the gate is open."""
        if not self.is_allowed:
            raise NotAllowed(*NOT_ALLOWED)

    async def search(self, query: str, why: str, count: int = 0) -> list[WebHit]:
        """At most `count` hits (0: as many as the settings say), the best first; none is no failure.

        Raises NotAllowed and SearchFailed.
        """
        async with self._trip(why) as trip:
            settings, meter, words = self._preferences.current, Meter(), clean_query(query)
            wanted = count or settings.web_results
            engine = self._engine_for(settings, self._way(), meter)
            await trip.leave(Purpose.SEARCH, engine.name, engine.host, words, meter)
            return (await engine.search(words, wanted + MORE_HITS))[:wanted]

    async def read(self, address: str, why: str, most_tokens: int = 0) -> PageText:
        """What a page says, of at most `most_tokens` (0: as many as the settings say). Raises NotAllowed and PageUnreadable."""
        async with self._trip(why) as trip:

            async def leaving(purpose: Purpose, host: str, what: str, meter: Meter) -> None:
                await trip.leave(purpose, host, host, what, meter)

            page = await self._pages.read(address, self._way(), leaving)
        return await self._shortened(page, most_tokens or self._preferences.current.web_page_tokens)

    async def look_up(self, query: str, why: str, count: int = 0) -> list[tuple[WebHit, PageText]]:
        """The hits of a search, each with what its page says; of a page that cannot be read, what the engine says of it.

        Raises NotAllowed and SearchFailed.
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

    # what left

    async def outgoing(self) -> list[Outgoing]:
        """What left this computer, the newest first."""
        return list(reversed(await self._known()))

    async def days(self) -> dict[str, DayOut]:
        """How much it was, by day (YYYY-MM-DD)."""
        await self._known()
        return dict(self._days)

    async def clear_log(self) -> None:
        """The list of what left, and what was read."""
        known = await self._known()
        kept = [one for one in known if one.is_under_way]
        known.clear()
        known.extend(kept)
        self._days.clear()
        self._pages.clear_cache()
        await self._keep()

    async def close(self) -> None:
        """What is under way ends, and nothing leaves any more."""
        self._is_closed = True
        self._forget()
        self._stop_if_shut()
        await self._all_home.wait()

    # inside

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
        """Room for requests; it ends at once when the gate is shut meanwhile."""
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
            await trip.end("the internet was switched off")
            raise NotAllowed("The internet was switched off meanwhile.") from error
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
                alarm.reschedule(asyncio.get_running_loop().time())

    async def write_down(self, one: Outgoing) -> None:
        """Keep it, and tell everybody; for trips."""
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
    """The requests of one wish, one after the other: a page may ask for its rules first, and send its readers on."""

    def __init__(self, surfing: WebGate, why: str) -> None:
        self._surfing, self._why = surfing, why
        self._now: tuple[Outgoing, Meter, int] | None = None

    async def leave(self, purpose: Purpose, to: str, host: str, what: str, meter: Meter) -> None:
        """Called before a request leaves; what it raises keeps it at home."""
        await self.end()
        self._surfing.check()
        one = Outgoing(purpose=purpose, to=to, host=host, what=what, why=self._why)
        self._now = one, meter, meter.received
        await self._surfing.write_down(one)
        self._surfing.check()

    async def end(self, trouble: str = "") -> None:
        """The last request is over."""
        if self._now is not None:
            one, meter, before = self._now
            self._now = None
            done = {"ended": now(), "received": meter.received - before, "trouble": trouble}
            await self._surfing.write_down(one.model_copy(update=done))


def _ended(one: Outgoing) -> Outgoing:
    """What was under way when the program ended has no end of its own."""
    return one.model_copy(update={"ended": one.when, "trouble": "Lethe was closed"}) if one.is_under_way else one
