"""Does she still find it after a hundred thousand memories? Search, start and insertion at sizes nobody reaches by talking.

The generator: words by Zipf's law (exponent 1) from 30,000 invented ones, 6 to 17 to a passage, 20 passages to a session;
vectors of 384 dimensions, each a random unit centre (one of 100, or of only 20, which is hard for a graph) plus normal noise
of the same length, made unit; a fixed random token vector per word. Questions are three to five words of a passage, their
vectors new ones of the same kind. Embedding is left out everywhere: all vectors are given. Keys end in size and clusters:
`p50_ms` of a whole search (vectors, words, ranking), `recall` the share of the ten nearest that the index finds, `width` the
ef it chose, `queries_per_s` of the index alone, `startup_s` from
opening the database to the first answer (by words; `index_s` until meaning is compared too), `insert_ms` storing and
indexing a passage, 20 at a time, while its owner is open, `bytes_per_vector` by which the process grew for each passage,
`rss_mb` all of the process. 200,000 only with --full.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean, median
from uuid import UUID

import numpy as np
import psutil

from lethe_app.domain.passage import Passage, PassageKind, TextEmbedding
from lethe_app.errors import LetheError
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.vectors import store
from lethe_app.retrieval.vectors.owner_views import vector_of
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages, PassageVector
from tests.bench.report import Measured, run
from tests.storage.scenes import store_passages

SIZES, FULL = (100_000,), 200_000
CLUSTERS = (100, 20)
DIMENSIONS, VOCABULARY, SESSION, CHUNK = 384, 30_000, 20, 10_000
QUESTIONS, WARM_UP, INSERTED = 200, 20, 1_000
OWNER, EMBEDDER = "mara", "made up"
BEGAN = datetime(2020, 1, 1, tzinfo=UTC)


def vocabulary() -> list[str]:
    """Words that look like some, the most common first."""
    drawn, words = np.random.default_rng(1), {}
    while len(words) < VOCABULARY:
        syllables = drawn.integers(0, 90, drawn.integers(2, 5)).tolist()
        words["".join("bcdfghjklmnprstvwz"[one % 18] + "aeiou"[one // 18] for one in syllables)] = None
    return list(words)


WORDS = vocabulary()
TOKENS = np.random.default_rng(2).normal(size=(VOCABULARY, DIMENSIONS)).astype(np.float32)
TOKENS /= np.linalg.norm(TOKENS, axis=1, keepdims=True)
BYTES = np.round(TOKENS * 127).astype(np.int8)
SHARE = 1 / np.arange(1, VOCABULARY + 1)
SHARE /= SHARE.sum()


def texts(chunk: int) -> Iterator[np.ndarray]:
    """The words of each passage of a chunk, as places in the vocabulary."""
    drawn = np.random.default_rng([3, chunk])
    lengths = drawn.integers(6, 18, CHUNK)
    yield from np.split(drawn.choice(VOCABULARY, lengths.sum(), p=SHARE), np.cumsum(lengths)[:-1])


def points(kind: int, chunk: int, clusters: int, count: int = CHUNK) -> np.ndarray:
    """Unit vectors; `kind` tells those that are stored from those that are asked."""
    centres = np.random.default_rng([4, clusters]).normal(size=(clusters, DIMENSIONS))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    drawn = np.random.default_rng([5, kind, chunk, clusters])
    found = centres[drawn.integers(clusters, size=count)] + drawn.normal(size=(count, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def passage(number: int, words: np.ndarray) -> Passage:
    """A line of a long life."""
    session, speaker = number // SESSION, ("Tomas", "Mara")[number % 2]
    said = f'{speaker} said, "{" ".join(WORDS[word] for word in words)}."'
    time_of = BEGAN + timedelta(hours=session)
    origin, source = UUID(int=number + (1 << 90)), UUID(int=hash((session, 1)) % (1 << 60) << 64 | session)
    return passage_builder.make_passage(
        PassageKind.MESSAGE, OWNER, source, origin, said, time_of, speaker=speaker, position=number % SESSION
    )


def question(chunk: int, place: int, vector: np.ndarray) -> tuple[str, TextEmbedding]:
    """Three to five words of a stored passage."""
    drawn = np.random.default_rng([6, chunk, place])
    words = list(texts(chunk))[place]
    asked = drawn.choice(words, int(drawn.integers(3, 6)), replace=False)
    pieces = tuple("\u2581" + WORDS[word] for word in asked)
    return " ".join(WORDS[word] for word in asked), TextEmbedding(vector.tobytes(), TOKENS[asked].tobytes(), pieces)


async def fill(database: Database, size: int, clusters: int) -> None:
    """Straight into storage, as if it had been lived."""
    passages = Passages(database)
    await database.run(lambda connection: connection.execute("CREATE INDEX IF NOT EXISTS vectors_of_embedder "
                                                             "ON passage_vectors (embedder)") and None)  # fmt: skip
    for chunk in range(size // CHUNK):
        words = list(texts(chunk))
        numbers = await store_passages(database, [passage(chunk * CHUNK + place, some) for place, some in enumerate(words)])
        stored = points(0, chunk, clusters)
        await passages.set_vectors(
            EMBEDDER,
            [
                PassageVector(number, vector.tobytes(), BYTES[some].tobytes())
                for number, vector, some in zip(numbers, stored, words, strict=True)
            ],
        )


class Given:
    """An embedder that was told beforehand what texts mean."""

    def __init__(self) -> None:
        self.meanings: dict[str, TextEmbedding] = {}

    async def embed(self, wanted: Sequence[str]) -> list[TextEmbedding]:
        if unknown := set(wanted) - self.meanings.keys():  # the samples for the geometry: that of the starter is taken then
            raise LetheError(f"No vector was given for {len(unknown)} texts.")
        return [self.meanings[text] for text in wanted]


def opened(database: Database, folder: Path, given: Given) -> MemoryIndex:
    return MemoryIndex(Passages(database), given.embed, EMBEDDER, folder=folder)


def memory() -> float:
    """Of this process now, in MB."""
    return psutil.Process().memory_info().rss / 1e6


def exact(asked: np.ndarray, size: int, clusters: int) -> list[set[int]]:
    """The true ten nearest, by the numbers storage gave."""
    best, cosines = np.zeros((len(asked), 0), np.int64), np.zeros((len(asked), 0))
    for chunk in range(size // CHUNK):
        every = np.concatenate([cosines, asked @ points(0, chunk, clusters).T], axis=1)
        numbers = np.arange(chunk * CHUNK, (chunk + 1) * CHUNK) + 1
        named = np.concatenate([best, np.broadcast_to(numbers, (len(asked), CHUNK))], axis=1)
        top = np.argsort(-every, axis=1)[:, :10]
        cosines, best = np.take_along_axis(every, top, 1), np.take_along_axis(named, top, 1)
    return [set(row) for row in best.tolist()]


async def build(folder: Path, size: int, clusters: int) -> dict[str, float]:
    """Fill the database, then make the graph from it."""
    started = time.perf_counter()
    database = await Database.open(folder / "lethe.sqlite3")
    await fill(database, size, clusters)
    filled = time.perf_counter()
    store.THREADS = 2
    recall = opened(database, folder, Given())
    await recall.search([OWNER], "hello", embedding=question(0, 0, points(1, 0, clusters, 1)[0])[1])
    await recall.wait_until_idle()
    await recall.close()
    await database.close()
    return {"fill_s": filled - started, "build_s": time.perf_counter() - filled}


async def ask(folder: Path, size: int, clusters: int) -> dict[str, float]:
    """Start, search, insert."""
    drawn, asked = np.random.default_rng(7), points(1, 0, clusters, QUESTIONS)
    questions = [question(int(drawn.integers(size // CHUNK)), int(drawn.integers(CHUNK)), vector) for vector in asked]
    before, started = memory(), time.perf_counter()
    database = await Database.open(folder / "lethe.sqlite3")
    recall = opened(database, folder, given := Given())
    await recall.search([OWNER], questions[0][0], embedding=questions[0][1])
    answered = time.perf_counter()
    while not (await recall.search([OWNER], questions[0][0], embedding=questions[0][1])).by_meaning:  # noqa: ASYNC110 - as chats do
        await asyncio.sleep(0.02)
    ready = time.perf_counter()
    figures = {"startup_s": answered - started, "index_s": ready - started}
    await recall.wait_until_idle()
    figures["rss_mb"] = memory()
    figures["bytes_per_vector"] = (memory() - before) * 1e6 / size
    figures |= await searched(recall, questions)
    right = exact(asked, size, clusters)
    view = await recall._views.open_view([OWNER])
    found = [set(view.nearest(meaning, 10)[0][:10].tolist()) for _text, meaning in questions]
    figures["recall"] = mean(len(some & ten) / 10 for some, ten in zip(found, right, strict=True))
    figures["width"] = view.vectors._indexes[OWNER].active_index.width
    asking = [vector_of(meaning) for _text, meaning in questions]
    figures["queries_per_s"] = 1000 / timed(lambda vector: view.vectors.nearest([OWNER], vector, 10), asking)
    figures["insert_ms"] = await inserted(recall, given, clusters)
    await recall.close()
    await database.close()
    return figures


async def searched(recall: MemoryIndex, questions: Sequence[tuple[str, TextEmbedding]]) -> dict[str, float]:
    taken = []
    for text, meaning in [*questions[:WARM_UP], *questions]:
        started = time.perf_counter()
        found = await recall.search([OWNER], text, embedding=meaning)
        taken.append((time.perf_counter() - started) * 1000)
        assert found.by_meaning
    return {"p50_ms": median(taken[WARM_UP:]), "p95_ms": float(np.percentile(taken[WARM_UP:], 95))}


def timed(work: Callable[[np.ndarray], object], given: Sequence[np.ndarray]) -> float:
    taken = []
    for vector in given:
        started = time.perf_counter()
        work(vector)
        taken.append((time.perf_counter() - started) * 1000)
    return median(taken)


async def inserted(recall: MemoryIndex, given: Given, clusters: int) -> float:
    """As chats bring them: a session at a time, its meaning soon after."""
    words = list(texts(10_000))[:INSERTED]
    fresh = [passage(5_000_000 + place, some) for place, some in enumerate(words)]
    for one, some, vector in zip(fresh, words, points(2, 0, clusters, INSERTED), strict=True):
        pieces = tuple("\u2581" + WORDS[word] for word in some)
        given.meanings[passage_builder.embedding_text(one)] = TextEmbedding(vector.tobytes(), TOKENS[some].tobytes(), pieces)
    started = time.perf_counter()
    for place in range(0, INSERTED, SESSION):
        await recall.replace([], fresh[place : place + SESSION])
        await recall.embed_pending()
    while await recall.embed_pending():
        pass
    return (time.perf_counter() - started) * 1000 / INSERTED


def chroma(size: int, clusters: int) -> dict[str, float | None]:
    """Queries each second of Chroma with the same vectors and its usual settings, if it is there."""
    if importlib.util.find_spec("chromadb") is None:
        return {"chroma_queries_per_s": None, "chroma_recall": None}
    import chromadb  # noqa: PLC0415 - optional, and slow to load

    with tempfile.TemporaryDirectory() as folder:
        settings = {"hnsw:space": "ip", "hnsw:M": 16, "hnsw:construction_ef": 200, "hnsw:search_ef": 64}
        collection = chromadb.PersistentClient(folder).create_collection("bench", metadata=settings)
        for chunk in range(size // CHUNK):
            stored, words = points(0, chunk, clusters), list(texts(chunk))
            for start in range(0, CHUNK, 5000):
                some = range(start, start + 5000)
                collection.add(
                    ids=[str(chunk * CHUNK + place + 1) for place in some],
                    embeddings=stored[start : start + 5000],
                    documents=[" ".join(WORDS[word] for word in words[place]) for place in some],
                )
        asked, taken, found = points(1, 0, clusters, QUESTIONS), [], []
        for vector in asked:
            started = time.perf_counter()
            result = collection.query(query_embeddings=[vector], n_results=10)
            taken.append((time.perf_counter() - started) * 1000)
            found.append({int(one) for one in result["ids"][0]})
        right = exact(asked, size, clusters)
        shared = mean(len(some & ten) / 10 for some, ten in zip(found, right, strict=True))
        return {"chroma_queries_per_s": 1000 / median(taken), "chroma_recall": shared}


def in_its_own_process(phase: str, folder: Path, size: int, clusters: int) -> dict[str, float]:
    """So that one does not count the memory of another."""
    options = ["--json", "--phase", phase, "--folder", str(folder), "--sizes", str(size), "--clusters", str(clusters)]
    command = [sys.executable, "-m", "tests.bench.search_scale", *options]
    # NumPy is imported here before lethe_app.retrieval can say so
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def measure(wanted: argparse.Namespace) -> Measured:
    """All sizes, or one phase of one size, which `in_its_own_process` asks for."""
    if wanted.phase:
        work = {"build": build, "ask": ask}[wanted.phase]
        return asyncio.run(work(wanted.folder, int(wanted.sizes), int(wanted.clusters)))
    sizes = [int(size) for size in wanted.sizes.split(",")] if wanted.sizes else [*SIZES, *([FULL] if wanted.full else [])]
    figures: dict[str, float | None] = {}
    for size in sizes:
        for clusters in map(int, wanted.clusters.split(",")):
            with tempfile.TemporaryDirectory(dir=wanted.folder) as folder:
                found: dict[str, float | None] = dict(in_its_own_process("build", Path(folder), size, clusters))
                found |= in_its_own_process("ask", Path(folder), size, clusters)
            if size == SIZES[0]:
                found |= chroma(size, clusters)
            figures |= {f"{name}_{size}_{clusters}": value for name, value in found.items()}
    return figures


if __name__ == "__main__":
    run(
        __doc__,
        measure,
        ("--sizes", {"default": "", "help": "passages, such as 100000,1000000"}),
        ("--clusters", {"default": ",".join(map(str, CLUSTERS))}),
        ("--full", {"action": "store_true", "help": f"{FULL} too, which takes long to build"}),
        ("--folder", {"type": Path, "help": "where to build; kept"}),
        ("--phase", {"default": "", "help": argparse.SUPPRESS}),
    )
