"""Documents of personas and worlds: add, read again after a change, remove."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from uuid import UUID, uuid4, uuid5

import psutil

from lethe_app.domain.clock import now
from lethe_app.domain.passage import DOCUMENT_SUFFIXES, Document, DocumentChunk, DocumentSection
from lethe_app.errors import FileError
from lethe_app.interchange.documents import worker
from lethe_app.interchange.documents.worker import ReadingResult, digest_of
from lethe_app.retrieval.passage_builder import split_text
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.indexing.worlds import WORLD_PREFIX
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.scheduling.offload import ProgressCallback, ignore_progress
from lethe_app.storage.memory.documents import DocumentStore

STALL_SECONDS = 60.0
"""Time without progress after which reading ends."""
TOTAL_SECONDS = 900.0
"""Time after which reading ends in any case."""
MAX_MEMORY = 1024 * 1024 * 1024
"""Memory of the process in bytes above which reading ends."""
POLL_SECONDS = 0.05
JOIN_SECONDS = 2.0
"""Time that an ended process may take to disappear."""


async def read_file(path: Path, on_progress: Callable[[float], None]) -> ReadingResult:
    """Return the text of a document. `on_progress` receives the fraction read, 0 to 1. Cancelling ends the process at once.

    Raise FileError if the file is missing, cannot be read, or takes too much time or memory.
    """
    if not await asyncio.to_thread(path.is_file):
        raise FileError(path, "does not exist")
    context = multiprocessing.get_context("spawn")
    parent_end, child_end = context.Pipe(duplex=False)
    process = context.Process(target=worker.run, args=(child_end, str(path)), daemon=True, name="lethe-document")
    process.start()
    child_end.close()
    started = last_progress = time.monotonic()
    try:
        while True:
            if await asyncio.to_thread(parent_end.poll, POLL_SECONDS):
                received = await asyncio.to_thread(parent_end.recv)
                if isinstance(received, ReadingResult):
                    break
                on_progress(float(received))
                last_progress = time.monotonic()
            elif time.monotonic() - last_progress > STALL_SECONDS or time.monotonic() - started > TOTAL_SECONDS:
                raise FileError(path, "takes too long to read")
            elif _memory_of(process) > MAX_MEMORY:
                raise FileError(path, "needs too much memory")
    except (EOFError, OSError) as error:
        raise FileError(path, "cannot be read; the process that read it has ended") from error
    finally:
        process.kill()
        await asyncio.to_thread(process.join, JOIN_SECONDS)
        parent_end.close()
    if received.problem:
        raise FileError(path, received.problem, remedy=received.remedy)
    return received


def _memory_of(process: BaseProcess) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended."""
    with suppress(psutil.Error):
        return int(psutil.Process(process.pid).memory_info().rss)
    return 0


MAX_DOCUMENTS = 2_000
"""Documents of one persona or world."""
SHOWN_CHUNKS = 3
"""Passages that are shown of a document."""


class DocumentService:
    """Documents of personas and worlds. Their text is stored; their files are only read, never changed."""

    def __init__(
        self, store: DocumentStore, indexing: IndexingService, prompts_outdated: Listeners[str], cache_state: CacheState
    ) -> None:
        self.changed: Listeners[str] = Listeners()
        """Emits the owner whose documents have changed."""
        self._store, self._indexing = store, indexing
        self._prompts_outdated, self._cache_state = prompts_outdated, cache_state
        self.documents_of = self._store.documents_of
        """Return the documents of personas and worlds, by title."""

    async def passages_of(self, guid: UUID, first: UUID | None = None) -> list[DocumentChunk]:
        """Return the passages with which a document begins, or the passage `first` with the next ones; none if the document
        does not exist.
        """
        return await self._store.chunks_of(guid, SHOWN_CHUNKS, first)

    async def find_files(self, paths: Sequence[Path]) -> list[Path]:
        """Return the files, and those in the folders among the paths, that can be read as documents. Raise FileError if a
        path does not exist, or if a file has an ending that is not known.
        """
        return await asyncio.to_thread(lambda: list(dict.fromkeys(_find_files(paths))))

    async def add(self, owner: str, path: Path, on_progress: ProgressCallback = ignore_progress) -> Document:
        """Read a file and store its text as a document of a persona or a world; a file that is known already is read again.

        It can be searched by words at once, and by meaning as soon as it is embedded. Raise FileError and StorageError.
        """
        path = await asyncio.to_thread(lambda: path.expanduser().absolute())
        known = await self._store.documents_of([owner])
        present = next((document for document in known if document.path == str(path)), None)
        if present is None and len(known) >= MAX_DOCUMENTS:
            raise FileError(
                path, f"would be more than the {MAX_DOCUMENTS:,} documents that Lethe keeps for one persona or world"
            )
        return await self._read(present or Document(uuid4(), owner, path.stem, str(path), "", 0, now()), on_progress)

    async def refresh(self, owners: Sequence[str], on_progress: ProgressCallback = ignore_progress) -> list[Document]:
        """Read the documents again whose files have changed, and return them. A file that is missing leaves its document as
        it is; what else goes wrong is stored with the document.
        """
        changed: list[Document] = []
        for document in await self._store.documents_of(owners):
            if await asyncio.to_thread(_is_changed, document):
                try:
                    changed.append(await self._read(document, on_progress))
                except FileError as error:
                    await self._store.set_trouble(document.guid, error.problem)
                    self.changed.notify(document.owner)
        return changed

    async def remove(self, guids: Sequence[UUID]) -> None:
        """Remove documents with everything that is stored of them, also in recorded turns and kept prompts. Their files
        remain. Raise StorageError if one does not exist.
        """
        documents = [await self._store.get(guid) for guid in guids]
        await self._store.delete(guids)
        await self._indexing.index_all_pending()
        await self._store.scrub()
        for owner in dict.fromkeys(document.owner for document in documents):
            self._forget_prompts(owner)
            self.changed.notify(owner)

    async def remove_all(self, owner: str) -> None:
        """Remove all documents of a persona or world."""
        if documents := await self._store.documents_of([owner]):
            await self.remove([document.guid for document in documents])

    async def _read(self, document: Document, on_progress: ProgressCallback) -> Document:
        """Read the file of a document and store its text."""
        result = await read_file(Path(document.path), on_progress)
        read = replace(document, digest=result.digest, size=result.size, trouble="")
        chunks = await asyncio.to_thread(lambda: list(split_sections(read, result.sections)))
        await self._store.save(read, chunks)
        if document.digest:
            self._forget_prompts(document.owner)
        # The background task may wait for the end of a reply, and asking for what was just added must not.
        await self._indexing.index_newest(len(chunks))
        self._indexing.background.wake()
        self.changed.notify(document.owner)
        return replace(read, chunks=len(chunks))

    def _forget_prompts(self, owner: str) -> None:
        """Have the prompts made again that may contain removed text; that of a world may be in anybody's."""
        if owner.startswith(WORLD_PREFIX):
            self._cache_state.forget_all()
        else:
            self._prompts_outdated.notify(owner)


def split_sections(document: Document, sections: Sequence[DocumentSection]) -> Iterator[DocumentChunk]:
    """Yield the passages of a document: its sections, cut at the ends of sentences where they are long."""
    seen: Counter[tuple[str, str]] = Counter()
    for section in sections:
        for text in split_text(section.text):
            occurrence = (section.heading, text)
            id_ = uuid5(document.guid, f"{section.heading}\n{text}\n{seen[occurrence]}")
            seen[occurrence] += 1
            yield DocumentChunk(
                id_, document.guid, document.owner, document.title, text, document.added, section.heading, section.page
            )


def _is_changed(document: Document) -> bool:
    """Return whether the file of a document exists and differs from what was read."""
    path = Path(document.path)
    try:
        return path.stat().st_size != document.size or digest_of(path.read_bytes()) != document.digest
    except OSError:
        return False


def _find_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.suffix.lower() in DOCUMENT_SUFFIXES and file.is_file())
        elif not path.is_file():
            raise FileError(path, "does not exist")
        elif path.suffix.lower() not in DOCUMENT_SUFFIXES:
            raise FileError(path, "is no document that Lethe can read", remedy=f"It reads {', '.join(DOCUMENT_SUFFIXES)}.")
        else:
            yield path
