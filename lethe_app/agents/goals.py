"""Goal tasks: a persona's own goals, its wishes for the user, and the plans of the last session, each worked out in steps."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar

from pydantic import Field

from lethe_app.agents.session_material import (
    LAST_SESSION_KEY,
    MaterialTask,
    describe_situation,
    remove_braces,
)
from lethe_app.agents.task import TaskContext, TaskResult, TaskView
from lethe_app.brain.llm_schemas.archive import LlmAnswer, Tidy
from lethe_app.config.options import RoleplayGoals
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit

GOAL_LIFETIME = timedelta(days=30)
FIRST_PRIORITY = 3
SESSION_PRIORITY, CUSTOM_PRIORITY = 5, 5
MAX_OWN_GOALS, MAX_WISHES, MAX_PLANS = 2, 2, 2
MAX_LISTED_GOALS = 10
MAX_SESSIONS_CHECKED = 10
"""Number of newest sessions that are searched for one that may be used."""
Short = Annotated[str, Tidy, Field(max_length=160)]
Long = Annotated[str, Tidy, Field(min_length=8, max_length=500)]


class PersonaGoalsAnswer(LlmAnswer):
    """Goals of the persona for itself, and its wishes for the user."""

    max_tokens: ClassVar[int] = 300
    own: list[Short] = Field(max_length=MAX_OWN_GOALS)
    wishes: list[Short] = Field(max_length=MAX_WISHES)


class GoalAnswer(LlmAnswer):
    """A goal, worked out."""

    max_tokens: ClassVar[int] = 480
    title: Annotated[str, Tidy, Field(min_length=3, max_length=80)]
    details: Long
    reason: Long
    steps: list[Short] = Field(min_length=1, max_length=4)

    @property
    def text(self) -> str:
        return f"{self.details}\nPlan: {' '.join(step if step.endswith('.') else f'{step}.' for step in self.steps)}"


@dataclass(frozen=True)
class GoalRequest:
    """Request of the user about a persona's goals."""

    request: str = ""
    """Subject of the goals, in the user's words; empty for none."""
    notice: str = ""
    """Advice that the persona takes into account when it sets goals."""


class GoalDesigner(MaterialTask[ChatSession]):
    """Set goals after a session. They are inserted once when they become relevant and expire after `GOAL_LIFETIME`."""

    name = "goals"
    title = "Goals"
    help = "Let personas set goals for themselves and for you after a conversation."
    every = timedelta(days=1)

    def __init__(self, rng: random.Random | None = None) -> None:
        self._rng = rng or random.Random()  # noqa: S311 - a coin, not a secret

    async def observe(self, view: TaskView) -> bool:
        return await find_unused_session(view) is not None  # nothing is drawn before the run

    async def find_material(self, view: TaskView) -> ChatSession | None:
        return await find_unused_session(view, self._rng)

    async def write(self, context: TaskContext, session: ChatSession) -> TaskResult:
        context.report_progress("Thinking of goals")
        placeholders = await describe_situation(context, session, MAX_LISTED_GOALS)
        aims = await context.ask("goals_own", PersonaGoalsAnswer, **placeholders)
        candidates = [(goal, f"a goal of {context.persona.name}'s own") for goal in aims.own]
        candidates += [(wish, f"something {context.persona.name} wishes for {context.user.name}") for wish in aims.wishes]
        candidates += [(plan, "a plan from the last conversation") for plan in session.future_goals[:MAX_PLANS]]
        ideas = [
            (text, origin, max(FIRST_PRIORITY - rank, 0)) for rank, (text, origin) in enumerate(candidates) if text.strip()
        ]
        return await create_goals(context, ideas, placeholders, session)


class SessionGoals(MaterialTask[ChatSession]):
    """Turn the plans of the last session into goals of the highest priority."""

    name = "session_goals"
    title = "Plans from conversations"
    help = "Work out the plans of the last conversation, so that personas come back to them."
    every = timedelta(hours=6)

    async def find_material(self, view: TaskView) -> ChatSession | None:
        session = await find_unused_session(view)
        return session if session is not None and session.future_goals else None

    async def write(self, context: TaskContext, session: ChatSession) -> TaskResult:
        ideas = [(plan, "a plan from the last conversation", SESSION_PRIORITY) for plan in session.future_goals]
        placeholders = await describe_situation(context, session, MAX_LISTED_GOALS)
        return await create_goals(context, ideas, placeholders, session)


class CustomGoal(MaterialTask[GoalRequest]):
    """Set goals on the subject the user asked for."""

    name = "custom_goal"
    title = "Requested goals"
    help = "Set one goal a day for the request you made on the Mind page."
    every = timedelta(days=1)

    def __init__(self, load_request: Callable[[str], Awaitable[GoalRequest]]) -> None:
        """Create the task; `load_request` returns the user's request for a persona id."""
        self._load_request = load_request

    async def find_material(self, view: TaskView) -> GoalRequest | None:
        request = await self._load_request(view.persona.unique_name)
        return request if request.request.strip() else None

    async def write(self, context: TaskContext, request: GoalRequest) -> TaskResult:
        newest_sessions = await context.list_sessions(archived=True, limit=1)
        session = await context.load_session(newest_sessions[0].guid) if newest_sessions else None
        placeholders = await describe_situation(context, session, MAX_LISTED_GOALS)
        origin = f"what {context.user.name} asked of {context.persona.name}" + (
            f"; {request.notice}" if request.notice.strip() else ""
        )
        return await create_goals(context, [(request.request, origin, CUSTOM_PRIORITY)], placeholders)


async def find_unused_session(view: TaskView, rng: random.Random | None = None) -> ChatSession | None:
    """Return the newest archived session that may give rise to goals and was not used yet. Without `rng`, one that is
    allowed only at random counts as allowed.
    """
    last_session_id = (await view.load_state()).get(LAST_SESSION_KEY)
    for summary in await view.list_sessions(archived=True, limit=MAX_SESSIONS_CHECKED):
        if str(summary.guid) == last_session_id:
            return None
        session = await view.load_session(summary.guid)
        if summary.messages and (not session.is_roleplay or may_use_roleplay(view.settings.goals_from_roleplay, rng)):
            return session
    return None


def may_use_roleplay(setting: RoleplayGoals, rng: random.Random | None = None) -> bool:
    """Return whether roleplay sessions are used. “Never” leaves them out; “random” is drawn, or allowed if `rng` is None."""
    if setting is RoleplayGoals.RANDOM:
        return rng is None or rng.random() < 0.5
    return setting is RoleplayGoals.ALWAYS


async def create_goals(
    context: TaskContext,
    ideas: Sequence[tuple[str, str, int]],
    placeholders: dict[str, str],
    session: ChatSession | None = None,
) -> TaskResult:
    """Work out each idea with the model and store all goals at the end, so that a cancelled run has stored none and can be
    repeated. An idea is a text, its origin, which completes “This is …”, and its priority; `session` is where the ideas come
    from.
    """
    sources = [f"session:{session.guid}"] if session is not None else []
    goals: list[MemoryUnit] = []
    for text, origin, priority in ideas:
        context.report_progress(f"Working out: {text.rstrip('.')}")
        plan = await context.ask("goal_plan", GoalAnswer, **placeholders, aim=text, whose=origin)
        goals.append(
            MemoryUnit(
                category=MemoryType.GOAL,
                insertion=MemoryInsertion.NATURAL,
                name=plan.title.rstrip("."),
                content=remove_braces(plan.text),
                reason=remove_braces(plan.reason),
                priority=priority,
                added=context.moment,
                last_trigger=context.moment,
                end_time=context.moment + GOAL_LIFETIME,
                sources=sources,
            )
        )
    known_goals = {(goal.name, goal.content) for goal in await context.list_memories() if goal.category is MemoryType.GOAL}
    for goal in goals:
        if (goal.name, goal.content) not in known_goals:
            await context.memorize(goal)
    titles = list(dict.fromkeys(goal.name for goal in goals))
    if session is not None:
        await context.save_state({LAST_SESSION_KEY: str(session.guid)})
    if not titles:
        return TaskResult("No new goals.", outcome=RunOutcome.NOTHING)
    return TaskResult(f"Set {len(titles)} goals: {', '.join(titles)}." if len(titles) > 1 else f"Set a goal: {titles[0]}.")
