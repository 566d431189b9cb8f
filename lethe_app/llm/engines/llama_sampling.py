"""How the next token is drawn: a preset turned into llama.cpp's own chain of samplers."""

from __future__ import annotations

import ctypes
import math
import secrets
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from types import TracebackType
from typing import Any, Self

import llama_cpp
from llama_cpp.llama_grammar import json_schema_to_gbnf

from lethe_app.domain.model import NextWords
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelError
from lethe_app.llm.native.model import NativeModel

NEVER_FEWER_THAN = 1
LUMP = 0.05
"""Logits that lie so near count as one."""


class Sampler:
    """One reply's chain: grammar, penalties over what was said, cuts of unlikely words, temperature, the draw.

    The order is llama.cpp's own default. Penalties also know the end of the prompt, so that a persona does not repeat herself.
    A grammar that looks at the whole vocabulary halves the speed of a small model, so it is first asked about one guess only.
    """

    def __init__(self, weights: NativeModel, context: Any, preset: SamplerPreset, grammar: str, prompt: list[int]) -> None:  # noqa: ANN401
        """`context` is the one whose last token was just evaluated."""
        self._vocab = weights.vocab
        self._context = context
        self._preset = preset
        self._seed = preset.seed if preset.seed >= 0 else secrets.randbits(31)
        self._chain = self._new_chain()
        self._guesses = self._new_chain()
        self._rules: Any = None
        if grammar:
            self._rules = llama_cpp.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
            self._add(self._rules, "grammar")
        self._add(self._penalties(prompt), "penalties")
        for part in self._choices():
            self._add(part, "sampler")
        self._may_guess = bool(grammar) and not remembers(preset)
        if self._may_guess:
            for part in self._choices():
                llama_cpp.llama_sampler_chain_add(self._guesses, part)

    def draw(self) -> int:
        """The next token, which the chain remembers."""
        if self._may_guess:
            guess = int(llama_cpp.llama_sampler_sample(self._guesses, self._context, -1))
            if self._allows(guess):
                llama_cpp.llama_sampler_accept(self._chain, guess)
                return guess
        return int(llama_cpp.llama_sampler_sample(self._chain, self._context, -1))

    def _allows(self, token: int) -> bool:
        """Would the grammar let this token come next?"""
        one = llama_cpp.llama_token_data(token, 0.0, 0.0)
        data = llama_cpp.llama_token_data_array(ctypes.pointer(one), 1, -1, False)
        llama_cpp.llama_sampler_apply(self._rules, ctypes.byref(data))
        return bool(one.logit != -math.inf)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._free()

    def _free(self) -> None:
        llama_cpp.llama_sampler_free(self._chain)
        llama_cpp.llama_sampler_free(self._guesses)

    def _new_chain(self) -> Any:  # noqa: ANN401 - a native pointer
        return llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())

    def _add(self, part: Any, what: str) -> None:  # noqa: ANN401 - a native pointer
        if not part:
            self._free()
            raise ModelError(f"The engine refused the {what}.")
        llama_cpp.llama_sampler_chain_add(self._chain, part)

    def _penalties(self, prompt: list[int]) -> Any:  # noqa: ANN401 - a native pointer
        """A chain of its own, so that the prompt can be told to it and not to the grammar."""
        preset, chain = self._preset, self._new_chain()
        look_back = self._effective(preset.repetition_range)
        if look_back and (preset.repetition_penalty != 1 or preset.frequency_penalty or preset.presence_penalty):
            part = llama_cpp.llama_sampler_init_penalties(
                self._vocabulary_size, look_back, preset.repetition_penalty, preset.frequency_penalty, preset.presence_penalty
            )
            llama_cpp.llama_sampler_chain_add(chain, part)
        if preset.dry_multiplier > 0:
            llama_cpp.llama_sampler_chain_add(chain, self._dry())
            look_back = max(look_back, self._effective(preset.dry_range))
        for token in prompt[len(prompt) - look_back :] if look_back < len(prompt) else prompt:
            llama_cpp.llama_sampler_accept(chain, token)
        return chain

    def _dry(self) -> Any:  # noqa: ANN401 - a native pointer
        preset = self._preset
        breakers = [text.encode() for text in preset.dry_breakers]
        return llama_cpp.llama_sampler_init_dry(
            self._vocab,
            preset.dry_multiplier,
            preset.dry_base,
            preset.dry_allowed_length,
            self._effective(preset.dry_range),
            (ctypes.c_char_p * len(breakers))(*breakers),
            len(breakers),
        )

    @property
    def _vocabulary_size(self) -> int:
        return int(llama_cpp.llama_vocab_n_tokens(self._vocab))

    def _effective(self, look_back: int) -> int:
        return int(llama_cpp.llama_n_ctx(self._context)) if look_back < 0 else look_back

    def _choices(self) -> list[Any]:
        """Everything after the penalties; ends with the draw itself."""
        preset = self._preset
        if preset.temperature == 0:
            return [llama_cpp.llama_sampler_init_greedy()]
        if preset.mirostat:
            return [llama_cpp.llama_sampler_init_temp(preset.temperature), self._mirostat()]
        chosen: list[tuple[bool, Callable[[], Any]]] = [
            (preset.top_n_sigma > 0, lambda: llama_cpp.llama_sampler_init_top_n_sigma(preset.top_n_sigma)),
            (preset.top_k > 0, lambda: llama_cpp.llama_sampler_init_top_k(preset.top_k)),
            (preset.typical_p < 1, lambda: llama_cpp.llama_sampler_init_typical(preset.typical_p, NEVER_FEWER_THAN)),
            (preset.top_p < 1, lambda: llama_cpp.llama_sampler_init_top_p(preset.top_p, NEVER_FEWER_THAN)),
            (preset.min_p > 0, lambda: llama_cpp.llama_sampler_init_min_p(preset.min_p, NEVER_FEWER_THAN)),
            (preset.xtc_probability > 0, self._xtc),
        ]
        parts = [make() for wanted, make in chosen if wanted]
        temperature = llama_cpp.llama_sampler_init_temp_ext(preset.temperature, preset.dynatemp_range, preset.dynatemp_exponent)
        return [*parts, temperature, llama_cpp.llama_sampler_init_dist(self._seed)]

    def _xtc(self) -> Any:  # noqa: ANN401 - a native pointer
        return llama_cpp.llama_sampler_init_xtc(
            self._preset.xtc_probability, self._preset.xtc_threshold, NEVER_FEWER_THAN, self._seed
        )

    def _mirostat(self) -> Any:  # noqa: ANN401 - a native pointer
        preset = self._preset
        if preset.mirostat == 2:
            return llama_cpp.llama_sampler_init_mirostat_v2(self._seed, preset.mirostat_tau, preset.mirostat_eta)
        size = self._vocabulary_size
        return llama_cpp.llama_sampler_init_mirostat(size, self._seed, preset.mirostat_tau, preset.mirostat_eta, 100)


def next_words(weights: NativeModel, context: Any, most: int) -> NextWords:  # noqa: ANN401 - a pointer of llama.cpp
    """What could follow the token that was just evaluated: the likeliest one by one, all others in lumps."""
    size = int(llama_cpp.llama_vocab_n_tokens(weights.vocab))
    logits = llama_cpp.llama_get_logits_ith(context, -1)[:size]
    ranked = sorted(range(size), key=lambda token: -logits[token])
    words = tuple((_spelled(weights, token), logits[token]) for token in ranked[:most])
    lumps: list[tuple[float, int]] = []
    for _step, some in groupby((logits[token] for token in ranked[most:]), key=lambda logit: round(logit / LUMP)):
        alike = list(some)
        lumps.append((sum(alike) / len(alike), len(alike)))
    return NextWords(words, tuple(lumps))


def _spelled(weights: NativeModel, token: int) -> str:
    return "" if weights.is_end(token) else weights.piece(token).decode("utf-8", "replace")


def remembers(preset: SamplerPreset) -> bool:
    """Does drawing a token change how the next one is drawn, so that a guess thrown away would leave a trace?"""
    return bool(
        preset.mirostat
        or preset.dry_multiplier
        or preset.presence_penalty
        or preset.frequency_penalty
        or preset.repetition_penalty != 1
    )


@lru_cache(maxsize=64)
def grammar_of(schema: str) -> str:
    """GBNF with a rule `root`. References are followed inside the schema only. Raises ModelError."""
    try:
        return str(json_schema_to_gbnf(schema))
    except Exception as error:  # a converter that is handed something else raises whatever comes first
        raise ModelError(f"This JSON schema cannot be turned into a grammar: {type(error).__name__} {error}.") from error
