"""The tree of things that can go wrong in the world and be told to the user in one sentence.

A `LetheError` is the world's fault (a broken file, a full disk, a dead engine) and is shown as it is; any other exception is
a bug of ours and ends in a crash report. Foreign exceptions are translated into this tree at the door where they come in.

LetheError
├─ ModelError     ModelMissing · ModelUnreadable · ModelCrashed · ModelOutOfMemory · PromptTooLong · TemplateUnusable
│                 EngineUnreachable
├─ StorageError   DiskFull · DatabaseLocked · DatabaseTooNew · DatabaseDamaged · ReadOnly
├─ FileError      a persona, world, preset, card or settings file that cannot be read: which file, which field
└─ WebError       NotAllowed · SearchFailed · PageUnreadable · DownloadFailed
"""

from __future__ import annotations

from pathlib import Path


class LetheError(Exception):
    """One sentence that says what went wrong and with which thing, and optionally what to do about it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class ModelError(LetheError):
    """A language or embedding model could not do what was asked."""


class ModelMissing(ModelError):
    """There is no model, or the file named is gone."""


class ModelUnreadable(ModelError):
    """The file is not a GGUF that this engine can load."""


class ModelCrashed(ModelError):
    """The child process that holds the model ended unexpectedly."""


class ModelOutOfMemory(ModelError):
    """The model or its context does not fit into memory."""


class PromptTooLong(ModelError):
    """The parts of a prompt that may not be cut do not fit into the context."""


class TemplateUnusable(ModelError):
    """A model's chat template is broken, hostile or refuses every conversation."""


class EngineUnreachable(ModelError):
    """A remote engine did not answer."""


class StorageError(LetheError):
    """Something could not be written to or read from the user's own data."""


class DiskFull(StorageError):
    """There is no room left on the disk."""


class DatabaseLocked(StorageError):
    """Another program holds the database."""


class DatabaseTooNew(StorageError):
    """The database was written by a newer version of Lethe; it is left untouched."""


class DatabaseDamaged(StorageError):
    """The database file is not one, or is damaged; it is left untouched."""


class ReadOnly(StorageError):
    """The folder or file does not allow writing."""


class FileError(LetheError):
    """A file of ours or of another program that cannot be read: which file, and which field of it."""

    def __init__(self, path: Path | str, problem: str, field: str = "", remedy: str = "") -> None:
        where = f"{path}, field “{field}”" if field else f"{path}"
        super().__init__(f"{where}: {problem}", remedy)
        self.path = Path(path)
        self.field = field
        self.problem = problem


class WebError(LetheError):
    """Something on the internet could not be had."""


class NotAllowed(WebError):
    """The user has not allowed this."""


class SearchFailed(WebError):
    """A search engine did not give results."""


class PageUnreadable(WebError):
    """A page could not be fetched or understood."""


class DownloadFailed(WebError):
    """A file could not be fetched, or is not the one that was announced."""
