"""How the next word is drawn: what a sampler makes of the likelihoods a model gives, step by step as the engine does it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lethe_app.domain.model import NextWords
from lethe_app.domain.presets import SamplerPreset


@dataclass(frozen=True)
class Lump:
    """Tokens of one logit; `share` is what each of them has of the whole."""

    place: int
    """Of its word; -1 for what stands for many."""
    logit: float
    count: int = 1
    share: float = 0.0


@dataclass(frozen=True)
class SampledChances:
    """The chances of the words, in their order; 0 for one that is left out."""

    chances: tuple[float, ...]
    others: float
    """Of all other words together."""
    left: int
    """Tokens that can come at all."""


Step = Callable[[list[Lump]], list[Lump]]


def untouched(words: NextWords) -> SampledChances:
    """As the model gives them."""
    return _drawn(words, softmax(_lumps(words)))


def drawn(words: NextWords, preset: SamplerPreset) -> SampledChances:
    """After everything in `preset` that looks at nothing but the likelihoods themselves.

    Penalties and DRY look at what was said, XTC throws a die, and Mirostat steers by what came before: they are not in it.
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
    """The same with their shares."""
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
    """In the order in which the engine does them; each keeps at least the likeliest."""
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
    """How many from the first on have that share together."""
    had, needed = 0.0, 0
    for lump in lumps:
        if had + lump.share * lump.count >= share:
            return needed + max(1, math.ceil((share - had) / lump.share)) if lump.share else needed
        had += lump.share * lump.count
        needed += lump.count
    return needed


def _top_n_sigma(lumps: Sequence[Lump], deviations: float) -> list[Lump]:
    """Within so many standard deviations of all logits below the best."""
    count = sum(lump.count for lump in lumps)
    mean = sum(lump.logit * lump.count for lump in lumps) / count
    spread = math.sqrt(sum((lump.logit - mean) ** 2 * lump.count for lump in lumps) / count)
    return [lump for lump in lumps if lump.logit >= lumps[0].logit - deviations * spread]


def _typical(lumps: Sequence[Lump], share: float) -> list[Lump]:
    """Those whose surprise is nearest to the usual one, until they have that share together."""
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
    """Sharpened or flattened; with a range, the more the more is open."""
    temperature, count = preset.temperature, sum(lump.count for lump in lumps)
    if preset.dynatemp_range > 0 and count > 1:
        least, most = max(0.0, temperature - preset.dynatemp_range), temperature + preset.dynatemp_range
        openness = _entropy(lumps) / math.log(count)
        temperature = least + (most - least) * openness**preset.dynatemp_exponent
    return softmax(lumps, temperature) if temperature > 0 else softmax(lumps[:1])


def _entropy(lumps: Sequence[Lump]) -> float:
    return -sum(lump.share * math.log(lump.share) * lump.count for lump in lumps if lump.share > 0)
