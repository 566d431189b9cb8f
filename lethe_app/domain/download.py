"""A model somewhere on the internet that the user may want, and how far its coming has come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class RemoteModel(BaseModel):
    """One file of a repository on a Hugging Face hub, or on a mirror that speaks like one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    file: str = Field(pattern=r"^[^/\\]+\.gguf$")
    revision: str = Field(default="main", pattern=r"^[\w.-]+$")
    size: int = Field(default=0, ge=0)
    """Bytes, rounded where it was only read off a page; 0 where unknown."""
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    """Empty where the hub itself is to say what the file's hash is."""
    licence: str = ""
    why: str = ""
    """A sentence for the person who has to choose."""
    memory: int = Field(default=0, ge=0)
    """Bytes of free memory with which it runs well."""


class DownloadStage(StrEnum):
    """What is being done."""

    WAITING = "waiting"
    """For the hub to answer, or to answer again."""
    LOADING = "loading"
    CHECKING = "checking"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """By the user; what came so far is kept and used the next time."""


@dataclass(frozen=True)
class DownloadProgress:
    """How one download fares."""

    model: RemoteModel
    stage: DownloadStage
    done: int = 0
    """Bytes."""
    total: int = 0
    """Bytes; 0 where nobody knows yet."""
    speed: float = 0.0
    """Bytes per second."""
    path: Path | None = None
    """Where it lies, once it is done."""
    problem: str = ""

    @property
    def is_over(self) -> bool:
        return self.stage in {DownloadStage.DONE, DownloadStage.FAILED, DownloadStage.STOPPED}
