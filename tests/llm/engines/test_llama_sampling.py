"""What a sampler makes of the next word is reckoned as the engine itself does it: its own samplers come to the same."""

from __future__ import annotations

import ctypes
import math

import llama_cpp
import pytest

from lethe_app.domain.model import NextWords
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.engines.llama_sampling import Sampler
from lethe_app.ui.pages.presets.sampler_chain import sampled_chances, unsampled_chances

LOGITS = [10.6, 9.5, 8.4, 8.2, 7.9, 7.6, 7.1, 6.4, 5.0, 4.4, 3.0, 2.0, 1.5, 0.2, -1.0, -1.5, -3.0, -4.0, -4.2, -6.0]
WORDS = NextWords(tuple((f"w{place}", logit) for place, logit in enumerate(LOGITS)))


def by_the_engine(preset: SamplerPreset) -> list[float]:
    """The chances that llama.cpp's own chain ends with, all but the draw."""
    sampler = Sampler.__new__(Sampler)
    sampler._preset, sampler._seed = preset, 1
    data = (llama_cpp.llama_token_data * len(LOGITS))()
    for place, logit in enumerate(LOGITS):
        data[place] = llama_cpp.llama_token_data(place, logit, 0.0)
    array = llama_cpp.llama_token_data_array(data, len(LOGITS), -1, True)
    *parts, last = sampler._build_samplers()
    for part in parts:
        llama_cpp.llama_sampler_apply(part, ctypes.byref(array))
    if preset.temperature == 0:
        llama_cpp.llama_sampler_apply(last, ctypes.byref(array))
        return [1.0 if place == array.data[array.selected].id else 0.0 for place in range(len(LOGITS))]
    kept = {array.data[place].id: array.data[place].logit for place in range(array.size)}
    for part in (*parts, last):
        llama_cpp.llama_sampler_free(part)
    best = max(kept.values())
    total = sum(math.exp(logit - best) for logit in kept.values())
    return [math.exp(kept[place] - best) / total if place in kept else 0.0 for place in range(len(LOGITS))]


@pytest.mark.parametrize(
    "preset",
    [
        {},
        {"temperature": 0.0},
        {"temperature": 1.7},
        {"top_k": 5},
        {"top_p": 0.8, "temperature": 1.0},
        {"top_p": 0.35},
        {"min_p": 0.1},
        {"typical_p": 0.6},
        {"typical_p": 0.9, "temperature": 1.0},
        {"top_n_sigma": 1.0},
        {"dynatemp_range": 0.5, "temperature": 1.0},
        {"dynatemp_range": 0.4, "dynatemp_exponent": 2.0, "top_k": 8},
        {"top_k": 12, "top_p": 0.95, "min_p": 0.02, "temperature": 0.9},
        {"top_n_sigma": 1.5, "top_k": 9, "typical_p": 0.95, "top_p": 0.9, "min_p": 0.05, "temperature": 1.3},
    ],
    ids=str,
)
def test_the_chances_are_those_of_the_engine(preset: dict[str, float]):
    wanted = SamplerPreset.model_validate({"name": "x", **preset})

    assert sampled_chances(WORDS, wanted).chances == pytest.approx(by_the_engine(wanted), abs=2e-4)


def test_words_told_in_lumps_count_as_what_they_are():
    alike = NextWords(WORDS.words[:12], ((1.0, 3), (-4.0, 5)))
    single = NextWords((*WORDS.words[:12], *((f"l{n}", 1.0) for n in range(3)), *((f"m{n}", -4.0) for n in range(5))))

    for preset in (SamplerPreset(name="x", top_k=14), SamplerPreset(name="x", top_p=0.9999, temperature=2.0)):
        one, other = sampled_chances(alike, preset), sampled_chances(single, preset)
        assert one.chances == pytest.approx(other.chances[:12])
        assert one.others == pytest.approx(sum(other.chances[12:]))
        assert one.kept_count == other.kept_count


def test_all_chances_together_are_one():
    before = unsampled_chances(NextWords(WORDS.words, ((-7.0, 4000),)))

    assert sum(before.chances) + before.others == pytest.approx(1)
    assert before.kept_count == len(LOGITS) + 4000


def test_where_nothing_is_known_nothing_is_drawn():
    assert sampled_chances(NextWords(()), SamplerPreset(name="x")).kept_count == 0
