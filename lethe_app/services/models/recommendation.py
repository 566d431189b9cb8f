"""Assessment of the models that can be downloaded: whether they fit this computer, how fast they would write, and which one is
recommended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lethe_app.domain.model import KvType, ModelFile, RemoteModel
from lethe_app.llm.models.discovery import STARTER_SOURCE
from lethe_app.services.models.hardware import Hardware

BYTES_PER_NUMBER = {KvType.F16: 2.0, KvType.Q8_0: 34 / 32, KvType.Q4_0: 18 / 32}
"""Bytes per number of the KV cache; quantised types store blocks of 32 numbers with a scale. Source: ggml's block_q8_0 and
block_q4_0.
"""
COMPUTE_SHARE = 0.04
"""Compute buffers as a share of the weights, measured with the starter model and rounded up."""
MIN_COMPUTE_BYTES = 150 << 20
"""Minimum size of the compute buffers in bytes."""
BACKGROUND_CONTEXT = 4096
"""Tokens of the background context, which exists while background work runs."""
TIGHT_SHARE = 0.9
"""Share of the free memory above which the fit is reported as tight, because other programs would be slowed down."""
DEFAULT_CONTEXT = 8192
"""Context size in tokens that is assumed if neither the settings nor the file state one."""
MIN_CONTEXT = 2048
"""Minimum context size in tokens that counts as fitting."""


class FitLevel(StrEnum):
    """Result of a memory estimate."""

    FITS = "fits"
    TIGHT = "tight"
    TOO_LARGE = "too large"


@dataclass(frozen=True)
class MemoryEstimate:
    """Estimated memory use of a model, in bytes."""

    weights: int
    cache: int
    """KV cache of the chat context and the background context; an upper bound for models with a sliding window."""
    compute: int
    free: int
    context: int
    """Context size in tokens for which the estimate was made."""
    max_context: int
    """Longest context in tokens that would fit; 0 if less than `MIN_CONTEXT`."""
    level: FitLevel

    @property
    def needed(self) -> int:
        return self.weights + self.cache + self.compute


def estimate_fit(model: ModelFile, context: int, kv: KvType, free: int) -> MemoryEstimate:
    """Estimate the memory use of `model` with a context of `context` tokens (0 = the model's own, up to 8192) in `free`
    bytes.

    The cache holds a key and a value of `head_length` numbers for each of the `kv_heads` of each attention layer and each
    token, so models with grouped-query attention need less, and hybrid models much less. The state of recurrent layers does
    not grow with the context and is not counted.
    """
    model_context = model.context_length or DEFAULT_CONTEXT
    tokens = min(context or DEFAULT_CONTEXT, model_context)
    weights, compute = model.size, max(MIN_COMPUTE_BYTES, int(model.size * COMPUTE_SHARE))
    token_bytes = cache_bytes(model, kv)
    cache = int(token_bytes * (tokens + min(BACKGROUND_CONTEXT, tokens)))
    cache_space = free - weights - compute - int(token_bytes * BACKGROUND_CONTEXT)
    max_context = model_context if not token_bytes else min(model_context, max(0, int(cache_space / token_bytes)))
    needed = weights + cache + compute
    level = FitLevel.TOO_LARGE if needed > free else FitLevel.TIGHT if needed > TIGHT_SHARE * free else FitLevel.FITS
    return MemoryEstimate(weights, cache, compute, free, tokens, max_context if max_context >= MIN_CONTEXT else 0, level)


def cache_bytes(model: ModelFile, kv: KvType) -> float:
    """Return the bytes of KV cache per token."""
    return 2 * model.attention_layers * model.kv_heads * model.head_length * BYTES_PER_NUMBER[kv]


USABLE_SHARE = 0.7
"""Share of the computer's memory that a model may need; the system and a browser take the rest."""
GPU_SHARE = 0.9
"""Share of the graphics memory that a model may need; the screen takes the rest."""
BANDWIDTH_SHARE = 0.6
"""Share of the measured memory bandwidth at which the weights are read while a reply is written: 0.7 for a model of 663 MB in
Q4_0 on two cores; formats that are harder to unpack get less.
"""
CORE_THROUGHPUT = 6e9
"""Bytes of four-bit weights per second that a core unpacks and multiplies; on few cores this is the limit, and not the memory.
Two cores that read 35 GB per second wrote 47.6 and 14.6 tokens per second with 98 MB and 663 MB.
"""
TOKEN_OVERHEAD = 0.01
"""Seconds per token besides, for sampling and synchronisation; only small models notice them."""
WORDS_PER_TOKEN = 0.75
"""Words of English per token."""
READING_SPEED = 4
"""Words per second that people read. Source: Brysbaert 2019, doi:10.1016/j.jml.2019.104047 (238 words per minute). A model that
writes fewer is not recommended while a smaller one writes faster.
"""
BETTER_SIZE = 1.5
"""A download counts as better than the models on this computer if it is this many times as large as the largest that fits."""


@dataclass(frozen=True)
class DownloadAssessment:
    """Model that can be downloaded, with what is expected of it on this computer."""

    model: RemoteModel
    level: FitLevel
    """TIGHT if it fits only after other programs are closed."""
    speed: float
    """Estimated tokens per second; 0 if it is not known."""
    uses_gpu: bool = False
    is_recommended: bool = False


def assess_downloads(models: Sequence[RemoteModel], hardware: Hardware) -> list[DownloadAssessment]:
    """Assess each model, smallest memory requirement first. Recommended is the largest that fits and writes as fast as people
    read, or else the smallest that fits.
    """
    assessments = [_assess(model, hardware) for model in sorted(models, key=lambda model: model.memory)]
    # Judged by all of the memory: how much is free at the moment changes from hour to hour.
    fitting = [one for one in assessments if one.uses_gpu or one.model.memory <= USABLE_SHARE * hardware.memory]
    fast = [one for one in fitting if one.uses_gpu or words_per_second(one.speed) >= READING_SPEED]
    best = fast[-1] if fast else fitting[0] if fitting else None
    return [replace(one, is_recommended=one is best) for one in assessments]


def is_better_than(model: RemoteModel, local_models: Sequence[ModelFile], hardware: Hardware) -> bool:
    """Return whether the model is much larger than every chat model on this computer that fits and is fast enough."""
    largest = max((one.size for one in local_models if is_usable(one, hardware)), default=0)
    return model.size > BETTER_SIZE * largest


def is_usable(model: ModelFile, hardware: Hardware) -> bool:
    """Return whether a model on this computer fits into its memory and writes as fast as people read; a speed that is not known
    counts as fast enough.
    """
    if model.size <= GPU_SHARE * hardware.gpu_memory:
        return True
    speed = estimate_speed(model.size, hardware)
    return model.size <= hardware.memory * USABLE_SHARE and (not speed or words_per_second(speed) >= READING_SPEED)


def rank_local_models(models: Sequence[ModelFile], hardware: Hardware) -> list[ModelFile]:
    """Return the models on this computer, best first: those that write as fast as people read, the largest first; then those
    that do not, the smallest and so the fastest first; then the starter model, which is too small for more than a first try.
    """

    def rank(model: ModelFile) -> tuple[bool, bool, int]:
        usable = is_usable(model, hardware)
        return model.source == STARTER_SOURCE, not usable, -model.size if usable else model.size

    return sorted(models, key=rank)


def estimate_speed(size: int, hardware: Hardware) -> float:
    """Estimate the tokens per second of a model of `size` bytes without a graphics card: for each token the processor reads
    and multiplies all weights once, so the memory or the cores are the limit. 0 if the bandwidth is not known.
    """
    if not size or not hardware.bandwidth:
        return 0.0
    limits = [BANDWIDTH_SHARE * hardware.bandwidth, *([CORE_THROUGHPUT * hardware.cores] if hardware.cores else [])]
    return 1 / (size / min(limits) + TOKEN_OVERHEAD)


def words_per_second(tokens_per_second: float) -> int:
    """Return the rounded number of English words in that many tokens, by which speeds are shown and compared."""
    return round(tokens_per_second * WORDS_PER_TOKEN)


def _assess(model: RemoteModel, hardware: Hardware) -> DownloadAssessment:
    if hardware.gpu_memory and model.memory <= GPU_SHARE * hardware.gpu_memory:
        return DownloadAssessment(model, FitLevel.FITS, 0.0, uses_gpu=True)
    speed = estimate_speed(model.size, hardware)
    if model.memory <= hardware.free_memory:
        return DownloadAssessment(model, FitLevel.FITS, speed)
    fits_alone = model.memory <= USABLE_SHARE * hardware.memory
    return DownloadAssessment(model, FitLevel.TIGHT if fits_alone else FitLevel.TOO_LARGE, speed)
