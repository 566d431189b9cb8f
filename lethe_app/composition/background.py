"""Wiring of the services that run without the user or around a turn, on top of `core`: agent tasks, web, moods, tools, chat."""

from __future__ import annotations

from functools import cached_property

from lethe_app.agents.dream import Dream
from lethe_app.agents.goals import CustomGoal, GoalDesigner, SessionGoals
from lethe_app.agents.journal import Journal
from lethe_app.agents.registry import Registry
from lethe_app.agents.research import ActiveResearchTask, ResearchTask
from lethe_app.agents.runtime import Runtime
from lethe_app.agents.self_reflection import SelfReflection
from lethe_app.agents.task import AgentTask, TaskRequirement
from lethe_app.agents.web_reading import WebReader
from lethe_app.brain.notebooks.subjects import SubjectStems, load_subjects
from lethe_app.composition.app_services import MindServices
from lethe_app.composition.core import CoreServices
from lethe_app.domain.agent_runs import ProducedKind
from lethe_app.services.background.activity_log import WORK_BY_NAME
from lethe_app.services.background.dreams import Dreams, DreamServices
from lethe_app.services.background.enrichment import MemoryEnrichment
from lethe_app.services.background.feedback import FeedbackService
from lethe_app.services.background.key_moments import KeyMoments
from lethe_app.services.background.mood_inference import MoodInference, MoodReader
from lethe_app.services.background.plugin_failures import PluginFailures
from lethe_app.services.background.runner import BackgroundRunner
from lethe_app.services.background.task_api import TaskServices
from lethe_app.services.background.undo import ChangeUndo, ResultUndo
from lethe_app.services.chat.generation import ReplyGenerator
from lethe_app.services.chat.prefill import PrefillService
from lethe_app.services.chat.prompt_inspector import PromptInspector
from lethe_app.services.chat.recall_step import RecallStep
from lethe_app.services.chat.service import ChatService
from lethe_app.services.extraction.conclusions import ConclusionService
from lethe_app.services.extraction.structured_output import TaskModelAdapter
from lethe_app.services.maintenance.days import Days
from lethe_app.services.maintenance.erasure import Erasure
from lethe_app.services.maintenance.retention import Retention
from lethe_app.services.memory.working_memory import WorkingMemory
from lethe_app.services.notebooks.conclusion_writer import ConclusionWriter
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.reading_progress import ReadingProgress
from lethe_app.services.notebooks.undo import NotebookUndo
from lethe_app.services.notebooks.writer import NotebookWriter
from lethe_app.services.personas.goals import GoalService
from lethe_app.services.personas.inner_life import InnerLife
from lethe_app.services.personas.reminders import Reminders
from lethe_app.services.personas.week import Week
from lethe_app.services.scheduling.idle import Idleness
from lethe_app.services.scheduling.power import is_on_battery
from lethe_app.services.speech.dictation import Dictation
from lethe_app.services.tools.builtin_memory import MemoryTools
from lethe_app.services.tools.builtin_small import build_dice_set, build_time_set
from lethe_app.services.tools.builtin_web import WebTools
from lethe_app.services.tools.builtin_working_memory import WorkingMemoryTools
from lethe_app.services.tools.instructions import ToolInstructions
from lethe_app.services.tools.permissions import ToolPermissions
from lethe_app.services.tools.plugins import find_tool_sets
from lethe_app.services.tools.registry import ToolRegistry
from lethe_app.services.tools.turn_factory import ToolTurnFactory
from lethe_app.services.web.chat_lookup import WebLookupService
from lethe_app.services.web.gate import WebGate
from lethe_app.services.web.research import ResearchService
from lethe_app.speech.recognition.client import RecognitionClient
from lethe_app.storage.agents.change_log import ChangeLog
from lethe_app.storage.chats.days import DayStore
from lethe_app.storage.chats.feedback import FeedbackStore
from lethe_app.storage.memory.memories import ReminderRows
from lethe_app.storage.memory.working_memory import WorkingMemoryRows
from lethe_app.storage.message_erasure import DayErasure


class BackgroundServices:
    """Services on top of the core ones, each built once on first access."""

    def __init__(self, core: CoreServices) -> None:
        self.core = core
        self.task_runs = core.task_runs
        self.changes = ChangeLog(core.database)
        self.idleness = Idleness()
        core.priority.turn_started.add(lambda _none: self.idleness.record_action())  # whoever sends something is here
        # The message will be embedded in its turn, so the embedding model starts while it is written.
        self.idleness.composing.add(lambda _none: core.embedding.warm_up())
        core.priority.turn_started.add(lambda _none: core.embedding.warm_up())

    @cached_property
    def tasks(self) -> list[AgentTask]:
        """Built-in agent tasks, in the order of display."""
        session_tasks = [
            SelfReflection(),
            Journal(self.context_size),
            GoalDesigner(),
            SessionGoals(),
            CustomGoal(self.goals.load_request),
        ]
        return [
            *session_tasks,
            ActiveResearchTask(self.web_reader),
            ResearchTask(self.web_reader),
            Dream(self.dream_inputs, self.feedback),
        ]

    @cached_property
    def dictation(self) -> Dictation:
        is_scripted = self.core.engine == "echo"
        client = RecognitionClient("scripted" if is_scripted else "whisper")
        return Dictation(client, self.core.preferences, self.core.paths, needs_libraries=not is_scripted)

    @cached_property
    def retention(self) -> Retention:
        core = self.core
        return Retention(
            core.session_store, core.sessions, core.trash, core.turn_memories, core.preferences, core.archive_queue
        )

    @cached_property
    def key_moments(self) -> KeyMoments:
        core = self.core
        model_services = (core.structured_output, core.qualification, core.preferences, core.priority)
        return KeyMoments(DayStore(core.database), core.key_moment_store, core.library, core.app_state, *model_services)

    @cached_property
    def erasure(self) -> Erasure:
        core = self.core
        stores = (core.notebooks, core.documents, core.memory, core.library, core.indexing)
        return Erasure(core.trash.records, *stores, core.cache_state, core.sessions_changed)

    @cached_property
    def days(self) -> Days:
        core = self.core
        stores = (DayStore(core.database), DayErasure(core.database), self.erasure, core.notebooks)
        return Days(*stores, core.archive_queue, core.session_editing)

    @cached_property
    def goals(self) -> GoalService:
        return GoalService(self.core.app_state)

    @cached_property
    def result_undoers(self) -> dict[ProducedKind, ResultUndo]:
        """Functions that revert what a task made outside its context, by kind."""
        return {
            ProducedKind.NOTEBOOK: self.notebook_undo.revert_run,
            ProducedKind.FACT: self.notebook_undo.revert_fact,
            ProducedKind.REPORT: self.research.revert_run,
        }

    @cached_property
    def task_services(self) -> TaskServices:
        core = self.core
        return TaskServices(
            memory=core.memory,
            memory_lookup=core.memory_lookup,
            facts=core.facts,
            session_store=core.session_store,
            proactive=core.proactive,
            library=core.library,
            structured_output=core.structured_output,
            changes=self.changes,
            app_state=core.app_state,
            preferences=core.preferences,
            untrusted_memories=core.untrusted_memories,
            working_memory=self.working_memory,
        )

    @cached_property
    def runtime(self) -> Runtime:
        registry = Registry(self.tasks, reserved_names=WORK_BY_NAME)
        return Runtime(
            registry,
            self.task_runs,
            lambda: self.core.preferences.current,
            self.is_requirement_met,
            self.core.budget,
            is_on_battery,
        )

    @cached_property
    def notebook_undo(self) -> NotebookUndo:
        return NotebookUndo(self.changes, self.core.notebooks, self.core.facts, self.task_runs)

    @cached_property
    def background_runner(self) -> BackgroundRunner:
        core = self.core
        return BackgroundRunner(
            self.runtime,
            self.task_services,
            core.participants,
            self.idleness,
            core.session_timeout,
            PluginFailures(core.app_state, core.preferences),
            ChangeUndo(self.task_services, self.dreams, self.task_runs, self.result_undoers),
            core.activity_log,
        )

    def is_requirement_met(self, need: TaskRequirement) -> bool:
        """Return whether a requirement of a task is met."""
        verdict = self.core.qualification.verdict
        match need:
            case TaskRequirement.MODEL:
                return verdict is not None and verdict.may_write_summaries
            case TaskRequirement.FACTS:
                return verdict is not None and verdict.may_write_facts
            case TaskRequirement.WEB:
                return self.core.preferences.current.web_allowed

    @cached_property
    def feedback(self) -> FeedbackService:
        return FeedbackService(FeedbackStore(self.core.database), self.core.session_store, self.core.app_state)

    @cached_property
    def dreams(self) -> Dreams:
        core = self.core
        return Dreams(self.changes, core.memory_cache, core.facts, core.task_prompts)

    @cached_property
    def dream_inputs(self) -> DreamServices:
        core = self.core
        index_services = (core.memory_index, core.calibration, core.untrusted_memories)
        return DreamServices(self.dreams, *index_services, self.has_qualified_model)

    @cached_property
    def web_gate(self) -> WebGate:
        return WebGate(self.core.preferences, self.core.app_state, self.core.token_counts.count)

    @cached_property
    def web_reader(self) -> WebReader:
        return WebReader(self.web_gate, self.core.untrusted_memories.build_quoter)

    @cached_property
    def chat_lookup(self) -> WebLookupService:
        """Web search within a turn."""
        core, task_model = self.core, self.core.immediate_task_model
        return WebLookupService(core.preferences, core.session_store, self.web_reader, task_model, self.has_qualified_model)

    @cached_property
    def research(self) -> ResearchService:
        core = self.core
        storage_services = (core.participants, core.memory, core.app_state, core.activity_log)
        return ResearchService(
            self.web_gate,
            self.web_reader,
            TaskModelAdapter(core.structured_output),
            self.has_qualified_model,
            *storage_services,
        )

    def context_size(self) -> int:
        """Return the context size of the loaded model in tokens; 0 without one."""
        model = self.core.loaded_model()
        return model.context if model is not None else 0

    def has_qualified_model(self) -> bool:
        """Return whether the loaded model is qualified to summarise what it reads."""
        return self.is_requirement_met(TaskRequirement.MODEL)

    @cached_property
    def mind(self) -> MindServices:
        core = self.core
        mood_inference = MoodInference(core.moods, core.structured_output, core.qualification)
        background_services = (core.priority, core.app_state, core.archive_queue, core.activity_log)
        return MindServices(
            moods=core.moods,
            mood_reader=MoodReader(mood_inference, core.session_store, core.participants, *background_services),
            key_moments=self.key_moments,
            reminders=Reminders(core.memory, core.memory_cache, ReminderRows(core.database), core.app_state, core.preferences),
            week=Week(core.library),
            inner_life=InnerLife(core.library, core.memory_cache, core.preferences),
            notebooks=core.notebooks,
            notebook_writer=self.notebook_writer,
            notebook_filer=self.notebook_filer,
            conclusion_writer=self.conclusion_writer,
            notebook_selector=core.notebook_selector,
            goals=self.goals,
        )

    @cached_property
    def notebook_filer(self) -> NotebookFiler:
        core = self.core
        model_services = (core.structured_output, core.qualification)
        return NotebookFiler(core.notebooks, core.notebook_selector, self.subjects, *model_services, core.preferences)

    @cached_property
    def conclusion_writer(self) -> ConclusionWriter:
        core = self.core
        model_services = (core.structured_output, core.qualification, core.preferences)
        conclusions = ConclusionService(core.facts, core.fact_store, *model_services)
        stores = (core.session_store, core.fact_store, core.facts, core.participants)
        return ConclusionWriter(*stores, conclusions, core.notebooks, self.notebook_undo, self.notebook_filer)

    @cached_property
    def notebook_writer(self) -> NotebookWriter:
        core = self.core
        progress = ReadingProgress(core.session_store, core.archive_queue, core.app_state)
        background_services = (self.notebook_undo, core.activity_log, core.library, core.preferences, core.priority)
        persona_changes = (core.sessions_changed, core.facts.changed)
        return NotebookWriter(self.conclusion_writer, progress, *background_services, persona_changes)

    @cached_property
    def subjects(self) -> SubjectStems:
        paths = self.core.paths
        return load_subjects([paths.resources / "subjects", paths.home / "subjects"])

    @cached_property
    def enrichment(self) -> MemoryEnrichment:
        core = self.core
        services = (core.qualification, self.subjects, core.activity_log, core.priority)
        return MemoryEnrichment(self.task_services, core.participants, *services)

    @cached_property
    def working_memory(self) -> WorkingMemory:
        return WorkingMemory(WorkingMemoryRows(self.core.database))

    @cached_property
    def tool_registry(self) -> ToolRegistry:
        core, (plugin_sets, errors) = self.core, find_tool_sets()
        mind, quoter = (self.mind.reminders, self.mind.week), core.untrusted_memories.build_quoter
        memory_services = (core.memory, core.memory_lookup, core.session_store, *mind, core.untrusted_memories)
        builtin_sets = (
            MemoryTools(*memory_services, self.working_memory).build_tool_set(),
            build_time_set(),
            build_dice_set(),
            WorkingMemoryTools(self.working_memory, quoter).build_tool_set(),
            WebTools(self.web_gate, self.working_memory, quoter).build_tool_set(),
        )
        return ToolRegistry([*builtin_sets, *plugin_sets], errors, core.preferences)

    @cached_property
    def tool_turns(self) -> ToolTurnFactory:
        """Start of the tool use of replies. Its task prompts are answered within the turn, as those of `chat_lookup` are."""
        core = self.core
        permissions = ToolPermissions(
            core.session_state, core.preferences, lambda: self.is_requirement_met(TaskRequirement.FACTS)
        )
        note = ToolInstructions(core.preferences, (core.paths.own_prompts, core.paths.prompts))
        stores = (self.working_memory, core.session_store, core.formats)
        return ToolTurnFactory(self.tool_registry, permissions, *stores, note, core.immediate_task_model)

    @cached_property
    def prefill(self) -> PrefillService:
        core = self.core
        return PrefillService(
            core.turn_loader,
            core.sessions,
            core.models,
            core.client,
            core.prompt_assembler,
            self.tool_turns,
            core.cache_state,
            core.preferences,
        )

    @cached_property
    def chat(self) -> ChatService:
        core = self.core
        step = RecallStep(core.session_store, core.recall, self.chat_lookup.look_up_for_turn, self.mind.reminders.set_requested)
        generation_services = (core.client, self.tool_turns, core.receipts, core.cache_state)
        generator = ReplyGenerator(core.turn_loader, core.stable_prefixes, core.prompt_assembler, *generation_services)
        return ChatService(
            core.turn_loader, core.sessions, core.models, step, generator, core.group, self.prefill, core.priority
        )

    @cached_property
    def prompt_inspector(self) -> PromptInspector:
        core = self.core
        stores = (core.session_store, core.receipt_store, core.library, core.preferences, core.token_counts)
        return PromptInspector(*stores, core.prompt_assembler, core.loaded_model, self.tool_turns.build_tool_prompt)
