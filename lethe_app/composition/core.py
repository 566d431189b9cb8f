"""Wiring of the services that a session needs, each built once on first access. It does not depend on the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from lethe_app.agents.budget import DailyBudget
from lethe_app.domain.model import EngineCheck, LoadedModel
from lethe_app.llm.client import ModelClient
from lethe_app.paths import Paths
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.background.activity_log import NOT_COUNTED, ActivityLog, ArchiveBudget
from lethe_app.services.chat.group import GroupService
from lethe_app.services.chat.message_editing import MessageEditing
from lethe_app.services.chat.receipts import ReceiptService
from lethe_app.services.chat.reply_actions import ReplyActions
from lethe_app.services.chat.reply_source_reader import ReplySourceReader
from lethe_app.services.documents.knowledge_base import KnowledgeBase
from lethe_app.services.documents.service import DocumentService
from lethe_app.services.events import Listeners, ModelReady, ModelState
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import LlmFactExtraction
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput, TaskModelAdapter
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.passage_sources import PassageSources
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.indexing.worlds import WorldPassages
from lethe_app.services.library import Library
from lethe_app.services.maintenance.backups import BackupService
from lethe_app.services.maintenance.doctor import Doctor
from lethe_app.services.maintenance.trash import FileTrash, RecordTrash, Trash
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.key_moment_store import KeyMomentStore
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.lore import LoreService
from lethe_app.services.memory.macro_values import MacroValues
from lethe_app.services.memory.objections import ObjectionService, key_of
from lethe_app.services.memory.proactive import NOTES, ProactiveMemory
from lethe_app.services.memory.recall import MemorySelection, RecallService
from lethe_app.services.memory.recall_context import RecallContexts
from lethe_app.services.memory.recallers import (
    ConstantRecaller,
    DocumentRecaller,
    KeywordRecaller,
    LoreRecaller,
    SemanticRecaller,
    StickyRecaller,
)
from lethe_app.services.memory.search import MemorySearch
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.memory.time_search import TimeSearch
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.models.service import ModelService
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.mood import MoodService, create_mood_service, mood_state_keys
from lethe_app.services.notebooks.recall import NotebookSelector
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.participants import ParticipantService
from lethe_app.services.personas.bundles import BundleService
from lethe_app.services.personas.draft_chat import DraftChat
from lethe_app.services.personas.presets import PresetService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import PromptAssembler
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.model_format import ModelFormats
from lethe_app.services.prompting.past_sessions import PastSessions
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.turn_context import TurnLoader
from lethe_app.services.scheduling.loop import BackgroundPriority
from lethe_app.services.search.everything import DocumentSearch, SearchService
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.services.sessions.archive_parts import SessionArchiver, SessionFacts
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.languages import MessageLanguages
from lethe_app.services.sessions.rolling_summary import RollingSummary
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.sessions.timeout import SessionTimeout
from lethe_app.services.token_counts import TokenCountService
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.services.worlds.service import WorldPurge, WorldService
from lethe_app.services.worlds.world_trial import WorldTrials
from lethe_app.storage.agents.task_runs import TaskRuns
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.chats.replies import Replies
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.chats.turn_rows import TurnReader
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from lethe_app.storage.index.pending import PendingIndex
from lethe_app.storage.key_value import AppState, SessionState, TokenCounts
from lethe_app.storage.memory.documents import DocumentStore
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.turn_memories import TurnMemories
from lethe_app.storage.memory.world_usage import WorldUsage

if TYPE_CHECKING:
    from lethe_app.services.imports.service import ImportService
    from lethe_app.services.personas.card_export import CardExport


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
        self.priority = BackgroundPriority()
        self.fact_store = FactStore(database)
        self.memory_store = MemoryStore(database)
        self.memory_cache = MemoryCache(self.memory_store)
        self.key_moment_store = KeyMomentStore(self.memory_cache, self.memory_store, self.fact_store)
        self.session_store = SessionStore(database, preferences.redact, self.memory_cache.refresh)
        self.document_store = DocumentStore(database)
        self.passages = Passages(database)
        self.receipt_store = Receipts(database)
        self.app_state = AppState(database)
        self.session_state = SessionState(database)
        self.client = ModelClient()
        self.probe_client = ModelClient(embeds_texts=True)
        """Client of the process in which the self-check tries an embedding model."""
        self.backups = BackupService(database.path)
        self._check_window = check_window
        self.cache_state = CacheState(self.client, preferences, paths.states)
        self.task_prompts = TaskPrompts(paths.prompts, paths.own_prompts)
        self.library = Library(paths, database)
        self.memory_index = MemoryIndex(self.passages, folder=paths.index)
        self.token_counts = TokenCountService(self.client, TokenCounts(database))
        self.models = ModelService(self.client, self.token_counts, preferences, paths)
        self.participants = ParticipantService(self.library, preferences)
        self.formats = ModelFormats(self.library, preferences)
        self.prompts_outdated: Listeners[str] = Listeners()
        """Emits the persona whose prompts have to be made again, because something in them was deleted or edited."""
        self.embedding = Embedding(ModelClient(embeds_texts=True), self.memory_index, preferences, enabled=by_meaning)
        self.calibration = Calibration(self.app_state, self.embedding, preferences, paths.calibration)
        self.lore = LoreService(self.library, preferences, self.session_state)
        self.untrusted_memories = UntrustedMemories(self.library, paths.prompts)
        self.turn_memories = TurnMemories(database)
        self.task_runs = TaskRuns(database)
        self.archive_jobs = ArchiveJobs(database)
        self.knowledge_base = KnowledgeBase(self.memory_index, self.document_store)
        self.past_sessions = PastSessions(self.session_store, self.fact_store, preferences, self.token_counts)
        self.receipts = ReceiptService(self.receipt_store, self.token_counts, preferences)
        self.fill_macros = MacroValues(self.session_store, self.memory_cache, self.lore, self.untrusted_memories).fill
        # A saved KV cache state contains the text of its prompt, so it must not outlive anything that is deleted.
        self.prompts_outdated.add(self.cache_state.forget_persona)
        self.memory_cache.forgotten.add(self.cache_state.forget_persona)
        self.library.deleted.add(self.cache_state.forget_persona)
        self.notebooks = NotebookService(paths, database, self.prompts_outdated.notify)

    @cached_property
    def turn_loader(self) -> TurnLoader:
        return TurnLoader(
            TurnReader(self.database),
            self.participants,
            self.library,
            self.preferences,
            lambda persona_id: [(NOTES, persona_id), key_of(persona_id), *mood_state_keys(persona_id)],
            self.notebooks.read_all,
            lambda: self.cache_state.revision,
        )

    @cached_property
    def stable_prefixes(self) -> StablePrefixes:
        stores = (self.session_store, self.session_state, self.preferences, self.token_counts)
        return StablePrefixes(*stores, self.past_sessions, self.notebook_selector.build_sections, self.prompts_outdated)

    @cached_property
    def prompt_assembler(self) -> PromptAssembler:
        stores = (self.library, self.preferences, self.token_counts, self.fill_macros, self.task_prompts.folders)
        return PromptAssembler(self.session_store, self.stable_prefixes, self.formats, *stores)

    @cached_property
    def notebook_selector(self) -> NotebookSelector:
        embedding_services = (self.token_counts, self.embedding, self.calibration)
        return NotebookSelector(self.notebooks, self.session_state, self.preferences, *embedding_services, self.priority)

    @cached_property
    def indexing(self) -> IndexingService:
        pending = PendingIndex(self.database)
        return IndexingService(
            pending,
            PassageSources(pending, self.session_store, self.memory_store, self.fact_store, self.document_store),
            WorldPassages(self.library, self.app_state, self.memory_index, self.priority),
            self.memory_index,
            self.embedding,
            self.calibration,
            self.priority,
        )

    @cached_property
    def documents(self) -> DocumentService:
        return DocumentService(self.document_store, self.indexing, self.prompts_outdated, self.cache_state)

    @cached_property
    def facts(self) -> FactService:
        index_services = (self.memory_index, self.indexing, self.calibration)
        return FactService(self.fact_store, self.key_moment_store, *index_services, self.prompts_outdated)

    @cached_property
    def structured_output(self) -> StructuredOutput:
        return StructuredOutput(
            self.client,
            self.task_prompts,
            self.loaded_model,
            self.formats.renderer,
            self.token_counts.count,
            lambda: self.priority.is_turn_active,
        )

    @cached_property
    def qualification(self) -> Qualification:
        return Qualification(self.structured_output, self.task_prompts, self.app_state, self.paths.selftest)

    @cached_property
    def immediate_task_model(self) -> TaskModelAdapter:
        """Adapter that answers task prompts within a turn; counting tokens preempts a background request under way."""
        structured_output = StructuredOutput(
            self.client, self.task_prompts, self.loaded_model, self.formats.renderer, self.token_counts.count, lambda: False
        )
        return TaskModelAdapter(structured_output, lambda: self.client.count(["."]))

    @cached_property
    def archiver(self) -> SessionArchiver:
        extraction, fact_extraction = ConversationExtraction(self.structured_output), LlmFactExtraction(self.structured_output)
        session_facts = SessionFacts(self.archive_jobs, self.facts, fact_extraction, self.preferences)
        return SessionArchiver(self.session_store, self.facts, session_facts, extraction, self.qualification, self.cache_state)

    @cached_property
    def archive_queue(self) -> ArchiveQueue:
        # The echo engine is scripted, so there is nothing to qualify.
        check = self.qualification.check if self.engine != "echo" else None
        queue_services = (self.indexing, self.priority, self.sessions_changed)
        run_recorded = self.archive_budget.run_recorded
        return ArchiveQueue(self.session_store, self.archive_jobs, self.archiver, *queue_services, check, run_recorded)

    @cached_property
    def archive_budget(self) -> ArchiveBudget:
        stores = (self.session_store, self.archive_jobs, self.task_runs)
        return ArchiveBudget(self.activity_log, *stores, self.preferences)

    @cached_property
    def budget(self) -> DailyBudget:
        return DailyBudget(self.task_runs, lambda: self.preferences.current, NOT_COUNTED)

    @cached_property
    def activity_log(self) -> ActivityLog:
        return ActivityLog(self.task_runs, self.budget)

    @cached_property
    def rolling_summary(self) -> RollingSummary:
        model_services = (ConversationExtraction(self.structured_output), self.qualification)
        return RollingSummary(self.stable_prefixes, *model_services, self.priority, self.preferences)

    @cached_property
    def sessions(self) -> SessionService:
        stores = (self.session_store, Replies(self.database), self.participants, self.archive_queue, self.session_timeout)
        return SessionService(*stores, self.fill_macros, self.sessions_changed, MessageLanguages(self.database))

    @cached_property
    def session_timeout(self) -> SessionTimeout:
        return SessionTimeout(self.session_store, self.archive_queue, self.preferences, self.priority)

    @cached_property
    def group(self) -> GroupService:
        return GroupService(self.session_store, self.library, self.participants, self.preferences, self.immediate_task_model)

    @cached_property
    def session_editing(self) -> SessionEditing:
        session_services = (self.database, self.session_store, self.participants, self.sessions)
        return SessionEditing(*session_services, self.archive_queue, self.archiver, self.stable_prefixes, self.cache_state)

    @cached_property
    def bundles(self) -> BundleService:
        stores = (self.paths, self.database, self.library, self.app_state)
        return BundleService(*stores, self.indexing, self.preferences, self.sessions_changed)

    @cached_property
    def card_export(self) -> CardExport:
        from lethe_app.services.personas.card_export import CardExport  # noqa: PLC0415 - see `imports`

        return CardExport(self.database, self.library)

    @cached_property
    def imports(self) -> ImportService:
        # The readers of foreign formats take a tenth of a second to load, and are rarely needed.
        from lethe_app.services.imports.service import ImportService  # noqa: PLC0415

        services = (self.library, self.bundles, self.presets, self.sessions, self.archive_queue)
        return ImportService(*services, self.app_state, self.preferences, self.memory)

    @cached_property
    def search(self) -> SearchService:
        stores = (self.database, self.session_store, self.fact_store, self.memory_store)
        documents = DocumentSearch(self.document_store, self.knowledge_base)
        return SearchService(*stores, self.memory_lookup, self.indexing, self.library, documents)

    @cached_property
    def time_search(self) -> TimeSearch:
        stores = (self.memory_index, self.passages, self.session_store)
        return TimeSearch(MemorySearch(*stores, self.fact_store, self.preferences), *stores)

    @cached_property
    def moods(self) -> MoodService:
        return create_mood_service(self.app_state, self.preferences, self.paths)

    @cached_property
    def recall_contexts(self) -> RecallContexts:
        memory_services = (self.turn_loader, self.memory_cache, self.memory_index, self.preferences)
        return RecallContexts(*memory_services, self.participants, self.lore, self.session_store)

    @cached_property
    def selection(self) -> MemorySelection:
        # The order matters: a memory is taken from the first recaller that proposes it, and the semantic one must not recall
        # entries that the World Info one keeps back.
        recallers = (
            LoreRecaller(self.lore),
            KeywordRecaller(self.preferences),
            SemanticRecaller(self.time_search, self.preferences),
            DocumentRecaller(self.knowledge_base, self.untrusted_memories, self.preferences),
            ConstantRecaller(),
            StickyRecaller(),
            self.notebook_selector,
        )
        return MemorySelection(recallers, self.objections, self.preferences)

    @cached_property
    def proactive(self) -> ProactiveMemory:
        stores = (self.app_state, self.moods, self.untrusted_memories)
        return ProactiveMemory(*stores, self.memory_index, self.calibration, self.preferences)

    @cached_property
    def recall(self) -> RecallService:
        stores = (self.turn_memories, self.memory_cache, self.untrusted_memories, self.indexing, self.preferences)
        return RecallService(self.recall_contexts, self.selection, self.proactive, *stores)

    @cached_property
    def message_editing(self) -> MessageEditing:
        return MessageEditing(self.session_store, self.sessions, self.stable_prefixes, self.cache_state, self.receipts)

    @cached_property
    def memory_lists(self) -> MemoryLists:
        stores = (self.database, self.memory_store, self.memory_cache, self.session_store)
        return MemoryLists(*stores, self.memory_index, self.indexing)

    @cached_property
    def fact_lists(self) -> FactLists:
        stores = (self.database, self.session_store, self.fact_store, self.participants)
        return FactLists(*stores, self.past_sessions, self.preferences, self.token_counts, self.loaded_model)

    @cached_property
    def world_purge(self) -> WorldPurge:
        return WorldPurge(WorldUsage(self.database), self.receipt_store)

    @cached_property
    def world_trials(self) -> WorldTrials:
        stores = (self.session_store, self.participants, self.session_state)
        return WorldTrials(self.lore, *stores, self.models, self.token_counts)

    @cached_property
    def worlds(self) -> WorldService:
        stores = (self.paths, self.library, self.participants, self.preferences, self.session_state, self.database)
        return WorldService(*stores, self.world_purge)

    @cached_property
    def memory(self) -> MemoryService:
        index_services = (self.memory_index, self.indexing, self.calibration)
        return MemoryService(self.memory_store, self.memory_cache, *index_services, self.library, self.prompts_outdated)

    @cached_property
    def memory_lookup(self) -> MemoryLookup:
        memory_services = (self.participants, self.lore, self.memory_cache, self.time_search, self.indexing)
        return MemoryLookup(*memory_services, self.recall_contexts, self.recall, self.session_state)

    @cached_property
    def objections(self) -> ObjectionService:
        return ObjectionService(self.app_state, self.turn_memories, self.session_store)

    @cached_property
    def reply_actions(self) -> ReplyActions:
        stores = (self.fact_store, self.memory_store, self.session_state, self.memory, self.facts)
        return ReplyActions(*stores, self.sessions, self.objections)

    @cached_property
    def reply_sources(self) -> ReplySourceReader:
        return ReplySourceReader(
            self.session_store, self.fact_store, self.memory_store, self.turn_memories, self.recall, self.stable_prefixes
        )

    @cached_property
    def doctor(self) -> Doctor:
        models = (self.models, self.probe_client, self.calibration)
        return Doctor(self.paths, self.library, *models, self._check_window, self.preferences)

    @cached_property
    def draft_chat(self) -> DraftChat:
        return DraftChat(self.library, self.sessions, self.app_state)

    @cached_property
    def model_trial(self) -> ModelTrial:
        return ModelTrial(
            self.client,
            ModelClient(),
            self.paths.resources / "example_logits.json",
            self.loaded_model,
            self.formats.renderer,
        )

    @cached_property
    def downloads(self) -> Downloads:
        return Downloads(self.paths, self.preferences, self.app_state)

    @cached_property
    def presets(self) -> PresetService:
        return PresetService(self.paths, self.database, self.library.changed)

    @cached_property
    def trash(self) -> Trash:
        files = FileTrash(self.paths, self.database, self.library, self.presets, self.notebooks)
        sessions = (self.session_store, self.sessions, self.session_editing)
        records = RecordTrash(self.database, *sessions, self.memory, self.facts)
        return Trash(files, records, self.documents, self.indexing, self.preferences)

    def loaded_model(self) -> LoadedModel | None:
        """Return the loaded model; None if there is none."""
        state: ModelState = self.models.state
        return state.model if isinstance(state, ModelReady) else None
