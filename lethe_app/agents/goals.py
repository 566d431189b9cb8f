"""What a persona wants: goals of her own, wishes for the user, and the plans of the last conversation, each with a plan."""

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
from lethe_app.brain.llm_schemas.archive import LlmAnswer, tidy
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
"""Conversations among which one is looked for that may be used."""
LAST = "last"
"""Key of the state: the conversation that was used last."""
_Line = BeforeValidator(lambda value: tidy(value) if isinstance(value, str) else value)
Short = Annotated[str, _Line, Field(max_length=160)]
Long = Annotated[str, _Line, Field(min_length=8, max_length=500)]


class Aims(LlmAnswer):
    """What somebody wants for themselves, and what they wish the other one."""

    most_tokens: ClassVar[int] = 300
    own: list[Short] = Field(max_length=MOST_OWN)
    wishes: list[Short] = Field(max_length=MOST_WISHES)


class GoalAnswer(LlmAnswer):
    """An aim with everything that belongs to it."""

    most_tokens: ClassVar[int] = 480
    title: Annotated[str, _Line, Field(min_length=3, max_length=80)]
    details: Long
    reason: Long
    steps: list[Short] = Field(min_length=1, max_length=4)

    @property
    def text(self) -> str:
        return f"{self.details}\nPlan: {' '.join(step if step.endswith('.') else f'{step}.' for step in self.steps)}"


@dataclass(frozen=True)
class Idea:
    """Something that is to become a goal."""

    words: str
    whose: str
    """Completes “This is …”."""
    priority: int


@dataclass(frozen=True)
class GoalRequest:
    """What the user wants a persona to pursue."""

    request: str = ""
    """What her goals are to be about, in the user's words; empty for nothing."""
    notice: str = ""
    """What she is to bear in mind when she sets them."""


class GoalDesigner(AgentTask):
    """Goals wait for their moment and are told then; what nobody came to in a month fades."""

    name = "goals"
    title = "Goals"
    help = "After a conversation they think about what they want, for themselves and for you."
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
        scene.progress("Thinking of what to wish for")
        about = await around(scene, session)
        aims = await scene.ask("goals_own", Aims, **about)
        wanted = [(one, f"a goal of {scene.persona.name}'s own") for one in aims.own]
        wanted += [(one, f"something {scene.persona.name} wishes for {scene.user.name}") for one in aims.wishes]
        wanted += [(one, "a plan from the last conversation") for one in session.future_goals[:MOST_PLANS]]
        ideas = [Idea(*one, max(FIRST_PRIORITY - place, 0)) for place, one in enumerate(wanted) if one[0].strip()]
        return await made(scene, ideas, about, {LAST: str(session.guid)})


class SessionGoals(AgentTask):
    """What was planned in the last conversation, at once and above all."""

    name = "session_goals"
    title = "Plans of the last conversation"
    help = "What you both planned last is thought through, so that they come back to it."
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
    """A goal to the user's own order."""

    name = "custom_goal"
    title = "Goals you ask for"
    help = "A goal every day about what you wrote on the page of their mind."
    every = timedelta(days=1)
    needs = frozenset({Need.MODEL})

    def __init__(self, wished: Callable[[str], Awaitable[GoalRequest]]) -> None:
        """`wished` tells what the user wants of a persona."""
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
    """The newest archived conversation that may give rise to goals and has not yet; without `chance` one that perhaps may."""
    last = (await sight.state()).get(LAST)
    for one in await sight.sessions(archived=True, most=LOOKED_AT):
        if str(one.guid) == last:
            return None
        session = await sight.session(one.guid)
        if one.messages and (not session.is_roleplay or may_use_roleplay(sight.settings.goals_from_roleplay, chance)):
            return session
    return None


def may_use_roleplay(setting: RoleplayGoals, chance: random.Random | None = None) -> bool:
    """“Never” means that roleplay is left out, and “always” that it is not."""
    if setting is RoleplayGoals.RANDOM:
        return chance is None or chance.random() < 0.5
    return setting is RoleplayGoals.ALWAYS


async def around(scene: TaskContext, session: ChatSession | None) -> dict[str, str]:
    """Who both are, what was spoken of last, and what she wants already."""
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
    """Each thought through, and all of them kept at the end. What is cut off before that is begun anew and has left nothing."""
    sources = [f"session:{state[LAST]}"] if LAST in state else []
    goals: list[MemoryUnit] = []
    for idea in ideas:
        scene.progress(f"Thinking through: {idea.words.rstrip('.')}")
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
        return Result("Nothing to be wished for.", outcome=RunOutcome.NOTHING)
    return Result(f"Set {len(titles)} goals: {', '.join(titles)}." if len(titles) > 1 else f"Set a goal: {titles[0]}.")


def goal(plan: GoalAnswer, priority: int, moment: datetime, sources: Sequence[str]) -> MemoryUnit:
    """A goal as it is kept, with the conversation it arose from."""
    return MemoryUnit(
        category=MemoryType.GOAL,
        insertion=MemoryInsertion.NATURAL,
        name=plan.title.rstrip("."),
        content=plan.text.replace("{{", "").replace("}}", ""),
        reason=plan.reason.replace("{{", "").replace("}}", ""),
        priority=priority,
        added=moment,
        last_trigger=moment,
        end_time=moment + LASTS,
        sources=list(sources),
    )
