"""Download of a model file from a hub: resumes partial files, verifies everything, and keeps only what was checked.

The URLs and headers are those of Hugging Face: `{endpoint}/{repository}/resolve/{revision}/{file}`, with `X-Linked-Size` and
`X-Linked-Etag` (the file's SHA-256) in the first response. Source:
https://huggingface.co/docs/huggingface_hub/package_reference/file_download
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from lethe_app.domain.model import DownloadStage, RemoteModel
from lethe_app.errors import DiskFull, DownloadFailed, ModelUnreadable, StorageError
from lethe_app.llm.models.gguf_header import read_header

ENDPOINT = "https://huggingface.co"
STALL_SECONDS = 30.0
"""Seconds without a byte after which the connection counts as broken."""
MAX_TRIES = 6
"""Consecutive attempts without a byte after which the download fails; any byte received resets the count."""
MAX_RETRY_AFTER = 300
"""Maximum delay in seconds accepted from a Retry-After header."""
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_CONTENT_RANGE_SIZE = re.compile(r"bytes [^/]+/(\d{1,19})$")
_SHA256 = re.compile(r'^"?([0-9a-f]{64})"?$')

ProgressCallback = Callable[[DownloadStage, int, int], None]
"""Progress callback: stage, bytes done, bytes in all (0 if unknown)."""
WRITE_SIZE = 1 << 20
"""Bytes buffered before a write."""
MIN_FREE_DISK = 256 << 20
"""Bytes that stay free on the disk."""
STOPPED_ADVICE = "The part downloaded so far is kept, and the next attempt continues from there."


@dataclass
class _RemoteFile:
    """Size and hash of the remote file, as far as they are known."""

    size: int
    sha256: str
    tag: str = ""
    """ETag of the version that is being downloaded."""
    was_restarted: bool = False
    """True if a partial file was discarded once because nothing proved that it was complete."""


class HuggingFaceHub:
    """Downloads from one endpoint. A connection is opened only inside `download`."""

    def __init__(
        self, endpoint: str = "", proxy: str = "", *, retry_delay: float = 1.0, stall_timeout: float = STALL_SECONDS
    ) -> None:
        """Set up a hub: `endpoint` may be a mirror, `proxy` is `http://…`, `retry_delay` is the delay in seconds before the
        second try; it doubles with every failure.
        """
        self._endpoint = (endpoint or ENDPOINT).rstrip("/")
        self._proxy = proxy or None
        self._retry_delay, self._stall_timeout = retry_delay, stall_timeout

    def url_of(self, model: RemoteModel) -> str:
        return f"{self._endpoint}/{quote(model.repository)}/resolve/{quote(model.revision)}/{quote(model.file)}?download=true"

    async def download(self, model: RemoteModel, folder: Path, on_progress: ProgressCallback) -> Path:
        """Download the file to `folder` and return its path once it is verified. Until then it is named `….part`, and what
        arrived is kept.

        Raise DownloadFailed, DiskFull, StorageError. Cancel the call to stop.
        """
        target, part = folder / model.file, folder / f"{model.file}.part"
        with translate_os_errors(folder):
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        remote = _RemoteFile(0, model.sha256)
        tries = 0
        while True:
            size_before = file_size(part)
            on_progress(DownloadStage.WAITING, size_before, remote.size)
            try:
                await self._download_missing(model, part, remote, on_progress)
                break
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                # Only tries without progress count, so that a slow and often broken connection finishes in the end.
                tries = 0 if file_size(part) > size_before else tries + 1
                if tries >= MAX_TRIES or not isinstance(error, RETRYABLE_ERRORS):
                    raise DownloadFailed(
                        f"“{model.name}” could not be downloaded: {_describe_error(error)}.", STOPPED_ADVICE
                    ) from error
                await asyncio.sleep(max(self._retry_delay * 2**tries, getattr(error, "seconds", 0.0)))
        on_progress(DownloadStage.CHECKING, remote.size, remote.size)
        with translate_os_errors(part):
            await self._verify_file(model, part, remote)
            await asyncio.to_thread(finish_file, part, target)
        return target

    async def _download_missing(
        self, model: RemoteModel, part: Path, remote: _RemoteFile, on_progress: ProgressCallback
    ) -> None:
        """Download the missing bytes. Raise httpx.HTTPError if another try is worthwhile."""
        async with self._open_response(model, file_size(part)) as response:
            existing_size = file_size(part)
            start = _resume_offset(model, response, existing_size)
            if start is None:  # the server says that there is no more than we have
                await self._accept_complete(model, response, part, remote)
                return
            self._record_metadata(model, response, start, remote)
            check_disk_space(part, remote.size - start)
            with open_partial(part, start) as file:
                done = await self._write_body(model, response, PartialFileWriter(file, start), remote, on_progress)
            if remote.size and done < remote.size:
                raise httpx.ReadError(f"the connection ended {remote.size - done} bytes too early")

    async def _accept_complete(self, model: RemoteModel, response: httpx.Response, part: Path, remote: _RemoteFile) -> None:
        """Check a response that says there are no bytes after the partial file: accept it if its size is confirmed or a
        hash will verify it, else discard it and retry once.
        """
        existing_size, total_size = file_size(part), _total_size(response)
        if remote.size > existing_size:
            raise DownloadFailed(f"“{model.name}” is shorter than the server announced, so it was not used.")
        if existing_size == total_size or (remote.sha256 and existing_size >= total_size):
            remote.size = remote.size or total_size
            return
        await asyncio.to_thread(part.unlink, missing_ok=True)
        if remote.was_restarted:
            raise DownloadFailed(f"The server does not report the size of “{model.name}”, so it was not used.")
        # Once only: a server that never reports the size would start the download again for ever.
        remote.was_restarted = True
        raise httpx.ReadError("the server has less of it than was there already")

    async def _write_body(
        self,
        model: RemoteModel,
        response: httpx.Response,
        sink: PartialFileWriter,
        remote: _RemoteFile,
        on_progress: ProgressCallback,
    ) -> int:
        """Write the response body, even if it breaks off; returns the number of bytes now in the file."""
        try:
            async for piece in response.aiter_raw():
                # The login page of a hotel network is answered with status 200 as well; the magic number tells it apart.
                if sink.bytes_done < len(model.magic) and not sink.can_begin_with(model.magic, piece):
                    raise DownloadFailed(
                        f"The server did not send a model file for “{model.name}”.",
                        "Check whether the network requires a login.",
                    )
                if remote.size and sink.bytes_done + len(piece) > remote.size:
                    raise DownloadFailed(f"“{model.name}” is longer than the server announced, so it was not used.")
                if sink.add_chunk(piece):
                    await asyncio.to_thread(sink.flush)
                    on_progress(DownloadStage.LOADING, sink.bytes_done, remote.size)
        finally:
            sink.flush()
        on_progress(DownloadStage.LOADING, sink.bytes_done, remote.size)
        return sink.bytes_done

    @asynccontextmanager
    async def _open_response(self, model: RemoteModel, start: int) -> AsyncIterator[httpx.Response]:
        """Open the response after all redirects, each of which must be encrypted. Raise DownloadFailed."""
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
        limits = httpx.Timeout(self._stall_timeout)
        linked: dict[str, str] = {}

        async def check_request(request: httpx.Request) -> None:
            self._check_url(request.url)

        # The X-Linked headers are in the hub's own redirect, not in the final response from its storage.
        async def record_linked_headers(response: httpx.Response) -> None:
            linked.update({name: value for name, value in response.headers.items() if name.startswith("x-linked-")})

        hooks: dict[str, list[Callable[..., Any]]] = {"request": [check_request], "response": [record_linked_headers]}
        try:
            http_client = httpx.AsyncClient(
                proxy=self._proxy, timeout=limits, follow_redirects=True, max_redirects=5, event_hooks=hooks
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise DownloadFailed(f"“{self._proxy}” is not a usable proxy.", "Change the proxy in the settings.") from error
        async with (
            http_client as client,
            client.stream("GET", self.url_of(model), headers=headers) as answer,
        ):
            answer.headers.update(linked)
            yield answer

    def _check_url(self, url: httpx.URL) -> None:
        """Require HTTPS, unless the hub itself is on this machine. Raise DownloadFailed."""
        is_local = urlsplit(self._endpoint).hostname in LOOPBACK and url.host in LOOPBACK
        if url.scheme != "https" and not is_local:
            raise DownloadFailed(f"“{url.host}” offers the file over an unencrypted connection, so it was not downloaded.")

    def _record_metadata(self, model: RemoteModel, response: httpx.Response, start: int, remote: _RemoteFile) -> None:
        """Record size and hash as the hub states them. Raise DownloadFailed if a later response contradicts the first."""
        length = _header_number(response, "content-length")
        size = _header_number(response, "x-linked-size") or _total_size(response) or (start + length if length else 0)
        tag = response.headers.get("etag", "")
        is_another = bool(tag and remote.tag and tag != remote.tag and not remote.sha256)
        if is_another or (remote.size and size and size != remote.size):
            raise DownloadFailed(f"“{model.name}” was changed during the download.", "Download it again.")
        remote.tag = remote.tag or tag
        remote.size = remote.size or size
        found = _SHA256.match(response.headers.get("x-linked-etag", ""))
        if found and remote.sha256 and found[1] != remote.sha256:
            raise DownloadFailed(f"“{model.name}” on that server is not the file Lethe expects, so it was not downloaded.")
        remote.sha256 = remote.sha256 or (found[1] if found else "")

    async def _verify_file(self, model: RemoteModel, part: Path, remote: _RemoteFile) -> None:
        """Discard the file if it is not the announced one. Raise DownloadFailed."""
        is_wrong = bool(remote.size) and file_size(part) != remote.size
        if not is_wrong:
            is_wrong = not await asyncio.to_thread(is_complete, part, remote.sha256)
        if is_wrong:
            await asyncio.to_thread(part.unlink, missing_ok=True)
            raise DownloadFailed(
                f"The downloaded file for “{model.name}” is not the announced one and was deleted.", "Download it again."
            )


class _RetryLater(httpx.HTTPError):
    """The server asked to retry after so many seconds."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


RETRYABLE_ERRORS = (_RetryLater, httpx.TimeoutException, httpx.NetworkError, httpx.ProtocolError, httpx.ProxyError)
"""Errors that may be temporary; an invalid address or a redirect loop is not."""


def _resume_offset(model: RemoteModel, response: httpx.Response, existing_size: int) -> int | None:
    """Return the offset of the bytes that follow, or None if none follow because all are present. Raise DownloadFailed."""
    status = response.status_code
    if status == httpx.codes.PARTIAL_CONTENT:
        found = _RANGE.match(response.headers.get("content-range", ""))
        if not found or int(found[1]) != existing_size:
            raise DownloadFailed(f"The server sent the wrong part of “{model.name}”.")
        return existing_size
    if status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and existing_size:
        return None
    if status in {401, 403}:
        raise DownloadFailed(
            f"“{model.name}” requires permission to download.", "Accept the terms on the page of the model first."
        )
    if status == httpx.codes.NOT_FOUND:
        raise DownloadFailed(f"“{model.name}” is no longer available.", "It may have been renamed.")
    if status >= 500 or status in {408, 429}:
        raise _RetryLater(f"the server returned status {status}", min(_header_number(response, "retry-after"), MAX_RETRY_AFTER))
    if status != httpx.codes.OK:
        raise DownloadFailed(f"The server returned status {status} for “{model.name}”.")
    return 0


def _header_number(response: httpx.Response, header: str) -> int:
    """Return a header as a number; 0 if it is absent or not one."""
    value = response.headers.get(header, "").strip()
    return int(value) if value.isdecimal() and len(value) < 20 else 0


def _total_size(response: httpx.Response) -> int:
    """Return the size of the whole file from a Content-Range header; 0 if absent."""
    found = _CONTENT_RANGE_SIZE.match(response.headers.get("content-range", ""))
    return int(found[1]) if found else 0


def _describe_error(error: Exception) -> str:
    """Describe an error without addresses and socket numbers."""
    if isinstance(error, httpx.TimeoutException):
        return "the server did not answer in time"
    if isinstance(error, httpx.ConnectError):
        return "the server cannot be reached"
    return str(error).strip(".") or "the connection was interrupted"


def check_disk_space(part: Path, missing: int) -> None:
    """Raise DiskFull if the missing bytes do not fit on the disk."""
    free = shutil.disk_usage(part.parent).free
    if missing > 0 and free < missing + MIN_FREE_DISK:
        needed = f"{(missing + MIN_FREE_DISK) / 1e9:.1f} GB"
        raise DiskFull(f"There is not enough disk space in {part.parent}: {needed} are needed, {free / 1e9:.1f} GB is free.")


@contextmanager
def open_partial(part: Path, start: int) -> Iterator[FileIO]:
    """Open the partial file at `start`; bytes after it are cut off. Raise StorageError."""
    with translate_os_errors(part):
        file = part.open("r+b" if part.exists() else "w+b", buffering=0)  # else what is left fails to be written at the close
    with file:
        with translate_os_errors(part):
            file.truncate(start)
            file.seek(start)
        yield file


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Context manager that turns OSError into StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error


class PartialFileWriter:
    """Buffer that gathers received bytes into larger writes; `bytes_done` counts all bytes, written or not."""

    def __init__(self, file: FileIO, start: int) -> None:
        self._file, self._buffer = file, bytearray()
        self.bytes_done = start

    def add_chunk(self, chunk: bytes) -> bool:
        """Buffer a piece and return whether it is time to flush."""
        self._buffer += chunk
        self.bytes_done += len(chunk)
        return len(self._buffer) >= WRITE_SIZE

    def can_begin_with(self, magic: bytes, chunk: bytes) -> bool:
        """Return whether the file may begin with `magic`; the first piece may be shorter than that."""
        beginning = bytes(self._buffer) + chunk
        return self.bytes_done != len(self._buffer) or magic.startswith(beginning[: len(magic)])

    def flush(self) -> None:
        """Write the buffered bytes. Raise DiskFull."""
        remaining, self._buffer = memoryview(self._buffer), bytearray()
        try:
            while remaining:
                remaining = remaining[self._file.write(remaining) :]
        except OSError as error:
            raise DiskFull(f"The download stopped: {(error.strerror or str(error)).lower()}.", STOPPED_ADVICE) from error


def file_size(path: Path) -> int:
    """Return the size of a file in bytes; 0 if it does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_complete(path: Path, sha256: str) -> bool:
    """Verify a file by its hash; if none is known, by the size its GGUF header demands."""
    if sha256:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    try:
        header = read_header(path)
    except ModelUnreadable:
        return False
    return header.file_size >= header.needed_size


def finish_file(part: Path, target: Path) -> None:
    """Rename the partial file once it is flushed to disk; a crash must not leave an incomplete file under the final name."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(target)
