"""Wires what happens without the user, on top of `wiring`: work while they are away, the internet, moods, tools."""

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
from lethe_app.brain.notebooks.subjects import read as read_matters
from lethe_app.composition.app_services import MindServices
from lethe_app.composition.core import CoreServices
from lethe_app.domain.agent_runs import MadeKind
from lethe_app.services.background.activity_log import NOT_COUNTED, WORKS, ActivityLog, ArchiveLog
from lethe_app.services.background.dreams import Dreams, DreamServices
from lethe_app.services.background.feedback import Feedbacks
from lethe_app.services.background.mood_inference import MoodReader
from lethe_app.services.background.plugin_failures import Failing
from lethe_app.services.background.runner import Away
from lethe_app.services.background.task_api import Tools
from lethe_app.services.background.undo import ChangeUndo, Taker
from lethe_app.services.extraction.conclusions import ConclusionService
from lethe_app.services.extraction.structured_output import StructuredOutput, TaskModelAdapter
from lethe_app.services.memory.proactive import ProactiveMemory
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
from lethe_app.services.tools.registry import Tooling
from lethe_app.services.tools.working_memory import Workbench
from lethe_app.services.web.chat_lookup import LookingUp
from lethe_app.services.web.gate import WebGate
from lethe_app.services.web.research import Researching
from lethe_app.storage.agents.change_log import Changes
from lethe_app.storage.agents.task_runs import TaskRuns
from lethe_app.storage.chats.archive_jobs import Parts
from lethe_app.storage.chats.feedback import FeedbackRows
from lethe_app.storage.memory.memories import ReminderRows
from lethe_app.storage.memory.working_memory import BenchRows


class BackgroundServices:
    """One of each; everything is built when it is first asked for, from the core services."""

    def __init__(self, made: CoreServices) -> None:
        self.made = made
        self.runs = TaskRuns(made.database)
        self.changes = Changes(made.database)
        self.idleness = Idleness()
        made.quiet.broken.add(lambda _none: self.idleness.touch())  # whoever sends something is here

    @cached_property
    def tasks(self) -> list[AgentTask]:
        """Those of ours, in the order in which they are shown."""
        inner = [Thoughts(), Journal(self.context), GoalDesigner(), SessionGoals(), CustomGoal(self.wishes.goals_of)]
        return [*inner, ActiveResearchTask(self.gathering), ResearchTask(self.gathering), Dream(self.dream_desk)]

    @cached_property
    def wishes(self) -> GoalService:
        return GoalService(self.made.app_state)

    @cached_property
    def takers(self) -> dict[MadeKind, Taker]:
        """What takes back a thing that a task made outside its context, by kind."""
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
            knowing=made.knowing,
            chats=made.chats,
            guidance=ProactiveMemory(made.app_state, made.state, made.moods, made.foreign),
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
        return Runtime(registry, self.runs, lambda: self.made.preferences.current, self.provides, NOT_COUNTED)

    @cached_property
    def doings(self) -> ActivityLog:
        return ActivityLog(self.runs, self.runtime)

    @cached_property
    def archive_log(self) -> ArchiveLog:
        return ArchiveLog(self.doings, self.made.chats, Parts(self.made.database))

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
            self.doings,
            on_battery,
        )

    def provides(self, need: Need) -> bool:
        """Is there what a task needs?"""
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
        """Its model answers within the turn, for which background work makes way; counting ends what that has under way."""
        made = self.made
        clerk = StructuredOutput(
            made.client, made.errands, made.loaded, made.prompting.form, made.counting.count, lambda: False
        )
        messenger = TaskModelAdapter(clerk, lambda: made.client.count(["."]))
        return LookingUp(made.preferences, made.chats, self.gathering, messenger, self.has_trusted_model)

    @cached_property
    def researching(self) -> Researching:
        made = self.made
        home = (made.casting, made.brain, made.app_state, self.doings)
        return Researching(self.surfing, self.gathering, TaskModelAdapter(made.clerk), self.has_trusted_model, *home)

    def context(self) -> int:
        """Tokens that the loaded model can read."""
        model = self.made.loaded()
        return model.context if model is not None else 0

    def has_trusted_model(self) -> bool:
        """May the loaded model put what it read into its own words?"""
        return self.provides(Need.MODEL)

    @cached_property
    def mind(self) -> MindServices:
        made = self.made
        asked = (made.clerk, made.trust, made.quiet, made.app_state)
        return MindServices(
            moods=made.moods,
            reader=MoodReader(made.moods, made.chats, made.casting, *asked, made.archiving, self.doings),
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
            self.doings,
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
        """Its task prompts are answered within the turn, as those of `looking_up` are."""
        made = self.made
        plugged, faults = plugins.found()
        mind = (self.mind.reminders, self.mind.week)
        ours = (
            MemoryTools(made.brain, made.chats, *mind, made.foreign, self.workbench).tool_set(),
            time_set(),
            dice_set(),
            BenchTools(self.workbench, self.made.foreign.quoter).tool_set(),
            WebTools(self.surfing, self.workbench, self.made.foreign.quoter).tool_set(),
        )
        kept = (self.workbench, made.chats, made.state, made.preferences, made.prompting)
        return Tooling([*ours, *plugged], faults, *kept, made.at_once, lambda: self.provides(Need.FACTS))
