"""Token counts by the tokenizer of the loaded model, with a cache in memory and in the database."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from lethe_app.llm.client import ModelClient
from lethe_app.llm.tokenizer.counter import TokenCounter, estimate_tokens
from lethe_app.storage.key_value import TokenCounts

MAX_CACHED_COUNTS = 10_000
"""Maximum number of texts whose count is cached; a long context has some hundreds."""
MAX_CACHED_CHARACTERS = 8_000
"""Maximum length of a cached text in characters; complete prompts are longer and never counted twice."""
MIN_THREAD_CHARACTERS = 20_000
"""Number of characters from which counting runs in a thread, because it would block the window."""

MAX_UNQUERIED_TEXTS = 4
"""Number of texts up to which the database is not queried first."""
MAX_UNSAVED = 64
"""Number of counts that a crash may lose; they would be counted again."""


class TokenCountService:
    """Count tokens: exactly while a model is loaded, in this process if its tokenizer is available here, else by the model
    process. Without a model the counts are estimates.
    """

    def __init__(self, client: ModelClient, store: TokenCounts) -> None:
        self._client = client
        self._store = store
        self._counter: TokenCounter | None = None
        self._tokenizer = ""
        self._cache: OrderedDict[str, int] = OrderedDict()
        self._unsaved: dict[str, dict[str, int]] = {}
        """Counts that are not stored yet, by tokenizer and text."""

    def set_tokenizer(self, counter: TokenCounter | None, tokenizer: str) -> None:
        """Switch to another tokenizer; `counter` is None if only the model process can count.

        `tokenizer` is the key under which counts are stored; empty means that no model is loaded.
        """
        self._counter, self._tokenizer = counter, tokenizer
        self._cache = OrderedDict()  # a count still under way keeps the old one

    async def flush(self) -> None:
        """Store the counts made since the last call."""
        unsaved, self._unsaved = self._unsaved, {}
        for tokenizer, counts in unsaved.items():
            await self._store.cache_counts(tokenizer, counts)

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, with control tokens recognised."""
        cache = self._cache
        counts = {text: cache[text] for text in texts if text in cache}
        missing = [text for text in dict.fromkeys(texts) if text not in counts]
        if missing:
            counts.update(zip(missing, await self._count_missing(missing), strict=True))
        for text, tokens in counts.items():
            if len(text) <= MAX_CACHED_CHARACTERS:
                cache[text] = tokens
                cache.move_to_end(text)
        while len(cache) > MAX_CACHED_COUNTS:
            cache.popitem(last=False)
        return [counts[text] for text in texts]

    async def count_one(self, text: str) -> int:
        """Return the number of tokens of one text: exact while a model is loaded, an estimate otherwise."""
        return (await self.count([text]))[0]

    async def _count_missing(self, texts: list[str]) -> list[int]:
        if not self._tokenizer:
            return [estimate_tokens(text) for text in texts]
        counter = self._counter
        if counter is None:
            return await self._count_in_model_process(texts)
        if sum(map(len, texts)) < MIN_THREAD_CHARACTERS:
            return [counter.count(text) for text in texts]
        return await asyncio.to_thread(lambda: [counter.count(text) for text in texts])

    async def _count_in_model_process(self, texts: list[str]) -> list[int]:
        """Return stored counts, and have the model process count the other texts.

        For a few texts the database is not queried, because asking the model takes no longer. For many it is, because the
        model may be busy.
        """
        tokenizer = self._tokenizer
        stored = await self._store.cached_counts(tokenizer, texts) if len(texts) > MAX_UNQUERIED_TEXTS else [None] * len(texts)
        missing = [text for text, count in zip(texts, stored, strict=True) if count is None]
        counted = dict(zip(missing, await self._client.count(missing), strict=True)) if missing else {}
        unsaved = self._unsaved.setdefault(tokenizer, {})
        unsaved |= counted
        if len(unsaved) > MAX_UNSAVED:
            await self.flush()
        return [counted[text] if count is None else count for text, count in zip(texts, stored, strict=True)]
