"""Engines whose cache is looked into: what comes next, whether llama.cpp and our account agree, and a text to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import llama_cpp
import numpy as np

from lethe_app.domain.model import LoadOptions, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.engines.llama import LlamaEngine
from lethe_app.llm.kv_cache.cache import KvCache
from lethe_app.llm.kv_cache.staging import SEQUENCE, STAGING
from lethe_app.llm.protocol import Generate, StateLocation
from tests.llm.model_files import load_engine

GREEDY = SamplerPreset(name="greedy", temperature=0)
NOISE = 0.01
"""Divergence that batches of another size alone can make (0.003 was seen); a cut makes ten times as much."""
STORY = (
    "The ferry left Asker before dawn, with nine passengers and a crate of pears. Agnes counted the pears twice, because her "
    "brother had once lost a whole basket to the gulls. Nobody spoke until the lighthouse was behind them. Then the old man at "
    "the rail began to hum, and one after the other they joined in, each in another key. At the mill they threw a rope ashore, "
    "but the miller slept, and his dog would not take it. So they drifted on past the salt market, past the chapel and the "
    "long pier, laughing, until the tide set them down on the sand below the north shore, where it was warm and quiet. "
    "When the fog came they made a fire of broken boxes. Pavel told them how he had crossed the ice as a boy with a sledge "
    "full of clocks, every one of which had stopped at a different hour. The doctor believed no word, yet she asked him what "
    "became of the clocks. He had traded them for a goat, he said, and the goat for a fiddle, and the fiddle lay wrapped in "
    "sailcloth under his seat. After that there was music. Even the gulls kept away. A fisherman heard it and thought of "
    "his wedding; a customs officer heard it and wrote down the time. Towards evening the water rose again and lifted the boat "
    "without a jolt, as one lifts a sleeping child, and they went home without a light. Eleven pears were left. Agnes gave "
    "one to each of them and kept the last two for her brother, who would never learn how far they had travelled. "
)
Opening = Callable[..., LlamaEngine]


def silent(_done: int, _total: int) -> None:
    """Hear nothing."""


def opening(path: Path, options: LoadOptions) -> Iterator[Opening]:
    """Loads that model, or another one; everything opened is closed in the end."""
    opened: list[LlamaEngine] = []

    def load(options: LoadOptions = options, path: Path = path) -> LlamaEngine:
        opened.append(load_engine(path, options))
        return opened[-1]

    yield load
    for engine in opened:
        engine.close()


def say(
    engine: LlamaEngine, prompt: str, at: StateLocation | None = None, most: int = 1, **wishes: object
) -> tuple[str, Usage]:
    """Let the model reply, and return the reply and what it cost."""
    engine.stop.clear()
    said: list[str] = []
    job = Generate(1, prompt, GREEDY, most, state_location=at, **wishes)  # type: ignore[arg-type]
    usage = engine.generate(job, silent, said.append)
    engine.prepare_next_turn()
    return "".join(said), usage


def next_word(engine: LlamaEngine, cache: KvCache | None = None) -> np.ndarray:
    """Natural logarithms of the probabilities of what comes next, in the cache of the engine or in another one."""
    weights, _chat = engine._require_loaded()
    size = int(llama_cpp.llama_vocab_n_tokens(weights.vocab))
    pointer = llama_cpp.llama_get_logits_ith(cache.context if cache else weights.context, -1)
    logits = np.ctypeslib.as_array(pointer, (size,)).astype(np.float64)
    logits = logits - logits.max()
    return logits - np.log(np.exp(logits).sum())


def divergence(true: np.ndarray, other: np.ndarray) -> float:
    """Return the Kullback-Leibler divergence, in nats."""
    return float((np.exp(true) * (true - other)).sum())


def agrees(cache: KvCache, *, can_shift: bool = True) -> bool:
    """Do llama.cpp, our list of tokens and our account of cuts agree?"""
    memory, places = cache._memory, [seam.position for seam in cache.seams]
    staged = int(llama_cpp.llama_memory_seq_pos_max(memory, STAGING)) if can_shift else -1
    last = int(llama_cpp.llama_memory_seq_pos_max(memory, SEQUENCE))
    inside = places == sorted({place for place in places if 0 < place < cache.length})
    return last == cache.length - 1 and staged == -1 and inside and not cache._staging.runs
