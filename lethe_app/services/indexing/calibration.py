"""Calibrate distance thresholds to the loaded embedding model, once for each model: the cosine distances below which texts
count as related.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from lethe_app.config.settings import Settings
from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.calibration import ORIGINAL, Thresholds, calibrate, load_pairs
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.preferences import Preferences
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.key_value import AppState

SCOPE = "calibration"
"""Scope of the app state for the thresholds, by id of the embedding model."""
SHIPPED = "known.json"
"""File beside the sentence pairs with the thresholds that `tests/bench/calibration.py` measured for the bundled embedding
model.
"""
BATCH_SIZE = 8
"""Texts embedded in one call; a query that arrives meanwhile waits for no more than these."""


class Calibration:
    """Distance thresholds of embedding models. Without a calibrated model the default thresholds apply, which almost nothing
    passes.
    """

    def __init__(self, app_state: AppState, embedding: Embedding, preferences: Preferences, pairs: Path) -> None:
        self.changed: Listeners[Thresholds] = Listeners()
        self._app_state = app_state
        self._embedding = embedding
        self._preferences = preferences
        self._pairs = pairs
        self._known: dict[str, Thresholds] = {}
        self._shipped: dict[str, object] | None = None

    async def thresholds(self) -> Thresholds:
        """Return the thresholds of the present embedding model, with the user's settings in place of measured values."""
        return apply_settings(await self.limits_of(self._embedding.id), self._preferences.current)

    async def limits_of(self, name: str) -> Thresholds:
        """Return the thresholds of the embedding model with that id."""
        if name and name not in self._known and (stored := await self._load_stored(name)):
            self._known[name] = stored
        return self._known.get(name, ORIGINAL)

    async def _load_stored(self, name: str) -> Thresholds | None:
        """Return thresholds measured here before, or shipped for the bundled embedding model."""
        if self._shipped is None:
            self._shipped = await asyncio.to_thread(load_shipped, self._pairs.with_name(SHIPPED))
        measured = read_stored(Thresholds.model_validate, await self._app_state.get(SCOPE, name))
        return measured or read_stored(Thresholds.model_validate, self._shipped.get(name))

    async def measure(self, pause: Callable[[], Awaitable[None]] | None = None) -> None:
        """Fit the thresholds to the embedding model, unless that was done before; takes some seconds.

        `pause` is awaited between batches, so that other requests to the model come first. Raise the errors of the embedding
        model, and FileError if there are no sentence pairs.
        """
        name = self._embedding.id
        if not name or name in self._known or await self._load_stored(name) is not None:
            return
        pairs = await asyncio.to_thread(load_pairs, self._pairs)

        async def embed(texts: Sequence[str]) -> list[TextEmbedding]:
            embeddings: list[TextEmbedding] = []
            for start in range(0, len(texts), BATCH_SIZE):
                if pause is not None:
                    await pause()
                embeddings += await self._embedding.embed(texts[start : start + BATCH_SIZE])
            return embeddings

        thresholds = await calibrate(embed, name, pairs)
        if self._embedding.id != name:
            return  # another one was loaded meanwhile, and some of these meanings may be its
        self._known[name] = thresholds
        await self._app_state.set(SCOPE, name, thresholds.model_dump(mode="json"))
        self.changed.notify(thresholds)


def apply_settings(measured: Thresholds, settings: Settings) -> Thresholds:
    """Return the thresholds with the user's settings in place of measured values."""
    chosen = {
        "same_words": settings.fact_duplicate_distance,
        "update": settings.fact_update_distance,
        "rag_limit": settings.rag_distance,
    }
    limits = measured.model_copy(update={name: distance for name, distance in chosen.items() if distance > 0})
    if chosen["update"] > 0:  # no two are the same that are too far apart to be compared
        return limits.model_copy(update={"same_words": min(limits.same_words, limits.update)})
    return limits.model_copy(update={"update": max(limits.update, limits.same_words)})


def load_shipped(path: Path) -> dict[str, object]:
    """Return the shipped thresholds by embedding model; empty if the file is missing or damaged, so that they are measured."""
    try:
        limits = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return limits if isinstance(limits, dict) else {}
