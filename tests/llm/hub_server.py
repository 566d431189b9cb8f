"""A hub on this machine that behaves as it is told: well, breaking off, stalling, lying about length, sending wrong bytes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

MODEL = b"GGUF" + bytes(range(256)) * 12_000
SHA = hashlib.sha256(MODEL).hexdigest()


@dataclass
class HubServer:
    """Counts what it was asked for; `breaks` are bytes after which the next connections end."""

    content: bytes = MODEL
    breaks: list[int] = field(default_factory=list)
    stalls: int = 0
    """Connections that go silent half-way before it behaves."""
    status: int = 0
    """Answer everything with this."""
    length: int | None = None
    """What it says the length is, whatever it is."""
    etag: str = SHA
    ranges: bool = True
    location: str = ""
    """Where it sends people first."""
    statuses: list[int] = field(default_factory=list)
    """Answer the next ones with these, before it behaves."""
    more: str = ""
    """Header lines besides, each with its end of line."""
    dribbles: bool = False
    """The first bytes come one by one."""
    reach: bool = True
    """Does it tell with a 416 how long the file is?"""
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        self.asked.append({"path": lines[0].split()[1], **headers})
        if self.location and "moved" not in lines[0]:
            where = f'Location: {self.location}\r\nX-Linked-Etag: "{self.etag}"\r\nX-Linked-Size: {len(self.content)}\r\n'
            writer.write(f"HTTP/1.1 302 Found\r\n{where}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            return
        status = self.statuses.pop(0) if self.statuses else self.status
        if status:
            writer.write(f"HTTP/1.1 {status} No\r\n{self.more}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            return
        await self._send(writer, headers)

    async def _send(self, writer: asyncio.StreamWriter, headers: dict[str, str]) -> None:
        start = int(headers["range"].removeprefix("bytes=").rstrip("-")) if self.ranges and "range" in headers else 0
        if start >= len(self.content):
            whole = f"Content-Range: bytes */{len(self.content)}\r\n" if self.reach else ""
            writer.write(f"HTTP/1.1 416 No\r\n{whole}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            return
        body = self.content[start:]
        length = len(body) if self.length is None else self.length
        head = f"HTTP/1.1 {206 if start else 200} OK\r\nContent-Length: {length}\r\nConnection: close\r\n"
        if start:
            head += f"Content-Range: bytes {start}-{len(self.content) - 1}/{len(self.content)}\r\n"
        if self.etag:
            head += f'X-Linked-Etag: "{self.etag}"\r\n'
        writer.write(f"{head}{self.more}\r\n".encode())
        for byte in body[:6] if self.dribbles else b"":
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.01)
        body = body[6:] if self.dribbles else body
        if self.stalls:
            self.stalls -= 1
            writer.write(body[: len(body) // 2])
            await writer.drain()
            await self.over.wait()
        elif self.breaks:
            writer.write(body[: self.breaks.pop(0)])
            await writer.drain()
        else:
            writer.write(body)
            await writer.drain()


@asynccontextmanager
async def serving(hub: HubServer) -> AsyncIterator[HubServer]:
    """Let it listen on a free port of this machine."""
    server = await asyncio.start_server(hub.serve, "127.0.0.1", 0)
    hub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield hub
    finally:
        hub.over.set()
        server.close()
        await asyncio.sleep(0)  # those who waited may end
