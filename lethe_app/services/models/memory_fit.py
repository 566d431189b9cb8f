"""Estimate of a model's memory use before it is loaded: whether it fits into free memory, and the longest context that would
fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lethe_app.domain.model import KvType, ModelFile

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
    level = _fit_level(weights + cache + compute, free)
    return MemoryEstimate(weights, cache, compute, free, tokens, max_context if max_context >= MIN_CONTEXT else 0, level)


def cache_bytes(model: ModelFile, kv: KvType) -> float:
    """Return the bytes of KV cache per token."""
    return 2 * model.attention_layers * model.kv_heads * model.head_length * BYTES_PER_NUMBER[kv]


def _fit_level(needed: int, free: int) -> FitLevel:
    if needed > free:
        return FitLevel.TOO_LARGE
    return FitLevel.TIGHT if needed > TIGHT_SHARE * free else FitLevel.FITS
