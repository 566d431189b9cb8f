"""Download of a model file from a hub: resumes partial files, verifies everything, and keeps only what was checked.

The URLs and headers are those of Hugging Face: `{endpoint}/{repository}/resolve/{revision}/{file}`, with `X-Linked-Size` and
`X-Linked-Etag` (the file's SHA-256) in the first response. Source:
https://huggingface.co/docs/huggingface_hub/package_reference/file_download
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from lethe_app.domain.model import DownloadStage, RemoteModel
from lethe_app.errors import DownloadFailed
from lethe_app.llm.models.partial_file import STOPPED_ADVICE, Sink, check_room, finish_file, is_whole, on_disk, opened, size_of

ENDPOINT = "https://huggingface.co"
STALL = 30.0
"""Seconds without a byte after which the connection counts as broken."""
TRIES = 6
"""Consecutive attempts without a byte after which the download fails; any byte received resets the count."""
LONGEST_WAIT = 300
"""Maximum delay in seconds accepted from a Retry-After header."""
MAGIC = b"GGUF"
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_WHOLE = re.compile(r"bytes [^/]+/(\d{1,19})$")
_SHA = re.compile(r'^"?([0-9a-f]{64})"?$')

Told = Callable[[DownloadStage, int, int], None]
"""Progress callback: stage, bytes done, bytes in all (0 if unknown)."""


@dataclass
class _Known:
    """What is known about the remote file."""

    size: int
    sha256: str
    tag: str = ""
    """ETag of the version that is being downloaded."""
    begun_anew: bool = False
    """True if a partial file was discarded once because nothing proved that it was complete."""


class Hub:
    """Downloads from one endpoint. A connection is opened only inside `fetch`."""

    def __init__(self, endpoint: str = "", proxy: str = "", *, pause: float = 1.0, stall: float = STALL) -> None:
        """Set up a hub: `endpoint` may be a mirror, `proxy` is `http://…`, `pause` is the delay in seconds before the second
        try; it doubles with every failure.
        """
        self._endpoint = (endpoint or ENDPOINT).rstrip("/")
        self._proxy = proxy or None
        self._pause, self._stall = pause, stall

    def url_of(self, model: RemoteModel) -> str:
        return f"{self._endpoint}/{quote(model.repository)}/resolve/{quote(model.revision)}/{quote(model.file)}?download=true"

    async def fetch(self, model: RemoteModel, folder: Path, told: Told) -> Path:
        """Download the file to `folder` and return its path once it is verified. Until then it is named `….part`, and what
        arrived is kept.

        Raise DownloadFailed, DiskFull, StorageError. Cancel the call to stop.
        """
        target, part = folder / model.file, folder / f"{model.file}.part"
        with on_disk(folder):
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        known = _Known(0, model.sha256)
        tries = 0
        while True:
            before = size_of(part)
            told(DownloadStage.WAITING, before, known.size)
            try:
                await self._load(model, part, known, told)
                break
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                tries = 0 if size_of(part) > before else tries + 1
                if tries >= TRIES or not isinstance(error, WORTH_ANOTHER_TRY):
                    raise DownloadFailed(
                        f"“{model.name}” could not be downloaded: {_reason(error)}.", STOPPED_ADVICE
                    ) from error
                await asyncio.sleep(max(self._pause * 2**tries, getattr(error, "seconds", 0.0)))
        told(DownloadStage.CHECKING, known.size, known.size)
        with on_disk(part):
            await self._check(model, part, known)
            await asyncio.to_thread(finish_file, part, target)
        return target

    async def _load(self, model: RemoteModel, part: Path, known: _Known, told: Told) -> None:
        """Download the missing bytes. Raise httpx.HTTPError if another try is worthwhile."""
        async with self._answer(model, size_of(part)) as answer:
            have = size_of(part)
            start = _start_of(model, answer, have)
            if start is None:  # the server says that there is no more than we have
                await self._believe(model, answer, part, known)
                return
            self._learn(model, answer, start, known)
            check_room(part, known.size - start)
            with opened(part, start) as file:
                done = await self._take(model, answer, Sink(file, start), known, told)
            if known.size and done < known.size:
                raise httpx.ReadError(f"the connection ended {known.size - done} bytes too early")

    async def _believe(self, model: RemoteModel, answer: httpx.Response, part: Path, known: _Known) -> None:
        """Check a response that says there are no bytes behind the partial file: accept it if its size is confirmed or a
        hash will verify it, else discard it and retry once.
        """
        have, whole = size_of(part), _whole_size(answer)
        if known.size > have:
            raise DownloadFailed(f"“{model.name}” is shorter than the server announced, so it was not used.")
        if have == whole or (known.sha256 and have >= whole):
            known.size = known.size or whole
            return
        await asyncio.to_thread(part.unlink, missing_ok=True)
        if known.begun_anew:
            raise DownloadFailed(f"The server does not report the size of “{model.name}”, so it was not used.")
        known.begun_anew = True
        raise httpx.ReadError("the server has less of it than was there already")

    async def _take(self, model: RemoteModel, answer: httpx.Response, sink: Sink, known: _Known, told: Told) -> int:
        """Write the response body, even if it breaks off; returns the number of bytes now in the file."""
        try:
            async for piece in answer.aiter_raw():
                if sink.done < len(MAGIC) and not sink.begins_with(MAGIC, piece):
                    raise DownloadFailed(
                        f"The server did not send a GGUF file for “{model.name}”.",
                        "Check whether the network requires a login.",
                    )
                if known.size and sink.done + len(piece) > known.size:
                    raise DownloadFailed(f"“{model.name}” is longer than the server announced, so it was not used.")
                if sink.take(piece):
                    await asyncio.to_thread(sink.flush)
                    told(DownloadStage.LOADING, sink.done, known.size)
        finally:
            sink.flush()
        told(DownloadStage.LOADING, sink.done, known.size)
        return sink.done

    @asynccontextmanager
    async def _answer(self, model: RemoteModel, start: int) -> AsyncIterator[httpx.Response]:
        """Open the response behind all redirects, each of which must be encrypted. Raise DownloadFailed."""
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
        limits = httpx.Timeout(self._stall)
        linked: dict[str, str] = {}

        async def check(request: httpx.Request) -> None:
            self._check_place(request.url)

        # The X-Linked headers are in the hub's own redirect, not in the final response from its storage.
        async def look(response: httpx.Response) -> None:
            linked.update({name: value for name, value in response.headers.items() if name.startswith("x-linked-")})

        hooks: dict[str, list[Callable[..., Any]]] = {"request": [check], "response": [look]}
        try:
            made = httpx.AsyncClient(
                proxy=self._proxy, timeout=limits, follow_redirects=True, max_redirects=5, event_hooks=hooks
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise DownloadFailed(f"“{self._proxy}” is not a usable proxy.", "Change the proxy in the settings.") from error
        async with (
            made as client,
            client.stream("GET", self.url_of(model), headers=headers) as answer,
        ):
            answer.headers.update(linked)
            yield answer

    def _check_place(self, url: httpx.URL) -> None:
        """Require HTTPS, unless the hub itself is on this machine. Raise DownloadFailed."""
        at_home = urlsplit(self._endpoint).hostname in LOOPBACK and url.host in LOOPBACK
        if url.scheme != "https" and not at_home:
            raise DownloadFailed(f"“{url.host}” offers the file over an unencrypted connection, so it was not downloaded.")

    def _learn(self, model: RemoteModel, answer: httpx.Response, start: int, known: _Known) -> None:
        """Record size and hash as the hub states them. Raise DownloadFailed if a later response contradicts the first."""
        length = _number(answer, "content-length")
        size = _number(answer, "x-linked-size") or _whole_size(answer) or (start + length if length else 0)
        tag = answer.headers.get("etag", "")
        is_another = bool(tag and known.tag and tag != known.tag and not known.sha256)
        if is_another or (known.size and size and size != known.size):
            raise DownloadFailed(f"“{model.name}” was changed during the download.", "Download it again.")
        known.tag = known.tag or tag
        known.size = known.size or size
        found = _SHA.match(answer.headers.get("x-linked-etag", ""))
        if found and known.sha256 and found[1] != known.sha256:
            raise DownloadFailed(f"“{model.name}” on that server is not the file Lethe expects, so it was not downloaded.")
        known.sha256 = known.sha256 or (found[1] if found else "")

    async def _check(self, model: RemoteModel, part: Path, known: _Known) -> None:
        """Discard the file if it is not the announced one. Raise DownloadFailed."""
        wrong = bool(known.size) and size_of(part) != known.size
        if not wrong:
            wrong = not await asyncio.to_thread(is_whole, part, known.sha256)
        if wrong:
            await asyncio.to_thread(part.unlink, missing_ok=True)
            raise DownloadFailed(
                f"The downloaded file for “{model.name}” is not the announced one and was deleted.", "Download it again."
            )


class _Later(httpx.HTTPError):
    """The server asked to retry after so many seconds."""

    def __init__(self, words: str, seconds: float) -> None:
        super().__init__(words)
        self.seconds = seconds


WORTH_ANOTHER_TRY = (_Later, httpx.TimeoutException, httpx.NetworkError, httpx.ProtocolError, httpx.ProxyError)
"""Errors that may be temporary; an invalid address or a redirect loop is not."""


def _start_of(model: RemoteModel, answer: httpx.Response, have: int) -> int | None:
    """Return the offset of the bytes that follow, or None if none follow because all are present. Raise DownloadFailed."""
    status = answer.status_code
    if status == httpx.codes.PARTIAL_CONTENT:
        found = _RANGE.match(answer.headers.get("content-range", ""))
        if not found or int(found[1]) != have:
            raise DownloadFailed(f"The server sent the wrong part of “{model.name}”.")
        return have
    if status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and have:
        return None
    if status in {401, 403}:
        raise DownloadFailed(
            f"“{model.name}” requires permission to download.", "Accept the terms on the page of the model first."
        )
    if status == httpx.codes.NOT_FOUND:
        raise DownloadFailed(f"“{model.name}” is no longer available.", "It may have been renamed.")
    if status >= 500 or status in {408, 429}:
        raise _Later(f"the server returned status {status}", min(_number(answer, "retry-after"), LONGEST_WAIT))
    if status != httpx.codes.OK:
        raise DownloadFailed(f"The server returned status {status} for “{model.name}”.")
    return 0


def _number(answer: httpx.Response, header: str) -> int:
    """Return a header as a number; 0 if it is absent or not one."""
    told = answer.headers.get(header, "").strip()
    return int(told) if told.isdecimal() and len(told) < 20 else 0


def _whole_size(answer: httpx.Response) -> int:
    """Return the size of the whole file from a Content-Range header; 0 if absent."""
    found = _WHOLE.match(answer.headers.get("content-range", ""))
    return int(found[1]) if found else 0


def _reason(error: Exception) -> str:
    """Describe an error without addresses and socket numbers."""
    if isinstance(error, httpx.TimeoutException):
        return "the server did not answer in time"
    if isinstance(error, httpx.ConnectError):
        return "the server cannot be reached"
    return str(error).strip(".") or "the connection was interrupted"
