"""How near is near: the limits that fit the embedder that is loaded, measured once for each and kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from lethe_app.config.settings import Settings
from lethe_app.domain.passage import TextEmbedding
from lethe_app.retrieval.calibration import ORIGINAL, Thresholds, calibrate, load_pairs
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import AppState

SCOPE = "calibration"
"""Of the limits in the app state, by embedder."""
SHIPPED = "known.json"
"""Beside the pairs: what `tests/bench/calibration.py` found for the embedder that comes with Lethe."""
AT_ONCE = 8
"""Texts embedded together: a question that comes meanwhile waits for no more than these."""


class Calibration:
    """Until an embedder was measured, and where there is none, the limits of the seed hold, which pass next to nothing."""

    def __init__(self, state: AppState, embedding: Embedding, preferences: Preferences, pairs: Path) -> None:
        self.changed: Listeners[Thresholds] = Listeners()
        self._state = state
        self._embedding = embedding
        self._preferences = preferences
        self._pairs = pairs
        self._known: dict[str, Thresholds] = {}
        self._shipped: dict[str, object] | None = None

    async def thresholds(self) -> Thresholds:
        """For the embedder of this moment, with the distances that the user set instead."""
        return chosen(await self.limits_of(self._embedding.id), self._preferences.current)

    async def limits_of(self, name: str) -> Thresholds:
        """For the embedder of that id."""
        if name and name not in self._known and (stored := await self._stored(name)):
            self._known[name] = stored
        return self._known.get(name, ORIGINAL)

    async def _stored(self, name: str) -> Thresholds | None:
        """Measured here before, or shipped for the embedder that comes with Lethe."""
        if self._shipped is None:
            self._shipped = await asyncio.to_thread(shipped, self._pairs.with_name(SHIPPED))
        return understood(await self._state.get(SCOPE, name)) or understood(self._shipped.get(name))

    async def measure(self, pause: Callable[[], Awaitable[None]] | None = None) -> None:
        """Fit the limits to the embedder, unless that was done before; some seconds.

        `pause` is waited for between a few texts and the next, so that whoever asks something meanwhile goes before. Raises
        what the embedder raises, and FileError where there are no pairs.
        """
        name = self._embedding.id
        if not name or name in self._known or await self._stored(name) is not None:
            return
        pairs = await asyncio.to_thread(load_pairs, self._pairs)

        async def embed(texts: Sequence[str]) -> list[TextEmbedding]:
            meanings: list[TextEmbedding] = []
            for start in range(0, len(texts), AT_ONCE):
                if pause is not None:
                    await pause()
                meanings += await self._embedding.embed(texts[start : start + AT_ONCE])
            return meanings

        fitted = await calibrate(embed, name, pairs)
        if self._embedding.id != name:
            return  # another one was loaded meanwhile, and some of these meanings may be its
        self._known[name] = fitted
        await self._state.set(SCOPE, name, fitted.model_dump(mode="json"))
        self.changed.tell(fitted)


def chosen(measured: Thresholds, settings: Settings) -> Thresholds:
    """Return the limits with those that the user set in the place of measured ones."""
    own = {
        "duplicate": settings.fact_duplicate_distance,
        "same_words": settings.fact_duplicate_distance,
        "update": settings.fact_update_distance,
        "fact_retrieval": settings.fact_retrieval_distance,
        "rag_limit": settings.rag_distance,
    }
    limits = measured.model_copy(update={name: distance for name, distance in own.items() if distance > 0})
    if own["update"] > 0:  # no two are the same that are too far apart to be compared
        nearer = {name: min(getattr(limits, name), limits.update) for name in ("duplicate", "same_words")}
        return limits.model_copy(update=nearer)
    return limits.model_copy(update={"update": max(limits.update, limits.same_words)})


def shipped(path: Path) -> dict[str, object]:
    """Limits by embedder; a file that is gone or spoilt only means that they are measured."""
    try:
        limits = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return limits if isinstance(limits, dict) else {}


def understood(stored: object) -> Thresholds | None:
    """What another version wrote differently counts as nothing."""
    try:
        return Thresholds.model_validate(stored) if stored is not None else None
    except ValidationError:
        return None
