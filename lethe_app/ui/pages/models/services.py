"""Services of the models page."""

from __future__ import annotations

from dataclasses import dataclass

from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.library import Library
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.models.service import ModelService
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.speech.dictation import Dictation


@dataclass(frozen=True)
class ModelPageServices:
    """Services that the models page calls."""

    models: ModelService
    downloads: Downloads
    qualification: Qualification
    embedding: Embedding
    calibration: Calibration
    indexing: IndexingService
    model_trial: ModelTrial
    archive_queue: ArchiveQueue
    library: Library
    preferences: Preferences
    dictation: Dictation
