"""Search engines with an API: Brave with a key, and SearXNG at an address of the user's choice."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlencode

import httpx
from pydantic import AliasChoices, AliasPath, BaseModel, Field, ValidationError

from lethe_app.domain.web import WebHit
from lethe_app.errors import PageUnreadable, SearchFailed
from lethe_app.web.addresses import host_of, is_private, parse_ip
from lethe_app.web.http import ByteCounter, Fetcher, FetchLimits, HttpResponse, NetworkRoute
from lethe_app.web.search import OTHER_ENGINE_ADVICE, clean_query, collect_hits

BRAVE = "https://api.search.brave.com"
LIMITS = FetchLimits(max_redirects=0)
_KEY_REFUSED_STATUSES = {401, 403, 422}
_RATE_LIMIT_STATUSES = {402, 429}


class _Hit(BaseModel):
    title: str = ""
    url: str = ""
    text: str | None = Field(default=None, validation_alias=AliasChoices("description", "content"))


class _Answer(BaseModel):
    results: list[_Hit] = Field(default=[], validation_alias=AliasChoices("results", AliasPath("web", "results")))


class SearchApi:
    """Search engine that answers with JSON."""

    name: str

    def __init__(self, host: str, route: NetworkRoute, counter: ByteCounter | None) -> None:
        self.host, self._route, self._counter = host, route, counter or ByteCounter()

    async def search(self, query: str, count: int) -> list[WebHit]:
        """Return hits; see `SearchEngine.search`."""
        address, headers = self.build_request(clean_query(query), count)
        response = await self._request(address, headers)
        self.check_refusal(response)
        if response.status in _RATE_LIMIT_STATUSES:
            problem = "too many requests, or your quota is used up"
            raise SearchFailed(f"{self.name} rejected the search: {problem}.", "Try again later.")
        if response.status != httpx.codes.OK:
            raise SearchFailed(f"{self.name} returned status {response.status}.", OTHER_ENGINE_ADVICE)
        try:
            hits = _Answer.model_validate_json(response.body).results
        except ValidationError as error:
            raise SearchFailed(f"{self.name} sent an unreadable response.") from error
        return collect_hits(((hit.title, hit.url, hit.text or "") for hit in hits), count)

    def build_request(self, words: str, count: int) -> tuple[str, dict[str, str]]:
        """Return the address and the headers of a search."""
        raise NotImplementedError

    def check_refusal(self, response: HttpResponse) -> None:
        """Raise SearchFailed if the response says why this engine in particular refuses to search."""
        raise NotImplementedError

    async def _request(self, address: str, headers: dict[str, str]) -> HttpResponse:
        """Return the response to one request. Redirects are an error, because they would send the query to another server."""

        async def before(_url: httpx.URL) -> None:
            """Do nothing: the caller has already reported the request together with the query."""

        headers = {"Accept": "application/json", **headers}
        try:
            return await Fetcher(self._route, LIMITS).fetch(address, before, headers, self._counter)
        except PageUnreadable as error:
            problem = f"{self.name} could not be reached. {error.message}"
            raise SearchFailed(problem, error.remedy or OTHER_ENGINE_ADVICE) from error


class Brave(SearchApi):
    """Search with the Brave API."""

    name = "Brave"

    def __init__(
        self, key: str, route: NetworkRoute | None = None, endpoint: str = BRAVE, counter: ByteCounter | None = None
    ) -> None:
        """Set key and route. Raise SearchFailed if the key is missing or malformed."""
        super().__init__(host_of(httpx.URL(endpoint)), route or NetworkRoute(), counter)
        self._key, self._endpoint = key.strip(), endpoint
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise SearchFailed(
                "Brave Search needs an API key.", "Get one at brave.com/search/api and enter it in the settings."
            )

    def build_request(self, words: str, count: int) -> tuple[str, dict[str, str]]:
        query = urlencode({"q": words, "count": min(count, 20)})
        return f"{self._endpoint}/res/v1/web/search?{query}", {"X-Subscription-Token": self._key}

    def check_refusal(self, response: HttpResponse) -> None:
        if response.status in _KEY_REFUSED_STATUSES:
            raise SearchFailed("Brave Search rejected the API key.", "Check the key in the settings.")


class SearXNG(SearchApi):
    """Search with a SearXNG server. The user named it, so it may be in the local network whatever the settings say about
    other addresses.
    """

    name = "SearXNG"

    def __init__(self, address: str, route: NetworkRoute | None = None, counter: ByteCounter | None = None) -> None:
        """Set address and route. Raise SearchFailed if the address is missing or invalid."""
        self._address, host = address.strip().rstrip("/").removesuffix("/search"), ""
        with suppress(httpx.InvalidURL, ValueError):
            host = host_of(httpx.URL(self._address))
        if not host:
            raise SearchFailed("SearXNG needs the address of a server.", "Enter it in the settings.")
        literal, base_route = parse_ip(host), route or NetworkRoute()
        is_local = host == "localhost" or (literal is not None and is_private(literal))
        proxy = "" if is_local else base_route.proxy
        super().__init__(host, replace(base_route, allow_private=True, proxy=proxy), counter)

    def build_request(self, words: str, count: int) -> tuple[str, dict[str, str]]:
        return f"{self._address}/search?{urlencode({'q': words, 'format': 'json'})}", {}

    def check_refusal(self, response: HttpResponse) -> None:
        if response.status == httpx.codes.FORBIDDEN or (response.status == httpx.codes.OK and response.kind == "text/html"):
            advice = "Its settings.yml must list json under search.formats."
            raise SearchFailed(f"The SearXNG server “{self.host}” does not allow searches by programs.", advice)
