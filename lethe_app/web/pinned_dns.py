"""Connects only to the very address that was checked, so that a name which changes its mind in between leads nowhere else."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from typing import Any

import httpcore
import httpx

from lethe_app.errors import NotAllowed
from lethe_app.web.addresses import HOME_ADVICE, is_at_home, literal_of
from lethe_app.web.bounded_threads import NAMES, in_thread

SECONDS = 12.0
"""For looking up one name."""

Resolve = Callable[[str], Awaitable[list[str]]]
"""Name → addresses; raises OSError for a name that nobody knows."""
Net = httpcore.AsyncNetworkBackend
"""What opens connections."""
SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


async def looked_up(name: str) -> list[str]:
    """All addresses of a name, as this system knows them, in a thread for which the end of the program does not wait."""
    found = await in_thread(lambda: socket.getaddrinfo(name, None, type=socket.SOCK_STREAM), SECONDS, NAMES)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def checked_addresses(name: str, resolve: Resolve, *, allow_private: bool) -> list[str]:
    """Addresses of `name`, all of which may be connected to. Raises NotAllowed if only one of them is at home, and OSError."""
    found = [name] if literal_of(name) is not None else await resolve(name)
    if not found:
        raise OSError(f"{name} has no address")
    if not allow_private and any(is_at_home(ip_address(each)) for each in found):
        raise NotAllowed(f"“{name}” leads to an address at home; it is not read.", HOME_ADVICE)
    return found


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Looks a name up once, checks every address, and connects to one of these; TLS and the Host header still see the name."""

    def __init__(self, resolve: Resolve, *, allow_private: bool, inner: Net | None = None) -> None:
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
            addresses = await checked_addresses(host.rstrip("."), self._resolve, allow_private=self._allow_private)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"nobody knows “{host}”") from error
        for place, address in enumerate(addresses):
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if place == len(addresses) - 1:
                    raise
        raise AssertionError("there is at least one address")

    async def connect_unix_socket(self, *_path: Any, **_options: Any) -> httpcore.AsyncNetworkStream:  # noqa: ANN401 - never used
        raise NotAllowed("Nothing but the internet is read.")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class PinnedTransport(httpx.AsyncHTTPTransport):
    """httpx over `PinnedBackend`."""

    def __init__(self, backend: PinnedBackend, context: ssl.SSLContext) -> None:
        super().__init__(verify=context, trust_env=False)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context, network_backend=backend, max_connections=4, max_keepalive_connections=0
        )
