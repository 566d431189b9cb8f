"""Gate for all web access: closed unless the user allows it. Every request is logged and announced before it is sent."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from pydantic import TypeAdapter

from lethe_app.config.options import SearchProvider
from lethe_app.config.settings import Settings
from lethe_app.domain.clock import now
from lethe_app.domain.web import DailyTraffic, OutgoingRequest, PageText, RequestPurpose, WebHit, day_of
from lethe_app.errors import LetheError, NotAllowed
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.key_value import AppState
from lethe_app.web.duckduckgo import DuckDuckGo
from lethe_app.web.html_text import CountTokens, truncate_to_tokens
from lethe_app.web.http import ByteCounter, NetworkRoute
from lethe_app.web.pages import PageFetcher
from lethe_app.web.search import SearchEngine, clean_query
from lethe_app.web.search_engines import Brave, SearXNG

SCOPE, LIST_KEY, DAYS_KEY = "network_log", "list", "days"
MAX_LOGGED_REQUESTS, MAX_LOGGED_DAYS = 300, 60
"""Number of requests and of days that are logged."""
MORE_HITS = 2
"""Additional hits requested, because some are duplicates."""
NOT_ALLOWED = ("Internet search is not allowed.", "Allow it in the settings.")
_LIST = TypeAdapter(list[OutgoingRequest])
_DAYS = TypeAdapter(dict[str, DailyTraffic])

EngineFactory = Callable[[Settings, NetworkRoute, ByteCounter], SearchEngine]
"""Factory of the search engine. Raises SearchFailed if a key or an address is missing."""


def create_engine(settings: Settings, route: NetworkRoute, counter: ByteCounter) -> SearchEngine:
    """Return the search engine selected in the settings. It connects to nothing and imports no library before its first
    search.
    """
    if settings.web_provider is SearchProvider.BRAVE:
        return Brave(settings.web_brave_key, route, counter=counter)
    if settings.web_provider is SearchProvider.SEARXNG:
        return SearXNG(settings.web_searxng_url, route, counter)
    return DuckDuckGo(route.proxy)


class WebGate:
    """Search the web and read pages. Every request carries a reason, which is logged."""

    def __init__(
        self,
        preferences: Preferences,
        app_state: AppState,
        count_tokens: CountTokens,
        engine_factory: EngineFactory = create_engine,
        pages: PageFetcher | None = None,
        base_route: NetworkRoute | None = None,
    ) -> None:
        """Create the gate. `count_tokens` counts the tokens of texts; `base_route` is the network route as far as the
        settings do not define it.
        """
        self.changed: Listeners[OutgoingRequest] = Listeners()
        """Emitted for every request before it is sent, and again when it has ended."""
        self._preferences, self._app_state, self._count_tokens = preferences, app_state, count_tokens
        self._engine_factory, self._pages, self._base_route = (
            engine_factory,
            pages or PageFetcher(),
            base_route or NetworkRoute(),
        )
        self._log: deque[OutgoingRequest] | None = None
        self._daily_totals: dict[str, DailyTraffic] = {}
        self._active_timeouts: set[asyncio.Timeout] = set()
        self._active_sequences = 0
        self._all_ended = asyncio.Event()
        self._all_ended.set()
        self._is_closed = False
        self._unsubscribe = preferences.changed.add(lambda _settings: self._cancel_if_not_allowed())

    # Requests

    @property
    def is_allowed(self) -> bool:
        """Return whether the user allows web access."""
        return self._preferences.current.web_allowed and not self._is_closed

    def check_allowed(self) -> None:
        """Raise NotAllowed unless web access is allowed."""
        if not self.is_allowed:
            raise NotAllowed(*NOT_ALLOWED)

    async def search(self, query: str, why: str, count: int = 0) -> list[WebHit]:
        """Return at most `count` hits (0: the number in the settings), best first; the list may be empty.

        Raise NotAllowed or SearchFailed.
        """
        async with self._open_sequence(why) as requests:
            settings, counter, clean_words = self._preferences.current, ByteCounter(), clean_query(query)
            hit_count = count or settings.web_results
            engine = self._engine_factory(settings, self._current_route(), counter)
            await requests.log_start(RequestPurpose.SEARCH, engine.name, engine.host, clean_words, counter)
            return (await engine.search(clean_words, hit_count + MORE_HITS))[:hit_count]

    async def read(self, address: str, why: str, max_tokens: int = 0) -> PageText:
        """Return the text of a page, at most `max_tokens` (0: the number in the settings). Raise NotAllowed or
        PageUnreadable.
        """
        async with self._open_sequence(why) as requests:

            async def before_request(purpose: RequestPurpose, host: str, what: str, counter: ByteCounter) -> None:
                await requests.log_start(purpose, host, host, what, counter)

            page = await self._pages.read(address, self._current_route(), before_request)
        limit = max_tokens or self._preferences.current.web_page_tokens
        text, is_cut = await truncate_to_tokens(page.text, limit, self._count_tokens)
        return replace(page, text=text, is_cut=is_cut or page.is_cut)

    # Log

    async def list_requests(self) -> list[OutgoingRequest]:
        """Return the logged requests, newest first."""
        return list(reversed(await self._load_log()))

    async def daily_totals(self) -> dict[str, DailyTraffic]:
        """Return the daily totals by day (YYYY-MM-DD)."""
        await self._load_log()
        return dict(self._daily_totals)

    async def clear_log(self) -> None:
        """Clear the log, the daily totals and the page cache; requests in progress stay in the log."""
        log = await self._load_log()
        running = [request for request in log if request.is_under_way]
        log.clear()
        log.extend(running)
        self._daily_totals.clear()
        self._pages.clear_cache()
        await self._save_log()

    async def close(self) -> None:
        """Cancel requests in progress and refuse new ones."""
        self._is_closed = True
        self._unsubscribe()
        self._cancel_if_not_allowed()
        await self._all_ended.wait()

    # Internals

    def _current_route(self) -> NetworkRoute:
        settings = self._preferences.current
        return replace(self._base_route, allow_private=settings.web_private_addresses, proxy=settings.proxy)

    @asynccontextmanager
    async def _open_sequence(self, why: str) -> AsyncIterator[WebRequestSequence]:
        """Open a group of requests; it is cancelled at once when web access is switched off."""
        self.check_allowed()
        trip = WebRequestSequence(self, why)
        self._active_sequences += 1
        self._all_ended.clear()
        try:
            async with asyncio.timeout(None) as timeout:
                self._active_timeouts.add(timeout)
                try:
                    yield trip
                finally:
                    self._active_timeouts.discard(timeout)
            await trip.log_end()
        except TimeoutError as error:
            await trip.log_end("internet search was switched off")
            raise NotAllowed("Internet search was switched off in the meantime.") from error
        except LetheError as error:
            await trip.log_end(error.message)
            raise
        except BaseException:
            await trip.log_end("stopped")
            raise
        finally:
            self._active_sequences -= 1
            if not self._active_sequences:
                self._all_ended.set()

    def _cancel_if_not_allowed(self) -> None:
        if not self.is_allowed:
            timeouts, self._active_timeouts = self._active_timeouts, set()
            for timeout in timeouts:
                # A timeout that expires now cancels the request from outside, and `_open_sequence` turns it into NotAllowed.
                timeout.reschedule(asyncio.get_running_loop().time())

    async def log_request(self, request: OutgoingRequest) -> None:
        """Store a request in the log and notify listeners. Called by `WebRequestSequence`."""
        log = await self._load_log()
        day = self._daily_totals.setdefault(day_of(request.when), DailyTraffic())
        position = next((index for index, logged in enumerate(log) if logged.id == request.id), None)
        if position is None:
            log.append(request)
            day.requests += 1
        else:
            log[position] = request
        day.received += request.received
        await self._save_log()
        self.changed.notify(request)

    async def _load_log(self) -> deque[OutgoingRequest]:
        if self._log is None:
            stored = await self._app_state.get(SCOPE, LIST_KEY), await self._app_state.get(SCOPE, DAYS_KEY)
            requests = read_stored(_LIST.validate_python, stored[0]) or []
            days = read_stored(_DAYS.validate_python, stored[1]) or {}
            if self._log is None:  # no other call has loaded it meanwhile
                self._log, self._daily_totals = (
                    deque((_mark_ended(request) for request in requests), maxlen=MAX_LOGGED_REQUESTS),
                    days,
                )
        return self._log

    async def _save_log(self) -> None:
        for day in sorted(self._daily_totals)[:-MAX_LOGGED_DAYS]:
            del self._daily_totals[day]
        await self._app_state.set(SCOPE, LIST_KEY, _LIST.dump_python(list(self._log or ()), mode="json"))
        await self._app_state.set(SCOPE, DAYS_KEY, _DAYS.dump_python(self._daily_totals, mode="json"))


class WebRequestSequence:
    """Sequential requests of one search or page: a page may first need its robots.txt, and may redirect."""

    def __init__(self, gate: WebGate, why: str) -> None:
        self._gate, self._why = gate, why
        self._current: tuple[OutgoingRequest, ByteCounter, int] | None = None

    async def log_start(self, purpose: RequestPurpose, to: str, host: str, what: str, counter: ByteCounter) -> None:
        """Log a request before it is sent; if this raises, the request is not sent."""
        await self.log_end()
        self._gate.check_allowed()
        request = OutgoingRequest(purpose=purpose, to=to, host=host, what=what, why=self._why)
        self._current = request, counter, counter.received
        # The write awaits the database, and the user may switch web access off meanwhile; so the gate is checked before and
        # after.
        await self._gate.log_request(request)
        self._gate.check_allowed()

    async def log_end(self, error: str = "") -> None:
        """Log the end of the last request."""
        if self._current is not None:
            request, counter, bytes_before = self._current
            self._current = None
            changes = {"ended": now(), "received": counter.received - bytes_before, "trouble": error}
            await self._gate.log_request(request.model_copy(update=changes))


def _mark_ended(request: OutgoingRequest) -> OutgoingRequest:
    """Mark a request as ended that was in progress when the program ended."""
    return (
        request.model_copy(update={"ended": request.when, "trouble": "Lethe was closed"}) if request.is_under_way else request
    )
