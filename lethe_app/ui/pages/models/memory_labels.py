"""Display texts about a model's part in memory: the qualification of chat models and the use of embedding models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.model import ModelFile
from lethe_app.services.extraction.qualification import QualificationResult
from lethe_app.services.indexing.embedder import embedder_id_of
from lethe_app.ui.core.labels.models import format_trust

if TYPE_CHECKING:
    from lethe_app.ui.pages.models.services import ModelPageServices

DISTANCE_DECIMALS = 3
"""Decimals of a distance; the thresholds of good embedding models lie close together."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Model", text)


def format_qualification(verdict: QualificationResult | None) -> str:
    """Return the same with the score of the qualification; None means not qualified yet."""
    if verdict is None:
        return _tr("Not tested yet. When Lethe is idle, a quality test decides whether the model may write memories.")
    percent = QLocale().toString(round(verdict.facts * 100))
    score_text = _tr("In the quality test, {percent} % of its facts were correct.").format(percent=percent)
    return f"{format_trust(verdict)} {score_text}"


def is_in_use(services: ModelPageServices, model: ModelFile) -> bool:
    """Return whether the embedding model is used for memory search, or was chosen for it and is not loaded yet."""
    chosen = services.preferences.current.embedder_path
    return chosen == str(model.path) or services.embedding.id == embedder_id_of(model)


async def describe_embedder_use(services: ModelPageServices, model: ModelFile) -> str:
    """Return whether the embedding model is used for memory search, and its measured thresholds."""
    state = services.embedding.state
    if not is_in_use(services, model):
        return _tr("Using this model re-indexes all memories in the background; until then they are found by their words.")
    if state.error is not None:
        return _tr("Selected for memory search, but not working: {trouble}").format(trouble=state.error.message)
    if state.id != embedder_id_of(model):
        return _tr("Selected for memory search; it is loaded when Lethe is idle.")
    thresholds = await services.calibration.thresholds()
    if thresholds.embedder != state.id:
        return f"{_tr('In use for memory search.')} {_tr('Similarity thresholds are measured once, when Lethe is idle.')}"
    text = _tr("Measured distances: same fact below {same}, changed fact below {changed}.")
    distances = {"same": thresholds.same_words, "changed": thresholds.update}
    formatted = {name: QLocale().toString(value, "f", DISTANCE_DECIMALS) for name, value in distances.items()}
    return f"{_tr('In use for memory search.')} {text.format(**formatted)}"
