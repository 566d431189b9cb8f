"""Goal tasks: a persona's own goals, its wishes for the user, and the plans of the last session, each worked out in steps."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from lethe_app.agents.journal import NOTHING_YET
from lethe_app.agents.self_reflection import describe_session, plain
from lethe_app.agents.task import NOTHING, AgentTask, Need, Result, Sight, TaskContext
from lethe_app.brain.llm_schemas.archive import LlmAnswer, clean_answer_text
from lethe_app.config.options import RoleplayGoals
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit

LASTS = timedelta(days=30)
FIRST_PRIORITY = 3
SESSION_PRIORITY, CUSTOM_PRIORITY = 5, 5
MOST_OWN, MOST_WISHES, MOST_PLANS = 2, 2, 2
LONGEST_TEXT = 1500
LOOKED_AT = 10
"""Number of newest sessions that are searched for one that may be used."""
LAST = "last"
"""Key of the state: the session that was used last."""
_Line = BeforeValidator(lambda value: clean_answer_text(value) if isinstance(value, str) else value)
Short = Annotated[str, _Line, Field(max_length=160)]
Long = Annotated[str, _Line, Field(min_length=8, max_length=500)]


class Aims(LlmAnswer):
    """Goals of the persona for itself, and its wishes for the user."""

    max_tokens: ClassVar[int] = 300
    own: list[Short] = Field(max_length=MOST_OWN)
    wishes: list[Short] = Field(max_length=MOST_WISHES)


class GoalAnswer(LlmAnswer):
    """A goal, worked out."""

    max_tokens: ClassVar[int] = 480
    title: Annotated[str, _Line, Field(min_length=3, max_length=80)]
    details: Long
    reason: Long
    steps: list[Short] = Field(min_length=1, max_length=4)

    @property
    def text(self) -> str:
        return f"{self.details}\nPlan: {' '.join(step if step.endswith('.') else f'{step}.' for step in self.steps)}"


@dataclass(frozen=True)
class Idea:
    """Idea for a goal."""

    words: str
    whose: str
    """Origin of the idea; completes “This is …”."""
    priority: int


@dataclass(frozen=True)
class GoalRequest:
    """Request of the user about a persona's goals."""

    request: str = ""
    """Subject of the goals, in the user's words; empty for none."""
    notice: str = ""
    """Advice that the persona takes into account when it sets goals."""


class GoalDesigner(AgentTask):
    """Set goals after a session. They are inserted once when they become relevant and expire after `LASTS`."""

    name = "goals"
    title = "Goals"
    help = "Let personas set goals for themselves and for you after a conversation."
    every = timedelta(days=1)
    needs = frozenset({Need.MODEL})

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance or random.Random()  # noqa: S311 - a coin, not a secret

    async def observe(self, sight: Sight) -> bool:
        return await newest(sight) is not None

    async def execute(self, scene: TaskContext) -> Result:
        session = await newest(scene, self._chance)
        if session is None:
            return NOTHING
        scene.progress("Thinking of goals")
        about = await around(scene, session)
        aims = await scene.ask("goals_own", Aims, **about)
        wanted = [(one, f"a goal of {scene.persona.name}'s own") for one in aims.own]
        wanted += [(one, f"something {scene.persona.name} wishes for {scene.user.name}") for one in aims.wishes]
        wanted += [(one, "a plan from the last conversation") for one in session.future_goals[:MOST_PLANS]]
        ideas = [Idea(*one, max(FIRST_PRIORITY - place, 0)) for place, one in enumerate(wanted) if one[0].strip()]
        return await made(scene, ideas, about, {LAST: str(session.guid)})


class SessionGoals(AgentTask):
    """Turn the plans of the last session into goals of the highest priority."""

    name = "session_goals"
    title = "Plans from conversations"
    help = "Work out the plans of the last conversation, so that personas come back to them."
    every = timedelta(hours=6)
    needs = frozenset({Need.MODEL})

    async def observe(self, sight: Sight) -> bool:
        session = await newest(sight)
        return session is not None and bool(session.future_goals)

    async def execute(self, scene: TaskContext) -> Result:
        session = await newest(scene)
        if session is None or not session.future_goals:
            return NOTHING
        plans = [Idea(one, "a plan from the last conversation", SESSION_PRIORITY) for one in session.future_goals]
        return await made(scene, plans, await around(scene, session), {LAST: str(session.guid)})


class CustomGoal(AgentTask):
    """Set goals on the subject the user asked for."""

    name = "custom_goal"
    title = "Requested goals"
    help = "Set a goal every day about the request on the Mind page."
    every = timedelta(days=1)
    needs = frozenset({Need.MODEL})

    def __init__(self, wished: Callable[[str], Awaitable[GoalRequest]]) -> None:
        """Create the task; `wished` returns the user's request for a persona id."""
        self._wished = wished

    async def observe(self, sight: Sight) -> bool:
        return bool((await self._wished(sight.persona.unique_name)).request.strip())

    async def execute(self, scene: TaskContext) -> Result:
        wish = await self._wished(scene.persona.unique_name)
        if not wish.request.strip():
            return NOTHING
        recent = await scene.sessions(archived=True, most=1)
        about = await around(scene, await scene.session(recent[0].guid) if recent else None)
        whose = f"what {scene.user.name} asked of {scene.persona.name}" + (f"; {wish.notice}" if wish.notice.strip() else "")
        return await made(scene, [Idea(wish.request, whose, CUSTOM_PRIORITY)], about, {})


async def newest(sight: Sight, chance: random.Random | None = None) -> ChatSession | None:
    """Return the newest archived session that may give rise to goals and was not used yet. Without `chance`, one that is
    allowed only at random counts as allowed.
    """
    last = (await sight.state()).get(LAST)
    for one in await sight.sessions(archived=True, most=LOOKED_AT):
        if str(one.guid) == last:
            return None
        session = await sight.session(one.guid)
        if one.messages and (not session.is_roleplay or may_use_roleplay(sight.settings.goals_from_roleplay, chance)):
            return session
    return None


def may_use_roleplay(setting: RoleplayGoals, chance: random.Random | None = None) -> bool:
    """Return whether roleplay sessions are used. “Never” leaves them out; “random” is drawn, or allowed if `chance` is None."""
    if setting is RoleplayGoals.RANDOM:
        return chance is None or chance.random() < 0.5
    return setting is RoleplayGoals.ALWAYS


async def around(scene: TaskContext, session: ChatSession | None) -> dict[str, str]:
    """Return the common placeholders: descriptions of both speakers, the last summary and the present goals."""
    goals = [one for one in await scene.memories() if one.category is MemoryType.GOAL and one.enabled]
    return {
        "name": scene.persona.name,
        "user": scene.user.name,
        "bio": plain(scene, scene.persona.mini_bio or scene.persona.bio)[:LONGEST_TEXT] or NOTHING_YET,
        "user_bio": plain(scene, scene.user.bio)[:LONGEST_TEXT] or NOTHING_YET,
        "summary": await describe_session(scene, session) if session is not None else NOTHING_YET,
        "goals": "\n".join(f"- {goal.name}" for goal in goals[:LOOKED_AT]) or NOTHING_YET,
    }


async def made(scene: TaskContext, ideas: Sequence[Idea], about: dict[str, str], state: dict[str, object]) -> Result:
    """Work out each idea with the model and store all goals at the end, so that a cancelled run has stored none and can be
    repeated.
    """
    sources = [f"session:{state[LAST]}"] if LAST in state else []
    goals: list[MemoryUnit] = []
    for idea in ideas:
        scene.progress(f"Working out: {idea.words.rstrip('.')}")
        plan = await scene.ask("goal_plan", GoalAnswer, **about, aim=idea.words, whose=idea.whose)
        goals.append(goal(plan, idea.priority, scene.moment, sources))
    known = {(one.name, one.content) for one in await scene.memories() if one.category is MemoryType.GOAL}
    for one in goals:
        if (one.name, one.content) not in known:
            await scene.memorize(one)
    titles = list(dict.fromkeys(one.name for one in goals))
    if state:
        await scene.set_state(state)
    if not titles:
        return Result("No new goals.", outcome=RunOutcome.NOTHING)
    return Result(f"Set {len(titles)} goals: {', '.join(titles)}." if len(titles) > 1 else f"Set a goal: {titles[0]}.")


def goal(plan: GoalAnswer, priority: int, moment: datetime, sources: Sequence[str]) -> MemoryUnit:
    """Return the memory of a goal, with its session as source."""
    return MemoryUnit(
        category=MemoryType.GOAL,
        insertion=MemoryInsertion.NATURAL,
        name=plan.title.rstrip("."),
        # Without braces: the memory is inserted into prompts, where macros are expanded.
        content=plan.text.replace("{{", "").replace("}}", ""),
        reason=plan.reason.replace("{{", "").replace("}}", ""),
        priority=priority,
        added=moment,
        last_trigger=moment,
        end_time=moment + LASTS,
        sources=list(sources),
    )
