"""Simulation of the sampler chain on next-token logits, in the order of llama.cpp."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lethe_app.domain.model import NextWords
from lethe_app.domain.presets import SamplerPreset


@dataclass(frozen=True)
class Lump:
    """Tokens of the same logit; `share` is the probability of each of them."""

    place: int
    """Index of the token; -1 for a group of tokens."""
    logit: float
    count: int = 1
    share: float = 0.0


@dataclass(frozen=True)
class SampledChances:
    """Probabilities of the tokens in their order; 0 for a removed one."""

    chances: tuple[float, ...]
    others: float
    """Total probability of all tokens that are not listed."""
    left: int
    """Number of tokens that were not removed."""


Step = Callable[[list[Lump]], list[Lump]]


def untouched(words: NextWords) -> SampledChances:
    """Return the probabilities without any sampler."""
    return _drawn(words, softmax(_lumps(words)))


def drawn(words: NextWords, preset: SamplerPreset) -> SampledChances:
    """Return the probabilities after the samplers of `preset` that depend on the logits only.

    Repetition penalties and DRY depend on the previous tokens, XTC is random and Mirostat adapts while generating, so they
    are not included.
    """
    lumps = _lumps(words)
    if not lumps:
        return SampledChances((), 0.0, 0)
    if preset.temperature == 0:
        return _drawn(words, softmax(lumps[:1]))
    for step in [] if preset.mirostat else _cuts(preset):
        lumps = step(softmax(lumps))
    return _drawn(words, _tempered(softmax(lumps), preset))


def softmax(lumps: Sequence[Lump], temperature: float = 1.0) -> list[Lump]:
    """Return the groups with their probabilities; they must be sorted by logit, the highest first."""
    best = lumps[0].logit
    powers = [math.exp((lump.logit - best) / temperature) for lump in lumps]
    total = sum(power * lump.count for power, lump in zip(powers, lumps, strict=True))
    return [Lump(lump.place, lump.logit, lump.count, power / total) for power, lump in zip(powers, lumps, strict=True)]


def _lumps(words: NextWords) -> list[Lump]:
    named = [Lump(place, logit) for place, (_word, logit) in enumerate(words.words)]
    return [*named, *(Lump(-1, logit, count) for logit, count in words.rest)]


def _drawn(words: NextWords, lumps: Sequence[Lump]) -> SampledChances:
    chances = [0.0] * len(words.words)
    for lump in lumps:
        if lump.place >= 0:
            chances[lump.place] = lump.share
    others = sum(lump.share * lump.count for lump in lumps if lump.place < 0)
    return SampledChances(tuple(chances), others, sum(lump.count for lump in lumps))


def _cuts(preset: SamplerPreset) -> list[Step]:
    """Return the truncating samplers in the order of llama.cpp; each keeps at least the most likely token."""
    chosen: list[tuple[bool, Step]] = [
        (preset.top_n_sigma > 0, lambda lumps: _top_n_sigma(lumps, preset.top_n_sigma)),
        (preset.top_k > 0, lambda lumps: _first(lumps, preset.top_k)),
        (preset.typical_p < 1, lambda lumps: _typical(lumps, preset.typical_p)),
        (preset.top_p < 1, lambda lumps: _first(lumps, _needed(lumps, preset.top_p))),
        (preset.min_p > 0, lambda lumps: [lump for lump in lumps if lump.share >= preset.min_p * lumps[0].share]),
    ]
    return [step for wanted, step in chosen if wanted]


def _first(lumps: Sequence[Lump], most: int) -> list[Lump]:
    kept: list[Lump] = []
    for lump in lumps:
        if most <= 0:
            break
        kept.append(Lump(lump.place, lump.logit, min(lump.count, most), lump.share))
        most -= lump.count
    return kept


def _needed(lumps: Sequence[Lump], share: float) -> int:
    """Return how many of the first tokens are needed to reach a total probability."""
    had, needed = 0.0, 0
    for lump in lumps:
        if had + lump.share * lump.count >= share:
            return needed + max(1, math.ceil((share - had) / lump.share)) if lump.share else needed
        had += lump.share * lump.count
        needed += lump.count
    return needed


def _top_n_sigma(lumps: Sequence[Lump], deviations: float) -> list[Lump]:
    """Return the tokens within that many standard deviations of all logits below the highest logit."""
    count = sum(lump.count for lump in lumps)
    mean = sum(lump.logit * lump.count for lump in lumps) / count
    spread = math.sqrt(sum((lump.logit - mean) ** 2 * lump.count for lump in lumps) / count)
    return [lump for lump in lumps if lump.logit >= lumps[0].logit - deviations * spread]


def _typical(lumps: Sequence[Lump], share: float) -> list[Lump]:
    """Return the tokens whose surprise is closest to the entropy, until they reach a total probability."""
    usual = _entropy(lumps)
    by_surprise = sorted((lump for lump in lumps if lump.share > 0), key=lambda lump: abs(-math.log(lump.share) - usual))
    kept, had = list[Lump](), 0.0
    for lump in by_surprise:
        if had > share:
            break
        kept.append(lump)
        had += lump.share * lump.count
    return sorted(kept, key=lambda lump: -lump.logit)


def _tempered(lumps: Sequence[Lump], preset: SamplerPreset) -> list[Lump]:
    """Apply the temperature; a dynamic one grows with the entropy."""
    temperature, count = preset.temperature, sum(lump.count for lump in lumps)
    if preset.dynatemp_range > 0 and count > 1:
        least, most = max(0.0, temperature - preset.dynatemp_range), temperature + preset.dynatemp_range
        openness = _entropy(lumps) / math.log(count)
        temperature = least + (most - least) * openness**preset.dynatemp_exponent
    return softmax(lumps, temperature) if temperature > 0 else softmax(lumps[:1])


def _entropy(lumps: Sequence[Lump]) -> float:
    return -sum(lump.share * math.log(lump.share) * lump.count for lump in lumps if lump.share > 0)
