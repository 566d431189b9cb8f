"""A persona's personal thoughts, written anew after conversations, within as many tokens as she may have for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from pydantic import Field

from lethe_app.agents.task import NOTHING, AgentTask, Need, Result, Sight, TaskContext
from lethe_app.brain.llm_schemas.archive import LlmAnswer, Paragraph, whole_sentences
from lethe_app.brain.llm_schemas.chunking import spell_all
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.persona import Persona

MOST_SESSIONS = 3
"""Conversations that are thought of together; of more, the newest."""
WORDS_PER_TOKEN = 0.7
NEWEST_LINES = 12
"""Read of a conversation that has no summary."""
LONGEST_TEXT = 1500
"""Characters of her bio and of each conversation."""
UNTIL = "until"
"""Key of the state: when the last conversation that was thought of ended."""
NO_THOUGHTS = "(none yet)"


class OwnThoughts(LlmAnswer):
    """What somebody thinks, in their own voice."""

    most_tokens: ClassVar[int] = 700
    ending: ClassVar[str] = '"]}'
    paragraphs: list[Paragraph] = Field(min_length=1, max_length=3)

    @property
    def text(self) -> str:
        return "\n\n".join(dict.fromkeys(self.paragraphs))


class Thoughts(AgentTask):
    """Her file keeps them, and they stand in every prompt of hers."""

    name = "thoughts"
    title = "Personal thoughts"
    help = "After a conversation, what they think of themselves and of you is written anew."
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
        text = await fitted(scene, answer.text.replace("{{", "").replace("}}", ""))
        until = {UNTIL: max(one.last_activity for one in new).isoformat()}
        if not text or text == scene.persona.self_edit_field.strip():
            await scene.set_state(until)
            return Result("Nothing to be thought anew.", outcome=NOTHING.outcome)
        await scene.edit_persona(self_edit_field=text)
        await scene.set_state(until)
        return Result(f"{scene.persona.name} has thought about {_whatever(new)}.")


async def new_sessions(sight: Sight) -> list[SessionSummary]:
    """The newest archived conversations that were not thought of yet, oldest first."""
    until = (await sight.state()).get(UNTIL)
    known = datetime.fromisoformat(until) if isinstance(until, str) else None
    found = [one for one in await sight.sessions(archived=True, most=MOST_SESSIONS) if one.messages]
    return [one for one in reversed(found) if known is None or one.last_activity > known]


async def describe_session(sight: Sight, session: ChatSession) -> str:
    """A conversation in a few words: its summary, or how it ended."""
    text = session.content or spell_all((await sight.lines(session.guid, NEWEST_LINES))[-NEWEST_LINES:])
    heading = f"“{session.name}”:\n" if session.name else ""
    return heading + text[:LONGEST_TEXT]


async def fitted(scene: TaskContext, text: str) -> str:
    """As many whole sentences as the persona has tokens for."""
    ends = [end for end in range(1, len(text) + 1) if text[end - 1] in '.!?…”"' and (end == len(text) or text[end].isspace())]
    beginnings = list(dict.fromkeys(whole_sentences(text[:end]) for end in ends)) or [text]
    counts: Sequence[int] = await scene.count(beginnings)
    fitting = [words for words, tokens in zip(beginnings, counts, strict=True) if tokens <= scene.persona.self_edit_tokens]
    return max(fitting, key=len, default="").strip()


def plain(sight: Sight, text: str) -> str:
    """With names in the place of the commonest macros."""
    return text.replace("{{char}}", sight.persona.name).replace("{{user}}", sight.user.name).strip()


def _whatever(new: Sequence[SessionSummary]) -> str:
    if len(new) > 1:
        return f"the last {len(new)} conversations"
    return f"“{new[0].title}”" if new[0].title else "the last conversation"
