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
from lethe_app.composition.core import CoreServices
from lethe_app.domain.agent_runs import ProducedKind
from lethe_app.services.background.activity_log import WORK_BY_NAME
from lethe_app.services.background.dreams import Dreams, DreamServices
from lethe_app.services.background.enrichment import MemoryEnrichment
from lethe_app.services.background.feedback import FeedbackService
from lethe_app.services.background.key_moments import KeyMoments
from lethe_app.services.background.mood_inference import MoodInference, MoodReader
from lethe_app.services.background.runner import BackgroundRunner, PluginFailures
from lethe_app.services.background.task_api import ChangeUndo, ResultUndo, StoredServices, TaskServices
from lethe_app.services.chat.generation import ReplyGenerator
from lethe_app.services.chat.prefill import PrefillService
from lethe_app.services.chat.prompt_inspector import PromptInspector
from lethe_app.services.chat.service import ChatService, RecallStep
from lethe_app.services.extraction.conclusions import ConclusionService
from lethe_app.services.extraction.structured_output import TaskModelAdapter
from lethe_app.services.maintenance.erasure import Days, Erasure
from lethe_app.services.maintenance.retention import Retention
from lethe_app.services.memory.working_memory import WorkingMemory
from lethe_app.services.models.hardware import is_on_battery
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.undo import NotebookUndo
from lethe_app.services.notebooks.writer import ConclusionWriter, NotebookWriter, ReadingProgress
from lethe_app.services.personas.inner_life import GoalService, InnerLife, Week
from lethe_app.services.personas.reminders import Reminders
from lethe_app.services.prompting.assembler import InstructionFile
from lethe_app.services.scheduling.loop import Idleness
from lethe_app.services.speech.dictation import Dictation
from lethe_app.services.tools.builtin_memory import MemoryTools
from lethe_app.services.tools.builtin_small import build_dice_set, build_time_set
from lethe_app.services.tools.builtin_web import WebTools
from lethe_app.services.tools.builtin_working_memory import WorkingMemoryTools
from lethe_app.services.tools.registry import ToolRegistry, find_tool_sets
from lethe_app.services.tools.turn_factory import ToolPermissions, ToolTurnFactory
from lethe_app.services.web.chat_lookup import WebLookupService
from lethe_app.services.web.gate import WebGate
from lethe_app.services.web.research import ResearchService
from lethe_app.speech.recognition.client import RecognitionClient
from lethe_app.storage.agents.change_log import ChangeLog
from lethe_app.storage.chats.days import DayStore
from lethe_app.storage.chats.feedback import FeedbackStore
from lethe_app.storage.memory.working_memory import WorkingMemoryRows


class BackgroundServices(CoreServices):
    """Services on top of the core ones, each built once on first access."""

    @cached_property
    def changes(self) -> ChangeLog:
        return ChangeLog(self.database)

    @cached_property
    def idleness(self) -> Idleness:
        idleness = Idleness()
        self.priority.turn_started.add(lambda _none: idleness.record_action())  # whoever sends something is here
        # The message will be embedded in its turn, so the embedding model starts while it is written.
        idleness.composing.add(lambda _none: self.embedding.warm_up())
        self.priority.turn_started.add(lambda _none: self.embedding.warm_up())
        return idleness

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
        is_scripted = self.engine == "echo"
        client = RecognitionClient("scripted" if is_scripted else "whisper")
        return Dictation(client, self.preferences, self.paths, needs_libraries=not is_scripted)

    @cached_property
    def retention(self) -> Retention:
        return Retention(
            self.session_store, self.sessions, self.trash, self.turn_memories, self.preferences, self.archive_queue
        )

    @cached_property
    def key_moments(self) -> KeyMoments:
        model_services = (self.structured_output, self.qualification, self.preferences, self.priority)
        return KeyMoments(DayStore(self.database), self.key_moment_store, self.library, self.app_state, *model_services)

    @cached_property
    def erasure(self) -> Erasure:
        stores = (self.notebooks, self.documents, self.memory, self.library, self.indexing)
        return Erasure(self.trash.records, *stores, self.cache_state, self.sessions_changed)

    @cached_property
    def days(self) -> Days:
        stores = (DayStore(self.database), self.erasure, self.notebooks)
        return Days(*stores, self.archive_queue, self.session_editing)

    @cached_property
    def goals(self) -> GoalService:
        return GoalService(self.app_state)

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
        records = (self.memory, self.facts, self.session_store, self.library, self.app_state, self.preferences)
        return TaskServices(
            StoredServices(*records),
            self.memory_lookup,
            self.proactive,
            self.structured_output,
            self.changes,
            self.untrusted_memories,
            self.working_memory,
        )

    @cached_property
    def runtime(self) -> Runtime:
        registry = Registry(self.tasks, reserved_names=WORK_BY_NAME)
        return Runtime(
            registry,
            self.task_runs,
            lambda: self.preferences.current,
            self.is_requirement_met,
            self.budget,
            is_on_battery,
        )

    @cached_property
    def notebook_undo(self) -> NotebookUndo:
        return NotebookUndo(self.changes, self.notebooks, self.facts, self.task_runs)

    @cached_property
    def background_runner(self) -> BackgroundRunner:
        return BackgroundRunner(
            self.runtime,
            self.task_services,
            self.participants,
            self.idleness,
            self.session_timeout,
            PluginFailures(self.app_state, self.preferences),
            ChangeUndo(self.task_services, self.dreams, self.task_runs, self.result_undoers),
            self.activity_log,
        )

    def is_requirement_met(self, need: TaskRequirement) -> bool:
        """Return whether a requirement of a task is met."""
        verdict = self.qualification.verdict
        match need:
            case TaskRequirement.MODEL:
                return verdict is not None and verdict.may_write_summaries
            case TaskRequirement.FACTS:
                return verdict is not None and verdict.may_write_facts
            case TaskRequirement.WEB:
                return self.preferences.current.web_allowed

    @cached_property
    def feedback(self) -> FeedbackService:
        return FeedbackService(FeedbackStore(self.database), self.session_store, self.app_state)

    @cached_property
    def dreams(self) -> Dreams:
        return Dreams(self.changes, self.memory_cache, self.facts, self.task_prompts)

    @cached_property
    def dream_inputs(self) -> DreamServices:
        index_services = (self.memory_index, self.calibration, self.untrusted_memories)
        return DreamServices(self.dreams, *index_services, self.has_qualified_model)

    @cached_property
    def web_gate(self) -> WebGate:
        return WebGate(self.preferences, self.app_state, self.token_counts.count)

    @cached_property
    def web_reader(self) -> WebReader:
        return WebReader(self.web_gate, self.untrusted_memories.build_quoter)

    @cached_property
    def chat_lookup(self) -> WebLookupService:
        """Web search within a turn."""
        task_model = self.immediate_task_model
        return WebLookupService(self.preferences, self.session_store, self.web_reader, task_model, self.has_qualified_model)

    @cached_property
    def research(self) -> ResearchService:
        return ResearchService(
            self.web_gate,
            self.web_reader,
            TaskModelAdapter(self.structured_output),
            self.has_qualified_model,
            self.participants,
            self.memory,
            self.app_state,
            self.activity_log,
        )

    def context_size(self) -> int:
        """Return the context size of the loaded model in tokens; 0 without one."""
        model = self.loaded_model()
        return model.context if model is not None else 0

    def has_qualified_model(self) -> bool:
        """Return whether the loaded model is qualified to summarise what it reads."""
        return self.is_requirement_met(TaskRequirement.MODEL)

    @cached_property
    def mood_reader(self) -> MoodReader:
        mood_inference = MoodInference(self.moods, self.structured_output, self.qualification)
        background_services = (self.priority, self.app_state, self.archive_queue, self.activity_log)
        return MoodReader(mood_inference, self.session_store, self.participants, *background_services)

    @cached_property
    def reminders(self) -> Reminders:
        return Reminders(self.memory, self.memory_cache, self.memory_store, self.app_state, self.preferences)

    @cached_property
    def week(self) -> Week:
        return Week(self.library)

    @cached_property
    def inner_life(self) -> InnerLife:
        return InnerLife(self.library, self.memory_cache, self.preferences)

    @cached_property
    def notebook_filer(self) -> NotebookFiler:
        model_services = (self.structured_output, self.qualification, self.preferences)
        return NotebookFiler(self.notebooks, self.notebook_selector, self.subjects, *model_services)

    @cached_property
    def conclusion_writer(self) -> ConclusionWriter:
        model_services = (self.structured_output, self.qualification, self.preferences)
        conclusions = ConclusionService(self.facts, self.fact_store, *model_services)
        stores = (self.session_store, self.fact_store, self.facts, self.participants)
        return ConclusionWriter(*stores, conclusions, self.notebooks, self.notebook_undo, self.notebook_filer)

    @cached_property
    def notebook_writer(self) -> NotebookWriter:
        progress = ReadingProgress(self.session_store, self.archive_queue, self.app_state)
        background_services = (self.notebook_undo, self.activity_log, self.library, self.preferences, self.priority)
        persona_changes = (self.sessions_changed, self.facts.changed)
        return NotebookWriter(self.conclusion_writer, progress, *background_services, persona_changes)

    @cached_property
    def subjects(self) -> SubjectStems:
        paths = self.paths
        return load_subjects([paths.resources / "subjects", paths.home / "subjects"])

    @cached_property
    def enrichment(self) -> MemoryEnrichment:
        services = (self.qualification, self.subjects, self.activity_log, self.priority)
        return MemoryEnrichment(self.task_services, self.participants, *services)

    @cached_property
    def working_memory(self) -> WorkingMemory:
        return WorkingMemory(WorkingMemoryRows(self.database))

    @cached_property
    def tool_registry(self) -> ToolRegistry:
        plugin_sets, errors = find_tool_sets()
        mind, quoter = (self.reminders, self.week), self.untrusted_memories.build_quoter
        memory_services = (self.memory, self.memory_lookup, self.session_store, *mind, self.untrusted_memories)
        builtin_sets = (
            MemoryTools(*memory_services, self.working_memory).build_tool_set(),
            build_time_set(),
            build_dice_set(),
            WorkingMemoryTools(self.working_memory, quoter).build_tool_set(),
            WebTools(self.web_gate, self.working_memory, quoter).build_tool_set(),
        )
        return ToolRegistry([*builtin_sets, *plugin_sets], errors, self.preferences)

    @cached_property
    def tool_turns(self) -> ToolTurnFactory:
        """Start of the tool use of replies. Its task prompts are answered within the turn, as those of `chat_lookup` are."""
        permissions = ToolPermissions(
            self.session_state, self.preferences, lambda: self.is_requirement_met(TaskRequirement.FACTS)
        )
        note = InstructionFile("tools_note.md", (self.paths.own_prompts, self.paths.prompts))
        stores = (self.working_memory, self.session_store, self.formats)
        return ToolTurnFactory(self.tool_registry, permissions, *stores, note, self.immediate_task_model, self.preferences)

    @cached_property
    def prefill(self) -> PrefillService:
        return PrefillService(
            self.turn_loader,
            self.sessions,
            self.models,
            self.client,
            self.prompt_assembler,
            self.tool_turns,
            self.cache_state,
            self.preferences,
        )

    @cached_property
    def chat(self) -> ChatService:
        step = RecallStep(self.session_store, self.recall, self.chat_lookup.look_up_for_turn, self.reminders)
        generation_services = (self.client, self.tool_turns, self.receipts, self.cache_state, self.preferences)
        generator = ReplyGenerator(self.turn_loader, self.stable_prefixes, self.prompt_assembler, *generation_services)
        return ChatService(
            self.turn_loader, self.sessions, self.models, step, generator, self.group, self.prefill, self.priority
        )

    @cached_property
    def prompt_inspector(self) -> PromptInspector:
        stores = (self.session_store, self.receipt_store, self.library, self.preferences, self.token_counts)
        return PromptInspector(*stores, self.prompt_assembler, self.loaded_model, self.tool_turns.build_tool_prompt)
