"""Task that rewrites a persona's personal thoughts after sessions, within the persona's token limit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from pydantic import Field

from lethe_app.agents.task import NOTHING, AgentTask, Need, Result, Sight, TaskContext
from lethe_app.brain.llm_schemas.archive import LlmAnswer, Paragraph, keep_complete_sentences
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.persona import Persona

MOST_SESSIONS = 3
"""Maximum number of sessions that are used together; the newest if there are more."""
WORDS_PER_TOKEN = 0.7
NEWEST_LINES = 12
"""Number of last messages read of a session without summary."""
LONGEST_TEXT = 1500
"""Characters of the persona's bio and of each session."""
UNTIL = "until"
"""Key of the state: last activity of the newest session that was used."""
NO_THOUGHTS = "(none yet)"


class OwnThoughts(LlmAnswer):
    """Personal thoughts in the first person."""

    max_tokens: ClassVar[int] = 700
    truncation_suffix: ClassVar[str] = '"]}'
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=3)

    @property
    def text(self) -> str:
        return "\n\n".join(dict.fromkeys(self.paragraphs))


class Thoughts(AgentTask):
    """Rewrite the personal thoughts. They are stored in the persona's file and are part of every prompt."""

    name = "thoughts"
    title = "Personal thoughts"
    help = "Update what personas think about themselves and about you after a conversation."
    every = timedelta(hours=3)
    needs = frozenset({Need.MODEL})

    def suits(self, persona: Persona) -> bool:
        return persona.self_edit_tokens > 0

    async def observe(self, sight: Sight) -> bool:
        return sight.persona.self_edit_tokens > 0 and bool(await new_sessions(sight))

    async def execute(self, scene: TaskContext) -> Result:
        new = await new_sessions(scene)
        if not new:
            return NOTHING
        scene.progress("Thinking about the last conversation" if len(new) == 1 else "Thinking about the last conversations")
        talks = [await describe_session(scene, await scene.session(one.guid)) for one in new]
        answer = await scene.ask(
            "thoughts",
            OwnThoughts,
            name=scene.persona.name,
            user=scene.user.name,
            words=str(round(scene.persona.self_edit_tokens * WORDS_PER_TOKEN)),
            bio=plain(scene, scene.persona.mini_bio or scene.persona.bio)[:LONGEST_TEXT],
            thoughts=plain(scene, scene.persona.self_edit_field) or NO_THOUGHTS,
            conversations="\n\n".join(talks),
        )
        # Without braces: the thoughts are part of every prompt, where macros are expanded.
        text = await fitted(scene, answer.text.replace("{{", "").replace("}}", ""))
        until = {UNTIL: max(one.last_activity for one in new).isoformat()}
        if not text or text == scene.persona.self_edit_field.strip():
            await scene.set_state(until)
            return Result("No new thoughts.", outcome=NOTHING.outcome)
        await scene.edit_persona(self_edit_field=text)
        await scene.set_state(until)
        return Result(f"{scene.persona.name} has thought about {_whatever(new)}.")


async def new_sessions(sight: Sight) -> list[SessionSummary]:
    """Return the newest archived sessions that were not used yet, oldest first."""
    until = (await sight.state()).get(UNTIL)
    known = datetime.fromisoformat(until) if isinstance(until, str) else None
    found = [one for one in await sight.sessions(archived=True, most=MOST_SESSIONS) if one.messages]
    return [one for one in reversed(found) if known is None or one.last_activity > known]


async def describe_session(sight: Sight, session: ChatSession) -> str:
    """Return a session in a few words: its summary, or its last messages."""
    text = session.content or format_lines((await sight.lines(session.guid, NEWEST_LINES))[-NEWEST_LINES:])
    heading = f"“{session.name}”:\n" if session.name else ""
    return heading + text[:LONGEST_TEXT]


async def fitted(scene: TaskContext, text: str) -> str:
    """Return as many whole sentences as fit the persona's token limit."""
    ends = [end for end in range(1, len(text) + 1) if text[end - 1] in '.!?…”"' and (end == len(text) or text[end].isspace())]
    beginnings = list(dict.fromkeys(keep_complete_sentences(text[:end]) for end in ends)) or [text]
    counts: Sequence[int] = await scene.count(beginnings)
    fitting = [words for words, tokens in zip(beginnings, counts, strict=True) if tokens <= scene.persona.self_edit_tokens]
    return max(fitting, key=len, default="").strip()


def plain(sight: Sight, text: str) -> str:
    """Expand the macros {{char}} and {{user}}."""
    return text.replace("{{char}}", sight.persona.name).replace("{{user}}", sight.user.name).strip()


def _whatever(new: Sequence[SessionSummary]) -> str:
    if len(new) > 1:
        return f"the last {len(new)} conversations"
    return f"“{new[0].title}”" if new[0].title else "the last conversation"
