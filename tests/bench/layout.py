"""What a turn costs by where recalled lines stand in the prompt and by what of the KV cache is reused, with the starter model.

One scripted conversation at 8k context, six recalled lines on every turn, told in three ways: `system`: the lines in the
system prompt, history cut one message at a time; `late`: the lines just above the newest message, history cut in a block and
summed up, the common beginning reused; `surgery`: the same prompts, and what stands behind cuts reused too. Nothing is read
ahead: the user answers at once. `ideal` counts only what was not in the prompt before. `kl` and `same_first` compare the next
word with that of a cache that was never cut, on the same texts; only surgery can differ there.
"""

from __future__ import annotations

import asyncio
import ctypes
import math
import random
import statistics
import time
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import llama_cpp

from lethe_app.domain.model import LoadOptions, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm import starter
from lethe_app.llm.client import ModelClient
from lethe_app.llm.gguf_file import describe
from lethe_app.llm.llama import LlamaEngine
from lethe_app.llm.protocol import Chunk, Done, ReadAhead
from tests.bench.report import arguments, show

CONTEXT, REPLY, RECALLED = 8192, 40, 6
RESERVE = 256
"""Tokens kept free for a reply."""
ROOM_LEFT = 800
"""Tokens that are free when the measured turns begin, so that history is cut once among them."""
TARGET = 0.65
GREEDY = SamplerPreset(name="bench", temperature=0)
LAYOUTS = ("system", "late", "surgery")

HEAD = (
    "You are Mira, who mends boats in the harbour of Velm and has sailed further than she admits. Stay in character. Speak "
    "plainly and warmly, two or three sentences at a time. Mira is forty, left-handed, patient with ropes and impatient with "
    "officials. She lost her first boat to the ice and does not speak of it unless she is asked. She keeps a yellow dog called "
    "Barley and a stove that smokes. Tomas has rented the room above her workshop since the spring and comes down in the "
    "evenings to talk. It is late autumn; the fishing fleet is in and the nights are long."
)
SUMMARY = (
    "Earlier Tomas told Mira of his family, of the things he mends and of where he has been; Mira told him of the harbour, "
    "of her dog and of the winter she spent in the north. They agreed to repair the small boat together before the frost."
)
WHO = ("my sister Agnes", "old Henrik", "the baker's son", "my uncle Pavel", "the ferryman", "Doctor Lind", "your dog", "Greta")
WHERE = ("the long pier", "the salt market", "Velm", "the lighthouse", "the north shore", "the mill", "Asker", "the chapel")
WHAT = ("a blue lantern", "two oars", "a box of letters", "the brass compass", "a coil of rope", "a jar of honey", "a red sail")
WHEN = ("last winter", "on Tuesday", "before the storm", "at low tide", "in the spring", "this morning", "years ago")
ASKED = (
    "I met {who} at {where} {when}. Did you know they still keep {what}?",
    "Tell me what happened at {where} {when}. Someone said {what} was found there.",
    "I have been thinking of {who}. We wanted to bring {what} to {where}, but nothing came of it.",
    "Would you lend me {what}? I promised {who} to bring it back from {where}.",
    "{when} I dreamt of {where}, and {who} stood there with {what}. What do you make of that?",
    "Is it true that {who} paid for {what} with a whole season's catch?",
)
SAID = (
    "Ha, {who}! I remember {where} {when}, when {what} fell into the water and nobody dared to fetch it. Come in, it is warm.",
    "That is a long story. It began {when} with {what}, and it ended at {where} with {who} laughing at me.",
    "If you go to {where}, ask for {who}. They owe me {what} since {when}, and they know it.",
    "I would rather not say. But {when} I saw {what} at {where}, and since then I sleep badly.",
    "Barley found {what} under the stairs. Perhaps {who} left it there {when}; it smells of {where}.",
)
REMEMBERED = (
    "{when} Tomas told Mira that {who} had left {what} at {where}.",
    "Mira once promised {who} to bring {what} to {where}; that was {when}.",
    "Tomas is fond of {where}, because {who} taught him to mend {what} there {when}.",
)


@dataclass(frozen=True)
class Line:
    """A message in the format's own words."""

    role: str
    text: str

    def __str__(self) -> str:
        return f"<|im_start|>{self.role}\n{self.text}<|im_end|>\n"


@dataclass
class Talk:
    """What is said, and what is recalled for it; the same for every layout."""

    dice: random.Random = field(default_factory=lambda: random.Random(11))

    def told(self, patterns: tuple[str, ...]) -> str:
        """A sentence of somebody's."""
        slots = {"who": WHO, "where": WHERE, "what": WHAT, "when": WHEN}
        text = self.dice.choice(patterns).format(**{name: self.dice.choice(words) for name, words in slots.items()})
        return text[0].upper() + text[1:]

    def exchange(self) -> list[Line]:
        return [Line("user", self.told(ASKED)), Line("assistant", self.told(SAID))]

    def recalled(self) -> str:
        return "\n".join(["# Memories", *(f"- {self.told(REMEMBERED)}" for _ in range(RECALLED))])


@dataclass
class Chat:
    """One conversation as one layout tells it."""

    client: ModelClient
    layout: str
    context: int
    history: list[Line]
    is_cut: bool = False

    async def prompt(self, recalled: str, asked: Line) -> str:
        """As much history as fits; a cut stays."""
        while await self.size(text := self.text(recalled, asked)) > self.context - RESERVE:
            if self.layout == "system":
                del self.history[0]
                continue
            sizes = await self.client.count([str(line) for line in self.history])
            kept = len(sizes)
            while kept and sum(sizes[kept - 1 :]) <= TARGET * sum(sizes):
                kept -= 1
            del self.history[:kept]
            self.is_cut = True
        self.history.append(asked)
        return text

    def text(self, recalled: str, asked: Line) -> str:
        head = f"{HEAD}\n\n{recalled}" if self.layout == "system" else f"{HEAD}\n\n{SUMMARY}" if self.is_cut else HEAD
        late = [] if self.layout == "system" else [Line("system", recalled)]
        return "".join(map(str, [Line("system", head), *self.history, *late, asked])) + "<|im_start|>assistant\n"

    async def size(self, text: str) -> int:
        return (await self.client.count([text]))[0]


@dataclass(frozen=True)
class Turn:
    """One measured turn."""

    prompt: str
    reply: str
    evaluated: int
    first: float
    """Seconds to the first piece."""
    drift: int
    new: int
    """Tokens that were not in the prompt before."""


async def turn(chat: Chat, recalled: str, asked: Line) -> Turn:
    """Ask, and take the reply into the history."""
    was_cut = chat.is_cut
    prompt = await chat.prompt(recalled, asked)
    new = f"\n{Line('system', recalled)}{asked}<|im_start|>assistant\n" + (SUMMARY if chat.is_cut and not was_cut else "")
    count = await chat.size(new)
    began, first, reply = time.perf_counter(), 0.0, ""
    surgery = chat.layout == "surgery"
    async with aclosing(chat.client.generate(prompt, GREEDY, REPLY, surgery=surgery)) as reports:
        async for report in reports:
            if isinstance(report, Chunk):
                first = first or time.perf_counter() - began
                reply += report.text
            elif isinstance(report, Done):
                usage = report.usage
    chat.history.append(Line("assistant", reply))
    return Turn(prompt, reply, usage.evaluated_tokens, first, usage.drift, count)


async def tell(path: Path, layout: str, options: LoadOptions, turns: int) -> list[Turn]:
    """All turns but the first, which reads everything in any layout."""
    client = ModelClient()
    await client.load(describe(path), options, lambda _fraction: None)
    talk = Talk()
    history: list[Line] = []
    while sum(await client.count([HEAD, *map(str, history)])) < options.context - RESERVE - ROOM_LEFT:
        history += talk.exchange()
    chat = Chat(client, layout, options.context, history)
    done: list[Turn] = []
    try:
        for number in range(turns + 1):
            done.append(each := await turn(chat, talk.recalled(), Line("user", talk.told(ASKED))))
            drift = f", cuts {each.drift}" if layout == "surgery" else ""
            print(f"{layout}, turn {number + 1}: {each.evaluated} tokens, {each.first:.2f} s{drift}", flush=True)
    finally:
        await client.close()
    return done[1:]


class Reader:
    """A model in this process that only reads, and shows what it would say next."""

    def __init__(self, path: Path, options: LoadOptions, *, surgery: bool) -> None:
        self.surgery = surgery
        self.usage = Usage()
        self.engine = LlamaEngine()
        self.engine.load(path, options, lambda _fraction: None)

    def read(self, text: str, *, exact: bool = False) -> list[float]:
        """Natural logarithms of the probabilities of every next token."""
        self.usage = self.engine.read_ahead(ReadAhead(1, text, surgery=self.surgery, exact=exact))
        weights, lane = self.engine._loaded()
        pointer = llama_cpp.llama_get_logits_ith(lane._cache.context, -1)
        size = int(llama_cpp.llama_vocab_n_tokens(weights.vocab))
        logits = list(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float * size)).contents)
        most = max(logits)
        total = most + math.log(sum(math.exp(logit - most) for logit in logits))
        return [logit - total for logit in logits]


def divergence(true: list[float], other: list[float]) -> float:
    """Kullback-Leibler, in nats."""
    return max(sum(math.exp(left) * (left - right) for left, right in zip(true, other, strict=True)), 0.0)


def compare(path: Path, options: LoadOptions, turns: list[Turn]) -> tuple[float, float]:
    """(mean divergence, share of equal first choices) of a cache with surgery against one without, over the same prompts."""
    cut, whole = Reader(path, options, surgery=True), Reader(path, options, surgery=False)
    divergences, same = [], 0
    for each in turns:
        other, true = cut.read(each.prompt), whole.read(each.prompt)
        divergences.append(divergence(true, other))
        same += true.index(max(true)) == other.index(max(other))
        for reader in (cut, whole):  # the reply is computed while the recalled lines are still there
            reader.read(each.prompt + each.reply + "<|im_end|>")
    cut.engine.close()
    whole.engine.close()
    return statistics.fmean(divergences), same / len(turns)


def main() -> None:
    """Measure and print."""
    wanted = arguments(
        __doc__,
        ("--turns", {"type": int, "default": 12, "help": "turns measured in each layout"}),
        ("--context", {"type": int, "default": CONTEXT, "help": "tokens"}),
        ("--threads", {"type": int, "default": 0, "help": "the engine's own choice if 0"}),
        ("--layouts", {"nargs": "*", "default": LAYOUTS, "choices": LAYOUTS, "help": "only these"}),
    )
    path = starter.chat_model()
    assert path is not None, "the starter model is not installed"
    options = LoadOptions(context=wanted.context, threads=wanted.threads)
    told = {layout: asyncio.run(tell(path, layout, options, wanted.turns)) for layout in wanted.layouts}
    figures: dict[str, float] = {}
    for layout, turns in told.items():
        figures[f"evaluated_per_turn_{layout}"] = statistics.fmean(each.evaluated for each in turns)
        figures[f"evaluated_worst_{layout}"] = max(each.evaluated for each in turns)
        figures[f"ttft_s_{layout}"] = statistics.median(each.first for each in turns)
        figures[f"evaluated_per_turn_ideal_{layout}"] = statistics.fmean(each.new for each in turns)
    if "surgery" in told:
        figures["kl_surgery"], figures["same_first_surgery"] = compare(path, options, told["surgery"])
    show(list(figures.items()), figures, as_json=wanted.json)


if __name__ == "__main__":
    main()
