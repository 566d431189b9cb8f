"""Files that hold vector indexes beside the database. A file that disagrees with the database is rejected or updated."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from lethe_app.errors import LetheError
from lethe_app.retrieval.vectors.index import HnswGraph, Numbers, Vectors
from lethe_app.storage.atomic import delete_temporary_file, sync_file, write_atomically
from lethe_app.storage.error_translation import translate_errors

T = TypeVar("T")
ReadVectors = Callable[[Numbers], Awaitable[tuple[Numbers, Vectors]]]
"""Function that returns the vectors storage has for these numbers, and the numbers that have one."""

FORMAT = 1
KIND = "Graph"
"""Kind of an index. Lethe 0.1 wrote a second kind for more than 200,000 vectors; such an index is built again from storage."""
CHECK_SIZE = 256
"""Vectors compared with storage per step."""
CHUNK = 1 << 23
"""Bytes read at a time when the checksum of an index file is computed."""


@dataclass(frozen=True)
class GraphLocation:
    """File location of the index of one owner's vectors by one embedder."""

    folder: Path
    owner: str
    embedder: str

    @property
    def graph(self) -> Path:
        """Path of the index file. Its name is a hash, because an owner's name may contain any character."""
        named = json.dumps([self.owner, self.embedder]).encode()
        return self.folder / f"{hashlib.blake2b(named, digest_size=12).hexdigest()}.graph"

    @property
    def metadata(self) -> Path:
        """Path of the metadata file."""
        return self.graph.with_suffix(".json")


class IndexMetadata(BaseModel, extra="forbid", frozen=True):
    """Metadata of an index file, stored as JSON beside it."""

    format: int
    kind: str = KIND
    owner: str
    embedder: str
    size: int = Field(gt=0)
    width: int = Field(gt=0)
    tuned_for: int
    gone: list[int]
    checksum: int
    """CRC-32 of the index file."""


def write(location: GraphLocation, graph: HnswGraph) -> None:
    """Write the index and its metadata, replacing the previous pair."""
    draft = location.graph.with_suffix(".tmp")
    with translate_errors(location.graph):
        location.folder.mkdir(parents=True, exist_ok=True)
        try:
            graph.save(draft)
            sync_file(draft)
            metadata = IndexMetadata(
                format=FORMAT, owner=location.owner, embedder=location.embedder, size=graph.size,
                width=graph.width, tuned_for=graph.tuned_for, gone=sorted(graph.deleted), checksum=_checksum(draft),
            )  # fmt: skip
            draft.replace(location.graph)
        except BaseException:
            delete_temporary_file(draft)
            raise
    # The metadata file is written last: after a crash between the two files its checksum does not match, and `read` rejects the
    # pair.
    write_atomically(location.metadata, metadata.model_dump_json().encode())


def read(location: GraphLocation) -> HnswGraph | None:
    """Read the index at this location; None if it is missing, foreign, corrupt or half-written."""
    try:
        metadata = IndexMetadata.model_validate_json(location.metadata.read_bytes())
        expected = (FORMAT, KIND, location.owner, location.embedder)
        if (metadata.format, metadata.kind, metadata.owner, metadata.embedder) != expected:
            return None
        if _checksum(location.graph) != metadata.checksum:
            return None
        graph = HnswGraph.load(location.graph, metadata.size, metadata.width, metadata.gone)
        graph.tuned_for = metadata.tuned_for
    except (OSError, ValidationError, LetheError):
        return None
    return graph


async def find_differences(graph: HnswGraph, numbers: Numbers, read_vectors: ReadVectors) -> tuple[Numbers, Numbers] | None:
    """Return the numbers to remove from an index and those to (re)insert so that it matches storage; None if rebuilding is
    cheaper.

    Storage reuses a number only when all higher ones are deleted, so changed vectors lie at the upper end; it is compared
    downwards until a step shows no difference. A random sample of the rest is compared in case the file belongs to another
    database.
    """
    indexed = graph.numbers()
    removed, missing = np.setdiff1d(indexed, numbers, True), np.setdiff1d(numbers, indexed, True)
    common = np.intersect1d(indexed, numbers, True)
    if len(common) == 0 or len(removed) + len(graph.deleted) > len(common):
        return None
    changed, end = [np.zeros(0, np.int64)], len(common)
    while end > 0 and len(step_changes := await _find_changed(graph, common[max(0, end - CHECK_SIZE) : end], read_vectors)):
        changed.append(step_changes)
        end -= CHECK_SIZE
        if len(common) - end > max(CHECK_SIZE, len(common) // 10):
            return None
    sample = np.random.default_rng().choice(common[: max(1, end)], min(CHECK_SIZE, max(1, end)), replace=False)
    if end > 0 and len(await _find_changed(graph, np.sort(sample), read_vectors)):
        return None
    return removed, np.sort(np.concatenate([missing, *changed]))


async def _find_changed(graph: HnswGraph, numbers: Numbers, read_vectors: ReadVectors) -> Numbers:
    """Return the numbers whose vector in storage differs from that in the index."""
    known, vectors = await read_vectors(numbers)
    if len(known) == 0 or vectors.shape[1] != graph.size:
        return numbers
    return known[np.any(graph.get_vectors(known) != vectors, axis=1)]


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum
