"""Wires the rooms together: builds every service once and hands each its neighbours. Knows no window."""

from __future__ import annotations

from functools import cached_property

from lethe_app.domain.model import LoadedModel
from lethe_app.llm.client import ModelClient
from lethe_app.paths import Paths
from lethe_app.prompt.task_prompts import TaskPrompts
from lethe_app.retrieval.memory_index import Recall
from lethe_app.services.chat.expected_prefix import ExpectedPrefix
from lethe_app.services.chat.group import GroupService
from lethe_app.services.chat.prefill import ReadingAhead
from lethe_app.services.chat.prompt_inspector import Inspecting
from lethe_app.services.chat.recall_step import RecallStep
from lethe_app.services.chat.receipts import ReceiptService
from lethe_app.services.chat.reply_actions import ReplyActions
from lethe_app.services.chat.service import Chat
from lethe_app.services.events import Listeners, ModelState, Ready
from lethe_app.services.extraction.conversation import ConversationExtraction
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput, TaskModelAdapter
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.service import Indexing
from lethe_app.services.library import Library
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.lore import LoreKeeping
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.proactive import ProactiveMemory
from lethe_app.services.memory.recall import RecallService
from lethe_app.services.memory.service import Brain
from lethe_app.services.memory.time_search import TimeSearch
from lethe_app.services.models.service import Models
from lethe_app.services.mood import Moods, made_moods
from lethe_app.services.notebooks.recall import NotebookRecall, Subjects
from lethe_app.services.notebooks.service import Notebooks
from lethe_app.services.participants import ParticipantService
from lethe_app.services.personas.bundles import Bundles
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import Prompting
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.stable_prefix import StablePrefixes
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
from lethe_app.storage.chats.archive_jobs import Parts
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from lethe_app.storage.index.pending import PendingIndex
from lethe_app.storage.key_value import AppState, SessionState, TokenCounts
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import Memories
from lethe_app.storage.memory.turn_memories import TurnMemories
from lethe_app.storage.memory.world_usage import Awakenings


class CoreServices:
    """One of each; everything is built when it is first asked for, with what it needs."""

    def __init__(self, paths: Paths, engine: str, preferences: Preferences, database: Database, *, by_meaning: bool) -> None:
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
        self.warmth = CacheState(self.client, preferences, paths.states)
        self.errands = TaskPrompts(paths.prompts, paths.own_prompts)
        self.library = Library(paths, database)
        self.recall = Recall(self.passages, folder=paths.index)
        self.counting = Counting(self.client, TokenCounts(database))
        self.models = Models(self.client, self.counting, preferences, paths)
        self.casting = ParticipantService(self.library, preferences)
        noted = lambda *session: self.subjects.standing(*session)  # noqa: E731, PLW0108 - built when it is first asked
        self.frames = StablePrefixes(self.chats, self.facts, self.state, preferences, self.counting, noted)
        self.holdings = MemoryCache(self.memories)
        self.embedding = Embedding(ModelClient("embed"), self.recall, preferences, paths, enabled=by_meaning)
        self.calibration = Calibration(self.app_state, self.embedding, preferences, paths.calibration)
        self.prompting = Prompting(self.chats, self.frames, self.library, preferences, self.counting)

    @cached_property
    def notebooks(self) -> Notebooks:
        return Notebooks(self.paths, self.database, self.frames.renew)

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
        return FactService(self.facts, self.recall, self.indexing, self.calibration, self.frames)

    @cached_property
    def clerk(self) -> StructuredOutput:
        return StructuredOutput(
            self.client,
            self.errands,
            self.loaded,
            self.prompting.form,
            self.counting.count,
            lambda: self.quiet.is_broken,
        )

    @cached_property
    def trust(self) -> Qualification:
        return Qualification(self.clerk, self.errands, self.app_state, self.paths.selftest)

    @cached_property
    def at_once(self) -> TaskModelAdapter:
        """Answers task prompts in the middle of a turn."""
        clerk = StructuredOutput(
            self.client, self.errands, self.loaded, self.prompting.form, self.counting.count, lambda: False
        )
        return TaskModelAdapter(clerk, lambda: self.client.count(["."]))

    @cached_property
    def archiving(self) -> Archiving:
        archivist = Archivist(
            self.chats, Parts(self.database), self.knowing, ConversationExtraction(self.clerk), self.trust, self.preferences
        )
        check = self.trust.check if self.engine != "echo" else None
        return Archiving(self.chats, Parts(self.database), archivist, self.indexing, self.quiet, self.sessions_changed, check)

    @cached_property
    def recapping(self) -> RollingSummary:
        return RollingSummary(self.frames, ConversationExtraction(self.clerk), self.trust, self.quiet)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self.chats, self.casting, self.archiving, self.timeout, self.sessions_changed)

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
        return SearchService(*kept, self.brain, self.indexing, self.chronicle, self.library)

    @cached_property
    def keeping(self) -> LoreKeeping:
        return LoreKeeping(self.library, self.preferences, self.state)

    @cached_property
    def searching(self) -> TimeSearch:
        return TimeSearch(self.recall, self.passages, self.chats, self.facts, self.preferences)

    @cached_property
    def moods(self) -> Moods:
        return made_moods(self.app_state, self.preferences, self.paths)

    @cached_property
    def recollecting(self) -> RecallService:
        return RecallService(
            self.chats,
            TurnMemories(self.database),
            self.state,
            self.holdings,
            self.keeping,
            NotebookRecall(self.subjects, self.keeping, self.searching, self.preferences, self.objecting),
            ProactiveMemory(self.app_state, self.state, self.moods, self.foreign),
            self.frames,
            self.recall,
            self.indexing,
            self.calibration,
            self.preferences,
            self.foreign,
        )

    @cached_property
    def foreign(self) -> UntrustedMemories:
        return UntrustedMemories(self.library, self.paths.prompts)

    @cached_property
    def remembering(self) -> RecallStep:
        return RecallStep(self.chats, TurnMemories(self.database), self.recollecting)

    @cached_property
    def ahead(self) -> ReadingAhead:
        lasting = ExpectedPrefix(self.chats, TurnMemories(self.database), self.keeping)
        return ReadingAhead(
            self.sessions, self.casting, self.models, self.client, self.prompting, lasting, self.warmth, self.preferences
        )

    @cached_property
    def chat(self) -> Chat:
        kept = (self.chats, self.casting, self.models, self.client, self.counting, self.prompting, self.remembering)
        asked = (self.frames, self.sessions, self.ahead, self.warmth, self.quiet)
        return Chat(*kept, *asked, ReceiptService(self.receipts, self.counting), self.group)

    @cached_property
    def inspecting(self) -> Inspecting:
        return Inspecting(self.chats, self.receipts, self.library, self.preferences, self.counting, self.prompting, self.loaded)

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
        keeping = LoreKeeping(self.library, self.preferences, self.state)
        trials = WorldTrials(keeping, self.chats, self.casting, self.state, self.models, self.counting)
        home = (self.paths, self.library, self.casting, self.preferences, self.state)
        return Worlds(*home, self.counting, self.database, trials, self.withdrawing)

    @cached_property
    def brain(self) -> Brain:
        kept = (self.memories, self.holdings, self.chats, self.casting, self.keeping)
        ways = (self.recollecting, self.searching, self.recall, self.indexing)
        return Brain(*kept, *ways, self.calibration, self.frames)

    @cached_property
    def objecting(self) -> ObjectionService:
        return ObjectionService(self.app_state, TurnMemories(self.database), self.chats)

    @cached_property
    def reconsidering(self) -> ReplyActions:
        chats, turns, hands = self.chats, TurnMemories(self.database), (self.brain, self.knowing, self.sessions, self.archiving)
        return ReplyActions(chats, self.facts, self.memories, turns, self.state, *hands, self.objecting, self.frames)

    def loaded(self) -> LoadedModel | None:
        """The model that answers now."""
        state: ModelState = self.models.state
        return state.model if isinstance(state, Ready) else None
