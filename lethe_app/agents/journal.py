"""Journal task: after enough new sessions, an entry in the persona's voice about what occupies it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, ClassVar

from pydantic import Field

from lethe_app.agents.session_material import (
    MAX_TEXT_CHARACTERS,
    NOTHING_YET,
    MaterialTask,
    describe_situation,
    list_new_sessions,
    remove_braces,
    state_after,
)
from lethe_app.agents.task import TaskContext, TaskResult, TaskView
from lethe_app.brain.llm_schemas.archive import LlmAnswer, Paragraph, Tidy
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import SessionSummary
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.prompt.untrusted_text import is_quoted

MIN_SESSIONS = 2
MIN_CONTEXT = 8000
DECISION_TOKENS, ENTRY_TOKENS = 1250, 2000
"""Tokens of the last messages that are read for the decision, and for the entry."""
NEWEST_LINES = 60
MAX_GOALS = 3
MAX_MEMORIES = 4
MAX_MEMORY_CHARACTERS = 400


class JournalOccasionAnswer(LlmAnswer):
    """Decision whether there is something worth an entry, and its topic."""

    max_tokens: ClassVar[int] = 160
    write: bool
    topic: Annotated[str, Tidy, Field(max_length=200)]


class JournalEntryAnswer(LlmAnswer):
    """Journal entry of a few paragraphs."""

    max_tokens: ClassVar[int] = 1400
    truncation_suffix: ClassVar[str] = '"]}'
    title: Annotated[str, Tidy, Field(max_length=80)]
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=6)

    @property
    def text(self) -> str:
        return remove_braces("\n\n".join(dict.fromkeys(self.paragraphs)))


class Journal(MaterialTask[list[SessionSummary]]):
    """Write journal entries. They are recalled like any memory, and none replaces another."""

    name = "journal"
    title = "Journal"
    help = "Let personas write about what is on their mind from time to time, in their own words."
    every = timedelta(hours=24)

    def __init__(self, load_context_size: Callable[[], int]) -> None:
        """Create the task; `load_context_size` returns the context length of the loaded model in tokens."""
        self._load_context_size = load_context_size

    async def find_material(self, view: TaskView) -> list[SessionSummary] | None:
        new_sessions = await list_new_sessions(view) if self._load_context_size() >= MIN_CONTEXT else []
        return new_sessions if len(new_sessions) >= MIN_SESSIONS else None

    async def write(self, context: TaskContext, new_sessions: list[SessionSummary]) -> TaskResult:
        context.report_progress("Thinking about recent events")
        last_session = await context.load_session(new_sessions[-1].guid)
        placeholders = await describe_situation(context, last_session, MAX_GOALS)
        entries = [memory for memory in await context.list_memories() if memory.category is MemoryType.JOURNAL]
        newest = max(entries, key=lambda memory: memory.added, default=None)
        placeholders["last_entry"] = f"“{newest.name}”: {newest.content[:MAX_TEXT_CHARACTERS]}" if newest else NOTHING_YET
        conversation = await format_newest_messages(
            context, new_sessions[-1], "journal", JournalOccasionAnswer, DECISION_TOKENS, **placeholders
        )
        occasion = await context.ask("journal", JournalOccasionAnswer, talk=conversation, **placeholders)
        if not occasion.write or not occasion.topic.strip():
            await context.save_state(state_after(new_sessions))
            return TaskResult("Nothing to write about.", outcome=RunOutcome.NOTHING)
        context.report_progress(f"Writing about {occasion.topic.rstrip('.')}")
        entry = await self._write_entry(context, new_sessions[-1], occasion.topic, placeholders)
        title = (entry.title.strip() or occasion.topic).rstrip(".")
        await context.memorize(
            MemoryUnit(
                category=MemoryType.JOURNAL,
                name=title,
                content=entry.text,
                added=context.moment,
                last_trigger=context.moment,
                sources=[f"session:{session.guid}" for session in new_sessions],
            )
        )
        await context.save_state(state_after(new_sessions))
        await context.leave_note(f"{context.persona.name} has written in the journal about “{title}”.")
        return TaskResult(f"Wrote in the journal: “{title}”.")

    async def _write_entry(
        self, context: TaskContext, newest: SessionSummary, topic: str, placeholders: dict[str, str]
    ) -> JournalEntryAnswer:
        recalled = await context.search_memories(topic, MAX_MEMORIES)
        memories = "\n".join(_format_memory(recollection.text) for recollection in recalled) or NOTHING_YET
        values = {name: placeholders[name] for name in ("name", "user", "bio", "last_entry")}
        values |= {"topic": topic, "memories": memories}
        conversation = await format_newest_messages(
            context, newest, "journal_entry", JournalEntryAnswer, ENTRY_TOKENS, **values
        )
        return await context.ask("journal_entry", JournalEntryAnswer, **values, talk=conversation)


def _format_memory(text: str) -> str:
    """Return the text in one line, truncated. A quoted text is not, because truncation would remove its closing fence."""
    return text if is_quoted(text) else f"- {' '.join(text.split())[:MAX_MEMORY_CHARACTERS]}"


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
