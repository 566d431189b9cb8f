"""The fence around the whole run: a socket or a name beyond this machine is refused, noted, and fails the test."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.fence import LeftHome


def test_a_socket_to_the_outside_is_refused_and_noted(stays_at_home: list[str]):
    for reach in ("connect", "connect_ex"):
        with socket.socket() as each, pytest.raises(LeftHome):
            getattr(each, reach)(("93.184.216.34", 80))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as each, pytest.raises(LeftHome):
        each.sendto(b"x", ("8.8.8.8", 53))

    assert stays_at_home == ["93.184.216.34", "93.184.216.34", "8.8.8.8"]
    stays_at_home.clear()


async def test_a_name_of_the_outside_is_not_even_looked_up(stays_at_home: list[str]):
    with pytest.raises(LeftHome):
        await asyncio.open_connection("example.com", 443)
    with pytest.raises(LeftHome):
        socket.gethostbyname("example.com")

    assert stays_at_home == ["example.com", "example.com"]
    stays_at_home.clear()


async def test_this_machine_may_be_reached(stays_at_home: list[str]):
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        _reader, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
        writer.close()

    assert stays_at_home == []
