"""How many tokens a text has, by the loaded model's own tokenizer, never counted twice."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from lethe_app.llm.client import ModelClient
from lethe_app.llm.tokens import TokenCounter, estimate

REMEMBERED = 20_000
"""Texts whose count is kept; a long context holds some hundreds."""
WORTH_A_THREAD = 20_000
"""Characters above which counting would hold up the window."""


class Counting:
    """Exact while a model is loaded: in this process where its tokenizer can be had here, else by asking the model."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client
        self._counter: TokenCounter | None = None
        self._loaded = False
        self._known: OrderedDict[str, int] = OrderedDict()

    def use(self, counter: TokenCounter | None, *, loaded: bool) -> None:
        """Another model counts from now on; `counter` is None where only the model itself can."""
        self._counter, self._loaded = counter, loaded
        self._known.clear()

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, control tokens recognised."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        if missing:
            for text, tokens in zip(missing, await self._ask(missing), strict=True):
                self._known[text] = tokens
        counts = [self._known[text] for text in texts]
        for text in texts:
            self._known.move_to_end(text)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return counts

    async def _ask(self, texts: list[str]) -> list[int]:
        if not self._loaded:
            return [estimate(text) for text in texts]
        counter = self._counter
        if counter is None:
            return await self._client.count(texts)
        if sum(map(len, texts)) < WORTH_A_THREAD:
            return [counter.count(text) for text in texts]
        return await asyncio.to_thread(lambda: [counter.count(text) for text in texts])
