"""What a turn of a long chat costs, in tokens that have to be evaluated, with everything a persona can remember at work in it.

120 turns at 4k and at 8k, from the second exchange on (with --full, of a conversation that fills the context already). A return
note, memories by keyword and by meaning, world info at depth and in the system prompt, core facts, summaries of earlier
conversations, notes of the present one and natural lines: all are on, in a real house, whose prompts go to the program's own
cache with the arithmetic left out. So the figures are the same in every run; 20 further turns with the real worker say whether
llama.cpp evaluates what is counted, and how many seconds it takes.

`ours` is the program as it is set up: what was brought up stands just above the newest message, and while the user reads the
reply, the model reads the conversation as it will be without those lines. So there are two figures: `evaluated_ours` tokens
are waited for, `quiet_ours` are read meanwhile, ending at once when somebody needs the model. Of the same talk
- `at_once` is the program when the user answers before anything was read,
- `surgery` the cache when every note is cut out of it and nothing is ever read again,
- `fallback` a model whose cache cannot be cut (here the setting for it is off), the user answering at once,
- `fallback_ahead` the same, the user reading for as long as the model does.
`seed` has what was brought up in the system prompt and cuts the history one message at a time; `append` leaves what was
brought up in the conversation for ever, and cuts that in blocks.

Ratios are to the ideal, which only evaluates what is new: the user's words and the lines brought up for them, as the model's
format spells them. `bare` compares with these texts alone, without the format's own tokens; `strict` besides counts no line
that stood in the prompt before. `worst` is the worst single turn.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from lethe_app.config.options import PromptLayout
from lethe_app.domain.model import LoadOptions
from lethe_app.domain.prompt import PromptTurn
from lethe_app.llm.kv_cache.cache import ReuseOptions
from lethe_app.llm.protocol import Prefill
from lethe_app.llm.tokenizer.counter import TokenCounter
from lethe_app.prompt.builder import PromptRequest, build_prompt
from lethe_app.prompt.macros import expand
from lethe_app.prompt.sections import StableAdditions
from lethe_app.services.chat.generation import MIN_REUSED_RUN
from lethe_app.services.prompting.turn_context import PRESENT
from tests.bench._evening import FILLS, WATCHED, Evening, Step, play
from tests.bench._long_talk import TalkScript, of_locomo, velm
from tests.bench._setup import starter_engine, starter_model
from tests.bench._still_model import Call, Still
from tests.bench.report import Figures, run

CONTEXTS = (4096, 8192)
TURNS = 120
REPLY = 256
"""Tokens kept free for a reply."""
NO_SURGERY = ReuseOptions(surgery=False)
WORKER_CONTEXT = 2048
"""Small, so that history is cut among the turns."""
TIMED = 3
"""Prompts of the seed's layout that are really read."""


@dataclass(frozen=True)
class Cost:
    """What every turn of one way cost."""

    evaluated: Sequence[int]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.evaluated)


def play_script(script: Callable[[int], TalkScript], context: int, opening: int, *, surgery: bool = True) -> Evening:
    """The talk as the program tells it."""
    return asyncio.run(play(script(opening + TURNS), context, opening, max_reply=REPLY, cache_surgery=surgery))


class Replay:
    """The prompts of an evening, or others, given to caches of another kind."""

    def __init__(self, context: int, evening: Evening) -> None:
        self._options, self._evening = LoadOptions(context=context), evening

    def same(self, wishes: ReuseOptions, *, ahead: bool = False) -> Cost:
        """The very prompts, read in another way."""
        steps = self._evening.steps
        calls = [step.ahead[:1] if ahead else () for step in steps]
        return self._read(self._evening.opening, [step.answer.prompt for step in steps], wishes, calls)

    def other(self, prompts: Sequence[str]) -> Cost:
        """Other prompts for the same turns, after the first of them was opened as it would be without what is new in it."""
        return self._read(prompts[0], prompts[1:], NO_SURGERY, [() for _prompt in prompts[1:]])

    def _read(self, opening: str, prompts: Sequence[str], wishes: ReuseOptions, ahead: Sequence[Sequence[Call]]) -> Cost:
        with closing(Still(starter_model(), self._options)) as still:
            still.read(opening, wishes)
            evaluated = []
            for prompt, step, calls in zip(prompts, self._evening.steps, ahead, strict=True):
                evaluated.append(still.read(prompt, wishes).evaluated_tokens)
                still.speak(step.answer.reply or "")
                for call in calls:
                    still.read(call.prompt, wishes)
            return Cost(evaluated)


class Otherwise:
    """The prompts of the same turns in other layouts, by the program's own builder."""

    def __init__(self, evening: Evening) -> None:
        counter = TokenCounter.for_model(starter_model())
        assert counter is not None
        self._evening, self._counter = evening, counter
        self._known: dict[str, int] = {}

    async def seed(self) -> list[str]:
        """Everything in the system prompt, the history cut one message at a time."""
        history, prompts, cut = list(self._evening.before), [], 0
        for step in [None, *self._evening.steps]:
            request = self._evening.steps[0].request if step is None else step.request
            asked = [] if step is None else user_turns(step)
            wanted = replace(
                request,
                layout=PromptLayout.SYSTEM,
                history=[*history, *asked],
                extras=without_rolling(request.extras),
                volatile=() if step is None else request.volatile,
                history_target=1.0,
                previous_cut=cut,
            )
            prompt = await build_prompt(wanted, self._count)
            prompts.append(prompt.text)
            cut = prompt.receipt.dropped_messages
            history += [*asked, *reply_turns(step)]
        return prompts

    async def append(self) -> list[str]:
        """What was brought up stays above the words it was brought up for, as part of the history."""
        history, prompts, cut = list(self._evening.before), [], 0
        first = self._evening.steps[0].request
        for step in [None, *self._evening.steps]:
            asked = [] if step is None else [*memory_turns(step.request), *user_turns(step)]
            wanted = replace(
                first, history=[*history, *asked], extras=without_rolling(first.extras), volatile=(), previous_cut=cut
            )
            prompt = await build_prompt(wanted, self._count)
            prompts.append(prompt.text)
            cut = prompt.receipt.dropped_messages
            history += [*asked, *reply_turns(step)]
        return prompts

    async def _count(self, texts: list[str]) -> list[int]:
        for text in texts:
            if text not in self._known:
                self._known[text] = self._counter.count(text)
        return [self._known[text] for text in texts]


def without_rolling(extras: StableAdditions) -> StableAdditions:
    """Without what was said earlier in the present conversation, which only a history cut in blocks has."""
    return replace(extras, summaries=[text for text in extras.summaries if not text.startswith(PRESENT)])


def memory_turns(request: PromptRequest) -> list[PromptTurn]:
    """What was brought up, as a turn."""
    texts = [note.text for note in request.volatile]
    title = f"{request.system.category_separator} {expand(request.system.memories_title, request.macro_context)}"
    return [PromptTurn("system", "\n".join([title, *texts]))] if texts else []


def user_turns(step: Step) -> list[PromptTurn]:
    """The hidden line above the user's words, and these."""
    name = step.request.macro_context.user
    return [*([PromptTurn("system", step.note)] if step.note else []), PromptTurn("user", step.asked, name)]


def reply_turns(step: Step | None) -> list[PromptTurn]:
    return [] if step is None else [PromptTurn("assistant", step.answer.reply or "", step.request.macro_context.char)]


@dataclass(frozen=True)
class Ideal:
    """Tokens of what is new in every turn."""

    spelled: Sequence[int]
    bare: Sequence[int]
    strict: Sequence[int]
    lines: float
    """Brought up in a turn."""


def ideal(evening: Evening, count: Callable[[str], int]) -> Ideal:
    """What nothing can do without."""
    spelled, bare, strict, lines = [], [], [], []
    reply, before = evening.before[-1].content, set[str]()
    for step in evening.steps:
        prompt = step.answer.prompt
        brought = [note.text for note in step.request.volatile if note.text in prompt] + ([step.note] if step.note else [])
        fresh = [text for text in brought if text not in before]
        spelled.append(count(prompt.rpartition(reply.strip())[2]))
        bare.append(sum(count(text) for text in (step.asked, *brought)))
        strict.append(sum(count(text) for text in (step.asked, *fresh)))
        lines.append(len(brought))
        reply, before = step.answer.reply or "", set(brought)
    return Ideal(spelled, bare, strict, statistics.fmean(lines))


def measure(script: Callable[[int], TalkScript], context: int, opening: int) -> dict[str, float]:
    """All figures of one size; the first `opening` exchanges have been said before."""
    evening = play_script(script, context, opening)
    replay, otherwise = Replay(context, evening), Otherwise(evening)
    uncut = Replay(context, play_script(script, context, opening, surgery=False))
    new = ideal(evening, otherwise._counter.count)
    ours = [step.answer.usage.evaluated_tokens for step in evening.steps]
    quiet = [sum(call.usage.evaluated_tokens for call in step.ahead) for step in evening.steps]
    costs = {
        "at_once": replay.same(ReuseOptions(min_run_length=MIN_REUSED_RUN)),
        "surgery": replay.same(ReuseOptions()),
        "fallback": uncut.same(NO_SURGERY),
        "fallback_ahead": uncut.same(NO_SURGERY, ahead=True),
        "seed": replay.other(asyncio.run(otherwise.seed())),
        "append": replay.other(asyncio.run(otherwise.append())),
    }
    least, mean = statistics.fmean(new.spelled), statistics.fmean(ours)
    return {
        "ideal": least,
        "lines": new.lines,
        "evaluated_ours": mean,
        "quiet_ours": statistics.fmean(quiet),
        "worst_ours": max(ours),
        "worst_quiet_ours": max(quiet),
        "ratio_ours": mean / least,
        "ratio_ours_bare": mean / statistics.fmean(new.bare),
        "ratio_ours_strict": mean / statistics.fmean(new.strict),
        "ratio_ours_with_quiet": (mean + statistics.fmean(quiet)) / least,
        **{f"evaluated_{name}": cost.mean for name, cost in costs.items()},
        **{f"ratio_{name}": cost.mean / least for name, cost in costs.items()},
        **{f"worst_{name}": max(cost.evaluated) for name, cost in costs.items()},
        "times_fewer_than_seed": costs["seed"].mean / mean,
    }


def with_worker(script: Callable[[int], TalkScript], turns: int, threads: int) -> dict[str, float]:
    """The same house with the real model: what it evaluated, beside what is counted for the same prompts and replies."""
    context, opening = WORKER_CONTEXT, FILLS[WORKER_CONTEXT]
    evening = asyncio.run(play(script(opening + turns), context, opening, WATCHED, max_reply=64, threads=threads))
    pairs = list(zip(evening.evaluated, evening.counted, strict=True))
    for number, (really, counted) in enumerate(pairs):
        print(f"worker, call {number}: {really} tokens evaluated, {counted} counted", flush=True)
    seed = asyncio.run(Otherwise(evening).seed())
    return {
        "worker_calls": len(pairs),
        "worker_same": sum(really == counted for really, counted in pairs) / len(pairs),
        "worker_evaluated": sum(really for really, _counted in pairs),
        "worker_counted": sum(counted for _really, counted in pairs),
        "worker_seconds_ours": statistics.median(step.answer.usage.prompt_seconds for step in evening.steps),
        "worker_seconds_seed": statistics.median(seconds(seed[: TIMED + 1], LoadOptions(context=context, threads=threads))[1:]),
    }


def seconds(prompts: Sequence[str], options: LoadOptions) -> list[float]:
    """How long the starter model really reads each of them behind the one before."""
    with closing(starter_engine(options)) as engine:
        return [engine.prefill(Prefill(1, prompt, NO_SURGERY)).prompt_seconds for prompt in prompts]


def measure_all(wanted: argparse.Namespace) -> Figures:
    """Every context that is wanted, and the real model."""

    def script(turns: int) -> TalkScript:
        return of_locomo(wanted.data, turns) if wanted.data else velm(turns)

    figures: dict[str, float] = {}
    for context in wanted.contexts:
        found = measure(script, context, FILLS[context] if wanted.full else 1)
        figures |= {f"{name}_{context // 1024}k": value for name, value in found.items()}
    if wanted.worker:
        figures |= with_worker(script, wanted.worker, wanted.threads)
    return figures


if __name__ == "__main__":
    run(
        __doc__,
        measure_all,
        ("--data", {"type": Path, "help": "conversations in LoCoMo's format instead of our own"}),
        ("--contexts", {"type": int, "nargs": "*", "default": CONTEXTS, "choices": CONTEXTS, "help": "none: worker only"}),
        ("--full", {"action": "store_true", "help": "of a conversation that fills the context already"}),
        ("--worker", {"type": int, "default": 20, "help": "turns with the real model; 0 for none"}),
        ("--threads", {"type": int, "default": 0, "help": "of the real model; its own choice if 0"}),
    )
