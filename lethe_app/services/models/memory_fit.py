"""Estimate of a model's memory use before it is loaded: whether it fits into free memory, and the longest context that would
fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import psutil

from lethe_app.domain.model import KvType, ModelFile

BYTES = {KvType.F16: 2.0, KvType.Q8_0: 34 / 32, KvType.Q4_0: 18 / 32}
"""Bytes per number of the KV cache; quantised types store blocks of 32 numbers with a scale. Source: ggml's block_q8_0 and
block_q4_0.
"""
COMPUTE = 0.04
"""Compute buffers as a share of the weights, measured with the starter model and rounded up."""
LEAST_COMPUTE = 150 << 20
"""Minimum size of the compute buffers in bytes."""
QUIET = 4096
"""Tokens of the background context, which exists while background work runs."""
TIGHT = 0.9
"""Share of the free memory above which the fit is reported as tight, because other programs would be slowed down."""
USUAL = 8192
"""Context size in tokens that is assumed if neither the settings nor the file state one."""
LEAST = 2048
"""Minimum context size in tokens that counts as fitting."""


class FitLevel(StrEnum):
    """Result of a memory estimate."""

    FITS = "fits"
    TIGHT = "tight"
    TOO_LARGE = "too large"


@dataclass(frozen=True)
class Fit:
    """Estimated memory use of a model, in bytes."""

    weights: int
    cache: int
    """KV cache of the chat context and the background context; an upper bound for models with a sliding window."""
    compute: int
    free: int
    context: int
    """Context size in tokens for which the estimate was made."""
    longest: int
    """Longest context in tokens that would fit; 0 if less than `LEAST`."""
    verdict: FitLevel

    @property
    def needed(self) -> int:
        return self.weights + self.cache + self.compute


def free_memory() -> int:
    """Return the bytes of memory that are available without swapping."""
    return int(psutil.virtual_memory().available)


def fit(model: ModelFile, context: int, kv: KvType, free: int) -> Fit:
    """Estimate the memory use of `model` with a context of `context` tokens (0 = the model's own, up to 8192) in `free`
    bytes.

    The cache holds a key and a value of `head_length` numbers for each of the `kv_heads` of each attention layer and each
    token, so models with grouped-query attention need less, and hybrid models much less. The state of recurrent layers does
    not grow with the context and is not counted.
    """
    own = model.context_length or USUAL
    tokens = min(context or USUAL, own)
    weights, compute = model.size, max(LEAST_COMPUTE, int(model.size * COMPUTE))
    each = cache_bytes(model, kv)
    cache = int(each * (tokens + min(QUIET, tokens)))
    room = free - weights - compute - int(each * QUIET)
    longest = own if not each else min(own, max(0, int(room / each)))
    verdict = _verdict(weights + cache + compute, free)
    return Fit(weights, cache, compute, free, tokens, longest if longest >= LEAST else 0, verdict)


def cache_bytes(model: ModelFile, kv: KvType) -> float:
    """Return the bytes of KV cache per token."""
    return 2 * model.attention_layers * model.kv_heads * model.head_length * BYTES[kv]


def _verdict(needed: int, free: int) -> FitLevel:
    if needed > free:
        return FitLevel.TOO_LARGE
    return FitLevel.TIGHT if needed > TIGHT * free else FitLevel.FITS
