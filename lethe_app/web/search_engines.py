"""Search engines with an API: Brave with a key, and SearXNG at an address of the user's choice."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel, ValidationError

from lethe_app.domain.web import WebHit
from lethe_app.errors import PageUnreadable, SearchFailed
from lethe_app.web.addresses import host_of, is_private, parse_ip
from lethe_app.web.http import ByteCounter, Fetcher, FetchLimits, HttpResponse, NetworkRoute
from lethe_app.web.search import OTHER_ENGINE_ADVICE, clean_query, collect_hits

BRAVE = "https://api.search.brave.com"
LIMITS = FetchLimits(max_redirects=0)
_KEY_REFUSED_STATUSES = {401, 403, 422}
_RATE_LIMIT_STATUSES = {402, 429}
Shape = TypeVar("Shape", bound=BaseModel)


class _Hit(BaseModel):
    title: str = ""
    url: str = ""
    description: str | None = None
    content: str | None = None


class _Hits(BaseModel):
    results: list[_Hit] = []


class _BraveAnswer(BaseModel):
    web: _Hits = _Hits()


class Brave:
    """Search with the Brave API."""

    name = "Brave"

    def __init__(
        self, key: str, route: NetworkRoute | None = None, endpoint: str = BRAVE, counter: ByteCounter | None = None
    ) -> None:
        """Set key and route. Raise SearchFailed if the key is missing or malformed."""
        self._key, self._endpoint, self._route = key.strip(), endpoint, route or NetworkRoute()
        self._counter = counter or ByteCounter()
        self.host = host_of(httpx.URL(endpoint))
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise SearchFailed(
                "Brave Search needs an API key.", "Get one at brave.com/search/api and enter it in the settings."
            )

    async def search(self, query: str, count: int) -> list[WebHit]:
        """Return hits; see `SearchEngine.search`."""
        words = clean_query(query)
        address = f"{self._endpoint}/res/v1/web/search?{urlencode({'q': words, 'count': min(count, 20)})}"
        response = await _request(self.name, address, self._route, self._counter, {"X-Subscription-Token": self._key})
        if response.status in _KEY_REFUSED_STATUSES:
            raise SearchFailed("Brave Search rejected the API key.", "Check the key in the settings.")
        _check_status(self.name, response)
        hits = _parse_response(self.name, _BraveAnswer, response).web.results
        return collect_hits(((hit.title, hit.url, hit.description or "") for hit in hits), count)


class SearXNG:
    """Search with a SearXNG server. The user named it, so it may be in the local network whatever the settings say about
    other addresses.
    """

    name = "SearXNG"

    def __init__(self, address: str, route: NetworkRoute | None = None, counter: ByteCounter | None = None) -> None:
        """Set address and route. Raise SearchFailed if the address is missing or invalid."""
        self._address, self._counter = address.strip().rstrip("/").removesuffix("/search"), counter or ByteCounter()
        base_route = route or NetworkRoute()
        try:
            self.host = host_of(httpx.URL(self._address))
        except (httpx.InvalidURL, ValueError):
            self.host = ""
        if not self.host:
            raise SearchFailed("SearXNG needs the address of a server.", "Enter it in the settings.")
        self._route = replace(base_route, allow_private=True, proxy="" if _is_local(self.host) else base_route.proxy)

    async def search(self, query: str, count: int) -> list[WebHit]:
        """Return hits; see `SearchEngine.search`."""
        words = clean_query(query)
        address = f"{self._address}/search?{urlencode({'q': words, 'format': 'json'})}"
        response = await _request(self.name, address, self._route, self._counter, {})
        if response.status == httpx.codes.FORBIDDEN or (response.status == httpx.codes.OK and response.kind == "text/html"):
            advice = "Its settings.yml must list json under search.formats."
            raise SearchFailed(f"The SearXNG server “{self.host}” does not allow searches by programs.", advice)
        _check_status(self.name, response)
        hits = _parse_response(self.name, _Hits, response).results
        return collect_hits(((hit.title, hit.url, hit.content or "") for hit in hits), count)


async def _request(name: str, address: str, route: NetworkRoute, counter: ByteCounter, headers: dict[str, str]) -> HttpResponse:
    """Return the response to one API request. Redirects are an error, because they would send the query to another server."""

    async def before(_url: httpx.URL) -> None:
        """Do nothing: the caller has already reported the request together with the query."""

    try:
        return await Fetcher(route, LIMITS).fetch(address, before, {"Accept": "application/json", **headers}, counter)
    except PageUnreadable as error:
        raise SearchFailed(f"{name} could not be reached. {error.message}", error.remedy or OTHER_ENGINE_ADVICE) from error


def _check_status(name: str, response: HttpResponse) -> None:
    if response.status in _RATE_LIMIT_STATUSES:
        raise SearchFailed(f"{name} rejected the search: too many requests, or your quota is used up.", "Try again later.")
    if response.status != httpx.codes.OK:
        raise SearchFailed(f"{name} returned status {response.status}.", OTHER_ENGINE_ADVICE)


def _parse_response(name: str, shape: type[Shape], response: HttpResponse) -> Shape:
    try:
        return shape.model_validate_json(response.body)
    except ValidationError as error:
        raise SearchFailed(f"{name} sent an unreadable response.") from error


def _is_local(host: str) -> bool:
    literal = parse_ip(host)
    return host == "localhost" or (literal is not None and is_private(literal))
