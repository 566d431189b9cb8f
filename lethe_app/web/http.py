"""HTTP client for single requests: checks every redirect, counts every byte, and sends nothing that identifies the user."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx

from lethe_app.errors import PageUnreadable
from lethe_app.web.addresses import check_address, host_of
from lethe_app.web.pinned_dns import NetworkBackend, PinnedBackend, PinnedTransport, Resolve, resolve_checked, resolve_host

MAX_BODY_BYTES = 2_000_000
"""Maximum size of a body in bytes, after decompression."""
SECONDS = 15.0
"""Time limit for all redirects together."""
MAX_REDIRECTS = 5
"""Maximum number of redirects followed for one address."""
USER_AGENT = "Lethe/1 (reads single pages for one person at home)"
PIECE_BYTES = 64 * 1024
_REDIRECT_STATUSES = {301, 302, 303, 307, 308}

BeforeRequest = Callable[[httpx.URL], Awaitable[None]]
"""Callback before each request is sent; an exception from it prevents the request."""


@dataclass(frozen=True)
class FetchLimits:
    """Limits of a fetch."""

    max_body_bytes: int = MAX_BODY_BYTES
    seconds: float = SECONDS
    max_redirects: int = MAX_REDIRECTS


@dataclass(frozen=True)
class HttpResponse:
    """Final response of a fetch."""

    url: httpx.URL
    status: int
    kind: str
    """Media type, such as text/html; empty if the server sent none."""
    charset: str
    body: bytes
    received: int
    """Bytes received, before decompression."""


@dataclass
class ByteCounter:
    """Counter of bytes received. It is updated while they arrive, so that the number is known after an error, too."""

    received: int = 0


@dataclass(frozen=True)
class NetworkRoute:
    """Network route of requests."""

    allow_private: bool = False
    proxy: str = ""
    """Proxy address. The proxy resolves names itself: the address it connects to cannot be pinned, only checked beforehand."""
    resolve: Resolve = resolve_host
    context: ssl.SSLContext | None = None
    """TLS context; None uses the certificate authorities shipped with the program."""
    net: NetworkBackend | None = None
    """Network backend; None uses the real network."""


@dataclass(frozen=True)
class Fetcher:
    """HTTP client without state between fetches: no cookies, no connections."""

    route: NetworkRoute = field(default_factory=NetworkRoute)
    limits: FetchLimits = field(default_factory=FetchLimits)

    async def fetch(
        self,
        address: str,
        before: BeforeRequest,
        headers: Mapping[str, str] | None = None,
        counter: ByteCounter | None = None,
        media_types: frozenset[str] | None = None,
    ) -> HttpResponse:
        """Return the response of any status after following redirects.

        With `media_types`, the body of any other media type is not read. Raise NotAllowed or PageUnreadable.
        """
        url, seconds_left = check_address(address, allow_private=self.route.allow_private), self.limits.seconds
        loop, counter = asyncio.get_running_loop(), counter or ByteCounter()
        # Redirects are followed here and not by httpx: every hop is checked like the first address, and announced first.
        for _hop in range(self.limits.max_redirects + 1):
            await before(url)
            start = loop.time()
            response = await self._request_once(url, headers or {}, counter, media_types, seconds_left)
            seconds_left -= loop.time() - start
            if isinstance(response, HttpResponse):
                return response
            url = self._redirect_target(url, response)
        raise PageUnreadable(f"“{host_of(url)}” redirects in a loop.")

    def _redirect_target(self, url: httpx.URL, location: str) -> httpx.URL:
        try:
            target = url.join(location)
        except (httpx.InvalidURL, ValueError, UnicodeError) as error:
            raise PageUnreadable(f"“{host_of(url)}” redirects to an invalid address.") from error
        checked_target = check_address(str(target), allow_private=self.route.allow_private)
        if not self.limits.max_redirects:
            raise PageUnreadable(f"“{host_of(url)}” has moved to {checked_target.scheme}://{host_of(checked_target)}.")
        if url.scheme == "https" and checked_target.scheme != "https":
            raise PageUnreadable(f"“{host_of(url)}” redirects to an unencrypted connection, which was not followed.")
        return checked_target

    async def _request_once(
        self,
        url: httpx.URL,
        headers: Mapping[str, str],
        counter: ByteCounter,
        media_types: frozenset[str] | None,
        seconds: float,
    ) -> HttpResponse | str:
        """Return the response of one request, or the location of a redirect."""
        try:
            async with asyncio.timeout(max(seconds, 0)), self._open_response(url, headers) as response:
                location = response.headers.get("location", "")
                if response.status_code in _REDIRECT_STATUSES and location:
                    return str(location)
                kind, charset = media_type(response.headers.get("content-type", ""))
                is_wanted = media_types is None or kind in media_types or not kind
                body = await _read_body(url, response, counter, self.limits.max_body_bytes) if is_wanted else b""
                return HttpResponse(url, response.status_code, kind, charset, body, counter.received)
        except TimeoutError as error:
            raise PageUnreadable(f"“{host_of(url)}” did not respond in time.", "Try again later.") from error
        except httpx.HTTPError as error:
            raise PageUnreadable(f"“{host_of(url)}” could not be read: {_describe_error(error)}.") from error
        except (httpx.InvalidURL, ValueError, UnicodeError, ssl.SSLError) as error:
            raise PageUnreadable(f"“{host_of(url)}” sent an invalid response.") from error

    @asynccontextmanager
    async def _open_response(self, url: httpx.URL, headers: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        default_headers = {
            "User-Agent": USER_AGENT,
            "Accept-Encoding": "gzip",
            "Accept": "text/html,text/plain;q=0.8,*/*;q=0.1",
        }
        async with await self._create_client() as client:
            if self.route.proxy:  # a name that only the proxy can resolve is left to it
                with suppress(OSError):
                    await resolve_checked(host_of(url), self.route.resolve, allow_private=self.route.allow_private)
            request = httpx.Request("GET", url, headers={**default_headers, **headers, "Connection": "close"})
            response = await client.send(request, stream=True)
            try:
                yield response
            finally:
                await response.aclose()

    async def _create_client(self) -> httpx.AsyncClient:
        route = self.route
        context = route.context
        if context is None:
            # In a thread, because loading the certificate authorities reads files and would block the event loop.
            context = await asyncio.to_thread(httpx.create_ssl_context)
        timeout = httpx.Timeout(self.limits.seconds)
        if not route.proxy:
            backend = PinnedBackend(route.resolve, allow_private=route.allow_private, inner=route.net)
            # trust_env=False: proxies from the environment are ignored, only the settings name one.
            return httpx.AsyncClient(transport=PinnedTransport(backend, context), timeout=timeout, trust_env=False)
        try:
            return httpx.AsyncClient(proxy=route.proxy, verify=context, timeout=timeout, trust_env=False)
        except (ImportError, ValueError, httpx.InvalidURL) as error:
            raise PageUnreadable("Pages cannot be read through this type of proxy.", "Use an HTTP proxy.") from error


async def _read_body(url: httpx.URL, response: httpx.Response, counter: ByteCounter, max_body_bytes: int) -> bytes:
    """Return the decompressed body. Decompression stops at the limit, so that a small response cannot expand without end."""
    declared_length = response.headers.get("content-length", "")
    if declared_length.isdigit() and int(declared_length[:19]) > max_body_bytes:
        raise page_too_long(url)
    decompress = _create_decompressor(url, response.headers.get("content-encoding", ""))
    body = bytearray()
    # Raw bytes: httpx would decompress a whole piece at once, however large it becomes.
    async for piece in response.aiter_raw(PIECE_BYTES):
        counter.received += len(piece)
        body += decompress(piece, max_body_bytes + 1 - len(body))
        if len(body) > max_body_bytes or counter.received > 2 * max_body_bytes:
            raise page_too_long(url)
    return bytes(body)


def _create_decompressor(url: httpx.URL, encoding: str) -> Callable[[bytes, int], bytes]:
    """Return a function that decompresses pieces to at most the given number of bytes."""
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return lambda piece, _most: piece
    if name not in {"gzip", "x-gzip", "deflate"}:
        raise PageUnreadable(f"“{host_of(url)}” compresses its pages with an unsupported method.")
    # Window bits 47: zlib or gzip, detected from the header.
    decompressor = zlib.decompressobj(47)

    def decompress(piece: bytes, most_bytes: int) -> bytes:
        try:
            return decompressor.decompress(piece, most_bytes)
        except zlib.error as error:
            raise PageUnreadable(f"The response of “{host_of(url)}” is damaged.") from error

    return decompress


def media_type(header: str) -> tuple[str, str]:
    """Split `text/html; charset=utf-8` into its media type and charset."""
    kind, _, rest = header.partition(";")
    charset = next((part.partition("=")[2] for part in rest.split(";") if part.strip().lower().startswith("charset=")), "")
    return kind.strip().lower(), charset.strip(" \"'").lower()


def page_too_long(url: httpx.URL) -> PageUnreadable:
    """Return the error for a page that is too long."""
    return PageUnreadable(f"The page of “{host_of(url)}” is too long.", "Only pages of up to 2 MB are read.")


def _describe_error(error: httpx.HTTPError) -> str:
    reasons = {
        httpx.ConnectError: "there is no connection",
        httpx.TimeoutException: "the connection timed out",
        httpx.RemoteProtocolError: "its response is incomplete or invalid",
        httpx.ProxyError: "the proxy refused the connection",
    }
    return next((reason for kind, reason in reasons.items() if isinstance(error, kind)), type(error).__name__)
