"""Embedding model, loaded in the background and ended while nobody uses it. Without it, retrieval by words still works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lethe_app.domain.model import LoadOptions, ModelFile
from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import LetheError, ModelMissing
from lethe_app.llm.client import ModelClient
from lethe_app.llm.engines.registry import describe_usable_model
from lethe_app.llm.models import bundled
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.query_prefixes import EmbeddingPrefixes, prefixes_of
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import IdleTimer

RETRY_DELAY = 60.0
"""Seconds before an embedding model that failed is loaded again automatically."""
IDLE_SECONDS = 20.0
"""Seconds without a request after which the worker process is ended, which frees up to 150 MB; the next request starts it
again.
"""
SMALL_IDLE_SECONDS = 2.0
"""The same on a small computer: at once, but not between two requests of the same turn."""
COMPOSING_SECONDS = 120.0
"""Seconds for which the process is kept ready once the user has begun to write a message, which will be embedded."""


@dataclass(frozen=True)
class Embedder:
    """State of the embedding model; without a name none is loaded and everything is found by its words."""

    name: str = ""
    id: str = ""
    """Id under which vectors and thresholds are stored."""
    error: LetheError | None = None
    """Reason why an expected model is not loaded."""


class Embedding:
    """Embedding model in a worker process of its own. While none is loaded, `MemoryIndex` retrieves by words.

    A loaded model stays loaded for everybody else while its process has ended because it was idle.
    """

    def __init__(
        self,
        client: ModelClient,
        memory_index: MemoryIndex,
        preferences: Preferences,
        *,
        enabled: bool,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.state = Embedder()
        self.changed: Listeners[Embedder] = Listeners()
        self._client = client
        self._memory_index = memory_index
        self._prefixes = EmbeddingPrefixes()
        self._preferences = preferences
        self.enabled = enabled
        """True if an embedding model may be loaded. With scripted models it is off by default."""
        self._chosen_path = preferences.current.embedder_path
        self._failed_at = -RETRY_DELAY
        self._one_at_a_time = asyncio.Lock()
        self._idle_seconds = idle_seconds
        self._file: ModelFile | None = None
        """File of the loaded model."""
        self._process = IdleTimer(self._end_process)
        self._is_ended = False
        """True while the process of the loaded model has ended because it was idle, not because it crashed."""
        self._start_task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Return whether the worker process runs: it ends while a loaded model is idle."""
        return self._client.is_running

    @property
    def id(self) -> str:
        """Return the id of the loaded embedding model; empty if there is none."""
        return self.state.id

    async def ensure_loaded(self) -> bool:
        """Load the embedding model if necessary; return whether one is loaded."""
        async with self._one_at_a_time:
            path = self._preferences.current.embedder_path
            if path != self._chosen_path:
                self._chosen_path, self._failed_at = path, -RETRY_DELAY
                await self._unload()
            if self.state.name or not self.enabled or time.monotonic() - self._failed_at < RETRY_DELAY:
                return bool(self.state.name)
            try:
                await self._load(path)
            except LetheError as error:
                await self._unload(error)
        return bool(self.state.name)

    async def embed(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Embed texts as passages, as a whole and token by token. Raise ModelError."""
        return await self._embed_prefixed(self._prefixes.passage, texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Embed texts as queries; some embedding models expect another prefix for them. Raise ModelError."""
        return await self._embed_prefixed(self._prefixes.question, texts)

    def warm_up(self) -> None:
        """Start the worker process of a loaded model again if it was ended, because a request is about to come: the user
        writes a message, or a turn begins.
        """
        if not self.state.name:
            return
        if self._is_ended and (self._start_task is None or self._start_task.done()):
            self._start_task = asyncio.get_running_loop().create_task(self._start_again())
        self._process.start(max(COMPOSING_SECONDS, self._idle_seconds))

    async def close(self) -> None:
        if self._start_task is not None:
            self._start_task.cancel()
            await asyncio.gather(self._start_task, return_exceptions=True)
        await self._process.close()
        await self._client.close()

    async def _embed_prefixed(self, prefix: str, texts: Sequence[str]) -> list[TextEmbedding]:
        with self._process.in_use(self._end_delay):
            await self._start_again()
            return await self._client.embed_tokens([prefix + text for text in texts])

    def _end_delay(self) -> float:
        return min(self._idle_seconds, SMALL_IDLE_SECONDS) if self._preferences.is_small_computer else self._idle_seconds

    async def _end_process(self) -> None:
        async with self._one_at_a_time:
            if self._process.is_idle and self._file is not None:
                self._is_ended = True
                await self._client.close()

    async def _start_again(self) -> None:
        """Start the process of the loaded model if it was ended. An error unloads the model, so that words are searched."""
        async with self._one_at_a_time:
            if not self._is_ended or self._file is None:
                return
            try:
                await self._client.load(self._file, LoadOptions(), lambda _part: None, self._drop)
            except LetheError as error:
                await self._unload(error)
            else:
                self._is_ended = False

    async def _load(self, chosen: str) -> None:
        file = await asyncio.to_thread(find_embedding_model, chosen)
        with self._process.in_use(self._end_delay):
            model = await self._client.load(file, LoadOptions(), lambda _part: None, self._drop)
        self._file, self._is_ended = file, False
        self._prefixes = prefixes_of(f"{model.file.name} {file.path.name}")
        self._memory_index.set_embedder(self.embed, embedder_id_of(file), self.embed_queries)
        self._set_state(Embedder(model.file.name, embedder_id_of(file)))

    async def _unload(self, error: LetheError | None = None) -> None:
        self._drop(error)
        await self._client.close()

    def _drop(self, error: LetheError | None) -> None:
        """Note that no model is loaded any more, after an error or because another one was chosen."""
        self._file = None
        if error is not None:
            self._failed_at = time.monotonic()
        self._memory_index.set_embedder(None, "")
        self._set_state(Embedder(error=error))

    def _set_state(self, state: Embedder) -> None:
        self.state = state
        self.changed.notify(state)


def find_embedding_model(chosen: str) -> ModelFile:
    """Describe the chosen embedding model, or the bundled one if `chosen` is empty. Raise ModelMissing or ModelUnreadable."""
    path = Path(chosen) if chosen else bundled.embedding_model()
    if not path.is_file():
        raise ModelMissing(
            f"The chosen embedding model “{path.name}” is no longer in {path.parent}.",
            "Connect its drive, move the file back, or choose another one in the settings.",
        )
    return describe_usable_model(path, embeds_texts=True)


def embedder_id_of(file: ModelFile) -> str:
    """Return the id under which vectors and thresholds of an embedding model file are stored."""
    return f"{file.path.name} {file.size}"
