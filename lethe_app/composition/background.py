"""Wiring of the services that run without the user or around a turn, on top of `core`: agent tasks, web, moods, tools, chat."""

from __future__ import annotations

from functools import cached_property

from lethe_app.agents.dream import Dream
from lethe_app.agents.goals import CustomGoal, GoalDesigner, SessionGoals
from lethe_app.agents.journal import Journal
from lethe_app.agents.registry import Registry
from lethe_app.agents.research import ActiveResearchTask, ResearchTask
from lethe_app.agents.runtime import Runtime
from lethe_app.agents.self_reflection import Thoughts
from lethe_app.agents.task import AgentTask, Need
from lethe_app.agents.web_reading import Gathering
from lethe_app.brain.notebooks.subjects import load_subjects as read_matters
from lethe_app.composition.app_services import MindServices
from lethe_app.composition.core import CoreServices
from lethe_app.domain.agent_runs import MadeKind
from lethe_app.services.background.activity_log import WORKS
from lethe_app.services.background.dreams import Dreams, DreamServices
from lethe_app.services.background.feedback import Feedbacks
from lethe_app.services.background.mood_inference import MoodReader
from lethe_app.services.background.plugin_failures import Failing
from lethe_app.services.background.runner import Away
from lethe_app.services.background.task_api import Tools
from lethe_app.services.background.undo import ChangeUndo, Taker
from lethe_app.services.chat.generation import ReplyGenerator
from lethe_app.services.chat.prefill import ReadingAhead
from lethe_app.services.chat.prompt_inspector import Inspecting
from lethe_app.services.chat.recall_step import RecallStep
from lethe_app.services.chat.service import Chat
from lethe_app.services.extraction.conclusions import ConclusionService
from lethe_app.services.extraction.structured_output import StructuredOutput, TaskModelAdapter
from lethe_app.services.notebooks.undo import NotebookUndo
from lethe_app.services.notebooks.writer import Notekeeping
from lethe_app.services.personas.goals import GoalService
from lethe_app.services.personas.inner_life import InnerLife
from lethe_app.services.personas.reminders import Reminders
from lethe_app.services.personas.week import Week
from lethe_app.services.scheduling.idle import Idleness
from lethe_app.services.scheduling.power import on_battery
from lethe_app.services.tools import plugins
from lethe_app.services.tools.builtin_memory import MemoryTools
from lethe_app.services.tools.builtin_small import dice_set, time_set
from lethe_app.services.tools.builtin_web import WebTools
from lethe_app.services.tools.builtin_working_memory import BenchTools
from lethe_app.services.tools.instructions import ToolNote
from lethe_app.services.tools.registry import Tooling
from lethe_app.services.tools.working_memory import Workbench
from lethe_app.services.web.chat_lookup import LookingUp
from lethe_app.services.web.gate import WebGate
from lethe_app.services.web.research import Researching
from lethe_app.storage.agents.change_log import Changes
from lethe_app.storage.chats.feedback import FeedbackRows
from lethe_app.storage.memory.memories import ReminderRows
from lethe_app.storage.memory.working_memory import BenchRows


class BackgroundServices:
    """Services on top of the core ones, each built once on first access."""

    def __init__(self, made: CoreServices) -> None:
        self.made = made
        self.runs = made.runs
        self.changes = Changes(made.database)
        self.idleness = Idleness()
        made.quiet.broken.add(lambda _none: self.idleness.touch())  # whoever sends something is here

    @cached_property
    def tasks(self) -> list[AgentTask]:
        """Built-in agent tasks, in the order of display."""
        inner = [Thoughts(), Journal(self.context), GoalDesigner(), SessionGoals(), CustomGoal(self.wishes.goals_of)]
        return [*inner, ActiveResearchTask(self.gathering), ResearchTask(self.gathering), Dream(self.dream_desk)]

    @cached_property
    def wishes(self) -> GoalService:
        return GoalService(self.made.app_state)

    @cached_property
    def takers(self) -> dict[MadeKind, Taker]:
        """Functions that revert what a task made outside its context, by kind."""
        return {
            MadeKind.CHANGE: self.dreams.take_back_made,
            MadeKind.NOTEBOOK: self.unwriting.revert_run,
            MadeKind.FACT: self.unwriting.unlearn,
            MadeKind.REPORT: self.researching.revert_run,
        }

    @cached_property
    def tools(self) -> Tools:
        made = self.made
        return Tools(
            brain=made.brain,
            lookup=made.lookup,
            knowing=made.knowing,
            chats=made.chats,
            guidance=made.proactive,
            library=made.library,
            clerk=made.clerk,
            changes=self.changes,
            state=made.app_state,
            preferences=made.preferences,
            foreign=made.foreign,
        )

    @cached_property
    def runtime(self) -> Runtime:
        registry = Registry(self.tasks, reserved=WORKS)
        return Runtime(registry, self.runs, lambda: self.made.preferences.current, self.provides, self.made.budget)

    @cached_property
    def unwriting(self) -> NotebookUndo:
        return NotebookUndo(self.changes, self.made.notebooks, self.made.knowing, self.runs)

    @cached_property
    def away(self) -> Away:
        made = self.made
        return Away(
            self.runtime,
            self.tools,
            made.casting,
            self.runs,
            self.idleness,
            made.timeout,
            Failing(made.app_state, made.preferences),
            ChangeUndo(self.tools, self.runs, self.takers),
            made.doings,
            on_battery,
        )

    def provides(self, need: Need) -> bool:
        """Return whether a requirement of a task is met."""
        verdict = self.made.trust.verdict
        match need:
            case Need.MODEL:
                return verdict is not None and verdict.may_write_summaries
            case Need.FACTS:
                return verdict is not None and verdict.may_write_facts
            case Need.WEB:
                return self.made.preferences.current.web_allowed

    @cached_property
    def feedback(self) -> Feedbacks:
        return Feedbacks(FeedbackRows(self.made.database), self.made.chats, self.made.app_state)

    @cached_property
    def dreams(self) -> Dreams:
        made = self.made
        return Dreams(self.changes, made.holdings, made.knowing, made.errands)

    @cached_property
    def dream_desk(self) -> DreamServices:
        made = self.made
        return DreamServices(self.dreams, self.feedback, made.recall, made.calibration, made.foreign, self.has_trusted_model)

    @cached_property
    def surfing(self) -> WebGate:
        return WebGate(self.made.preferences, self.made.app_state, self.made.counting.count)

    @cached_property
    def gathering(self) -> Gathering:
        return Gathering(self.surfing, self.made.foreign.quoter)

    @cached_property
    def looking_up(self) -> LookingUp:
        """Web search within a turn. Background work yields to it; counting tokens preempts a background request under way."""
        made = self.made
        clerk = StructuredOutput(
            made.client, made.errands, made.loaded, made.formats.renderer, made.counting.count, lambda: False
        )
        messenger = TaskModelAdapter(clerk, lambda: made.client.count(["."]))
        return LookingUp(made.preferences, made.chats, self.gathering, messenger, self.has_trusted_model)

    @cached_property
    def researching(self) -> Researching:
        made = self.made
        home = (made.casting, made.brain, made.app_state, made.doings)
        return Researching(self.surfing, self.gathering, TaskModelAdapter(made.clerk), self.has_trusted_model, *home)

    def context(self) -> int:
        """Return the context size of the loaded model in tokens; 0 without one."""
        model = self.made.loaded()
        return model.context if model is not None else 0

    def has_trusted_model(self) -> bool:
        """Return whether the loaded model is qualified to summarise what it reads."""
        return self.provides(Need.MODEL)

    @cached_property
    def mind(self) -> MindServices:
        made = self.made
        asked = (made.clerk, made.trust, made.quiet, made.app_state)
        return MindServices(
            moods=made.moods,
            reader=MoodReader(made.moods, made.chats, made.casting, *asked, made.archiving, made.doings),
            reminders=Reminders(made.brain, made.holdings, ReminderRows(made.database), made.app_state),
            week=Week(made.library),
            life=InnerLife(made.library, made.holdings, made.preferences),
            notebooks=made.notebooks,
            notekeeping=self.notekeeping,
            subjects=made.subjects,
            wishes=self.wishes,
        )

    @cached_property
    def notekeeping(self) -> Notekeeping:
        made = self.made
        return Notekeeping(
            made.chats,
            made.facts,
            made.casting,
            made.knowing,
            ConclusionService(made.knowing, made.facts, made.clerk, made.trust, made.preferences),
            made.doings,
            self.unwriting,
            made.archiving,
            made.clerk,
            made.trust,
            made.quiet,
            made.notebooks,
            made.subjects,
            made.app_state,
            made.preferences,
            made.library,
            made.sessions_changed,
            read_matters([made.paths.resources / "subjects", made.paths.home / "subjects"]),
        )

    @cached_property
    def workbench(self) -> Workbench:
        return Workbench(BenchRows(self.made.database))

    @cached_property
    def tooling(self) -> Tooling:
        """Tool service. Its task prompts are answered within the turn, as those of `looking_up` are."""
        made = self.made
        plugged, faults = plugins.found()
        mind = (self.mind.reminders, self.mind.week)
        ours = (
            MemoryTools(made.brain, made.lookup, made.chats, *mind, made.foreign, self.workbench).tool_set(),
            time_set(),
            dice_set(),
            BenchTools(self.workbench, self.made.foreign.quoter).tool_set(),
            WebTools(self.surfing, self.workbench, self.made.foreign.quoter).tool_set(),
        )
        note = ToolNote(made.preferences, (made.paths.own_prompts, made.paths.prompts))
        kept = (self.workbench, made.chats, made.state, made.preferences, made.formats, note)
        return Tooling([*ours, *plugged], faults, *kept, made.at_once, lambda: self.provides(Need.FACTS))

    @cached_property
    def ahead(self) -> ReadingAhead:
        made = self.made
        return ReadingAhead(
            made.loader, made.sessions, made.models, made.client, made.prompting, self.tooling, made.warmth, made.preferences
        )

    @cached_property
    def chat(self) -> Chat:
        made = self.made
        step = RecallStep(made.chats, made.recollecting, self.looking_up.of_turn)
        written = (made.client, self.tooling, made.receipt_service, made.warmth)
        generator = ReplyGenerator(made.loader, made.frames, made.prompting, *written)
        return Chat(made.loader, made.sessions, made.models, step, generator, made.group, self.ahead, made.quiet)

    @cached_property
    def inspecting(self) -> Inspecting:
        made = self.made
        kept = (made.chats, made.receipts, made.library, made.preferences, made.counting)
        return Inspecting(*kept, made.prompting, made.loaded, self.tooling.prompt_of)
