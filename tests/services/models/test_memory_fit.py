"""Whether a model fits is reckoned from its header: weights, cache by grouped heads and precision, and what is free."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lethe_app.domain.model import KvType, ModelFile
from lethe_app.services.models.recommendation import FitLevel, cache_bytes, estimate_fit

GB = 1_000_000_000
SEVEN = ModelFile(
    path=Path("seven.gguf"),
    name="Seven",
    size=4_680_000_000,
    architecture="qwen2",
    context_length=32_768,
    layers=28,
    attention_layers=28,
    kv_heads=4,
    head_length=128,
)


def test_grouped_heads_take_as_much_as_the_engine_says():
    """llama.cpp prints 448 MiB for this model with 8192 tokens in f16: 28 layers, 4 key heads of 128 numbers."""
    assert cache_bytes(SEVEN, KvType.F16) * 8192 == 448 * 1024 * 1024


@pytest.mark.parametrize(
    ("free", "verdict"),
    [(16 * GB, FitLevel.FITS), (6 * GB, FitLevel.TIGHT), (5 * GB, FitLevel.TOO_LARGE), (0, FitLevel.TOO_LARGE)],
)
def test_the_verdict_follows_the_free_memory(free: int, verdict: FitLevel):
    assert estimate_fit(SEVEN, 8192, KvType.F16, free).level is verdict


def test_the_longest_context_that_is_named_really_fits():
    found = estimate_fit(SEVEN, 32_768, KvType.F16, 6 * GB)
    assert found.level is FitLevel.TOO_LARGE
    assert 2048 <= found.max_context < 32_768

    again = estimate_fit(SEVEN, found.max_context, KvType.F16, 6 * GB)

    assert again.needed <= 6 * GB
    assert estimate_fit(SEVEN, found.max_context + 4096, KvType.F16, 6 * GB).needed > 6 * GB


def test_a_recurrent_model_has_no_cache_that_grows():
    mamba = ModelFile(path=Path("m.gguf"), name="M", size=GB, architecture="mamba", is_recurrent=True, layers=48)

    assert estimate_fit(mamba, 100_000, KvType.F16, 2 * GB).cache == 0


def test_a_hybrid_model_has_a_cache_where_it_looks_back():
    hybrid = replace(SEVEN, is_recurrent=True, attention_layers=7)

    assert cache_bytes(hybrid, KvType.F16) * 4 == cache_bytes(SEVEN, KvType.F16)
