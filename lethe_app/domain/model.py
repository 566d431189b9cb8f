"""What we know of a language model: the file it lies in, how to load it, what it told us, and what a reply cost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class KvType(StrEnum):
    """How the key-value cache is stored; smaller saves memory at some quality."""

    F16 = "f16"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"


class StopReason(StrEnum):
    """Why a reply ended."""

    END = "end"
    """The model said it was done, or a stop string came."""
    LENGTH = "length"
    """The longest allowed reply was reached."""
    STOPPED = "stopped"
    """The user pressed Stop."""
    PREEMPTED = "preempted"
    """A quiet job made way for somebody who waits; it may be asked again."""


@dataclass(frozen=True)
class ModelFile:
    """A GGUF on disk as its header describes it; nothing is loaded."""

    path: Path
    name: str
    size: int
    """Bytes on disk."""
    architecture: str
    parameters: int = 0
    """Number of weights; 0 where the file does not say."""
    quantization: str = ""
    """Such as Q4_K_M."""
    context_length: int = 0
    """Tokens the model was trained for."""
    is_embedding: bool = False
    has_template: bool = False
    source: str = ""
    """Where it was found, in words: “Your models”, “LM Studio”, “Starter model” …"""
    layers: int = 0
    attention_layers: int = 0
    """Layers that keep a key and a value of every token; in hybrid models fewer than all, in recurrent ones none."""
    kv_heads: int = 0
    head_length: int = 0
    sliding_window: int = 0
    is_recurrent: bool = False


@dataclass(frozen=True)
class LoadOptions:
    """How a model is loaded. Zeros leave the choice to the engine."""

    context: int = 0
    """Tokens; 0 takes the model's own length up to 8192."""
    gpu_layers: int = 0
    """Layers on the graphics card; -1 is all."""
    threads: int = 0
    """0 takes the physical cores."""
    batch: int = 512
    quiet_context: int = 4096
    """Tokens that background work may use at most; never more than `context` came to be."""
    flash_attention: bool = False
    kv_type: KvType = KvType.F16
    mmap: bool = True
    mlock: bool = False
    embedding: bool = False
    """Load it to give vectors instead of words."""


@dataclass(frozen=True)
class LoadedModel:
    """What a loaded model told about itself."""

    file: ModelFile
    options: LoadOptions
    context: int
    """Tokens that really fit."""
    threads: int
    template: str = ""
    """The model's own Jinja chat template, untrusted; empty where it has none."""
    bos: str = ""
    eos: str = ""
    adds_bos: bool = False
    """The tokenizer itself puts `bos` first, so a prompt must not spell it."""
    control_tokens: tuple[str, ...] = ()
    """Spellings the tokenizer would take for control tokens; they are disarmed inside what people write."""
    end_tokens: tuple[str, ...] = ()
    can_rewind: bool = True
    """Can the KV cache be cut at any token? Not in recurrent models."""
    can_shift: bool = False
    """Can cached cells be moved, so that a piece is cut out of the middle? Not in recurrent and sliding-window models."""


@dataclass(frozen=True)
class Usage:
    """What one reply cost."""

    prompt_tokens: int = 0
    evaluated_tokens: int = 0
    """Tokens of the prompt that were really computed; the rest was reused from the KV cache."""
    reply_tokens: int = 0
    prompt_seconds: float = 0.0
    reply_seconds: float = 0.0
    reason: StopReason = StopReason.END
    drift: int = 0
    """Places in the KV cache where text stands behind other text than it was computed behind."""

    @property
    def reused_tokens(self) -> int:
        return self.prompt_tokens - self.evaluated_tokens

    @property
    def tokens_per_second(self) -> float:
        """Speed of generation; 0 when nothing was generated."""
        return self.reply_tokens / self.reply_seconds if self.reply_seconds > 0 else 0.0


@dataclass(frozen=True)
class EngineCheck:
    """One line of `lethe doctor`."""

    title: str
    passed: bool
    detail: str
    remedy: str = ""


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


@dataclass(frozen=True)
class NextWords:
    """What a model would say next: logits, of which only the differences mean anything."""

    words: tuple[tuple[str, float], ...]
    """The likeliest, best first; an empty text ends the reply."""
    rest: tuple[tuple[float, int], ...] = ()
    """All others, those of nearly the same logit together, best first: how many there are of each."""
