"""Search engines with an API: Brave with a key, and SearXNG at an address of the user's choice."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel, ValidationError

from lethe_app.domain.web import WebHit
from lethe_app.errors import PageUnreadable, SearchFailed
from lethe_app.web.addresses import host_of, is_at_home, literal_of
from lethe_app.web.http import Fetcher, FetchLimits, HttpResponse, Meter, NetworkRoute
from lethe_app.web.search import OTHER, clean_query, failed, gathered

BRAVE = "https://api.search.brave.com"
LIMITS = FetchLimits(hops=0)
_REFUSED = {401, 403, 422}
_TOO_OFTEN = {402, 429}
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

    def __init__(self, key: str, way: NetworkRoute | None = None, endpoint: str = BRAVE, meter: Meter | None = None) -> None:
        """Set key and route. Raise SearchFailed if the key is missing or malformed."""
        self._key, self._endpoint, self._way = key.strip(), endpoint, way or NetworkRoute()
        self._meter = meter or Meter()
        self.host = host_of(httpx.URL(endpoint))
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise SearchFailed(
                "Brave Search needs an API key.", "Get one at brave.com/search/api and enter it in the settings."
            )

    async def search(self, query: str, count: int) -> list[WebHit]:
        """Return hits; see `SearchEngine.search`."""
        words = clean_query(query)
        address = f"{self._endpoint}/res/v1/web/search?{urlencode({'q': words, 'count': min(count, 20)})}"
        answer = await _asked(self.name, address, self._way, self._meter, {"X-Subscription-Token": self._key})
        if answer.status in _REFUSED:
            raise SearchFailed("Brave Search rejected the API key.", "Check the key in the settings.")
        _check_status(self.name, answer)
        hits = _read(self.name, _BraveAnswer, answer).web.results
        return gathered(((hit.title, hit.url, hit.description or "") for hit in hits), count)


class SearXNG:
    """Search with a SearXNG server. The user named it, so it may be in the local network whatever the settings say about
    other addresses.
    """

    name = "SearXNG"

    def __init__(self, address: str, way: NetworkRoute | None = None, meter: Meter | None = None) -> None:
        """Set address and route. Raise SearchFailed if the address is missing or invalid."""
        self._address, self._meter = address.strip().rstrip("/").removesuffix("/search"), meter or Meter()
        usual = way or NetworkRoute()
        try:
            self.host = host_of(httpx.URL(self._address))
        except (httpx.InvalidURL, ValueError):
            self.host = ""
        if not self.host:
            raise SearchFailed("SearXNG needs the address of a server.", "Enter it in the settings.")
        self._way = replace(usual, allow_private=True, proxy="" if _is_here(self.host) else usual.proxy)

    async def search(self, query: str, count: int) -> list[WebHit]:
        """Return hits; see `SearchEngine.search`."""
        words = clean_query(query)
        address = f"{self._address}/search?{urlencode({'q': words, 'format': 'json'})}"
        answer = await _asked(self.name, address, self._way, self._meter, {})
        if answer.status == httpx.codes.FORBIDDEN or (answer.status == httpx.codes.OK and answer.kind == "text/html"):
            advice = "Its settings.yml must list json under search.formats."
            raise SearchFailed(f"The SearXNG server “{self.host}” does not allow searches by programs.", advice)
        _check_status(self.name, answer)
        hits = _read(self.name, _Hits, answer).results
        return gathered(((hit.title, hit.url, hit.content or "") for hit in hits), count)


async def _asked(name: str, address: str, way: NetworkRoute, meter: Meter, headers: dict[str, str]) -> HttpResponse:
    """Return the response to one API request. Redirects are an error, because they would send the query to another server."""

    async def before(_url: httpx.URL) -> None:
        """Do nothing: the caller has already reported the request together with the query."""

    try:
        return await Fetcher(way, LIMITS).fetch(address, before, {"Accept": "application/json", **headers}, meter)
    except PageUnreadable as error:
        raise failed(name, error) from error


def _check_status(name: str, answer: HttpResponse) -> None:
    if answer.status in _TOO_OFTEN:
        raise SearchFailed(f"{name} rejected the search: too many requests, or your quota is used up.", "Try again later.")
    if answer.status != httpx.codes.OK:
        raise SearchFailed(f"{name} returned status {answer.status}.", OTHER)


def _read(name: str, shape: type[Shape], answer: HttpResponse) -> Shape:
    try:
        return shape.model_validate_json(answer.body)
    except ValidationError as error:
        raise SearchFailed(f"{name} sent an unreadable response.") from error


def _is_here(host: str) -> bool:
    literal = literal_of(host)
    return host == "localhost" or (literal is not None and is_at_home(literal))
