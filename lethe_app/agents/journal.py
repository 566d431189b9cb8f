"""Journal task: after enough new sessions, an entry in the persona's voice about what occupies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from lethe_app.agents.self_reflection import describe_session, plain
from lethe_app.agents.task import NOTHING, AgentTask, Need, Result, Sight, TaskContext
from lethe_app.brain.llm_schemas.archive import LlmAnswer, Paragraph, clean_answer_text
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import SessionSummary
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.prompt.untrusted_text import is_quoted

LEAST_SESSIONS = 2
LEAST_CONTEXT = 8000
LONGEST_TEXT = 1500
"""Characters of each text that is read besides the messages."""
DECIDE_TALK, WRITE_TALK = 1250, 2000
"""Tokens of the last messages that are read for the decision, and for the entry."""
NEWEST_LINES = 60
GOALS = 3
REMEMBERED = 4
LONGEST_MEMORY = 400
UNTIL = "until"
"""Key of the state: last activity of the newest session that was considered."""
NOTHING_YET = "(none yet)"
_Line = BeforeValidator(lambda value: clean_answer_text(value) if isinstance(value, str) else value)


class JournalOccasionAnswer(LlmAnswer):
    """Decision whether there is something worth an entry, and its topic."""

    max_tokens: ClassVar[int] = 160
    write: bool
    topic: Annotated[str, _Line, Field(max_length=200)]


class JournalEntryAnswer(LlmAnswer):
    """Journal entry of a few paragraphs."""

    max_tokens: ClassVar[int] = 1400
    truncation_suffix: ClassVar[str] = '"]}'
    title: Annotated[str, _Line, Field(max_length=80)]
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=6)

    @property
    def text(self) -> str:
        return "\n\n".join(dict.fromkeys(self.paragraphs)).replace("{{", "").replace("}}", "")


class Journal(AgentTask):
    """Write journal entries. They are recalled like any memory, and none replaces another."""

    name = "journal"
    title = "Journal"
    help = "Let personas write about what is on their mind from time to time, in their own words."
    every = timedelta(hours=24)
    needs = frozenset({Need.MODEL})

    def __init__(self, context: Callable[[], int]) -> None:
        """Create the task; `context` returns the context length of the loaded model in tokens."""
        self._context = context

    async def observe(self, sight: Sight) -> bool:
        return self._context() >= LEAST_CONTEXT and len(await since_the_last(sight)) >= LEAST_SESSIONS

    async def execute(self, scene: TaskContext) -> Result:
        new = await since_the_last(scene)
        if len(new) < LEAST_SESSIONS:
            return NOTHING
        scene.progress("Thinking about recent events")
        about = await around(scene, new)
        talk = await newest_talk(scene, new[-1], "journal", JournalOccasionAnswer, DECIDE_TALK, **about)
        occasion = await scene.ask("journal", JournalOccasionAnswer, talk=talk, **about)
        until = {UNTIL: max(one.last_activity for one in new).isoformat()}
        if not occasion.write or not occasion.topic.strip():
            await scene.set_state(until)
            return Result("Nothing to write about.", outcome=RunOutcome.NOTHING)
        scene.progress(f"Writing about {occasion.topic.rstrip('.')}")
        entry = await self._written(scene, new[-1], occasion.topic, about)
        title = entry.title.strip() or occasion.topic
        sources = [f"session:{one.guid}" for one in new]
        await scene.memorize(entry_memory(title, entry.text, scene.moment, sources))
        await scene.set_state(until)
        await scene.leave_note(f"{scene.persona.name} has written in the journal about “{title.rstrip('.')}”.")
        return Result(f"Wrote in the journal: “{title.rstrip('.')}”.")

    async def _written(
        self, scene: TaskContext, newest: SessionSummary, topic: str, about: dict[str, str]
    ) -> JournalEntryAnswer:
        found = await scene.search(topic, REMEMBERED)
        memories = "\n".join(_remembered(one.text) for one in found) or NOTHING_YET
        material = {name: about[name] for name in ("name", "user", "bio", "last_entry")}
        talk = await newest_talk(
            scene, newest, "journal_entry", JournalEntryAnswer, WRITE_TALK, **material, topic=topic, memories=memories
        )
        return await scene.ask("journal_entry", JournalEntryAnswer, **material, topic=topic, memories=memories, talk=talk)


def _remembered(text: str) -> str:
    """Return the text in one line, truncated. A quoted text is not, because truncation would remove its closing fence."""
    return text if is_quoted(text) else f"- {' '.join(text.split())[:LONGEST_MEMORY]}"


def entry_memory(title: str, text: str, moment: datetime, sources: Sequence[str]) -> MemoryUnit:
    """Return the memory of an entry, with its sessions as sources."""
    return MemoryUnit(
        category=MemoryType.JOURNAL,
        name=title.rstrip("."),
        content=text,
        added=moment,
        last_trigger=moment,
        sources=list(sources),
    )


async def since_the_last(sight: Sight) -> list[SessionSummary]:
    """Return the archived sessions since the last entry, oldest first."""
    until = (await sight.state()).get(UNTIL)
    known = datetime.fromisoformat(until) if isinstance(until, str) else None
    found = [one for one in await sight.sessions(archived=True) if one.messages]
    return [one for one in reversed(found) if known is None or one.last_activity > known]


async def around(scene: TaskContext, new: list[SessionSummary]) -> dict[str, str]:
    """Return the common placeholders: descriptions of both speakers, the last entry, the last summary and the goals."""
    memories = await scene.memories()
    entries = [one for one in memories if one.category is MemoryType.JOURNAL]
    goals = sorted((one for one in memories if one.category is MemoryType.GOAL and one.enabled), key=lambda one: -one.priority)
    newest = max(entries, key=lambda one: one.added, default=None)
    return {
        "name": scene.persona.name,
        "user": scene.user.name,
        "bio": plain(scene, scene.persona.mini_bio or scene.persona.bio)[:LONGEST_TEXT] or NOTHING_YET,
        "user_bio": plain(scene, scene.user.bio)[:LONGEST_TEXT] or NOTHING_YET,
        "last_entry": f"“{newest.name}”: {newest.content[:LONGEST_TEXT]}" if newest else NOTHING_YET,
        "summary": await describe_session(scene, await scene.session(new[-1].guid)),
        "goals": "\n".join(f"- {goal.name}" for goal in goals[:GOALS]) or NOTHING_YET,
    }


async def newest_talk(
    scene: TaskContext, session: SessionSummary, errand: str, answer: type[LlmAnswer], most: int, **material: str
) -> str:
    """Return the end of a session, in as many tokens as the prompt has room for and at most `most`."""
    lines = (await scene.lines(session.guid, NEWEST_LINES))[-NEWEST_LINES:]
    room = min(most, await scene.room(errand, answer, **material))
    counts = await scene.count([format_lines([line]) for line in lines])
    kept = 0
    for tokens in reversed(counts):
        room -= tokens + 1
        if room < 0:
            break
        kept += 1
    return format_lines(lines[len(lines) - kept :]) or NOTHING_YET
