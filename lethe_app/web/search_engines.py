"""Asks search engines that answer programs: Brave with a key, and SearXNG at an address of the user's own."""

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
    """The search engine's own address for programs."""

    name = "Brave"

    def __init__(self, key: str, way: NetworkRoute | None = None, endpoint: str = BRAVE, meter: Meter | None = None) -> None:
        """Raises SearchFailed without a key."""
        self._key, self._endpoint, self._way = key.strip(), endpoint, way or NetworkRoute()
        self._meter = meter or Meter()
        self.host = host_of(httpx.URL(endpoint))
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise SearchFailed("Brave wants a key.", "Ask for one at brave.com/search/api and put it into the settings.")

    async def search(self, query: str, count: int) -> list[WebHit]:
        """See `SearchEngine`."""
        words = clean_query(query)
        address = f"{self._endpoint}/res/v1/web/search?{urlencode({'q': words, 'count': min(count, 20)})}"
        answer = await _asked(self.name, address, self._way, self._meter, {"X-Subscription-Token": self._key})
        if answer.status in _REFUSED:
            raise SearchFailed("Brave does not accept the key.", "Look at it in the settings.")
        _check_status(self.name, answer)
        hits = _read(self.name, _BraveAnswer, answer).web.results
        return gathered(((hit.title, hit.url, hit.description or "") for hit in hits), count)


class SearXNG:
    """A server that the user has named, and may therefore stand at home whatever the settings say of other addresses."""

    name = "SearXNG"

    def __init__(self, address: str, way: NetworkRoute | None = None, meter: Meter | None = None) -> None:
        """Raises SearchFailed without an address."""
        self._address, self._meter = address.strip().rstrip("/").removesuffix("/search"), meter or Meter()
        usual = way or NetworkRoute()
        try:
            self.host = host_of(httpx.URL(self._address))
        except (httpx.InvalidURL, ValueError):
            self.host = ""
        if not self.host:
            raise SearchFailed("SearXNG wants the address of a server.", "The settings have a place for it.")
        self._way = replace(usual, allow_private=True, proxy="" if _is_here(self.host) else usual.proxy)

    async def search(self, query: str, count: int) -> list[WebHit]:
        """See `SearchEngine`."""
        words = clean_query(query)
        address = f"{self._address}/search?{urlencode({'q': words, 'format': 'json'})}"
        answer = await _asked(self.name, address, self._way, self._meter, {})
        if answer.status == httpx.codes.FORBIDDEN or (answer.status == httpx.codes.OK and answer.kind == "text/html"):
            advice = "Its settings.yml must list json under search.formats."
            raise SearchFailed(f"The SearXNG of “{self.host}” does not answer programs.", advice)
        _check_status(self.name, answer)
        hits = _read(self.name, _Hits, answer).results
        return gathered(((hit.title, hit.url, hit.content or "") for hit in hits), count)


async def _asked(name: str, address: str, way: NetworkRoute, meter: Meter, headers: dict[str, str]) -> HttpResponse:
    """One question and no detours: whoever sends a question on to somebody else is not answered."""

    async def before(_url: httpx.URL) -> None:
        """Told by whoever searches, with the words that are searched."""

    try:
        return await Fetcher(way, LIMITS).fetch(address, before, {"Accept": "application/json", **headers}, meter)
    except PageUnreadable as error:
        raise failed(name, error) from error


def _check_status(name: str, answer: HttpResponse) -> None:
    if answer.status in _TOO_OFTEN:
        raise SearchFailed(f"{name} is asked too often, or your share is used up.", "Try again later.")
    if answer.status != httpx.codes.OK:
        raise SearchFailed(f"{name} answered {answer.status}.", OTHER)


def _read(name: str, shape: type[Shape], answer: HttpResponse) -> Shape:
    try:
        return shape.model_validate_json(answer.body)
    except ValidationError as error:
        raise SearchFailed(f"{name} answered in a way that nobody understands.") from error


def _is_here(host: str) -> bool:
    literal = literal_of(host)
    return host == "localhost" or (literal is not None and is_at_home(literal))
