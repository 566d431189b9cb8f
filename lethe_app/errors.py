"""Exceptions for failures of the environment, with a message for the user in one sentence.

A `LetheError` is not a bug (a broken file, a full disk, a dead engine) and is shown as it is; any other exception is a bug
and leads to a crash report. Exceptions of libraries are translated into this hierarchy where the library is called.
"""

from __future__ import annotations

from pathlib import Path


class LetheError(Exception):
    """One sentence that says what failed and with which object, and optionally a remedy."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class WorkCancelled(Exception):
    """Raised in a worker thread to leave work that the user cancelled."""


class ModelError(LetheError):
    """A language or embedding model could not do what was requested."""


class ModelMissing(ModelError):
    """No model is loaded, or the model file is missing."""


class ModelUnreadable(ModelError):
    """The file is not a GGUF that this engine can load."""


class ModelCrashed(ModelError):
    """The worker process of the model ended unexpectedly."""


class ModelOutOfMemory(ModelError):
    """The model or its context does not fit into memory."""


class PromptTooLong(ModelError):
    """The parts of a prompt that must not be cut do not fit into the context."""


class TemplateUnusable(ModelError):
    """A model's chat template is broken, hostile or rejects every conversation."""


class EngineUnreachable(ModelError):
    """A remote engine did not answer."""


NO_MODEL_ERRORS = (ModelMissing, EngineUnreachable)
"""Errors that are no failure of background work: it waits for a model."""


class StorageError(LetheError):
    """The user's data could not be read or written."""


class RecordMissing(StorageError):
    """A record does not exist or is in the trash."""


class DiskFull(StorageError):
    """The disk is full."""


class DatabaseLocked(StorageError):
    """Another process has the database open."""


class DatabaseTooNew(StorageError):
    """The database was written by a newer version of Lethe; it is left untouched."""


class DatabaseDamaged(StorageError):
    """The file is not a database or is damaged; it is left untouched."""


class ReadOnly(StorageError):
    """The folder or file is not writable."""


class FileError(LetheError):
    """A file that cannot be read: which file, and which field of it."""

    def __init__(self, path: Path | str, problem: str, field: str = "", remedy: str = "") -> None:
        where = f"{path}, field “{field}”" if field else f"{path}"
        super().__init__(f"{where}: {problem}", remedy)
        self.path = Path(path)
        self.field = field
        self.problem = problem


class UnknownFormat(FileError):
    """A file contains nothing of a kind that Lethe can import, such as a picture without a character. `kind` says what it is,
    if that is known.
    """

    def __init__(self, path: Path | str, problem: str, kind: str = "", remedy: str = "") -> None:
        super().__init__(path, problem, remedy=remedy)
        self.kind = kind


class SpeechError(LetheError):
    """A sentence could not be spoken."""


class SpeechUnavailable(SpeechError):
    """A voice, its program, a library or the sound output is missing."""


class DictationError(LetheError):
    """What the user says could not be recognised."""


class SpeechModelMissing(DictationError):
    """There is no speech recognition model on this computer."""


class SpeechModelUnreadable(DictationError):
    """The file is not a complete Whisper model."""


class RecognitionCrashed(DictationError):
    """The recognition process ended unexpectedly."""


class WebError(LetheError):
    """A web request failed."""


class NotAllowed(WebError):
    """The user has not allowed web access."""


class SearchFailed(WebError):
    """A search engine returned no results because of an error."""


class PageUnreadable(WebError):
    """A page could not be fetched or parsed."""


class DownloadFailed(WebError):
    """A file could not be downloaded, or is not the expected one."""
