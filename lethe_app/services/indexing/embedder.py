"""Embedding model, loaded in the background. Without it, retrieval by words still works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lethe_app.domain.model import LoadOptions, ModelFile
from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import LetheError, ModelCrashed, ModelMissing
from lethe_app.llm.client import ModelClient
from lethe_app.llm.models import bundled
from lethe_app.llm.models.gguf_model import describe_model
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.query_prefixes import EmbeddingPrefixes, prefixes_of
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences

RETRY_DELAY = 60.0
"""Seconds before an embedding model that failed is loaded again automatically."""


@dataclass(frozen=True)
class Embedder:
    """State of the embedding model; without a name none is loaded and everything is found by its words."""

    name: str = ""
    id: str = ""
    """Id under which vectors and thresholds are stored."""
    error: LetheError | None = None
    """Reason why an expected model is not loaded."""


class Embedding:
    """Embedding model in a worker process of its own. While none is loaded, `MemoryIndex` retrieves by words."""

    def __init__(self, client: ModelClient, memory_index: MemoryIndex, preferences: Preferences, *, enabled: bool) -> None:
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
                await self._fail(error)
        return bool(self.state.name)

    async def embed(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Embed texts as passages, as a whole and token by token. Raise ModelError."""
        return await self._client.embed_tokens([self._prefixes.passage + text for text in texts])

    async def embed_queries(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Embed texts as queries; some embedding models expect another prefix for them. Raise ModelError."""
        return await self._client.embed_tokens([self._prefixes.question + text for text in texts])

    async def close(self) -> None:
        await self._client.close()

    async def _load(self, chosen: str) -> None:
        file = await asyncio.to_thread(self._find_file, chosen)
        model = await self._client.load(file, LoadOptions(), lambda _part: None, self._on_crash)
        self._prefixes = prefixes_of(f"{model.file.name} {file.path.name}")
        self._memory_index.set_embedder(self.embed, embedder_id_of(file), self.embed_queries)
        self._set_state(Embedder(model.file.name, embedder_id_of(file)))

    def _find_file(self, chosen: str) -> ModelFile:
        path = Path(chosen) if chosen else bundled.embedding_model()
        if not path.is_file():
            raise ModelMissing(f"The embedding model {path} no longer exists.", "Choose another one in the settings.")
        return describe_model(path)

    async def _unload(self) -> None:
        self._memory_index.set_embedder(None, "")
        await self._client.close()
        self._set_state(Embedder())

    async def _fail(self, error: LetheError) -> None:
        self._failed_at = time.monotonic()
        self._memory_index.set_embedder(None, "")
        await self._client.close()
        self._set_state(Embedder(error=error))

    def _on_crash(self, error: ModelCrashed) -> None:
        self._failed_at = time.monotonic()
        self._memory_index.set_embedder(None, "")
        self._set_state(Embedder(error=error))

    def _set_state(self, state: Embedder) -> None:
        self.state = state
        self.changed.notify(state)


def embedder_id_of(file: ModelFile) -> str:
    """Return the id under which vectors and thresholds of an embedding model file are stored."""
    return f"{file.path.name} {file.size}"
