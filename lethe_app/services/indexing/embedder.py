"""The model that gives texts a meaning: loaded behind everything else, missed by nobody who can do with words."""

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
from lethe_app.llm.models.gguf_model import describe
from lethe_app.paths import Paths
from lethe_app.retrieval.memory_index import Recall
from lethe_app.retrieval.query_prefixes import Prefixes, prefixes_of
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences

NOT_AGAIN_WITHIN = 60.0
"""Seconds before an embedder that failed is tried again by itself."""


@dataclass(frozen=True)
class Embedder:
    """Which embedder there is; with none everything is found by its words."""

    name: str = ""
    id: str = ""
    """Under which vectors and limits are kept."""
    trouble: LetheError | None = None
    """Why there is none, where one was expected."""


class Embedding:
    """One embedding model in a process of its own. While there is none, `Recall` finds by words."""

    def __init__(self, client: ModelClient, recall: Recall, preferences: Preferences, paths: Paths, *, enabled: bool) -> None:
        self.state = Embedder()
        self.changed: Listeners[Embedder] = Listeners()
        self._client = client
        self._client.on_death = self._died
        self._recall = recall
        self._prefixes = Prefixes()
        self._preferences = preferences
        self._paths = paths
        self.enabled = enabled
        """Is meaning wanted at all? With scripted models the program does without unless it is told otherwise."""
        self._chosen = preferences.current.embedder_path
        self._failed_at = -NOT_AGAIN_WITHIN
        self._one_at_a_time = asyncio.Lock()

    @property
    def id(self) -> str:
        """Of the embedder that is loaded; empty where there is none."""
        return self.state.id

    async def ready(self) -> bool:
        """Load the embedder if that is still to be done. Is there one now?"""
        async with self._one_at_a_time:
            chosen = self._preferences.current.embedder_path
            if chosen != self._chosen:
                self._chosen, self._failed_at = chosen, -NOT_AGAIN_WITHIN
                await self._unload()
            if self.state.name or not self.enabled or time.monotonic() - self._failed_at < NOT_AGAIN_WITHIN:
                return bool(self.state.name)
            try:
                await self._load(chosen)
            except LetheError as error:
                await self._fail(error)
        return bool(self.state.name)

    async def embed(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Each text as a whole and token by token, as something to be found. Raises ModelError."""
        return await self._client.embed_tokens([self._prefixes.passage + text for text in texts])

    async def ask(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """The same for texts that ask; some embedders want to be told the difference."""
        return await self._client.embed_tokens([self._prefixes.question + text for text in texts])

    async def close(self) -> None:
        await self._client.close()

    async def _load(self, chosen: str) -> None:
        file = await asyncio.to_thread(self._file, chosen)
        model = await self._client.load(file, LoadOptions(), lambda _part: None)
        self._prefixes = prefixes_of(f"{model.file.name} {file.path.name}")
        self._recall.use(self.embed, known_as(file), self.ask)
        self._become(Embedder(model.file.name, known_as(file)))

    def _file(self, chosen: str) -> ModelFile:
        path = Path(chosen) if chosen else bundled.embedder(self._paths.starter_models)
        if not path.is_file():
            raise ModelMissing(f"The embedding model {path} is gone.", "Choose another one in the settings.")
        return describe(path)

    async def _unload(self) -> None:
        self._recall.use(None, "")
        await self._client.close()
        self._become(Embedder())

    async def _fail(self, error: LetheError) -> None:
        self._failed_at = time.monotonic()
        self._recall.use(None, "")
        await self._client.close()
        self._become(Embedder(trouble=error))

    def _died(self, error: ModelCrashed) -> None:
        self._failed_at = time.monotonic()
        self._recall.use(None, "")
        self._become(Embedder(trouble=error))

    def _become(self, state: Embedder) -> None:
        self.state = state
        self.changed.tell(state)


def known_as(file: ModelFile) -> str:
    """Under which id vectors and limits of an embedding model are kept."""
    return f"{file.path.name} {file.size}"
