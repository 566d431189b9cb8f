"""Records of language models: GGUF file, load options, loaded model, usage of a reply, downloads and next-token logits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, Field


class KvType(StrEnum):
    """Storage type of the key-value cache; a smaller type saves memory at some loss of quality."""

    F16 = "f16"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"


class StopReason(StrEnum):
    """Reason why generation ended."""

    END = "end"
    """The model generated an end token, or a stop string was reached."""
    LENGTH = "length"
    """The token limit of the reply was reached."""
    STOPPED = "stopped"
    """The user pressed Stop."""
    PREEMPTED = "preempted"
    """A background job was interrupted in favour of a request the user waits for; it may be submitted again."""


@dataclass(frozen=True)
class ModelFile:
    """GGUF file on disk as its header describes it; the weights are not loaded."""

    path: Path
    name: str
    size: int
    """Bytes on disk."""
    architecture: str
    parameters: int = 0
    """Number of weights; 0 where the file does not say."""
    quantization: str = ""
    """Name of the quantisation, such as Q4_K_M."""
    context_length: int = 0
    """Tokens the model was trained for."""
    is_embedding: bool = False
    has_template: bool = False
    source: str = ""
    """Display name of the place where the file was found, such as “Your models”, “LM Studio” or “Starter model”."""
    layers: int = 0
    attention_layers: int = 0
    """Number of layers that keep a key and a value of every token; fewer than `layers` in hybrid models, 0 in recurrent
    ones.
    """
    kv_heads: int = 0
    head_length: int = 0
    sliding_window: int = 0
    is_recurrent: bool = False


@dataclass(frozen=True)
class LoadOptions:
    """Options with which a model is loaded. Zeros leave the choice to the engine."""

    context: int = 0
    """Context length in tokens; 0 takes the model's own length up to 8192."""
    gpu_layers: int = 0
    """Layers offloaded to the graphics card; -1 is all."""
    threads: int = 0
    """Number of threads; 0 takes the number of physical cores."""
    batch: int = 512
    background_context: int = 4096
    """Context length in tokens of background jobs; never more than the context that was really allocated."""
    saves_memory: bool = False
    """True if the context of background jobs is freed as soon as there are none."""
    flash_attention: bool = False
    kv_type: KvType = KvType.F16
    mmap: bool = True
    mlock: bool = False
    embedding: bool = False
    """True to load the model for embeddings instead of generation."""


@dataclass(frozen=True)
class EngineCapabilities:
    """What an engine can do."""

    generates_text: bool = False
    embeds_texts: bool = False
    has_kv_cache: bool = False
    """True if prompts can be prefilled and the KV cache cut, saved and restored."""
    returns_logits: bool = False
    """True if it returns the logits of the next token."""
    reads_images: bool = False
    counts_tokens_here: bool = False
    """True if its tokenizer can run in the window's process; otherwise the engine counts."""


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """Properties that an engine reports of a model it has loaded."""

    context: int
    """Context length in tokens that was really allocated."""
    threads: int
    template: str = ""
    """The model's own Jinja chat template, which is untrusted; empty where the file has none."""
    bos: str = ""
    eos: str = ""
    adds_bos: bool = False
    """True if the tokenizer itself puts `bos` first, so that a prompt must not contain it."""
    control_tokens: tuple[str, ...] = ()
    """Spellings that the tokenizer would parse as control tokens; they are broken up in texts of users and models."""
    can_shift: bool = False
    """True if cached cells can be moved, so that a piece can be cut out of the middle; False in recurrent and sliding-window
    models.
    """


@dataclass(frozen=True)
class LoadedModel(ModelFacts):
    """Model in use: its file, how it was loaded, and what the engine reported and can do."""

    file: ModelFile
    options: LoadOptions
    capabilities: EngineCapabilities = EngineCapabilities()


@dataclass(frozen=True)
class Usage:
    """Token counts and timings of one reply."""

    prompt_tokens: int = 0
    evaluated_tokens: int = 0
    """Tokens of the prompt that were really computed; the rest was reused from the KV cache."""
    reply_tokens: int = 0
    prompt_seconds: float = 0.0
    reply_seconds: float = 0.0
    reason: StopReason = StopReason.END
    drift: int = 0
    """Number of places in the KV cache where cells now follow other text than the text they were computed after."""

    @property
    def reused_tokens(self) -> int:
        """Return the number of prompt tokens taken from the KV cache."""
        return self.prompt_tokens - self.evaluated_tokens

    @property
    def tokens_per_second(self) -> float:
        """Return the speed of generation; 0 if nothing was generated."""
        return self.reply_tokens / self.reply_seconds if self.reply_seconds > 0 else 0.0


@dataclass(frozen=True)
class EngineCheck:
    """One line of the report of `lethe doctor`."""

    title: str
    passed: bool
    detail: str
    remedy: str = ""


class RemoteModel(BaseModel, extra="forbid", frozen=True):
    """One file of a repository on a Hugging Face hub, or on a mirror with the same API."""

    name: str = Field(min_length=1)
    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    file: str = Field(pattern=r"^[^/\\]+\.(gguf|bin)$")
    """File name: GGUF of a language model, or a Whisper model in the ggml format (`.bin`)."""
    revision: str = Field(default="main", pattern=r"^[\w.-]+$")
    size: int = Field(default=0, ge=0)
    """File size in bytes, rounded where it was copied from a web page; 0 where unknown."""
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    """Expected hash of the file; empty where the hash that the hub reports is used."""
    licence: str = ""
    why: str = ""
    """Sentence shown to the user that says what the model is good for."""
    memory: int = Field(default=0, ge=0)
    """Free memory in bytes with which the model runs well."""

    @property
    def magic(self) -> bytes:
        """Return the first bytes of every file of this format."""
        return b"GGUF" if self.file.endswith(".gguf") else b"lmgg"


class DownloadStage(StrEnum):
    """Stage of a download."""

    WAITING = "waiting"
    """Waiting for the first answer of the hub, or for a retry."""
    LOADING = "loading"
    CHECKING = "checking"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """Stopped by the user; the part received so far is kept and resumed the next time."""


@dataclass(frozen=True)
class DownloadProgress:
    """Progress of one download."""

    model: RemoteModel
    stage: DownloadStage
    done: int = 0
    """Bytes received."""
    total: int = 0
    """Size in bytes; 0 while unknown."""
    speed: float = 0.0
    """Bytes per second."""
    path: Path | None = None
    """Path of the finished file; None before that."""
    problem: str = ""

    @property
    def is_over(self) -> bool:
        """Return whether the download ended, successfully or not."""
        return self.stage in {DownloadStage.DONE, DownloadStage.FAILED, DownloadStage.STOPPED}


@dataclass(frozen=True)
class NextWords:
    """Candidates for the next token with their logits, of which only the differences are meaningful."""

    words: tuple[tuple[str, float], ...]
    """The likeliest tokens as text with their logits, best first; an empty text is the end of the reply."""
    rest: tuple[tuple[float, int], ...] = ()
    """All other tokens as (logit, number of tokens) pairs, best first; tokens of nearly the same logit are counted together."""


@dataclass(frozen=True)
class SamplingStep:
    """Probabilities of the next token after a sampler."""

    sampler: str
    """Name of the sampler in llama.cpp, such as “top-k”; empty before the first one."""
    probabilities: tuple[float, ...]
    """Probabilities of the tokens listed in `NextWords.words`, in their order; 0 for a removed one."""
    others: float
    """Total probability of all other tokens."""
    kept_count: int
    """Number of tokens that were not removed."""
