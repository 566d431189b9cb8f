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
from lethe_app.composition.creation import service
from lethe_app.domain.agent_runs import ProducedKind
from lethe_app.services.background.activity_log import WORK_BY_NAME
from lethe_app.services.background.dreams import Dreams
from lethe_app.services.background.enrichment import MemoryEnrichment
from lethe_app.services.background.feedback import FeedbackService
from lethe_app.services.background.key_moments import KeyMoments
from lethe_app.services.background.mood_inference import MoodInference, MoodReader
from lethe_app.services.background.runner import BackgroundRunner, PluginFailures
from lethe_app.services.background.task_api import ChangeUndo, ResultUndo, StoredServices, TaskServices
from lethe_app.services.chat.generation import ReplyGenerator
from lethe_app.services.chat.prompt_inspector import PromptInspector
from lethe_app.services.chat.service import ChatService, PrefillService, RecallStep
from lethe_app.services.extraction.conclusions import ConclusionService
from lethe_app.services.maintenance.erasure import Days, Erasure
from lethe_app.services.maintenance.retention import Retention
from lethe_app.services.memory.working_memory import WorkingMemory
from lethe_app.services.models.hardware import is_on_battery
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.writer import ConclusionWriter, NotebookUndo, NotebookWriter, ReadingProgress
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
from lethe_app.services.tools.turn import ToolPermissions
from lethe_app.services.tools.turn_factory import ToolTurnFactory
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

    changes = service(ChangeLog)

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
        return [
            SelfReflection(),
            Journal(self.context_size),
            GoalDesigner(),
            SessionGoals(),
            CustomGoal(self.goals.load_request),
            ActiveResearchTask(self.web_reader),
            ResearchTask(self.web_reader),
            Dream(self.dreams, self.feedback),
        ]

    @cached_property
    def dictation(self) -> Dictation:
        is_scripted = self.engine == "echo"
        client = RecognitionClient("scripted" if is_scripted else "whisper")
        return Dictation(client, self.preferences, self.paths, needs_libraries=not is_scripted)

    retention = service(Retention)
    day_store = service(DayStore)
    key_moments = service(KeyMoments, days="day_store", store="key_moment_store")
    erasure = service(Erasure, records="trash_listing")
    days = service(Days, days="day_store")
    goals = service(GoalService)

    @cached_property
    def result_undoers(self) -> dict[ProducedKind, ResultUndo]:
        """Functions that revert what a task made outside its context, by kind."""
        return {
            ProducedKind.NOTEBOOK: self.notebook_undo.revert_run,
            ProducedKind.FACT: self.notebook_undo.revert_fact,
            ProducedKind.REPORT: self.research.revert_run,
        }

    stored_services = service(StoredServices)
    task_services = service(TaskServices, stored="stored_services")

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

    notebook_undo = service(NotebookUndo)
    plugin_failures = service(PluginFailures)
    change_undo = service(ChangeUndo, services="task_services")
    background_runner = service(BackgroundRunner, services="task_services")

    def is_requirement_met(self, need: TaskRequirement) -> bool:
        """Return whether a requirement of a task is met."""
        match need:
            case TaskRequirement.MODEL:
                return self.qualification.may_write_summaries
            case TaskRequirement.FACTS:
                return self.qualification.may_write_facts
            case TaskRequirement.WEB:
                return self.preferences.current.web_allowed

    feedback_store = service(FeedbackStore)
    feedback = service(FeedbackService, rows="feedback_store")
    dreams = service(Dreams, may_write="has_qualified_model")
    web_gate = service(WebGate, count_tokens="token_counts.count")
    web_reader = service(
        WebReader, internet="web_gate", build_quoter="untrusted_memories.build_quoter", count_tokens="token_counts.count"
    )
    chat_lookup = service(WebLookupService, task_model="immediate_task_model", is_model_qualified="has_qualified_model")
    """Web search within a turn."""

    research = service(ResearchService, task_model="structured_output", is_model_qualified="has_qualified_model")

    def context_size(self) -> int:
        """Return the context size of the loaded model in tokens; 0 without one."""
        model = self.loaded_model()
        return model.context if model is not None else 0

    def has_qualified_model(self) -> bool:
        """Return whether the loaded model is qualified to summarise what it reads."""
        return self.is_requirement_met(TaskRequirement.MODEL)

    mood_inference = service(MoodInference)
    mood_reader = service(MoodReader)
    reminders = service(Reminders)
    week = service(Week)
    inner_life = service(InnerLife)
    notebook_filer = service(NotebookFiler)
    conclusions = service(ConclusionService)
    conclusion_writer = service(ConclusionWriter, filer="notebook_filer")

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

    enrichment = service(MemoryEnrichment, services="task_services")
    working_memory_rows = service(WorkingMemoryRows)
    working_memory = service(WorkingMemory, rows="working_memory_rows")

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
            WebTools(self.web_gate, self.web_reader, self.working_memory).build_tool_set(),
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

    prefill = service(PrefillService)
    recall_step = service(RecallStep, look_up="chat_lookup.look_up_for_turn")
    generator = service(ReplyGenerator)
    chat = service(ChatService, recall="recall_step")
    prompt_inspector = service(
        PromptInspector, receipts="receipt_store", get_model="loaded_model", get_tool_prompt="tool_turns.build_tool_prompt"
    )
