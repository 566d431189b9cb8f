"""Fetches a model file from a hub: goes on where it was broken off, believes nothing, and keeps only what was checked.

The hub's addresses and headers are those of Hugging Face: `{endpoint}/{repository}/resolve/{revision}/{file}`, with
`X-Linked-Size` and `X-Linked-Etag` (the file's SHA-256) in its first answer.
Source: https://huggingface.co/docs/huggingface_hub/package_reference/file_download
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

import httpx

from lethe_app.domain.download import DownloadStage, RemoteModel
from lethe_app.errors import DiskFull, DownloadFailed, StorageError

ENDPOINT = "https://huggingface.co"
STALL = 30.0
"""Seconds without a byte after which the connection counts as broken."""
TRIES = 6
"""Times in a row that nothing came, after which it is given up; any byte starts the count anew."""
PIECE = 1 << 20
SPARE = 256 << 20
"""Bytes that stay free on the disk."""
MAGIC = b"GGUF"
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_SHA = re.compile(r'^"?([0-9a-f]{64})"?$')

Told = Callable[[DownloadStage, int, int], None]
"""Called with the stage, and bytes done of bytes in all."""


@dataclass
class _Known:
    """What is known of the file on the other side."""

    size: int
    sha256: str


class Hub:
    """One place to fetch from. Opens a connection only inside `fetch`."""

    def __init__(self, endpoint: str = "", proxy: str = "", *, pause: float = 1.0, stall: float = STALL) -> None:
        """`endpoint` may be a mirror, `proxy` is `http://…` or `socks5://…`; `pause` seconds before the second try, growing."""
        self._endpoint = (endpoint or ENDPOINT).rstrip("/")
        self._proxy = proxy or None
        self._pause, self._stall = pause, stall

    def url_of(self, model: RemoteModel) -> str:
        return f"{self._endpoint}/{quote(model.repository)}/resolve/{quote(model.revision)}/{quote(model.file)}?download=true"

    async def fetch(self, model: RemoteModel, folder: Path, told: Told) -> Path:
        """The file in `folder`, whole and checked. Until then it is called `….part`, and what is there of it is kept.

        Raises DownloadFailed, DiskFull, StorageError. Cancel it to stop.
        """
        target, part = folder / model.file, folder / f"{model.file}.part"
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        known = _Known(0, model.sha256)
        tries = 0
        while True:
            before = _size(part)
            told(DownloadStage.WAITING, before, known.size)
            try:
                await self._load(model, part, known, told)
                break
            except httpx.HTTPError as error:
                tries = 0 if _size(part) > before else tries + 1
                if tries >= TRIES:
                    raise DownloadFailed(f"“{model.name}” did not come: {_reason(error)}.", STOPPED_ADVICE) from error
                await asyncio.sleep(self._pause * 2**tries)
        told(DownloadStage.CHECKING, known.size, known.size)
        await self._check(model, part, known)
        await asyncio.to_thread(part.replace, target)
        return target

    async def _load(self, model: RemoteModel, part: Path, known: _Known, told: Told) -> None:
        """Everything that is still missing; raises httpx.HTTPError where it is worth another try."""
        async with self._answer(model, _size(part)) as answer:
            start = _start_of(model, answer, _size(part))
            if start is None:  # there is no more than we have: the check will tell whether it is the file
                return
            self._learn(model, answer, start, known)
            _check_room(part, known.size - start)
            with _opened(part, start) as file:
                done = await self._take(model, answer, _Sink(file, start), known, told)
            if known.size and done < known.size:
                raise httpx.ReadError(f"the connection ended {known.size - done} bytes too early")

    async def _take(self, model: RemoteModel, answer: httpx.Response, sink: _Sink, known: _Known, told: Told) -> int:
        """Write what comes, whatever ends it; returns how much is there then."""
        try:
            async for piece in answer.aiter_raw():
                if sink.done == 0 and not piece.startswith(MAGIC):
                    raise DownloadFailed(f"What came for “{model.name}” is no GGUF file.", "Is there a page to log in to?")
                if known.size and sink.done + len(piece) > known.size:
                    raise DownloadFailed(f"“{model.name}” is longer than was announced; nothing of it is trusted.")
                if sink.take(piece):
                    await asyncio.to_thread(sink.flush)
                    told(DownloadStage.LOADING, sink.done, known.size)
        finally:
            sink.flush()
        told(DownloadStage.LOADING, sink.done, known.size)
        return sink.done

    @asynccontextmanager
    async def _answer(self, model: RemoteModel, start: int) -> AsyncIterator[httpx.Response]:
        """The answer behind all redirections, none of which may lead to a connection that others can read."""
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
        limits = httpx.Timeout(self._stall)
        linked: dict[str, str] = {}

        async def check(request: httpx.Request) -> None:
            self._check_place(request.url)

        async def look(response: httpx.Response) -> None:
            linked.update({name: value for name, value in response.headers.items() if name.startswith("x-linked-")})

        hooks: dict[str, list[Callable[..., Any]]] = {"request": [check], "response": [look]}
        async with (
            httpx.AsyncClient(
                proxy=self._proxy, timeout=limits, follow_redirects=True, max_redirects=5, event_hooks=hooks
            ) as client,
            client.stream("GET", self.url_of(model), headers=headers) as answer,
        ):
            answer.headers.update(linked)
            yield answer

    def _check_place(self, url: httpx.URL) -> None:
        """Only over connections that nobody reads along, unless the hub itself is on this machine. Raises DownloadFailed."""
        at_home = urlsplit(self._endpoint).hostname in LOOPBACK and url.host in LOOPBACK
        if url.scheme != "https" and not at_home:
            raise DownloadFailed(f"“{url.host}” offers the file over a connection that is not encrypted; it was refused.")

    def _learn(self, model: RemoteModel, answer: httpx.Response, start: int, known: _Known) -> None:
        """How large the file is and what its hash must be, as the hub says. A second answer may not say otherwise."""
        length = int(answer.headers.get("content-length") or 0)
        size = int(answer.headers.get("x-linked-size") or 0) or (start + length if length else 0)
        if known.size and size and size != known.size:
            raise DownloadFailed(f"“{model.name}” was changed while it was being loaded.", "Load it once more.")
        known.size = known.size or size
        found = _SHA.match(answer.headers.get("x-linked-etag", ""))
        if found and known.sha256 and found[1] != known.sha256:
            raise DownloadFailed(f"“{model.name}” on that server is not the file that Lethe knows; nothing was loaded.")
        known.sha256 = known.sha256 or (found[1] if found else "")

    async def _check(self, model: RemoteModel, part: Path, known: _Known) -> None:
        """Throws away what is not the file that was announced."""
        wrong = known.size and _size(part) != known.size
        if not wrong and known.sha256:
            wrong = await asyncio.to_thread(_sha256, part) != known.sha256
        if wrong:
            await asyncio.to_thread(part.unlink, missing_ok=True)
            raise DownloadFailed(
                f"What came for “{model.name}” is not the file that was announced; it was thrown away.", "Load it once more."
            )


STOPPED_ADVICE = "What came so far is kept; the next try goes on from there."


def _start_of(model: RemoteModel, answer: httpx.Response, have: int) -> int | None:
    """Where the bytes that follow belong; None where none follow because all are there. Raises DownloadFailed."""
    status = answer.status_code
    if status == httpx.codes.PARTIAL_CONTENT:
        found = _RANGE.match(answer.headers.get("content-range", ""))
        if not found or int(found[1]) != have:
            raise DownloadFailed(f"The server sent another piece of “{model.name}” than was asked for.")
        return have
    if status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and have:
        return None
    if status in {401, 403}:
        raise DownloadFailed(f"“{model.name}” is not given to everybody.", "Its page says what must be agreed to first.")
    if status == httpx.codes.NOT_FOUND:
        raise DownloadFailed(f"“{model.name}” is not there any more.", "It may have been renamed.")
    if status >= 500 or status in {408, 429}:
        raise httpx.RemoteProtocolError(f"the server answered {status}")
    if status != httpx.codes.OK:
        raise DownloadFailed(f"The server answered {status} for “{model.name}”.")
    return 0


def _check_room(part: Path, missing: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if missing > 0 and free < missing + SPARE:
        needed = f"{(missing + SPARE) / 1e9:.1f} GB"
        raise DiskFull(f"There is not enough room in {part.parent}: {needed} are needed, {free / 1e9:.1f} GB are free.")


@contextmanager
def _opened(part: Path, start: int) -> Iterator[BinaryIO]:
    """The file from `start` on: what stands behind it is cut off."""
    try:
        file = part.open("r+b" if part.exists() else "w+b")
    except OSError as error:
        raise StorageError(f"{part} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    with file:
        file.truncate(start)
        file.seek(start)
        yield file


class _Sink:
    """Gathers what comes into pieces worth a write, and loses none of it."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file, self._held = file, bytearray()
        self.done = start

    def take(self, piece: bytes) -> bool:
        """Is it time to write?"""
        self._held += piece
        self.done += len(piece)
        return len(self._held) >= PIECE

    def flush(self) -> None:
        """Raises DiskFull."""
        held, self._held = self._held, bytearray()
        try:
            self._file.write(held)
        except OSError as error:
            raise DiskFull(f"The download stopped: {(error.strerror or str(error)).lower()}.", STOPPED_ADVICE) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: httpx.HTTPError) -> str:
    """What happened, without addresses and numbers of sockets."""
    if isinstance(error, httpx.TimeoutException):
        return "the server did not answer in time"
    if isinstance(error, httpx.ConnectError):
        return "the server cannot be reached"
    return str(error).strip(".") or "the connection broke"
