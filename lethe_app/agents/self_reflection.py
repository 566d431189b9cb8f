"""Task that rewrites a persona's personal thoughts after sessions, within the persona's token limit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import ClassVar

from pydantic import Field

from lethe_app.agents.session_material import (
    NOTHING_YET,
    MaterialTask,
    describe_session,
    describe_speakers,
    expand_names,
    list_new_sessions,
    remove_braces,
    state_after,
)
from lethe_app.agents.task import NOTHING, TaskContext, TaskResult, TaskView
from lethe_app.brain.llm_schemas.archive import LlmAnswer, Paragraph, keep_complete_sentences
from lethe_app.domain.chat import SessionSummary
from lethe_app.domain.persona import Persona

MAX_SESSIONS = 3
"""Maximum number of sessions that are used together; the newest if there are more."""
WORDS_PER_TOKEN = 0.7


class SelfReflectionAnswer(LlmAnswer):
    """Personal thoughts in the first person."""

    max_tokens: ClassVar[int] = 700
    truncation_suffix: ClassVar[str] = '"]}'
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=3)

    @property
    def text(self) -> str:
        return "\n\n".join(dict.fromkeys(self.paragraphs))


class SelfReflection(MaterialTask[list[SessionSummary]]):
    """Rewrite the personal thoughts. They are stored in the persona's file and are part of every prompt."""

    name = "thoughts"
    title = "Personal thoughts"
    help = "Update what personas think about themselves and about you after a conversation."
    every = timedelta(hours=3)

    def is_default_for(self, persona: Persona) -> bool:
        return persona.self_edit_tokens > 0

    async def find_material(self, view: TaskView) -> list[SessionSummary] | None:
        return (await list_new_sessions(view, MAX_SESSIONS) or None) if view.persona.self_edit_tokens > 0 else None

    async def write(self, context: TaskContext, new_sessions: list[SessionSummary]) -> TaskResult:
        context.report_progress(
            "Thinking about the last conversation" if len(new_sessions) == 1 else "Thinking about the last conversations"
        )
        conversations = [await describe_session(context, await context.load_session(session.guid)) for session in new_sessions]
        answer = await context.ask(
            "thoughts",
            SelfReflectionAnswer,
            **{name: text for name, text in describe_speakers(context).items() if name != "user_bio"},
            words=str(round(context.persona.self_edit_tokens * WORDS_PER_TOKEN)),
            thoughts=expand_names(context.persona, context.user, context.persona.self_edit_field) or NOTHING_YET,
            conversations="\n\n".join(conversations),
        )
        text = await fit_to_token_limit(context, remove_braces(answer.text))
        is_new = bool(text) and text != context.persona.self_edit_field.strip()
        if is_new:
            await context.edit_persona(self_edit_field=text)
        await context.save_state(state_after(new_sessions))
        if not is_new:
            return TaskResult("No new thoughts.", outcome=NOTHING.outcome)
        return TaskResult(f"{context.persona.name} has thought about {_describe_sessions(new_sessions)}.")


async def fit_to_token_limit(context: TaskContext, text: str) -> str:
    """Return as many whole sentences as fit the persona's token limit."""
    ends = [end for end in range(1, len(text) + 1) if text[end - 1] in '.!?…”"' and (end == len(text) or text[end].isspace())]
    beginnings = list(dict.fromkeys(keep_complete_sentences(text[:end]) for end in ends)) or [text]
    counts: Sequence[int] = await context.count(beginnings)
    fitting = [words for words, tokens in zip(beginnings, counts, strict=True) if tokens <= context.persona.self_edit_tokens]
    return max(fitting, key=len, default="").strip()


def _describe_sessions(sessions: Sequence[SessionSummary]) -> str:
    if len(sessions) > 1:
        return f"the last {len(sessions)} conversations"
    return f"“{sessions[0].title}”" if sessions[0].title else "the last conversation"
