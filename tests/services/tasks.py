"""Tasks for tests, a user who goes away, and a clock of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from lethe_app.agents.registry import RegisteredTask
from lethe_app.agents.task import NOTHING, AgentTask, TaskContext, TaskRequirement, TaskResult, TaskView
from lethe_app.brain.llm_schemas.archive import TitleAnswer
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import TaskRun
from lethe_app.domain.clock import system_clock
from tests.services.turns import MIRA, change_persona

TaskAction = Callable[[TaskContext], Awaitable[TaskResult]]
Task = TypeVar("Task", bound=AgentTask)
LONG = timedelta(minutes=20)


@dataclass
class Clock:
    """Shows what it is set to."""

    shown: datetime = field(default_factory=lambda: system_clock().replace(hour=12, minute=0, second=0, microsecond=0))

    def __call__(self) -> datetime:
        return self.shown

    def go_on(self, **span: float) -> None:
        self.shown += timedelta(**span)


class Scripted(AgentTask):
    """Does what a test wants."""

    title = "A little something"
    every = timedelta(hours=6)

    def __init__(self, action: TaskAction, name: str = "something", *needs: TaskRequirement) -> None:
        self.name, self.needs = name, frozenset(needs)  # type: ignore[misc] - each of these is a class of its own
        self.action = action
        self.sees = True
        self.began = 0
        self.ended = 0

    async def observe(self, view: TaskView) -> bool:
        return self.sees

    async def execute(self, context: TaskContext) -> TaskResult:
        self.began += 1
        result = await self.action(context)
        self.ended += 1
        return result


async def nothing(_scene: TaskContext) -> TaskResult:
    return NOTHING


async def for_ever(scene: TaskContext) -> TaskResult:
    scene.report_progress("Waiting for the tide")
    await asyncio.Event().wait()
    return NOTHING


async def ask_for_a_title(scene: TaskContext) -> TaskResult:
    """Something for which a model is needed."""
    title = await scene.ask("title", TitleAnswer, conversation="Tomas: I saw a green boat.")
    return TaskResult(f"It is called {title.title}.")


async def employ(services: AppServices, first: Task, *others: AgentTask, plugin: str = "") -> Task:
    """Mira does these, and nothing else, while the user is away; returns the first."""
    tasks = (first, *others)
    for task in tasks:
        services.background_runner.registry._tasks[task.name] = RegisteredTask(task, plugin)
    await change_persona(services, MIRA, agent_mode=True, agent_tasks=[task.name for task in tasks])
    return first


async def employ_built_in(services: AppServices, *names: str) -> None:
    """Mira does these of the tasks that come along, and nothing else, while the user is away."""
    await change_persona(services, MIRA, agent_mode=True, agent_tasks=list(names))


def leave(services: AppServices, clock: Clock, span: timedelta = LONG) -> None:
    """The user was here, and then nothing was heard of them for so long."""
    services.idleness.start_watching()
    clock.shown += span


async def leave_and_run(services: AppServices, clock: Clock, span: timedelta = LONG) -> None:
    """The user leaves, and whatever is due first is done."""
    leave(services, clock, span)
    await services.background_runner.run_next_task()


async def newest(services: AppServices) -> TaskRun:
    return (await services.activity_log.list_runs())[0]


async def kept_runs(services: AppServices) -> list[TaskRun]:
    return await services.activity_log.list_runs()
