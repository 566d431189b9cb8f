"""Simulation of the sampler chain on next-token logits, in the order of llama.cpp."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lethe_app.domain.model import NextWords
from lethe_app.domain.presets import SamplerPreset


@dataclass(frozen=True)
class TokenGroup:
    """Tokens of the same logit; `share` is the probability of each of them."""

    token_index: int
    """Index of the token; -1 for a group of tokens."""
    logit: float
    count: int = 1
    probability: float = 0.0


@dataclass(frozen=True)
class SampledProbabilities:
    """Probabilities of the tokens in their order; 0 for a removed one."""

    chances: tuple[float, ...]
    others: float
    """Total probability of all tokens that are not listed."""
    kept_count: int
    """Number of tokens that were not removed."""


SamplerStep = Callable[[list[TokenGroup]], list[TokenGroup]]


def unsampled_chances(next_words: NextWords) -> SampledProbabilities:
    """Return the probabilities without any sampler."""
    return _collect_chances(next_words, softmax(_group_tokens(next_words)))


def sampled_chances(next_words: NextWords, preset: SamplerPreset) -> SampledProbabilities:
    """Return the probabilities after the samplers of `preset` that depend on the logits only.

    Repetition penalties and DRY depend on the previous tokens, XTC is random and Mirostat adapts while generating, so they
    are not included.
    """
    lumps = _group_tokens(next_words)
    if not lumps:
        return SampledProbabilities((), 0.0, 0)
    if preset.temperature == 0:
        return _collect_chances(next_words, softmax(lumps[:1]))
    for step in [] if preset.mirostat else _truncation_steps(preset):
        lumps = step(softmax(lumps))
    return _collect_chances(next_words, _apply_temperature(softmax(lumps), preset))


def softmax(lumps: Sequence[TokenGroup], temperature: float = 1.0) -> list[TokenGroup]:
    """Return the groups with their probabilities; they must be sorted by logit, the highest first."""
    best = lumps[0].logit
    powers = [math.exp((lump.logit - best) / temperature) for lump in lumps]
    total = sum(power * lump.count for power, lump in zip(powers, lumps, strict=True))
    return [
        TokenGroup(lump.token_index, lump.logit, lump.count, power / total) for power, lump in zip(powers, lumps, strict=True)
    ]


def _group_tokens(next_words: NextWords) -> list[TokenGroup]:
    listed = [TokenGroup(index, logit) for index, (_word, logit) in enumerate(next_words.words)]
    return [*listed, *(TokenGroup(-1, logit, count) for logit, count in next_words.rest)]


def _collect_chances(next_words: NextWords, lumps: Sequence[TokenGroup]) -> SampledProbabilities:
    chances = [0.0] * len(next_words.words)
    for lump in lumps:
        if lump.token_index >= 0:
            chances[lump.token_index] = lump.probability
    others = sum(lump.probability * lump.count for lump in lumps if lump.token_index < 0)
    return SampledProbabilities(tuple(chances), others, sum(lump.count for lump in lumps))


def _truncation_steps(preset: SamplerPreset) -> list[SamplerStep]:
    """Return the truncating samplers in the order of llama.cpp; each keeps at least the most likely token."""
    candidates: list[tuple[bool, SamplerStep]] = [
        (preset.top_n_sigma > 0, lambda lumps: _top_n_sigma(lumps, preset.top_n_sigma)),
        (preset.top_k > 0, lambda lumps: _take_most_likely(lumps, preset.top_k)),
        (preset.typical_p < 1, lambda lumps: _typical(lumps, preset.typical_p)),
        (preset.top_p < 1, lambda lumps: _take_most_likely(lumps, _tokens_for_share(lumps, preset.top_p))),
        (preset.min_p > 0, lambda lumps: [lump for lump in lumps if lump.probability >= preset.min_p * lumps[0].probability]),
    ]
    return [step for is_active, step in candidates if is_active]


def _take_most_likely(lumps: Sequence[TokenGroup], limit: int) -> list[TokenGroup]:
    kept: list[TokenGroup] = []
    for lump in lumps:
        if limit <= 0:
            break
        kept.append(TokenGroup(lump.token_index, lump.logit, min(lump.count, limit), lump.probability))
        limit -= lump.count
    return kept


def _tokens_for_share(lumps: Sequence[TokenGroup], share: float) -> int:
    """Return how many of the first tokens are needed to reach a total probability."""
    covered, needed = 0.0, 0
    for lump in lumps:
        if covered + lump.probability * lump.count >= share:
            return needed + max(1, math.ceil((share - covered) / lump.probability)) if lump.probability else needed
        covered += lump.probability * lump.count
        needed += lump.count
    return needed


def _top_n_sigma(lumps: Sequence[TokenGroup], deviations: float) -> list[TokenGroup]:
    """Return the tokens within that many standard deviations of all logits below the highest logit."""
    count = sum(lump.count for lump in lumps)
    mean = sum(lump.logit * lump.count for lump in lumps) / count
    standard_deviation = math.sqrt(sum((lump.logit - mean) ** 2 * lump.count for lump in lumps) / count)
    return [lump for lump in lumps if lump.logit >= lumps[0].logit - deviations * standard_deviation]


def _typical(lumps: Sequence[TokenGroup], share: float) -> list[TokenGroup]:
    """Return the tokens whose surprise is closest to the entropy, until they reach a total probability."""
    entropy = _entropy(lumps)
    by_surprise = sorted(
        (lump for lump in lumps if lump.probability > 0), key=lambda lump: abs(-math.log(lump.probability) - entropy)
    )
    kept, covered = list[TokenGroup](), 0.0
    for lump in by_surprise:
        if covered > share:
            break
        kept.append(lump)
        covered += lump.probability * lump.count
    return sorted(kept, key=lambda lump: -lump.logit)


def _apply_temperature(lumps: Sequence[TokenGroup], preset: SamplerPreset) -> list[TokenGroup]:
    """Apply the temperature; a dynamic one grows with the entropy."""
    temperature, count = preset.temperature, sum(lump.count for lump in lumps)
    if preset.dynatemp_range > 0 and count > 1:
        lowest, highest = max(0.0, temperature - preset.dynatemp_range), temperature + preset.dynatemp_range
        normalised_entropy = _entropy(lumps) / math.log(count)
        temperature = lowest + (highest - lowest) * normalised_entropy**preset.dynatemp_exponent
    return softmax(lumps, temperature) if temperature > 0 else softmax(lumps[:1])


def _entropy(lumps: Sequence[TokenGroup]) -> float:
    return -sum(lump.probability * math.log(lump.probability) * lump.count for lump in lumps if lump.probability > 0)
