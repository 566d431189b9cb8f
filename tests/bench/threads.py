"""Are the physical cores the right number of threads? Speed of reading and speaking with one, ours, and twice as many."""

from __future__ import annotations

import statistics

from lethe_app.domain.model import LoadOptions
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.native.model import physical_cores
from lethe_app.llm.protocol import Generate
from tests.bench._setup import starter_engine
from tests.bench.report import Figures, Row, run

ROUNDS = 3
PROMPT = "<|im_start|>user\n" + "The river flows on past the mill. " * 60 + "Go on.<|im_end|>\n<|im_start|>assistant\n"


def speeds(threads: int) -> tuple[float, float]:
    """Tokens per second of reading a fresh prompt and of speaking, medians of some rounds."""
    engine = starter_engine(LoadOptions(context=2048, threads=threads))
    reading, speaking = [], []
    for number in range(ROUNDS):
        job = Generate(1, f"{number}{PROMPT}", SamplerPreset(name="bench", seed=1), 64)
        usage = engine.generate(job, lambda _done, _total: None, lambda _text: None)
        reading.append(usage.evaluated_tokens / usage.prompt_seconds)
        speaking.append(usage.tokens_per_second)
    engine.close()
    return statistics.median(reading), statistics.median(speaking)


def measure() -> tuple[list[Row], Figures]:
    ours = physical_cores()
    measured = {threads: speeds(threads) for threads in sorted({1, ours, 2 * ours})}
    rows: list[Row] = [
        (
            f"{threads} threads{' (chosen)' if threads == ours else ''}",
            f"reading {read:.0f} tokens/s, speaking {said:.0f} tokens/s",
        )
        for threads, (read, said) in measured.items()
    ]
    figures = {
        "threads": ours,
        "reading_of_best": measured[ours][0] / max(read for read, _said in measured.values()),
        "speaking_of_best": measured[ours][1] / max(said for _read, said in measured.values()),
    }
    return rows, figures


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
