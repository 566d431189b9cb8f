"""A site on this machine that behaves as badly as it is told to, and stands in for search engines too."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import httpx

SENTENCE = "The keeper of the lighthouse wrote down every ship that passed, with its name and the hour, for thirty-one years. "
ARTICLE = "".join(f"<p>{SENTENCE * 2}</p>" for _ in range(4))


def page(title: str = "The lighthouse", body: str = ARTICLE, head: str = "") -> bytes:
    """An ordinary page with a menu."""
    menu = "<nav><a href='/a'>Home</a> <a href='/b'>Contact</a></nav>"
    top = f"<!doctype html><html><head><title>{title}</title>{head}</head>"
    return f"{top}<body>{menu}<article>{body}</article></body></html>".encode()


@dataclass
class Reply:
    """One answer. `raw` is sent as it is, instead of everything else."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    """What it says the length is, whatever it is."""
    raw: bytes = b""
    pieces: Iterable[bytes] = ()
    """Sent after the body, one after the other."""
    stalls: bool = False
    """Goes silent after the body, until the test is over."""


@dataclass
class Site:
    """Paths and what lies there; counts what it was asked for."""

    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    serving: list[asyncio.Task[None] | None] = field(default_factory=list)
    port: int = 0
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [urlsplit(target).path for target, _headers in self.asked]

    def headers_of(self, path: str) -> dict[str, str]:
        return next(headers for target, headers in self.asked if urlsplit(target).path == path)

    def query_of(self, path: str) -> dict[str, str]:
        target = next(target for target, _headers in self.asked if urlsplit(target).path == path)
        return {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.serving.append(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            await self._answer(reader, writer)
        writer.close()
        with suppress(ConnectionError, ssl.SSLError, TimeoutError):
            await asyncio.wait_for(writer.wait_closed(), 1)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        target = lines[0].split()[1]
        self.asked.append((target, headers))
        reply = self.replies.get(urlsplit(target).path) or Reply(b"nothing here", status=404)
        if reply.raw:
            writer.write(reply.raw)
            await writer.drain()
            return
        length = len(reply.body) if reply.length is None else reply.length
        reported = {
            "Content-Type": reply.kind,
            "Connection": "close",
            **({} if reply.pieces else {"Content-Length": str(length)}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in {**reported, **reply.headers}.items() if value)
        writer.write(f"HTTP/1.1 {reply.status} X\r\n{head}\r\n".encode())
        writer.write(reply.body)
        await writer.drain()
        for piece in reply.pieces:
            writer.write(piece)
            await writer.drain()
        if reply.stalls:
            await self.over.wait()


@asynccontextmanager
async def serving(site: Site, context: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    """Let it listen on a free port of this machine."""
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0, ssl=context)
    site.port = server.sockets[0].getsockname()[1]
    site.scheme = "https" if context else "http"
    try:
        yield site
    finally:
        site.over.set()
        server.close()
        await asyncio.gather(*filter(None, site.serving), return_exceptions=True)  # asyncio logs those it has to cancel


def moved(to: str, status: int = 302) -> Reply:
    """Sends readers on."""
    return Reply(status=status, headers={"Location": to})


async def nothing(_url: httpx.URL) -> None:
    """For those who need not know what leaves."""
