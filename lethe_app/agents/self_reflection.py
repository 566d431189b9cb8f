"""Task that rewrites a persona's personal thoughts after sessions, within the persona's token limit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from pydantic import Field

from lethe_app.agents.task import NOTHING, AgentTask, TaskContext, TaskRequirement, TaskResult, TaskView
from lethe_app.brain.llm_schemas.archive import LlmAnswer, Paragraph, keep_complete_sentences
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.persona import Persona

MAX_SESSIONS = 3
"""Maximum number of sessions that are used together; the newest if there are more."""
WORDS_PER_TOKEN = 0.7
NEWEST_LINES = 12
"""Number of last messages read of a session without summary."""
MAX_TEXT_CHARACTERS = 1500
"""Characters of the persona's bio and of each session."""
UNTIL_KEY = "until"
"""Key of the state: last activity of the newest session that was used."""
NO_THOUGHTS = "(none yet)"


class SelfReflectionAnswer(LlmAnswer):
    """Personal thoughts in the first person."""

    max_tokens: ClassVar[int] = 700
    truncation_suffix: ClassVar[str] = '"]}'
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=3)

    @property
    def text(self) -> str:
        return "\n\n".join(dict.fromkeys(self.paragraphs))


class SelfReflection(AgentTask):
    """Rewrite the personal thoughts. They are stored in the persona's file and are part of every prompt."""

    name = "thoughts"
    title = "Personal thoughts"
    help = "Update what personas think about themselves and about you after a conversation."
    every = timedelta(hours=3)
    needs = frozenset({TaskRequirement.MODEL})

    def is_default_for(self, persona: Persona) -> bool:
        return persona.self_edit_tokens > 0

    async def observe(self, view: TaskView) -> bool:
        return view.persona.self_edit_tokens > 0 and bool(await list_new_sessions(view))

    async def execute(self, context: TaskContext) -> TaskResult:
        new_sessions = await list_new_sessions(context)
        if not new_sessions:
            return NOTHING
        context.report_progress(
            "Thinking about the last conversation" if len(new_sessions) == 1 else "Thinking about the last conversations"
        )
        conversations = [await describe_session(context, await context.load_session(session.guid)) for session in new_sessions]
        answer = await context.ask(
            "thoughts",
            SelfReflectionAnswer,
            name=context.persona.name,
            user=context.user.name,
            words=str(round(context.persona.self_edit_tokens * WORDS_PER_TOKEN)),
            bio=expand_names(context, context.persona.mini_bio or context.persona.bio)[:MAX_TEXT_CHARACTERS],
            thoughts=expand_names(context, context.persona.self_edit_field) or NO_THOUGHTS,
            conversations="\n\n".join(conversations),
        )
        # Without braces: the thoughts are part of every prompt, where macros are expanded.
        text = await fit_to_token_limit(context, answer.text.replace("{{", "").replace("}}", ""))
        new_state = {UNTIL_KEY: max(session.last_activity for session in new_sessions).isoformat()}
        if not text or text == context.persona.self_edit_field.strip():
            await context.save_state(new_state)
            return TaskResult("No new thoughts.", outcome=NOTHING.outcome)
        await context.edit_persona(self_edit_field=text)
        await context.save_state(new_state)
        return TaskResult(f"{context.persona.name} has thought about {_describe_sessions(new_sessions)}.")


async def list_new_sessions(view: TaskView) -> list[SessionSummary]:
    """Return the newest archived sessions that were not used yet, oldest first."""
    until = (await view.load_state()).get(UNTIL_KEY)
    until_time = datetime.fromisoformat(until) if isinstance(until, str) else None
    archived_sessions = [session for session in await view.list_sessions(archived=True, limit=MAX_SESSIONS) if session.messages]
    return [session for session in reversed(archived_sessions) if until_time is None or session.last_activity > until_time]


async def describe_session(view: TaskView, session: ChatSession) -> str:
    """Return a session in a few words: its summary, or its last messages."""
    text = session.content or format_lines((await view.list_utterances(session.guid, NEWEST_LINES))[-NEWEST_LINES:])
    heading = f"“{session.name}”:\n" if session.name else ""
    return heading + text[:MAX_TEXT_CHARACTERS]


async def fit_to_token_limit(context: TaskContext, text: str) -> str:
    """Return as many whole sentences as fit the persona's token limit."""
    ends = [end for end in range(1, len(text) + 1) if text[end - 1] in '.!?…”"' and (end == len(text) or text[end].isspace())]
    beginnings = list(dict.fromkeys(keep_complete_sentences(text[:end]) for end in ends)) or [text]
    counts: Sequence[int] = await context.count(beginnings)
    fitting = [words for words, tokens in zip(beginnings, counts, strict=True) if tokens <= context.persona.self_edit_tokens]
    return max(fitting, key=len, default="").strip()


def expand_names(view: TaskView, text: str) -> str:
    """Expand the macros {{char}} and {{user}}."""
    return text.replace("{{char}}", view.persona.spoken_name).replace("{{user}}", view.user.name).strip()


def _describe_sessions(sessions: Sequence[SessionSummary]) -> str:
    if len(sessions) > 1:
        return f"the last {len(sessions)} conversations"
    return f"“{sessions[0].title}”" if sessions[0].title else "the last conversation"
