"""A fetch is bounded in every direction, believes nothing, and ends nowhere but where it was checked."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import zlib

import httpcore
import httpx
import pytest

from lethe_app.errors import NotAllowed, PageUnreadable
from lethe_app.web.http import (
    MAX_BODY_BYTES,
    USER_AGENT,
    ByteCounter,
    Fetcher,
    FetchLimits,
    HttpResponse,
    NetworkRoute,
    media_type,
)
from lethe_app.web.pinned_dns import resolve_host
from tests.web.net import PUBLIC, Names, Net, way
from tests.web.server import Reply, Site, moved, nothing, page, serving

HOME = NetworkRoute(allow_private=True)


async def fetch(site: Site, path: str = "/", **limits: float) -> HttpResponse:
    return await Fetcher(HOME, FetchLimits(**limits)).fetch(site.url + path, nothing)  # type: ignore[arg-type]


async def test_a_page_comes_with_its_kind_and_nothing_of_the_reader_goes_out():
    async with serving(Site({"/": Reply(page(), headers={"Set-Cookie": "id=1"})})) as site:
        answer = await fetch(site)
        await fetch(site)

    assert (answer.status, answer.kind, answer.charset) == (200, "text/html", "utf-8")
    assert answer.body == page()
    sent = site.asked[1][1]
    assert sent.keys() == {"host", "user-agent", "accept-encoding", "accept", "connection"}
    assert sent["user-agent"] == USER_AGENT
    assert "Lethe" in USER_AGENT


async def test_a_packed_page_is_unpacked_and_its_bytes_on_the_line_are_counted():
    packed, counter = gzip.compress(page()), ByteCounter()
    async with serving(Site({"/": Reply(packed, headers={"Content-Encoding": "gzip"})})) as site:
        answer = await Fetcher(HOME).fetch(site.url, nothing, counter=counter)

    assert answer.body == page()
    assert answer.received == counter.received == len(packed)


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
async def test_a_small_page_that_unpacks_to_a_gigabyte_is_refused_early(packing: str):
    form = zlib.compressobj(9, zlib.DEFLATED, 31 if packing == "gzip" else 15)
    bomb = b"".join(form.compress(bytes(1 << 20)) for _ in range(256)) + form.flush()
    async with serving(Site({"/": Reply(bomb, headers={"Content-Encoding": packing})})) as site:
        with pytest.raises(PageUnreadable, match="too long"):
            await fetch(site)


@pytest.mark.parametrize(
    ("reply", "reported"),
    [
        (Reply(b"\x1b\x00", headers={"Content-Encoding": "br"}), "unsupported method"),
        (Reply(gzip.compress(page())[:40] + b"\xff" * 60, headers={"Content-Encoding": "gzip"}), "damaged"),
        (Reply(pieces=[b"x" * 65_536] * 60), "too long"),
        (Reply(b"half of it", length=1000), "incomplete or invalid"),
    ],
    ids=["a packing that was not asked for", "damaged", "without an end", "ends too early"],
)
async def test_a_body_that_cannot_be_read_is_told(reply: Reply, reported: str):
    async with serving(Site({"/": reply})) as site:
        with pytest.raises(PageUnreadable, match=reported):
            await fetch(site)


async def test_a_page_announced_as_too_long_is_not_begun():
    counter = ByteCounter()
    async with serving(Site({"/": Reply(b"x", length=MAX_BODY_BYTES + 1, stalls=True)})) as site:
        with pytest.raises(PageUnreadable, match="too long"):
            await Fetcher(HOME).fetch(site.url, nothing, counter=counter)

    assert counter.received == 0


async def test_a_page_of_another_kind_is_not_even_read():
    counter, wanted = ByteCounter(), frozenset({"text/html"})
    async with serving(Site({"/": Reply(b"x" * 1000, kind="image/png")})) as site:
        answer = await Fetcher(HOME).fetch(site.url, nothing, counter=counter, media_types=wanted)

    assert (answer.kind, answer.body) == ("image/png", b"")
    assert counter.received == 0


async def test_a_silent_site_is_left_in_time():
    async with serving(Site({"/": Reply(b"<html>", length=1000, stalls=True)})) as site:
        with pytest.raises(PageUnreadable, match="did not respond in time"):
            await fetch(site, seconds=0.2)


async def test_the_time_is_for_all_hops_together():
    waited = list[float]()

    class Slow(Net):
        async def connect_tcp(self, host, port, *rest, **named):
            await asyncio.sleep(0.15)
            waited.append(0.15)
            return await super().connect_tcp(host, port, *rest, **named)

    async with serving(Site({"/": moved("/b"), "/b": moved("/c"), "/c": moved("/d"), "/d": Reply(page())})) as site:
        here = NetworkRoute(allow_private=True, net=Slow(site.port))
        with pytest.raises(PageUnreadable, match="did not respond in time"):
            await Fetcher(here, FetchLimits(seconds=0.4)).fetch(site.url, nothing)

    assert len(waited) < 4


@pytest.mark.parametrize(
    "raw",
    [
        b"this is no http\r\n\r\n",
        b"HTTP/1.1 999999 X\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: minus one\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        b"\x00\x01\x02\x03",
        b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=range(8),
)
async def test_an_answer_that_makes_no_sense_is_told_in_a_sentence(raw: bytes):
    async with serving(Site({"/": Reply(raw=raw)})) as site:
        with pytest.raises(PageUnreadable):
            await fetch(site)


async def test_nobody_there_is_told():
    async with serving(Site()) as site:
        url = site.url
    with pytest.raises(PageUnreadable, match="no connection"):
        await Fetcher(HOME).fetch(url, nothing)


# moving


async def test_five_moves_are_followed_and_each_is_told_before_it_leaves():
    reported = list[str]()

    async def before(url: httpx.URL) -> None:
        reported.append(url.path)

    max_redirects = {f"/{place}": moved(f"/{place + 1}") for place in range(5)}
    async with serving(Site({**max_redirects, "/5": Reply(page())})) as site:
        answer = await Fetcher(HOME).fetch(site.url + "/0", before)

    assert answer.url.path == "/5"
    assert reported == site.paths == [f"/{place}" for place in range(6)]


async def test_round_and_round_is_left():
    async with serving(Site({"/": moved("/b"), "/b": moved("/")})) as site:
        with pytest.raises(PageUnreadable, match="redirects in a loop"):
            await fetch(site)

    assert len(site.asked) == 6


async def test_what_is_told_before_may_keep_the_request_at_home():
    async def before(_url: httpx.URL) -> None:
        raise NotAllowed("no")

    async with serving(Site({"/": Reply(page())})) as site:
        with pytest.raises(NotAllowed):
            await Fetcher(HOME).fetch(site.url, before)

    assert not site.asked


@pytest.mark.parametrize(
    "to",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://192.168.0.1/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data",
        "http://2130706433/",
        "http://inside.example.com/",
        "http://open.example.com:8080/",
        "http://me:secret@open.example.com/",
        "file:///etc/passwd",
        "gopher://open.example.com/",
        "data:text/html,hello",
    ],
)
async def test_no_move_leads_home(to: str):
    async with serving(Site({"/": moved(to)})) as site:
        net = Net(site.port)
        here = way(net, open_example_com=[[PUBLIC]], inside_example_com=[["10.0.0.7"]])
        with pytest.raises((NotAllowed, PageUnreadable)):
            await Fetcher(here).fetch("http://open.example.com/", nothing)

    assert net.connected == [(PUBLIC, 80)]


def test_no_move_leads_from_a_sealed_connection_to_an_open_one():
    with pytest.raises(PageUnreadable, match="unencrypted connection"):
        Fetcher()._redirect_target(httpx.URL("https://example.com/"), "http://example.com/")
    assert Fetcher()._redirect_target(httpx.URL("http://example.com/"), "https://example.com/").scheme == "https"


# the address that is connected to


async def test_a_name_is_looked_up_once_and_that_very_address_is_connected_to():
    async with serving(Site({"/": Reply(page())})) as site:
        net, names = Net(site.port), Names(open_example_com=[[PUBLIC], ["127.0.0.1"]])
        await Fetcher(NetworkRoute(resolve=names, net=net)).fetch("http://open.example.com/", nothing)

    assert names.asked == ["open.example.com"]
    assert net.connected == [(PUBLIC, 80)]
    assert site.asked[0][1]["host"] == "open.example.com"


async def test_a_name_that_changes_its_mind_between_two_hops_leads_nowhere():
    async with serving(Site({"/": moved("/again")})) as site:
        net = Net(site.port)
        here = way(net, open_example_com=[[PUBLIC], ["127.0.0.1"]])
        with pytest.raises(NotAllowed, match="local address"):
            await Fetcher(here).fetch("http://open.example.com/", nothing)

    assert net.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize("found", [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["::ffff:10.0.0.1"], ["64:ff9b::a00:1"], ["fd00::1"]])
async def test_a_name_with_any_address_at_home_is_refused(found: list[str]):
    net = Net(1)
    with pytest.raises(NotAllowed, match="local address"):
        await Fetcher(way(net, trap_example_com=[found])).fetch("http://trap.example.com/", nothing)

    assert net.connected == []


async def test_an_unknown_name_is_told():
    with pytest.raises(PageUnreadable, match="no connection"):
        await Fetcher(way(Net(1))).fetch("http://unknown.example.com/", nothing)


async def test_the_next_address_is_tried_where_one_is_dead():
    class Half(Net):
        async def connect_tcp(self, host, port, *rest, **named):
            if host == "1.1.1.1":
                self.connected.append((host, port))
                raise httpcore.ConnectError("dead")
            return await super().connect_tcp(host, port, *rest, **named)

    async with serving(Site({"/": Reply(page())})) as site:
        net = Half(site.port)
        await Fetcher(way(net, open_example_com=[["1.1.1.1", PUBLIC]])).fetch("http://open.example.com/", nothing)

    assert net.connected == [("1.1.1.1", 80), (PUBLIC, 80)]


async def test_a_sealed_connection_greets_by_the_name_and_not_by_the_address():
    greetings = list[bytes]()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greetings.append(await reader.read(2000))
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    net = Net(server.sockets[0].getsockname()[1])
    async with server:
        with pytest.raises(PageUnreadable):
            await Fetcher(way(net, open_example_com=[[PUBLIC]])).fetch("https://open.example.com/", nothing)

    assert net.connected == [(PUBLIC, 443)]
    assert b"open.example.com" in greetings[0]


# through a proxy


async def test_a_proxy_is_used_and_asked_for_nothing_at_home():
    async with serving(Site({"/": Reply(page())})) as proxy:
        names = Names(open_example_com=[[PUBLIC]], trap_example_com=[["10.0.0.1"]])
        here = Fetcher(NetworkRoute(proxy=proxy.url, resolve=names))
        answer = await here.fetch("http://open.example.com/", nothing)
        await here.fetch("http://only-the-proxy-knows.example.com/", nothing)
        for refused in ("http://10.0.0.1/", "http://trap.example.com/", "http://localhost/"):
            with pytest.raises(NotAllowed):
                await here.fetch(refused, nothing)

    assert answer.body == page()
    assert [target for target, _headers in proxy.asked] == [
        "http://open.example.com/",
        "http://only-the-proxy-knows.example.com/",
    ]


async def test_a_kind_of_proxy_that_cannot_be_used_is_told():
    with pytest.raises(PageUnreadable, match="proxy"):
        await Fetcher(NetworkRoute(proxy="socks5://127.0.0.1:9", resolve=Names())).fetch("http://example.com/", nothing)


async def test_the_environments_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch):
    async with serving(Site()) as proxy, serving(Site({"/": Reply(page())})) as site:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        await fetch(site)

    assert not proxy.asked


def test_the_kind_of_an_answer_is_read_whatever_stands_around_it():
    assert media_type('Text/HTML; Charset="UTF-8"; x=y') == ("text/html", "utf-8")
    assert media_type("") == ("", "")
    assert media_type(";;charset=") == ("", "")


async def test_the_end_of_the_program_does_not_wait_for_a_name_that_is_looked_up_for_long(monkeypatch: pytest.MonkeyPatch):
    may_end = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_asked, **_how: may_end.wait(10) and [])
    before = set(threading.enumerate())
    looking = [asyncio.create_task(resolve_host(f"{number}.example.org")) for number in range(8)]
    await asyncio.sleep(0.05)
    held = set(threading.enumerate()) - before
    for one in looking:
        one.cancel()
    ended = await asyncio.wait_for(asyncio.gather(*looking, return_exceptions=True), 1)
    may_end.set()

    assert len(held) == 8, "as many as pages are read at once"
    assert all(thread.daemon for thread in held)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
