"""Use of an embedding model for memory search, as the page of models shows and changes it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.model import ModelFile
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding, embedder_id_of
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.preferences import Preferences

DISTANCE_DECIMALS = 3
"""Decimals of a distance; the thresholds of good embedding models lie close together."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Model", text)


class EmbedderUse:
    """Which embedding model is used for memory search."""

    def __init__(
        self, preferences: Preferences, embedding: Embedding, calibration: Calibration, indexing: IndexingService
    ) -> None:
        self._preferences, self._embedding = preferences, embedding
        self._calibration, self._indexing = calibration, indexing
        self.listeners: tuple[Listeners[Any], ...] = (embedding.changed, calibration.changed)
        """Those who hear of changes of what is said here."""

    def is_used(self, model: ModelFile) -> bool:
        """Return whether the embedding model is used for memory search, or was chosen for it and is not loaded yet."""
        return self.chosen_path == str(model.path) or self._embedding.id == embedder_id_of(model)

    @property
    def chosen_path(self) -> str:
        """Return the path of the chosen model; empty for the one that ships with Lethe."""
        return self._preferences.current.embedder_path

    async def use_model(self, path: str) -> None:
        """Use the model in a file, or with an empty path the one that ships with Lethe, and load it."""
        await self._preferences.set(embedder_path=path)
        await self._embedding.ensure_loaded()
        self._indexing.background.wake()

    async def describe_use(self, model: ModelFile) -> str:
        """Return whether the embedding model is used for memory search, and its measured thresholds."""
        state = self._embedding.state
        if not self.is_used(model):
            return _tr("Using this model re-indexes all memories in the background; until then they are found by their words.")
        if state.error is not None:
            return _tr("Selected for memory search, but not working: {trouble}").format(trouble=state.error.message)
        if state.id != embedder_id_of(model):
            return _tr("Selected for memory search; it is loaded when Lethe is idle.")
        thresholds = await self._calibration.thresholds()
        if thresholds.embedder != state.id:
            return f"{_tr('In use for memory search.')} {_tr('Similarity thresholds are measured once, when Lethe is idle.')}"
        text = _tr("Measured distances: same fact below {same}, changed fact below {changed}.")
        distances = {"same": thresholds.same_words, "changed": thresholds.update}
        formatted = {name: QLocale().toString(value, "f", DISTANCE_DECIMALS) for name, value in distances.items()}
        return f"{_tr('In use for memory search.')} {text.format(**formatted)}"
