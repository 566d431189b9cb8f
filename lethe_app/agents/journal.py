"""Journal task: after enough new sessions, an entry in the persona's voice about what occupies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from lethe_app.agents.self_reflection import describe_session, expand_names
from lethe_app.agents.task import NOTHING, AgentTask, TaskContext, TaskRequirement, TaskResult, TaskView
from lethe_app.brain.llm_schemas.archive import LlmAnswer, Paragraph, clean_answer_text
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import SessionSummary
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.prompt.untrusted_text import is_quoted

MIN_SESSIONS = 2
MIN_CONTEXT = 8000
MAX_TEXT_CHARACTERS = 1500
"""Characters of each text that is read besides the messages."""
DECISION_TOKENS, ENTRY_TOKENS = 1250, 2000
"""Tokens of the last messages that are read for the decision, and for the entry."""
NEWEST_LINES = 60
MAX_GOALS = 3
MAX_MEMORIES = 4
MAX_MEMORY_CHARACTERS = 400
UNTIL_KEY = "until"
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
    needs = frozenset({TaskRequirement.MODEL})

    def __init__(self, load_context_size: Callable[[], int]) -> None:
        """Create the task; `load_context_size` returns the context length of the loaded model in tokens."""
        self._load_context_size = load_context_size

    async def observe(self, view: TaskView) -> bool:
        return self._load_context_size() >= MIN_CONTEXT and len(await list_new_sessions(view)) >= MIN_SESSIONS

    async def execute(self, context: TaskContext) -> TaskResult:
        new_sessions = await list_new_sessions(context)
        if len(new_sessions) < MIN_SESSIONS:
            return NOTHING
        context.report_progress("Thinking about recent events")
        placeholders = await build_placeholders(context, new_sessions)
        conversation = await format_newest_messages(
            context, new_sessions[-1], "journal", JournalOccasionAnswer, DECISION_TOKENS, **placeholders
        )
        occasion = await context.ask("journal", JournalOccasionAnswer, talk=conversation, **placeholders)
        new_state = {UNTIL_KEY: max(session.last_activity for session in new_sessions).isoformat()}
        if not occasion.write or not occasion.topic.strip():
            await context.save_state(new_state)
            return TaskResult("Nothing to write about.", outcome=RunOutcome.NOTHING)
        context.report_progress(f"Writing about {occasion.topic.rstrip('.')}")
        entry = await self._write_entry(context, new_sessions[-1], occasion.topic, placeholders)
        title = entry.title.strip() or occasion.topic
        sources = [f"session:{session.guid}" for session in new_sessions]
        await context.memorize(build_entry_memory(title, entry.text, context.moment, sources))
        await context.save_state(new_state)
        await context.leave_note(f"{context.persona.name} has written in the journal about “{title.rstrip('.')}”.")
        return TaskResult(f"Wrote in the journal: “{title.rstrip('.')}”.")

    async def _write_entry(
        self, context: TaskContext, newest: SessionSummary, topic: str, placeholders: dict[str, str]
    ) -> JournalEntryAnswer:
        recalled = await context.search_memories(topic, MAX_MEMORIES)
        memories = "\n".join(_format_memory(recollection.text) for recollection in recalled) or NOTHING_YET
        values = {name: placeholders[name] for name in ("name", "user", "bio", "last_entry")}
        conversation = await format_newest_messages(
            context, newest, "journal_entry", JournalEntryAnswer, ENTRY_TOKENS, **values, topic=topic, memories=memories
        )
        return await context.ask(
            "journal_entry", JournalEntryAnswer, **values, topic=topic, memories=memories, talk=conversation
        )


def _format_memory(text: str) -> str:
    """Return the text in one line, truncated. A quoted text is not, because truncation would remove its closing fence."""
    return text if is_quoted(text) else f"- {' '.join(text.split())[:MAX_MEMORY_CHARACTERS]}"


def build_entry_memory(title: str, text: str, moment: datetime, sources: Sequence[str]) -> MemoryUnit:
    """Return the memory of an entry, with its sessions as sources."""
    return MemoryUnit(
        category=MemoryType.JOURNAL,
        name=title.rstrip("."),
        content=text,
        added=moment,
        last_trigger=moment,
        sources=list(sources),
    )


async def list_new_sessions(view: TaskView) -> list[SessionSummary]:
    """Return the archived sessions since the last entry, oldest first."""
    until = (await view.load_state()).get(UNTIL_KEY)
    until_time = datetime.fromisoformat(until) if isinstance(until, str) else None
    archived_sessions = [session for session in await view.list_sessions(archived=True) if session.messages]
    return [session for session in reversed(archived_sessions) if until_time is None or session.last_activity > until_time]


async def build_placeholders(context: TaskContext, new_sessions: list[SessionSummary]) -> dict[str, str]:
    """Return the common placeholders: descriptions of both speakers, the last entry, the last summary and the goals."""
    memories = await context.list_memories()
    entries = [memory for memory in memories if memory.category is MemoryType.JOURNAL]
    goals = sorted(
        (memory for memory in memories if memory.category is MemoryType.GOAL and memory.enabled),
        key=lambda memory: -memory.priority,
    )
    newest = max(entries, key=lambda memory: memory.added, default=None)
    return {
        "name": context.persona.name,
        "user": context.user.name,
        "bio": expand_names(context, context.persona.mini_bio or context.persona.bio)[:MAX_TEXT_CHARACTERS] or NOTHING_YET,
        "user_bio": expand_names(context, context.user.bio)[:MAX_TEXT_CHARACTERS] or NOTHING_YET,
        "last_entry": f"“{newest.name}”: {newest.content[:MAX_TEXT_CHARACTERS]}" if newest else NOTHING_YET,
        "summary": await describe_session(context, await context.load_session(new_sessions[-1].guid)),
        "goals": "\n".join(f"- {goal.name}" for goal in goals[:MAX_GOALS]) or NOTHING_YET,
    }


async def format_newest_messages(
    context: TaskContext, session: SessionSummary, task_prompt: str, answer: type[LlmAnswer], max_tokens: int, **values: str
) -> str:
    """Return the end of a session, in as many tokens as the prompt has room for and at most `max_tokens`."""
    utterances = (await context.list_utterances(session.guid, NEWEST_LINES))[-NEWEST_LINES:]
    free_tokens = min(max_tokens, await context.free_tokens(task_prompt, answer, **values))
    counts = await context.count([format_lines([line]) for line in utterances])
    kept_count = 0
    for tokens in reversed(counts):
        free_tokens -= tokens + 1
        if free_tokens < 0:
            break
        kept_count += 1
    return format_lines(utterances[len(utterances) - kept_count :]) or NOTHING_YET
