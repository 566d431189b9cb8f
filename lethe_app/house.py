"""What the user can do, gathered in one value: the window and the terminal are handed nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lethe_app.llm.client import ModelClient
from lethe_app.paths import Paths
from lethe_app.services.archiving import Archiving
from lethe_app.services.away import Away
from lethe_app.services.brain import Brain
from lethe_app.services.browsing import Browsing
from lethe_app.services.bundles import Bundles
from lethe_app.services.calibration import Calibration
from lethe_app.services.chat import Chat
from lethe_app.services.chronicle import Chronicle
from lethe_app.services.doctor import Doctor
from lethe_app.services.downloads import Downloads
from lethe_app.services.dreams import Dreams
from lethe_app.services.embedding import Embedding
from lethe_app.services.fact_extraction import FactExtraction
from lethe_app.services.feedback import Feedbacks
from lethe_app.services.finding import Finding
from lethe_app.services.group import Group
from lethe_app.services.idleness import Idleness
from lethe_app.services.indexing import Indexing
from lethe_app.services.inner_life import InnerLife
from lethe_app.services.inspecting import Inspecting
from lethe_app.services.knowing import Knowing
from lethe_app.services.library import Library
from lethe_app.services.models import Models
from lethe_app.services.mood_reading import MoodReader
from lethe_app.services.moods import Moods
from lethe_app.services.notebooks import Notebooks
from lethe_app.services.notekeeping import Notekeeping
from lethe_app.services.objecting import Objecting
from lethe_app.services.preferences import Preferences
from lethe_app.services.presets import Presets
from lethe_app.services.reading_ahead import ReadingAhead
from lethe_app.services.recapping import Recapping
from lethe_app.services.reconsidering import Reconsidering
from lethe_app.services.rehearsing import Rehearsing
from lethe_app.services.reminders import Reminders
from lethe_app.services.researching import Researching
from lethe_app.services.session_timeout import SessionTimeout
from lethe_app.services.sessions import Sessions
from lethe_app.services.subjects import Subjects
from lethe_app.services.surfing import Surfing
from lethe_app.services.tools import Tooling
from lethe_app.services.trash import Trash
from lethe_app.services.trust import Trust
from lethe_app.services.trying import Trying
from lethe_app.services.warmth import Warmth
from lethe_app.services.week import Week
from lethe_app.services.wishes import Wishes
from lethe_app.services.worlds import Worlds
from lethe_app.storage.database import Database

INDEX_AFTER, ARCHIVE_AFTER, AWAY_AFTER, PURGE_AFTER, REMIND_AFTER, TIMEOUT_AFTER = 2.0, 20.0, 10.0, 60.0, 5.0, 8.0
"""Seconds: the start itself belongs to the user, and the first words do too."""


@dataclass(frozen=True)
class Mind:
    """What goes on in a persona, in the user's hands."""

    moods: Moods
    reader: MoodReader
    reminders: Reminders
    week: Week
    life: InnerLife
    notebooks: Notebooks
    notekeeping: Notekeeping
    subjects: Subjects
    wishes: Wishes


@dataclass(frozen=True)
class House:
    """What the user can do; the window and the terminal are handed nothing else."""

    paths: Paths
    preferences: Preferences
    library: Library
    sessions: Sessions
    timeout: SessionTimeout
    chat: Chat
    group: Group
    chronicle: Chronicle
    finding: Finding
    trash: Trash
    models: Models
    doctor: Doctor
    brain: Brain
    browsing: Browsing
    bundles: Bundles
    knowing: Knowing
    archiving: Archiving
    indexing: Indexing
    inspecting: Inspecting
    embedding: Embedding
    calibration: Calibration
    recapping: Recapping
    reconsidering: Reconsidering
    objecting: Objecting
    rehearsing: Rehearsing
    trust: Trust
    presets: Presets
    downloads: Downloads
    trying: Trying
    worlds: Worlds
    surfing: Surfing
    tooling: Tooling
    researching: Researching
    away: Away
    dreams: Dreams
    feedback: Feedbacks
    idleness: Idleness
    mind: Mind
    warmth: Warmth
    _client: ModelClient
    _embedder: ModelClient
    _database: Database
    _ahead: ReadingAhead
    _closing: tuple[Callable[[], Awaitable[None]], ...]

    @property
    def fact_extraction(self) -> FactExtraction:
        return FactExtraction(self.chronicle, self.archiving, self.knowing, self.preferences)

    def wake(self) -> None:
        """Begin to work in the background."""
        self.indexing.start(INDEX_AFTER)
        self.archiving.start(ARCHIVE_AFTER)
        self.timeout.start(TIMEOUT_AFTER)
        self.recapping.start()
        self.trash.start(PURGE_AFTER)
        self.away.start(AWAY_AFTER)
        self.tooling.bench.start(ARCHIVE_AFTER)
        self.mind.reader.start(ARCHIVE_AFTER)
        self.mind.reminders.start(REMIND_AFTER)
        self.mind.notekeeping.start(ARCHIVE_AFTER)
        self.mind.subjects.start(INDEX_AFTER)

    async def close(self) -> None:
        """End the models' processes, finish what is being written, give the home back."""
        for close in self._closing:
            await close()
