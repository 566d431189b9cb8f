"""Sampling of the next token: converts a preset into llama.cpp's sampler chain."""

from __future__ import annotations

import ctypes
import math
import secrets
from array import array
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from typing import Any

import llama_cpp
from llama_cpp.llama_grammar import json_schema_to_gbnf

from lethe_app.domain.model import NextWords, SamplingStep
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError, ModelUnreadable
from lethe_app.llm.native.model import NativeModel

MIN_KEEP = 1
"""Minimum number of candidates each truncating sampler keeps."""
MIROSTAT_CANDIDATES = 100
"""Number of candidates from which the first version of Mirostat estimates the distribution; the value of its paper."""
RANDOM_SAMPLERS = ("xtc", "dist", "mirostat", "mirostat-v2")
"""Samplers, by their names in llama.cpp, whose result differs from draw to draw."""
TOKEN_FIELDS = 3
"""Fields of four bytes in llama.cpp's data of a token: id, logit and probability."""
LOGIT_BIN_WIDTH = 0.05
"""Width of the bins, in logits, into which the tokens of the long tail are grouped."""


class Sampler:
    """Sampler chain of one reply: grammar, penalties, truncation of unlikely tokens, temperature, final draw.

    The order is llama.cpp's default. The penalties also see the end of the prompt, so that a persona does not repeat itself.
    Applying a grammar to the whole vocabulary halves the speed of a small model, so the grammar first checks only one token
    that was sampled without it.
    """

    def __init__(self, model: NativeModel, context: Any, preset: SamplerPreset, grammar: str, prompt: list[int]) -> None:  # noqa: ANN401
        """Build the chain for `context`, whose last token was just evaluated. Raise ModelError if llama.cpp refuses a part."""
        self._vocab, self._name = model.vocab, model.name
        self._context = context
        self._preset = preset
        seed = preset.seed if preset.seed >= 0 else secrets.randbits(31)
        self._chain = self._new_chain()
        self._guess_chain = self._new_chain()
        self._grammar: Any = None
        if grammar:
            self._grammar = llama_cpp.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
            self._add(self._grammar, "grammar")
        self._add(self._build_penalties(prompt), "penalties")
        for part in build_samplers(preset, seed, self._vocabulary_size):
            self._add(part, "sampler")
        self._may_guess = bool(grammar) and not has_history(preset)
        if self._may_guess:
            for part in build_samplers(preset, seed, self._vocabulary_size):
                llama_cpp.llama_sampler_chain_add(self._guess_chain, part)

    def sample_token(self) -> int:
        """Sample the next token and record it in the chain. Raise ModelUnreadable if its logit is not a number."""
        token = self._sample()
        if not math.isfinite(llama_cpp.llama_get_logits_ith(self._context, -1)[token]):
            raise damaged_weights(self._name)
        return token

    def _sample(self) -> int:
        if self._may_guess:
            # llama_sampler_sample accepts the token in the chain it samples from. The guess chain keeps no history (see
            # `has_history`), so a rejected guess has no effect; an accepted one must be recorded in the main chain, whose
            # grammar advances with it.
            guess = int(llama_cpp.llama_sampler_sample(self._guess_chain, self._context, -1))
            if self._is_allowed(guess):
                llama_cpp.llama_sampler_accept(self._chain, guess)
                return guess
        return int(llama_cpp.llama_sampler_sample(self._chain, self._context, -1))

    def _is_allowed(self, token: int) -> bool:
        """Return whether the grammar allows this token next."""
        candidate = llama_cpp.llama_token_data(token, 0.0, 0.0)
        data = llama_cpp.llama_token_data_array(ctypes.pointer(candidate), 1, -1, False)
        llama_cpp.llama_sampler_apply(self._grammar, ctypes.byref(data))
        return bool(candidate.logit != -math.inf)

    def close(self) -> None:
        """Free both chains with their parts."""
        llama_cpp.llama_sampler_free(self._chain)
        llama_cpp.llama_sampler_free(self._guess_chain)

    def _new_chain(self) -> Any:  # noqa: ANN401 - a native pointer
        return llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())

    def _add(self, part: Any, part_name: str) -> None:  # noqa: ANN401 - a native pointer
        if not part:
            self.close()
            raise ModelError(f"The engine rejected the {part_name}.")
        # The chain takes ownership of its parts, so freeing the chain frees them too.
        llama_cpp.llama_sampler_chain_add(self._chain, part)

    def _build_penalties(self, prompt: list[int]) -> Any:  # noqa: ANN401 - a native pointer
        """Build the penalties as a chain of their own, so that the prompt can be accepted by them and not by the grammar."""
        preset, chain = self._preset, self._new_chain()
        look_back = self._resolve_range(preset.repetition_range)
        if look_back and (preset.repetition_penalty != 1 or preset.frequency_penalty or preset.presence_penalty):
            part = llama_cpp.llama_sampler_init_penalties(
                self._vocabulary_size, look_back, preset.repetition_penalty, preset.frequency_penalty, preset.presence_penalty
            )
            llama_cpp.llama_sampler_chain_add(chain, part)
        if preset.dry_multiplier > 0:
            llama_cpp.llama_sampler_chain_add(chain, self._build_dry())
            look_back = max(look_back, self._resolve_range(preset.dry_range))
        for token in prompt[len(prompt) - look_back :] if look_back < len(prompt) else prompt:
            llama_cpp.llama_sampler_accept(chain, token)
        return chain

    def _build_dry(self) -> Any:  # noqa: ANN401 - a native pointer
        preset = self._preset
        breakers = [text.encode() for text in preset.dry_breakers]
        return llama_cpp.llama_sampler_init_dry(
            self._vocab,
            preset.dry_multiplier,
            preset.dry_base,
            preset.dry_allowed_length,
            self._resolve_range(preset.dry_range),
            (ctypes.c_char_p * len(breakers))(*breakers),
            len(breakers),
        )

    @property
    def _vocabulary_size(self) -> int:
        return int(llama_cpp.llama_vocab_n_tokens(self._vocab))

    def _resolve_range(self, look_back: int) -> int:
        return int(llama_cpp.llama_n_ctx(self._context)) if look_back < 0 else look_back


def build_samplers(preset: SamplerPreset, seed: int, vocabulary_size: int) -> list[Any]:
    """Return the samplers that follow the penalties, in llama.cpp's default order; the last one draws the token."""
    if preset.temperature == 0:
        return [llama_cpp.llama_sampler_init_greedy()]
    if preset.mirostat:
        tau, eta = preset.mirostat_tau, preset.mirostat_eta
        draw = (
            llama_cpp.llama_sampler_init_mirostat_v2(seed, tau, eta)
            if preset.mirostat == 2
            else llama_cpp.llama_sampler_init_mirostat(vocabulary_size, seed, tau, eta, MIROSTAT_CANDIDATES)
        )
        return [llama_cpp.llama_sampler_init_temp(preset.temperature), draw]
    xtc = (preset.xtc_probability, preset.xtc_threshold, MIN_KEEP, seed)
    optional_samplers: list[tuple[bool, Callable[[], Any]]] = [
        (preset.top_n_sigma > 0, lambda: llama_cpp.llama_sampler_init_top_n_sigma(preset.top_n_sigma)),
        (preset.top_k > 0, lambda: llama_cpp.llama_sampler_init_top_k(preset.top_k)),
        (preset.typical_p < 1, lambda: llama_cpp.llama_sampler_init_typical(preset.typical_p, MIN_KEEP)),
        (preset.top_p < 1, lambda: llama_cpp.llama_sampler_init_top_p(preset.top_p, MIN_KEEP)),
        (preset.min_p > 0, lambda: llama_cpp.llama_sampler_init_min_p(preset.min_p, MIN_KEEP)),
        (preset.xtc_probability > 0, lambda: llama_cpp.llama_sampler_init_xtc(*xtc)),
    ]
    parts = [make() for is_used, make in optional_samplers if is_used]
    temperature = llama_cpp.llama_sampler_init_temp_ext(preset.temperature, preset.dynatemp_range, preset.dynatemp_exponent)
    return [*parts, temperature, llama_cpp.llama_sampler_init_dist(seed)]


def preview_sampling(preset: SamplerPreset, candidates: NextWords) -> tuple[SamplingStep, ...]:
    """Return the probabilities of the candidates before the samplers of a preset and after each that depends on the logits
    only; nothing without candidates.

    Repetition penalties and DRY, which depend on the previous tokens, are left out, and so are XTC, Mirostat and the draw,
    which are random.
    """
    logits = [logit for _word, logit in candidates.words]
    for logit, count in candidates.rest:
        logits += [logit] * count
    if not logits:
        return ()
    tokens = (llama_cpp.llama_token_data * len(logits))()
    memory = memoryview(tokens).cast("B")
    memory.cast("i")[::TOKEN_FIELDS] = array("i", range(len(logits)))
    memory.cast("f")[1::TOKEN_FIELDS] = array("f", logits)
    remaining = llama_cpp.llama_token_data_array(tokens, len(logits), -1, False)
    steps = [_read_step("", remaining, len(candidates.words))]
    for part in build_samplers(preset, 0, len(logits)):
        name = llama_cpp.llama_sampler_name(part).decode().removeprefix("?")  # a mark of one that changes nothing
        if name not in RANDOM_SAMPLERS:
            llama_cpp.llama_sampler_apply(part, ctypes.byref(remaining))
            steps.append(_read_step(name, remaining, len(candidates.words)))
        llama_cpp.llama_sampler_free(part)
    return tuple(steps)


def _read_step(name: str, remaining: Any, word_count: int) -> SamplingStep:  # noqa: ANN401 - a structure of llama.cpp
    """Return the probabilities of the tokens that remain in llama.cpp's array, the first `word_count` one by one."""
    memory = memoryview(ctypes.string_at(remaining.data, remaining.size * ctypes.sizeof(llama_cpp.llama_token_data)))
    tokens, logits = memory.cast("i")[::TOKEN_FIELDS].tolist(), memory.cast("f")[1::TOKEN_FIELDS].tolist()
    if remaining.selected >= 0:  # by the greedy sampler, which removes nothing
        tokens, logits = tokens[remaining.selected :][:1], logits[remaining.selected :][:1]
    best = max(logits)
    weights = [math.exp(logit - best) for logit in logits]
    total = sum(weights)
    probabilities = [0.0] * word_count
    for token, weight in zip(tokens, weights, strict=True):
        if token < word_count:
            probabilities[token] = weight / total
    others = sum(weight for token, weight in zip(tokens, weights, strict=True) if token >= word_count)
    kept_count = sum(logit > -math.inf for logit in logits)  # top-n-sigma leaves removed tokens at minus infinity
    return SamplingStep(name, tuple(probabilities), others / total, kept_count)


def next_token_logits(model: NativeModel, context: Any, limit: int) -> NextWords:  # noqa: ANN401 - a pointer of llama.cpp
    """Return the logits of the next token: the `limit` likeliest one by one, all others grouped into bins of equal logit."""
    check_logits(model, context)
    size = int(llama_cpp.llama_vocab_n_tokens(model.vocab))
    logits = llama_cpp.llama_get_logits_ith(context, -1)[:size]
    ranked = sorted(range(size), key=lambda token: -logits[token])
    words = tuple(
        ("" if model.is_end_token(token) else model.token_bytes(token).decode("utf-8", "replace"), logits[token])
        for token in ranked[:limit]
    )
    bins: list[tuple[float, int]] = []
    for _step, group in groupby((logits[token] for token in ranked[limit:]), key=lambda logit: round(logit / LOGIT_BIN_WIDTH)):
        bin_logits = list(group)
        bins.append((sum(bin_logits) / len(bin_logits), len(bin_logits)))
    return NextWords(words, tuple(bins))


def check_logits(model: NativeModel, context: Any) -> None:  # noqa: ANN401 - a pointer of llama.cpp
    """Raise ModelUnreadable if the logits of the next token are not numbers or do not differ, so that weights are damaged."""
    size = int(llama_cpp.llama_vocab_n_tokens(model.vocab))
    logits = array("f", ctypes.string_at(llama_cpp.llama_get_logits_ith(context, -1), size * ctypes.sizeof(ctypes.c_float)))
    highest = max(logits)
    # A model may exclude tokens by minus infinity, but nothing else that is not finite is ever right.
    if math.isnan(sum(logits)) or not math.isfinite(highest) or highest == min(logits):
        raise damaged_weights(model.name)


def damaged_weights(name: str) -> ModelUnreadable:
    """Return the error for a model that computes no usable numbers."""
    return ModelUnreadable(
        f"The weights of “{name}” are damaged: what it computes are no numbers.",
        "Download the file again, or choose another model.",
    )


def has_history(preset: SamplerPreset) -> bool:
    """Return whether a sampler of the preset keeps a history, so that a rejected guess would change later draws."""
    return bool(
        preset.mirostat
        or preset.dry_multiplier
        or preset.presence_penalty
        or preset.frequency_penalty
        or preset.repetition_penalty != 1
    )


@lru_cache(maxsize=64)
def grammar_from_schema(schema: str) -> str:
    """Convert a JSON schema to GBNF with a rule `root`; references are resolved inside the schema only. Raise ModelError."""
    try:
        return str(json_schema_to_gbnf(schema))
    except Exception as error:  # a converter that is handed something else raises whatever comes first
        raise ModelError(f"This JSON schema cannot be converted to a grammar: {type(error).__name__} {error}.") from error
