"""Wiring of the services that a session needs, each built once on first access. It does not depend on the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from lethe_app.agents.budget import DailyBudget
from lethe_app.domain.model import EngineCheck, LoadedModel
from lethe_app.llm.client import ModelClient
from lethe_app.paths import Paths
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.retrieval.memory_index import Recall
from lethe_app.services.background.activity_log import NOT_COUNTED, ActivityLog, ArchiveLog
from lethe_app.services.chat.group import GroupService
from lethe_app.services.chat.message_editing import MessageEditing
from lethe_app.services.chat.receipts import ReceiptService
from lethe_app.services.chat.reply_actions import ReplyActions
from lethe_app.services.chat.reply_source_reader import ReplySourceReader
from lethe_app.services.events import Listeners, ModelState, Ready
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput, TaskModelAdapter
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.service import Indexing
from lethe_app.services.library import Library
from lethe_app.services.maintenance.backups import BackupService
from lethe_app.services.maintenance.doctor import Doctor
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.initiative import InitiativeService
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.lore import LoreKeeping
from lethe_app.services.memory.macro_values import MacroValues
from lethe_app.services.memory.objections import ObjectionService, key_of
from lethe_app.services.memory.proactive import NOTES, ProactiveMemory
from lethe_app.services.memory.recall import RecallService
from lethe_app.services.memory.recall_context import RecallContexts
from lethe_app.services.memory.recallers import (
    ConstantRecaller,
    KeywordRecaller,
    LoreRecaller,
    SemanticRecaller,
    StayingRecaller,
)
from lethe_app.services.memory.selection import MemorySelection
from lethe_app.services.memory.service import Brain
from lethe_app.services.memory.time_search import TimeSearch
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.models.service import Models
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.mood import Moods, made_moods
from lethe_app.services.mood import keys_of as mood_keys
from lethe_app.services.notebooks.recall import NotebookRecaller, Subjects
from lethe_app.services.notebooks.service import Notebooks
from lethe_app.services.participants import ParticipantService
from lethe_app.services.personas.bundles import Bundles
from lethe_app.services.personas.draft_chat import DraftChat
from lethe_app.services.personas.presets import Presets
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import Prompting
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.model_format import ModelFormats
from lethe_app.services.prompting.past_sessions import PastSessions
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.turn_context import TurnLoader
from lethe_app.services.scheduling.priority import BackgroundPriority
from lethe_app.services.search.everything import SearchService
from lethe_app.services.search.memory_lists import Browsing
from lethe_app.services.sessions.archive_parts import Archivist
from lethe_app.services.sessions.archive_queue import Archiving
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.rolling_summary import RollingSummary
from lethe_app.services.sessions.service import Sessions
from lethe_app.services.sessions.timeout import SessionTimeout
from lethe_app.services.token_counts import Counting
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.services.worlds.purge import WorldPurge
from lethe_app.services.worlds.service import Worlds
from lethe_app.services.worlds.test_bench import WorldTrials
from lethe_app.storage.agents.task_runs import TaskRuns
from lethe_app.storage.chats.archive_jobs import Parts
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.chats.replies import Replies
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.chats.turn_rows import TurnReader
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from lethe_app.storage.index.pending import PendingIndex
from lethe_app.storage.key_value import AppState, SessionState, TokenCounts
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import Memories
from lethe_app.storage.memory.turn_memories import TurnMemories
from lethe_app.storage.memory.world_usage import Awakenings


class CoreServices:
    """Core services, each built once on first access with its dependencies."""

    def __init__(
        self,
        paths: Paths,
        engine: str,
        preferences: Preferences,
        database: Database,
        check_window: Callable[[], EngineCheck],
        *,
        by_meaning: bool,
    ) -> None:
        self.paths = paths
        self.engine = engine
        self.preferences = preferences
        self.database = database
        self.sessions_changed: Listeners[str] = Listeners()
        self.quiet = BackgroundPriority()
        self.chats = Chats(database)
        self.facts = FactStore(database)
        self.memories = Memories(database)
        self.passages = Passages(database)
        self.receipts = Receipts(database)
        self.app_state = AppState(database)
        self.state = SessionState(database)
        self.client = ModelClient(engine)
        self.probe = ModelClient("embed")
        """Client of the process in which the self-check tries an embedding model."""
        self.backups = BackupService(database.path)
        self._check_window = check_window
        self.warmth = CacheState(self.client, preferences, paths.states)
        self.errands = TaskPrompts(paths.prompts, paths.own_prompts)
        self.library = Library(paths, database)
        self.recall = Recall(self.passages, folder=paths.index)
        self.counting = Counting(self.client, TokenCounts(database))
        self.models = Models(self.client, self.counting, preferences, paths)
        self.casting = ParticipantService(self.library, preferences)
        self.formats = ModelFormats(self.library, preferences)
        self.prompts_outdated: Listeners[str] = Listeners()
        """Emits the persona whose prompts have to be made again, because something in them was deleted or edited."""
        self.holdings = MemoryCache(self.memories)
        self.embedding = Embedding(ModelClient("embed"), self.recall, preferences, paths, enabled=by_meaning)
        self.calibration = Calibration(self.app_state, self.embedding, preferences, paths.calibration)
        self.keeping = LoreKeeping(self.library, preferences, self.state)
        self.foreign = UntrustedMemories(self.library, paths.prompts)
        self.turns = TurnMemories(database)
        self.runs = TaskRuns(database)
        self.fill = MacroValues(self.chats, self.holdings, self.keeping, self.foreign).fill
        # A saved KV cache state contains the text of its prompt, so it must not outlive anything that is deleted.
        self.prompts_outdated.add(self.warmth.forget_persona)
        self.holdings.forgotten.add(self.warmth.forget_persona)
        self.library.deleted.add(self.warmth.forget_persona)
        self.loader = TurnLoader(
            TurnReader(database),
            self.casting,
            self.library,
            preferences,
            lambda persona_id: [(NOTES, persona_id), key_of(persona_id), *mood_keys(persona_id)],
            self.notebooks.read_all,
            lambda: self.warmth.revision,
        )

    @cached_property
    def notebooks(self) -> Notebooks:
        return Notebooks(self.paths, self.database, self.prompts_outdated.tell)

    @cached_property
    def past_sessions(self) -> PastSessions:
        return PastSessions(self.chats, self.facts, self.preferences, self.counting)

    @cached_property
    def frames(self) -> StablePrefixes:
        kept = (self.chats, self.state, self.preferences, self.counting)
        return StablePrefixes(*kept, self.past_sessions, self.subjects.standing, self.prompts_outdated)

    @cached_property
    def prompting(self) -> Prompting:
        kept = (self.library, self.preferences, self.counting, self.fill)
        return Prompting(self.chats, self.frames, self.formats, *kept)

    @cached_property
    def subjects(self) -> Subjects:
        counted = (self.counting, self.embedding, self.calibration)
        return Subjects(self.notebooks, self.state, self.preferences, *counted, self.quiet)

    @cached_property
    def indexing(self) -> Indexing:
        return Indexing(
            PendingIndex(self.database),
            self.chats,
            self.memories,
            self.facts,
            self.app_state,
            self.library,
            self.recall,
            self.embedding,
            self.calibration,
            self.quiet,
        )

    @cached_property
    def knowing(self) -> FactService:
        return FactService(self.facts, self.recall, self.indexing, self.calibration, self.prompts_outdated)

    @cached_property
    def clerk(self) -> StructuredOutput:
        return StructuredOutput(
            self.client,
            self.errands,
            self.loaded,
            self.formats.renderer,
            self.counting.count,
            lambda: self.quiet.is_broken,
        )

    @cached_property
    def trust(self) -> Qualification:
        return Qualification(self.clerk, self.errands, self.app_state, self.paths.selftest)

    @cached_property
    def at_once(self) -> TaskModelAdapter:
        """Adapter that answers task prompts within a turn."""
        clerk = StructuredOutput(
            self.client, self.errands, self.loaded, self.formats.renderer, self.counting.count, lambda: False
        )
        return TaskModelAdapter(clerk, lambda: self.client.count(["."]))

    @cached_property
    def archiving(self) -> Archiving:
        archivist = Archivist(
            self.chats, Parts(self.database), self.knowing, ConversationExtraction(self.clerk), self.trust, self.preferences
        )
        # The echo engine is scripted, so there is nothing to qualify.
        check = self.trust.check if self.engine != "echo" else None
        recorded = ArchiveLog(self.doings, self.chats, Parts(self.database)).carry_out
        work = (self.indexing, self.quiet, self.sessions_changed)
        return Archiving(self.chats, Parts(self.database), archivist, *work, check, recorded)

    @cached_property
    def budget(self) -> DailyBudget:
        return DailyBudget(self.runs, lambda: self.preferences.current, NOT_COUNTED)

    @cached_property
    def doings(self) -> ActivityLog:
        return ActivityLog(self.runs, self.budget)

    @cached_property
    def recapping(self) -> RollingSummary:
        return RollingSummary(self.frames, ConversationExtraction(self.clerk), self.trust, self.quiet)

    @cached_property
    def sessions(self) -> Sessions:
        kept = (self.chats, Replies(self.database), self.casting, self.archiving)
        return Sessions(*kept, self.timeout, self.fill, self.sessions_changed)

    @cached_property
    def timeout(self) -> SessionTimeout:
        return SessionTimeout(self.chats, self.archiving, self.preferences, self.quiet)

    @cached_property
    def group(self) -> GroupService:
        return GroupService(self.chats, self.library, self.casting, self.preferences, self.sessions_changed, self.at_once)

    @cached_property
    def chronicle(self) -> SessionEditing:
        home = (self.database, self.chats, self.casting, self.sessions, self.archiving)
        return SessionEditing(*home, self.frames, self.warmth)

    @cached_property
    def bundles(self) -> Bundles:
        kept = (self.paths, self.database, self.library, self.app_state)
        return Bundles(*kept, self.indexing, self.preferences, self.sessions_changed)

    @cached_property
    def finding(self) -> SearchService:
        kept = (self.database, self.chats, self.facts, self.memories)
        return SearchService(*kept, self.lookup, self.indexing, self.chronicle, self.library)

    @cached_property
    def searching(self) -> TimeSearch:
        return TimeSearch(self.recall, self.passages, self.chats, self.facts, self.preferences)

    @cached_property
    def moods(self) -> Moods:
        return made_moods(self.app_state, self.preferences, self.paths)

    @cached_property
    def contexts(self) -> RecallContexts:
        found = (self.loader, self.holdings, self.recall, self.preferences)
        return RecallContexts(*found, self.casting, self.keeping, self.chats)

    @cached_property
    def selection(self) -> MemorySelection:
        # The order matters: a memory is taken from the first recaller that proposes it, and the semantic one must not recall
        # entries that the World Info one keeps back.
        recallers = (
            LoreRecaller(self.keeping),
            KeywordRecaller(self.preferences),
            SemanticRecaller(self.searching, self.preferences),
            ConstantRecaller(),
            StayingRecaller(),
            NotebookRecaller(self.subjects),
        )
        return MemorySelection(recallers, self.objecting, self.preferences)

    @cached_property
    def proactive(self) -> ProactiveMemory:
        return ProactiveMemory(self.app_state, self.moods, self.foreign)

    @cached_property
    def recollecting(self) -> RecallService:
        initiative = InitiativeService(self.proactive, self.recall, self.calibration, self.preferences)
        kept = (self.turns, self.holdings, self.foreign, self.indexing, self.preferences)
        return RecallService(self.contexts, self.selection, initiative, *kept)

    @cached_property
    def receipt_service(self) -> ReceiptService:
        return ReceiptService(self.receipts, self.counting)

    @cached_property
    def message_editing(self) -> MessageEditing:
        return MessageEditing(self.chats, self.sessions, self.frames, self.warmth, self.receipt_service)

    @cached_property
    def browsing(self) -> Browsing:
        return Browsing(
            self.database,
            self.memories,
            self.holdings,
            self.chats,
            self.facts,
            self.recall,
            self.indexing,
            self.casting,
            self.preferences,
            self.counting,
            self.loaded,
        )

    @cached_property
    def withdrawing(self) -> WorldPurge:
        return WorldPurge(Awakenings(self.database), self.receipts)

    @cached_property
    def worlds(self) -> Worlds:
        trials = WorldTrials(self.keeping, self.chats, self.casting, self.state, self.models, self.counting)
        home = (self.paths, self.library, self.casting, self.preferences, self.state)
        return Worlds(*home, self.counting, self.database, trials, self.withdrawing)

    @cached_property
    def brain(self) -> Brain:
        found = (self.recall, self.indexing, self.calibration)
        return Brain(self.memories, self.holdings, *found, self.prompts_outdated)

    @cached_property
    def lookup(self) -> MemoryLookup:
        found = (self.casting, self.keeping, self.holdings, self.searching, self.indexing)
        return MemoryLookup(*found, self.contexts, self.recollecting, self.state)

    @cached_property
    def objecting(self) -> ObjectionService:
        return ObjectionService(self.app_state, self.turns, self.chats)

    @cached_property
    def reconsidering(self) -> ReplyActions:
        kept = (self.facts, self.memories, self.state, self.brain, self.knowing)
        return ReplyActions(*kept, self.sessions, self.objecting)

    @cached_property
    def reply_sources(self) -> ReplySourceReader:
        return ReplySourceReader(self.chats, self.facts, self.memories, self.turns, self.lookup, self.frames)

    @cached_property
    def doctor(self) -> Doctor:
        return Doctor(self.paths, self.library, self.models, self.probe, self.calibration, self._check_window)

    @cached_property
    def draft_chat(self) -> DraftChat:
        return DraftChat(self.library, self.sessions, self.app_state)

    @cached_property
    def model_trial(self) -> ModelTrial:
        return ModelTrial(self.client, self.loaded, self.formats.renderer)

    @cached_property
    def downloads(self) -> Downloads:
        return Downloads(self.paths, self.preferences)

    @cached_property
    def presets(self) -> Presets:
        return Presets(self.paths, self.database, self.library.changed)

    @cached_property
    def trash(self) -> Trash:
        files = (self.paths, self.database, self.chats, self.library, self.presets)
        kept = (self.sessions, self.chronicle, self.brain, self.knowing, self.indexing)
        return Trash(*files, *kept, self.preferences, self.notebooks)

    def loaded(self) -> LoadedModel | None:
        """Return the loaded model; None if there is none."""
        state: ModelState = self.models.state
        return state.model if isinstance(state, Ready) else None
