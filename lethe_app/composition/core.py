"""Wiring of the services that a session needs, each built once on first access. It does not depend on the window."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from lethe_app.agents.budget import DailyBudget
from lethe_app.composition.creation import service
from lethe_app.domain.changes import TrashKind
from lethe_app.domain.model import EngineCheck, LoadedModel
from lethe_app.llm.client import ModelClient
from lethe_app.paths import Paths
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.background.activity_log import NOT_COUNTED, ActivityLog, ArchiveBudget
from lethe_app.services.chat.forgetting import Forgetting
from lethe_app.services.chat.generation import ReceiptService
from lethe_app.services.chat.group import GroupService
from lethe_app.services.chat.message_editing import MessageEditing
from lethe_app.services.chat.reply_actions import ReplyActions
from lethe_app.services.chat.reply_source_reader import ReplySourceReader
from lethe_app.services.documents.knowledge_base import KnowledgeBase
from lethe_app.services.documents.service import DocumentService
from lethe_app.services.events import Listeners, ModelReady, ModelState
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.llm_facts import LlmFactExtraction
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.service import IndexingService, PassageSources
from lethe_app.services.indexing.worlds import WorldPassages
from lethe_app.services.library import Library
from lethe_app.services.maintenance.backups import start_daily_backups
from lethe_app.services.maintenance.doctor import Doctor
from lethe_app.services.maintenance.integrity import IntegrityService
from lethe_app.services.maintenance.trash import FileTrash, Trash
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.key_moment_store import KeyMomentStore
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.lore import LoreService
from lethe_app.services.memory.macro_values import MacroValues
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.proactive import NOTES, ProactiveMemory
from lethe_app.services.memory.recall import MemorySelection, RecallService, objections_key
from lethe_app.services.memory.recall_context import RecallContexts
from lethe_app.services.memory.recallers import (
    ActiveRecaller,
    ConstantRecaller,
    DocumentRecaller,
    KeywordRecaller,
    LoreRecaller,
    SemanticRecaller,
)
from lethe_app.services.memory.search import MemorySearch
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.models.service import ModelService
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.mood import create_mood_service, mood_state_keys
from lethe_app.services.notebooks.recall import NotebookSelector
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.participants import ParticipantService
from lethe_app.services.personas.bundles import BundleService
from lethe_app.services.personas.draft_chat import DraftChat
from lethe_app.services.personas.presets import PresetService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import ModelFormats, PromptAssembler
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.past_sessions import PastSessions
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.turn_context import TurnLoader
from lethe_app.services.scheduling.loop import BackgroundPriority
from lethe_app.services.search.everything import SearchService
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
from lethe_app.storage.chats.sessions import SHARED_VARIABLES, SessionStore
from lethe_app.storage.chats.turn_rows import TurnReader
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from lethe_app.storage.index.pending import PendingIndex
from lethe_app.storage.key_value import AppState, SessionState, TokenCounts
from lethe_app.storage.memory.documents import DocumentStore
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.turn_memories import TurnMemories, WorldUsage
from lethe_app.storage.trash_listing import CLOCK, TrashListing

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
        self.backups = start_daily_backups(paths.home)
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
        self.fill_macros = MacroValues(
            self.session_store, self.memory_cache, self.lore, self.untrusted_memories, self.app_state
        ).fill
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
            lambda persona_id: [
                CLOCK,
                SHARED_VARIABLES,
                (NOTES, persona_id),
                objections_key(persona_id),
                *mood_state_keys(persona_id),
            ],
            self.notebooks.read_all,
            lambda: self.cache_state.revision,
        )

    stable_prefixes = service(
        StablePrefixes,
        past="past_sessions",
        load_notebook_sections="notebook_selector.build_sections",
        renewed="prompts_outdated",
    )
    prompt_assembler = service(PromptAssembler, fill="fill_macros", prompt_folders="task_prompts.folders")
    notebook_selector = service(NotebookSelector)

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

    documents = service(DocumentService, store="document_store")
    facts = service(FactService, key_moments="key_moment_store", renewed="prompts_outdated")

    @cached_property
    def structured_output(self) -> StructuredOutput:
        return StructuredOutput(
            self.client,
            self.task_prompts,
            self.loaded_model,
            self.formats.format_of,
            self.token_counts.count,
            lambda: self.priority.is_turn_active,
        )

    qualification = service(Qualification, folder="paths.selftest")

    @cached_property
    def immediate_task_model(self) -> StructuredOutput:
        """Client of task prompts that are answered within a turn."""
        return StructuredOutput(
            self.client, self.task_prompts, self.loaded_model, self.formats.format_of, self.token_counts.count, None
        )

    conversation_extraction = service(ConversationExtraction)
    fact_extraction_by_model = service(LlmFactExtraction)
    session_facts = service(SessionFacts, extraction="fact_extraction_by_model")
    archiver = service(SessionArchiver, extraction="conversation_extraction")

    @cached_property
    def archive_queue(self) -> ArchiveQueue:
        # The echo engine is scripted, so there is nothing to qualify.
        check = self.qualification.check if self.engine != "echo" else None
        queue_services = (self.indexing, self.priority, self.sessions_changed)
        stores = (self.session_store, self.archive_jobs, self.archiver)
        return ArchiveQueue(*stores, *queue_services, check, self.archive_budget.run_recorded)

    archive_budget = service(ArchiveBudget)

    @cached_property
    def budget(self) -> DailyBudget:
        return DailyBudget(self.task_runs, lambda: self.preferences.current, NOT_COUNTED)

    activity_log = service(ActivityLog)
    rolling_summary = service(RollingSummary, extraction="conversation_extraction")
    message_languages = service(MessageLanguages)
    sessions = service(SessionService, changed="sessions_changed", languages="message_languages")
    session_timeout = service(SessionTimeout)
    group = service(GroupService, answer_model="immediate_task_model")
    session_editing = service(SessionEditing)
    bundles = service(BundleService)

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

    search = service(SearchService)
    memory_search = service(MemorySearch)
    moods = service(create_mood_service)
    recall_contexts = service(RecallContexts)

    @cached_property
    def selection(self) -> MemorySelection:
        # The order matters: a memory is taken from the first recaller that proposes it, and the semantic one must not recall
        # entries that the World Info one keeps back.
        recallers = (
            LoreRecaller(self.lore),
            KeywordRecaller(self.preferences),
            SemanticRecaller(self.memory_search, self.preferences),
            DocumentRecaller(self.knowledge_base, self.untrusted_memories, self.preferences),
            ConstantRecaller(),
            ActiveRecaller(),
            self.notebook_selector,
        )
        return MemorySelection(recallers, self.preferences)

    proactive = service(ProactiveMemory)
    recall = service(RecallService)
    message_editing = service(MessageEditing, receipts="receipt_store")
    forgetting = service(Forgetting)
    memory_lists = service(MemoryLists)
    fact_lists = service(FactLists)
    world_usage = service(WorldUsage)
    world_purge = service(WorldPurge, receipts="receipt_store")
    world_trials = service(WorldTrials)
    worlds = service(WorldService)
    memory = service(MemoryService, renewed="prompts_outdated")
    memory_lookup = service(MemoryLookup)
    objections = service(ObjectionService)
    reply_actions = service(ReplyActions)
    reply_sources = service(ReplySourceReader)
    integrity = service(IntegrityService)
    doctor = service(Doctor, embedder="probe_client", check_window="_check_window")
    draft_chat = service(DraftChat)

    @cached_property
    def model_trial(self) -> ModelTrial:
        return ModelTrial(
            self.client,
            ModelClient(),
            self.paths.resources / "example_logits.json",
            self.loaded_model,
            self.formats.renderer,
        )

    downloads = service(Downloads)
    presets = service(PresetService)
    file_trash = service(FileTrash)
    trash_listing = service(TrashListing)

    @cached_property
    def restorers(self) -> dict[TrashKind, Callable[[str], Awaitable[object]]]:
        """Functions that restore what was deleted, by kind."""
        return {
            TrashKind.CONVERSATION: lambda id_: self.sessions.restore(UUID(id_)),
            TrashKind.MESSAGE: lambda id_: self.session_editing.restore_message(UUID(id_)),
            TrashKind.MEMORY: lambda id_: self.memory.restore(UUID(id_)),
            TrashKind.FACT: lambda id_: self.facts.restore(UUID(id_)),
            TrashKind.PERSONA: lambda path: self.library.restore_persona(Path(path)),
            TrashKind.USER_PERSONA: lambda path: self.library.restore_persona(Path(path)),
            TrashKind.WORLD: lambda path: self.library.restore_world(Path(path)),
            TrashKind.PRESET: lambda path: self.presets.restore(Path(path)),
            TrashKind.NOTEBOOK: lambda path: self.notebooks.restore(Path(path)),
        }

    trash = service(Trash, files="file_trash", records="trash_listing")

    def loaded_model(self) -> LoadedModel | None:
        """Return the loaded model; None if there is none."""
        state: ModelState = self.models.state
        return state.model if isinstance(state, ModelReady) else None
