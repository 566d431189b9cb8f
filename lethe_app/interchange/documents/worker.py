"""Process that reads one document, so that a damaged or hostile file can end nothing but this process."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from lethe_app.domain.passage import DocumentSection
from lethe_app.errors import FileError

PROGRESS_INTERVAL = 0.1
"""Seconds between two reports of progress."""


@dataclass(frozen=True)
class ReadingResult:
    """Text of a document, or the reason why it could not be read."""

    sections: list[DocumentSection] = field(default_factory=list)
    digest: str = ""
    size: int = 0
    problem: str = ""
    remedy: str = ""


def run(pipe: Connection, path: str) -> None:
    """Read the document at `path`; send the fraction read from time to time, and a ReadingResult at the end."""
    from lethe_app.interchange.documents.document import read_document  # noqa: PLC0415 - its libraries load here only

    reported = 0.0

    def report(fraction: float) -> None:
        nonlocal reported
        if time.monotonic() - reported > PROGRESS_INTERVAL:
            reported = time.monotonic()
            pipe.send(fraction)

    file = Path(path)
    try:
        content = file.read_bytes()
        sections = read_document(content, file.name, report)
        result = ReadingResult(sections, digest_of(content), len(content))
    except FileError as error:
        result = ReadingResult(problem=error.problem, remedy=error.remedy)
    except OSError as error:
        result = ReadingResult(problem=f"cannot be read: {error.strerror or error}")
    except MemoryError:
        result = ReadingResult(problem="needs too much memory")
    pipe.send(result)


def digest_of(content: bytes) -> str:
    """Return the hash by which a changed file is recognised."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
