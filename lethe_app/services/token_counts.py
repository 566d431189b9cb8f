"""How many tokens a text has, by the loaded model's own tokenizer, never counted twice."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from lethe_app.llm.client import ModelClient
from lethe_app.llm.tokenizer.counter import TokenCounter, estimate
from lethe_app.storage.key_value import TokenCounts

REMEMBERED = 10_000
"""Texts whose count is kept; a long context holds some hundreds."""
LONGEST_REMEMBERED = 8_000
"""Characters; finished prompts are longer, and never counted a second time."""
WORTH_A_THREAD = 20_000
"""Characters above which counting would hold up the window."""


class Counting:
    """Exact while a model is loaded: in this process where its tokenizer can be had here, else by asking the model."""

    def __init__(self, client: ModelClient, kept: TokenCounts) -> None:
        self._client = client
        self._kept = kept
        self._counter: TokenCounter | None = None
        self._tokenizer = ""
        self._known: OrderedDict[str, int] = OrderedDict()

    def use(self, counter: TokenCounter | None, tokenizer: str) -> None:
        """Another model counts from now on; `counter` is None where only the model itself can.

        `tokenizer` names the model's tokenizer in what is kept on disk; empty says that no model is loaded.
        """
        self._counter, self._tokenizer = counter, tokenizer
        self._known = OrderedDict()  # a count still under way keeps the old one

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, control tokens recognised."""
        known = self._known
        counts = {text: known[text] for text in texts if text in known}
        missing = [text for text in dict.fromkeys(texts) if text not in counts]
        if missing:
            counts.update(zip(missing, await self._ask(missing), strict=True))
        for text, tokens in counts.items():
            if len(text) <= LONGEST_REMEMBERED:
                known[text] = tokens
                known.move_to_end(text)
        while len(known) > REMEMBERED:
            known.popitem(last=False)
        return [counts[text] for text in texts]

    async def _ask(self, texts: list[str]) -> list[int]:
        if not self._tokenizer:
            return [estimate(text) for text in texts]
        counter = self._counter
        if counter is None:
            return await self._ask_model(texts)
        if sum(map(len, texts)) < WORTH_A_THREAD:
            return [counter.count(text) for text in texts]
        return await asyncio.to_thread(lambda: [counter.count(text) for text in texts])

    async def _ask_model(self, texts: list[str]) -> list[int]:
        """The model counts what it never counted before; the rest is kept on disk, for it may be busy reading or speaking."""
        counts = await self._kept.known(self._tokenizer, texts)
        missing = [text for text, count in zip(texts, counts, strict=True) if count is None]
        if missing:
            fresh = dict(zip(missing, await self._client.count(missing), strict=True))
            await self._kept.remember(self._tokenizer, fresh)
            return [fresh[text] if count is None else count for text, count in zip(texts, counts, strict=True)]
        return [count for count in counts if count is not None]
