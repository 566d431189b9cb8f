"""Container of all application services; the only object that the window and the terminal receive."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lethe_app.composition.core import CoreServices
from lethe_app.paths import Paths
from lethe_app.services.background.activity_log import ActivityLog
from lethe_app.services.background.archive_budget import ArchiveBudget
from lethe_app.services.background.dreams import Dreams
from lethe_app.services.background.enrichment import MemoryEnrichment
from lethe_app.services.background.feedback import FeedbackService
from lethe_app.services.background.key_moments import KeyMoments
from lethe_app.services.background.mood_inference import MoodReader
from lethe_app.services.background.runner import BackgroundRunner
from lethe_app.services.chat.group import GroupService
from lethe_app.services.chat.message_editing import MessageEditing
from lethe_app.services.chat.prefill import PrefillService
from lethe_app.services.chat.prompt_inspector import PromptInspector
from lethe_app.services.chat.reply_actions import ReplyActions
from lethe_app.services.chat.reply_source_reader import ReplySourceReader
from lethe_app.services.chat.service import ChatService
from lethe_app.services.documents.knowledge_base import KnowledgeBase
from lethe_app.services.documents.service import DocumentService
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.library import Library
from lethe_app.services.maintenance.days import Days
from lethe_app.services.maintenance.doctor import Doctor
from lethe_app.services.maintenance.erasure import Erasure
from lethe_app.services.maintenance.retention import Retention
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.memory.working_memory import WorkingMemory
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.models.service import ModelService
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.mood import MoodService
from lethe_app.services.notebooks.conclusion_writer import ConclusionWriter
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.recall import NotebookSelector
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.notebooks.writer import NotebookWriter
from lethe_app.services.personas.bundles import BundleService
from lethe_app.services.personas.draft_chat import DraftChat
from lethe_app.services.personas.goals import GoalService
from lethe_app.services.personas.inner_life import InnerLife
from lethe_app.services.personas.presets import PresetService
from lethe_app.services.personas.reminders import Reminders
from lethe_app.services.personas.week import Week
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.scheduling.idle import Idleness
from lethe_app.services.search.everything import SearchService
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.fact_extraction import FactExtraction
from lethe_app.services.sessions.rolling_summary import RollingSummary
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.sessions.timeout import SessionTimeout
from lethe_app.services.speech.dictation import Dictation
from lethe_app.services.speech.session_speech import SessionSpeech
from lethe_app.services.token_counts import TokenCountService
from lethe_app.services.tools.registry import ToolRegistry
from lethe_app.services.tools.turn_factory import ToolTurnFactory
from lethe_app.services.web.gate import WebGate
from lethe_app.services.web.research import ResearchService
from lethe_app.services.worlds.service import WorldService
from lethe_app.services.worlds.world_trial import WorldTrials

if TYPE_CHECKING:
    from lethe_app.services.imports.service import ImportService
    from lethe_app.services.personas.card_export import CardExport

INDEX_AFTER, ARCHIVE_AFTER, AWAY_AFTER, PURGE_AFTER, REMIND_AFTER, TIMEOUT_AFTER = 2.0, 20.0, 10.0, 60.0, 5.0, 8.0
"""Delays of the background services after the start in seconds, so that they do not slow down the start and the first reply."""


@dataclass(frozen=True)
class MindServices:
    """Services for the inner state of a persona: moods, reminders, schedule, notebooks and goals."""

    moods: MoodService
    mood_reader: MoodReader
    key_moments: KeyMoments
    reminders: Reminders
    week: Week
    inner_life: InnerLife
    notebooks: NotebookService
    notebook_writer: NotebookWriter
    notebook_filer: NotebookFiler
    conclusion_writer: ConclusionWriter
    notebook_selector: NotebookSelector
    goals: GoalService


@dataclass(frozen=True)
class PrivacyServices:
    """Services that delete for good: personas and everything, what is too old, and whole days."""

    erasure: Erasure
    retention: Retention
    days: Days


@dataclass(frozen=True)
class AppServices:
    """All application services; the only object that the window and the terminal receive."""

    paths: Paths
    preferences: Preferences
    library: Library
    sessions: SessionService
    session_timeout: SessionTimeout
    chat: ChatService
    message_editing: MessageEditing
    token_counts: TokenCountService
    group: GroupService
    session_editing: SessionEditing
    search: SearchService
    trash: Trash
    models: ModelService
    doctor: Doctor
    privacy: PrivacyServices
    memory: MemoryService
    memory_lookup: MemoryLookup
    memory_lists: MemoryLists
    fact_lists: FactLists
    bundles: BundleService
    facts: FactService
    documents: DocumentService
    knowledge_base: KnowledgeBase
    archive_queue: ArchiveQueue
    archive_budget: ArchiveBudget
    indexing: IndexingService
    prompt_inspector: PromptInspector
    embedding: Embedding
    calibration: Calibration
    rolling_summary: RollingSummary
    reply_actions: ReplyActions
    reply_sources: ReplySourceReader
    objections: ObjectionService
    draft_chat: DraftChat
    qualification: Qualification
    presets: PresetService
    downloads: Downloads
    dictation: Dictation
    worlds: WorldService
    world_trials: WorldTrials
    web_gate: WebGate
    tool_registry: ToolRegistry
    tool_turns: ToolTurnFactory
    working_memory: WorkingMemory
    research: ResearchService
    background_runner: BackgroundRunner
    activity_log: ActivityLog
    dreams: Dreams
    enrichment: MemoryEnrichment
    feedback: FeedbackService
    idleness: Idleness
    mind: MindServices
    cache_state: CacheState
    prefill: PrefillService
    core: CoreServices
    """Services that the others are built on; for tests and benchmarks."""
    _close_functions: tuple[Callable[[], Awaitable[None]], ...]

    @property
    def model_trial(self) -> ModelTrial:
        return self.core.model_trial

    @property
    def imports(self) -> ImportService:
        """Import of files of other programs, built at its first use."""
        return self.core.imports

    @property
    def card_export(self) -> CardExport:
        """Export of files for other programs, built at its first use."""
        return self.core.card_export

    @property
    def fact_extraction(self) -> FactExtraction:
        return FactExtraction(self.session_editing, self.archive_queue, self.facts, self.preferences)

    @property
    def stable_prefixes(self) -> StablePrefixes:
        return self.core.stable_prefixes

    @property
    def session_speech(self) -> SessionSpeech:
        return SessionSpeech(self.core.session_state, self.preferences)

    def start_background(self) -> None:
        """Start all background services."""
        self.indexing.background.start(INDEX_AFTER)
        self.archive_queue.background.start(ARCHIVE_AFTER)
        self.session_timeout.background.start(TIMEOUT_AFTER)
        self.rolling_summary.background.start()
        self.trash.background.start(PURGE_AFTER)
        self.privacy.retention.background.start(PURGE_AFTER)
        self.mind.key_moments.background.start(PURGE_AFTER)
        self.background_runner.background.start(AWAY_AFTER)
        self.working_memory.background.start(ARCHIVE_AFTER)
        self.enrichment.background.start(ARCHIVE_AFTER)
        self.mind.mood_reader.background.start(ARCHIVE_AFTER)
        self.mind.reminders.background.start(REMIND_AFTER)
        self.mind.notebook_writer.background.start(ARCHIVE_AFTER)
        self.mind.notebook_selector.background.start(INDEX_AFTER)

    async def close(self) -> None:
        """Close all services in order: background work first, then the model processes, and the database last."""
        for close in self._close_functions:
            await close()
