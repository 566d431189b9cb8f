"""What a cache that pieces were cut out of makes the starter model say, beside one that was read from the first token on.

60 turns, at 4k, with recall on every turn, as `prompt_cache` plays them; the same prompts and replies are given to real caches.
Before every reply the next word's probabilities are compared: Kullback-Leibler divergence from the exact cache, in nats, and
whether the first choice is the same. The exact cache keeps only a common beginning that no cut has touched, which changes
nothing but the time; every twentieth turn it is read from the first token on as well (`kl_noise`: what batches alone make).

`kl_median, kl_p95, top1_agreement` are the program as it is set up, the user answering at once, so that nothing is read again
in between: history leaves by surgery, and what stood behind a note that is gone is read again with the turn. `pause` is the
same with a user who reads for as long as the model does; `every_note` cuts every note out and never reads anything again.
"""

from __future__ import annotations

import asyncio
import ctypes
import statistics
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from lethe_app.domain.model import LoadOptions, Usage
from lethe_app.llm.kv_cache.cache import ReuseOptions, llama_cpp
from lethe_app.llm.protocol import Prefill
from lethe_app.services.chat.generation import MIN_REUSED_RUN
from tests.bench._evening import FILLS, Step, play
from tests.bench._long_talk import velm
from tests.bench._setup import starter_engine
from tests.bench.report import Figures, run

CONTEXT, TURNS, REPLY = 4096, 60, 256
EXACT = ReuseOptions(surgery=False)
WAYS = {
    "": ReuseOptions(min_run_length=MIN_REUSED_RUN),
    "_pause": ReuseOptions(min_run_length=MIN_REUSED_RUN),
    "_every_note": ReuseOptions(),
}
"""How prompts are read, by what is put behind the figures' names."""
ANEW_EVERY = 20


class Reader:
    """A model in this process that only reads, and shows what it would say next."""

    def __init__(self, options: LoadOptions) -> None:
        self._engine = starter_engine(options)

    def read(self, text: str, wishes: ReuseOptions) -> Usage:
        return self._engine.prefill(Prefill(1, text, wishes))

    def next_word(self) -> np.ndarray:
        """Natural logarithms of the probabilities of every next token."""
        weights, lane = self._engine._require_loaded()
        pointer = llama_cpp.llama_get_logits_ith(lane._cache.context, -1)
        size = int(llama_cpp.llama_vocab_n_tokens(weights.vocab))
        logits = np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (size,)).astype(np.float64)
        most = logits.max()
        return logits - most - np.log(np.exp(logits - most).sum())

    def close(self) -> None:
        self._engine.close()


@dataclass
class Read:
    """What one way of reading came to, turn by turn."""

    words: list[np.ndarray] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    """What was waited for."""
    quiet: list[int] = field(default_factory=list)
    """Tokens read meanwhile."""

    def figures(self, name: str) -> dict[str, float]:
        return {
            f"evaluated{name}": statistics.fmean(usage.evaluated_tokens for usage in self.usages),
            f"seconds{name}": statistics.fmean(usage.prompt_seconds for usage in self.usages),
            f"quiet{name}": statistics.fmean(self.quiet),
        }


def with_reader(options: LoadOptions, work: Callable[[Reader], Read]) -> Read:
    """Load, work, free."""
    with closing(Reader(options)) as reader:
        return work(reader)


def heard(reader: Reader, opening: str, steps: Sequence[Step], wishes: ReuseOptions, *, pause: bool = False) -> Read:
    """All turns; a reply is read while what was brought up for it still stands there, as it was spoken."""
    read = Read()
    reader.read(opening, wishes)
    for number, step in enumerate(steps, 1):
        usage = reader.read(step.answer.prompt, wishes)
        read.usages.append(usage)
        read.words.append(reader.next_word())
        reader.read(f"{step.answer.prompt}{step.answer.reply}<|im_end|>", wishes)
        calls = step.ahead if pause else ()
        read.quiet.append(sum(reader.read(call.prompt, call.wishes).evaluated_tokens for call in calls))
        print(f"turn {number}: {usage.evaluated_tokens} tokens, {usage.prompt_seconds:.2f} s, cuts {usage.drift}", flush=True)
    return read


def anew(reader: Reader, steps: Sequence[Step]) -> Read:
    """Some of the prompts, each from the first token on."""
    read = Read(quiet=[0])
    for step in steps[::ANEW_EVERY]:
        reader.read("Forget it all.", EXACT)
        read.usages.append(reader.read(step.answer.prompt, EXACT))
        read.words.append(reader.next_word())
    return read


def divergence(true: np.ndarray, other: np.ndarray) -> float:
    """Kullback-Leibler, in nats."""
    return max(float((np.exp(true) * (true - other)).sum()), 0.0)


def compared(true: Read, other: Read, name: str) -> dict[str, float]:
    """How far off, all turns together and by the number of cuts there were."""
    apart = [divergence(*pair) for pair in zip(true.words, other.words, strict=True)]
    same = [int(one.argmax() == two.argmax()) for one, two in zip(true.words, other.words, strict=True)]
    cuts = [usage.drift for usage in other.usages]
    pairs = list(zip(cuts, apart, strict=True))
    by_cuts = {
        f"kl_median{name}_cuts_{count}": statistics.median(value for drift, value in pairs if drift == count)
        for count in sorted(set(cuts))
    }
    for number, (value, drift, right) in enumerate(zip(apart, cuts, same, strict=True), 1):
        print(f"{name.strip('_') or 'default'}, turn {number}: cuts {drift}, kl {value:.4f}{'' if right else ', other word'}")
    return {
        f"kl_median{name}": statistics.median(apart),
        f"kl_p95{name}": statistics.quantiles(apart, n=20)[-1] if len(apart) > 1 else apart[0],
        f"kl_worst{name}": max(apart),
        f"top1_agreement{name}": statistics.fmean(same),
        f"cuts_mean{name}": statistics.fmean(cuts),
        **by_cuts,
    }


OPTIONS = (
    ("--turns", {"type": int, "default": TURNS, "help": "turns that are compared"}),
    ("--context", {"type": int, "default": CONTEXT, "choices": FILLS, "help": "tokens"}),
    ("--ways", {"nargs": "*", "default": list(WAYS), "choices": list(WAYS), "help": "only these"}),
    ("--threads", {"type": int, "default": 0, "help": "the engine's own choice if 0; 1 where others compute as well"}),
)


def measure(wanted: Namespace) -> Figures:
    options, said = LoadOptions(context=wanted.context, threads=wanted.threads), FILLS[wanted.context]
    evening = asyncio.run(play(velm(said + wanted.turns), wanted.context, said, max_reply=REPLY))
    opening, steps = evening.opening, evening.steps
    true = with_reader(options, lambda reader: heard(reader, opening, steps, EXACT))
    whole = with_reader(options, lambda reader: anew(reader, steps))
    figures: dict[str, float] = {}
    for name in wanted.ways:
        wishes, pause = WAYS[name], name == "_pause"
        read = with_reader(options, lambda reader, w=wishes, p=pause: heard(reader, opening, steps, w, pause=p))
        figures |= {**compared(true, read, name), **read.figures(name)}
    noise = [divergence(*pair) for pair in zip(true.words[::ANEW_EVERY], whole.words, strict=True)]
    return {**figures, **true.figures("_exact"), **whole.figures("_recomputed"), "kl_noise": max(noise)}


if __name__ == "__main__":
    run(__doc__, measure, *OPTIONS)
