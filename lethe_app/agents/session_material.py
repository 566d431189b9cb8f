"""What the tasks share that read sessions: material for a run, its description for a model, and the task's state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from lethe_app.agents.task import NOTHING, AgentTask, TaskContext, TaskRequirement, TaskResult, TaskView
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.persona import Persona

Material = TypeVar("Material")

MAX_TEXT_CHARACTERS = 1500
"""Characters of a biography and of a session that a model reads."""
MAX_ROLE_CHARACTERS = 400
NEWEST_LINES = 12
"""Number of last messages read of a session without summary."""
NOTHING_YET = "(none yet)"
UNTIL_KEY, LAST_SESSION_KEY = "until", "last"
"""Keys of the state: last activity of the newest session that was used, or time of the newest message; and the id of the
session that was used last.
"""


class MaterialTask(AgentTask, Generic[Material]):
    """Task that writes with a model whenever there is material it has not used yet."""

    needs = frozenset({TaskRequirement.MODEL})

    @abstractmethod
    async def find_material(self, view: TaskView) -> Material | None:
        """Return what the next run would work on; None if there is nothing to do."""

    @abstractmethod
    async def write(self, context: TaskContext, material: Material) -> TaskResult:
        """Perform the task on its material."""

    async def observe(self, view: TaskView) -> bool:
        return await self.find_material(view) is not None

    async def execute(self, context: TaskContext) -> TaskResult:
        material = await self.find_material(context)
        return NOTHING if material is None else await self.write(context, material)


def read_time(state: Mapping[str, object], key: str) -> datetime | None:
    """Return the time stored in a task's state; None if there is none."""
    value = state.get(key)
    return datetime.fromisoformat(value) if isinstance(value, str) else None


def read_strings(state: Mapping[str, object], key: str) -> list[str]:
    """Return the texts stored in a task's state."""
    value = state.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []


async def update_state(context: TaskContext, changes: Mapping[str, object]) -> None:
    """Replace these values of the task's state."""
    await context.save_state({**await context.load_state(), **changes})


async def list_new_sessions(view: TaskView, limit: int = 20) -> list[SessionSummary]:
    """Return those of the newest `limit` archived sessions that were active after the time in the state, oldest first."""
    until = read_time(await view.load_state(), UNTIL_KEY)
    until = min(until, view.moment) if until is not None else None  # a wrong clock may have dated it ahead
    archived_sessions = [session for session in await view.list_sessions(archived=True, limit=limit) if session.messages]
    return [session for session in reversed(archived_sessions) if until is None or session.last_activity > until]


def state_after(sessions: Sequence[SessionSummary]) -> dict[str, object]:
    """Return the state by which `list_new_sessions` leaves these sessions out."""
    return {UNTIL_KEY: max(session.last_activity for session in sessions).isoformat()}


async def describe_session(view: TaskView, session: ChatSession) -> str:
    """Return a session in a few words: its summary, or its last messages."""
    text = session.content or format_lines((await view.list_utterances(session.guid, NEWEST_LINES))[-NEWEST_LINES:])
    heading = f"“{session.name}”:\n" if session.name else ""
    return heading + text[:MAX_TEXT_CHARACTERS]


def describe_speakers(view: TaskView) -> dict[str, str]:
    """Return the placeholders with the names and descriptions of both speakers."""
    persona = view.persona
    return {
        "name": persona.name,
        "user": view.user.name,
        "bio": expand_names(persona, view.user, persona.mini_bio or persona.bio)[:MAX_TEXT_CHARACTERS] or NOTHING_YET,
        "user_bio": expand_names(persona, view.user, view.user.bio)[:MAX_TEXT_CHARACTERS] or NOTHING_YET,
    }


async def describe_situation(context: TaskContext, session: ChatSession | None, max_goals: int) -> dict[str, str]:
    """Return the placeholders of `describe_speakers`, those of a session and of the present goals with the highest priority."""
    goals = [memory for memory in await context.list_memories() if memory.category is MemoryType.GOAL and memory.enabled]
    goals.sort(key=lambda goal: -goal.priority)
    return {
        **describe_speakers(context),
        "summary": await describe_session(context, session) if session is not None else NOTHING_YET,
        "goals": "\n".join(f"- {goal.name}" for goal in goals[:max_goals]) or NOTHING_YET,
    }


def expand_names(persona: Persona, user: Persona, text: str) -> str:
    """Expand the macros {{char}} and {{user}}."""
    return text.replace("{{char}}", persona.spoken_name).replace("{{user}}", user.name).strip()


def describe_role(persona: Persona, user: Persona) -> str:
    """Return the persona's bio in a few sentences, in one line."""
    return " ".join(expand_names(persona, user, persona.mini_bio or persona.bio).split())[:MAX_ROLE_CHARACTERS]


def remove_braces(text: str) -> str:
    """Remove the braces of macros from a model's text, because it is inserted into prompts, where macros are expanded."""
    return text.replace("{{", "").replace("}}", "")
