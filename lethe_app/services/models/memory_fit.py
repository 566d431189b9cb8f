"""Says before a model is loaded whether it fits into the memory that is free, and with how long a context it would."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import psutil

from lethe_app.domain.model import KvType, ModelFile

BYTES = {KvType.F16: 2.0, KvType.Q8_0: 34 / 32, KvType.Q4_0: 18 / 32}
"""Of one number of the cache; blocks of 32 with their scale. Source: ggml's block_q8_0 and block_q4_0."""
COMPUTE = 0.04
"""Share of the weights that the computation needs beside them, measured with the starter model and rounded up."""
LEAST_COMPUTE = 150 << 20
QUIET = 4096
"""Tokens of the context that background work holds while it works."""
TIGHT = 0.9
"""Part of the free memory above which other programs will feel it."""
USUAL = 8192
LEAST = 2048


class FitLevel(StrEnum):
    """How well a model fits."""

    FITS = "fits"
    TIGHT = "tight"
    TOO_LARGE = "too large"


@dataclass(frozen=True)
class Fit:
    """What a model would take, in bytes."""

    weights: int
    cache: int
    """For the context and for background work; no more than this with a sliding window, whose layers keep less."""
    compute: int
    free: int
    context: int
    """Tokens it was reckoned with."""
    longest: int
    """Tokens of context that would fit; 0 where not even a short one does."""
    verdict: FitLevel

    @property
    def needed(self) -> int:
        return self.weights + self.cache + self.compute


def free_memory() -> int:
    """Bytes that programs can have without swapping."""
    return int(psutil.virtual_memory().available)


def fit(model: ModelFile, context: int, kv: KvType, free: int) -> Fit:
    """Whether `model` fits with that context (0 takes its own, up to 8192 tokens) into `free` bytes.

    The cache holds a key and a value of `head_length` numbers for each of the `kv_heads` of each layer that looks back, and
    each token, so models with grouped-query attention take less, and hybrid ones far less; what recurrent layers keep instead
    does not grow, and is not counted.
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
    """Bytes of cache for one token."""
    return 2 * model.attention_layers * model.kv_heads * model.head_length * BYTES[kv]


def _verdict(needed: int, free: int) -> FitLevel:
    if needed > free:
        return FitLevel.TOO_LARGE
    return FitLevel.TIGHT if needed > TIGHT * free else FitLevel.FITS
