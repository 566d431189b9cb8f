"""Keeps the whole run of the tests on this machine: a socket to anywhere else, or a name looked up, is refused and noted.

It stands in this process. Libraries that open sockets without Python (the one that asks DuckDuckGo) do not see it and are never
run in tests; `tests/services/web/test_gate.py` proves that nothing imports them before somebody searches.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

LEFT: list[str] = []
"""Who was to be reached."""
HERE = {"localhost", "localhost.localdomain", "", "::", "0.0.0.0"}
_real_connect, _real_connect_ex, _real_sendto = socket.socket.connect, socket.socket.connect_ex, socket.socket.sendto
_real_names = {name: getattr(socket, name) for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex")}


class LeftHome(OSError):
    """Raised where a test would have left this machine."""


def is_here(host: object) -> bool:
    """Does it lead no further than this machine?"""
    if host is None:
        return True
    name = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return name in HERE or ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _check(host: object) -> None:
    if not is_here(host):
        LEFT.append(str(host))
        raise LeftHome(f"a test wanted to reach {host}")


def _is_remote(address: object) -> bool:
    return isinstance(address, tuple) and len(address) >= 2


def _connect(self: socket.socket, address: Any) -> None:
    if self.family != getattr(socket, "AF_UNIX", None) and _is_remote(address):
        _check(address[0])
    return _real_connect(self, address)


def _connect_ex(self: socket.socket, address: Any) -> int:
    if self.family != getattr(socket, "AF_UNIX", None) and _is_remote(address):
        _check(address[0])
    return _real_connect_ex(self, address)


def _sendto(self: socket.socket, *arguments: Any) -> int:
    if self.family != getattr(socket, "AF_UNIX", None) and _is_remote(arguments[-1]):
        _check(arguments[-1][0])
    return _real_sendto(self, *arguments)


def _looking_up(name: str) -> Callable[..., Any]:
    real = _real_names[name]

    def look_up(host: Any, *arguments: Any, **named: Any) -> Any:
        _check(host)
        return real(host, *arguments, **named)

    return look_up


def put_up() -> None:
    """From now on, for good."""
    socket.socket.connect = _connect  # type: ignore[method-assign]
    socket.socket.connect_ex = _connect_ex  # type: ignore[method-assign]
    socket.socket.sendto = _sendto  # type: ignore[method-assign,assignment]
    for name in _real_names:
        setattr(socket, name, _looking_up(name))
