"""Connections only to the IP address that was checked, so that DNS rebinding between check and connection has no effect."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from typing import Any

import httpcore
import httpx

from lethe_app.errors import NotAllowed
from lethe_app.web.addresses import LOCAL_ADDRESS_ADVICE, is_private, parse_ip
from lethe_app.web.bounded_threads import DNS_SLOTS, run_in_bounded_thread

SECONDS = 12.0
"""Time limit for one DNS lookup."""

Resolve = Callable[[str], Awaitable[list[str]]]
"""Function from a host name to its addresses; raises OSError for an unknown name."""
NetworkBackend = httpcore.AsyncNetworkBackend
"""Backend that opens connections."""
SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


async def resolve_host(name: str) -> list[str]:
    """Return all addresses of a name from the system's resolver, in a thread that program exit does not wait for."""
    entries = await run_in_bounded_thread(lambda: socket.getaddrinfo(name, None, type=socket.SOCK_STREAM), SECONDS, DNS_SLOTS)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


async def resolve_checked(name: str, resolve: Resolve, *, allow_private: bool) -> list[str]:
    """Return the addresses of `name`, all of which are allowed. Raise NotAllowed if any of them is private, or OSError."""
    addresses = [name] if parse_ip(name) is not None else await resolve(name)
    if not addresses:
        raise OSError(f"{name} has no address")
    # One private address among public ones is enough to refuse the name: the connection could fall back to it.
    if not allow_private and any(is_private(ip_address(address)) for address in addresses):
        raise NotAllowed(f"“{name}” resolves to a local address, so it was not opened.", LOCAL_ADDRESS_ADVICE)
    return addresses


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Network backend that resolves a name once, checks every address and connects to one of them. TLS and the Host header
    still use the name.
    """

    def __init__(self, resolve: Resolve, *, allow_private: bool, inner: NetworkBackend | None = None) -> None:
        self._resolve, self._allow_private = resolve, allow_private
        self._inner = inner or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's own signature
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = await resolve_checked(host.rstrip("."), self._resolve, allow_private=self._allow_private)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the host “{host}” is unknown") from error
        for index, address in enumerate(addresses):
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if index == len(addresses) - 1:
                    raise
        raise AssertionError("there is at least one address")

    async def connect_unix_socket(self, *_path: Any, **_options: Any) -> httpcore.AsyncNetworkStream:  # noqa: ANN401 - never used
        raise NotAllowed("Only internet addresses are supported.")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class PinnedTransport(httpx.AsyncHTTPTransport):
    """httpx transport that uses `PinnedBackend`."""

    def __init__(self, backend: PinnedBackend, context: ssl.SSLContext) -> None:
        super().__init__(verify=context, trust_env=False)
        # httpx has no parameter for a network backend, so the pool that its constructor created is replaced.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context, network_backend=backend, max_connections=4, max_keepalive_connections=0
        )
