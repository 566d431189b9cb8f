"""Extraction of title, summary, facts and other records from a session. Long sessions are read in portions, so that no line
is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.brain.llm_schemas.archive import (
    GoalsAnswer,
    KeywordsAnswer,
    LlmAnswer,
    LongSummaryAnswer,
    RelevanceAnswer,
    RoleplayAnswer,
    SummaryAnswer,
    TitleAnswer,
)
from lethe_app.brain.llm_schemas.chunking import format_lines, pack_slices
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import SessionPart
from lethe_app.prompt.task_prompts import LONG_LENGTH, SHORT_LENGTH, TaskKind
from lethe_app.services.extraction.structured_output import StructuredOutput

NOTHING = "(nothing yet)"
LONG_SESSION = 40
"""Number of messages above which a summary may be longer."""
_ANSWERS: dict[SessionPart, type[LlmAnswer]] = {
    SessionPart.TITLE: TitleAnswer,
    SessionPart.KEYWORDS: KeywordsAnswer,
    SessionPart.GOALS: GoalsAnswer,
}
"""Answers about the session as a whole; part, task prompt and the field of the answer have the same name."""


@dataclass(frozen=True)
class ConversationExtraction:
    """Extract the parts of a session's archive record. Every method raises ModelError and may be cancelled at any time."""

    structured_output: StructuredOutput

    async def summary(self, lines: Sequence[Utterance]) -> str:
        """Return a summary of one or two paragraphs, above `LONG_SESSION` messages two to four; `lines` must not be empty."""
        kind, length = (LongSummaryAnswer, LONG_LENGTH) if len(lines) > LONG_SESSION else (SummaryAnswer, SHORT_LENGTH)
        portions = await self.structured_output.split_to_fit(TaskKind.SUMMARY, kind, lines, length=length)
        if len(portions) == 1:
            return await self._summarise_portion(lines, kind, length)
        return await self._merge(
            [await self._summarise_portion(part, SummaryAnswer, SHORT_LENGTH) for part in portions], kind, length
        )

    async def _summarise_portion(self, lines: Sequence[Utterance], kind: type[SummaryAnswer], length: str) -> str:
        text = format_lines(lines, dated=True)
        return (await self.structured_output.ask(TaskKind.SUMMARY, kind, conversation=text, length=length)).text

    async def _merge(self, parts: list[str], kind: type[SummaryAnswer], length: str) -> str:
        """Merge several summaries into one, neighbours first if they do not fit into the prompt together."""
        token_limit = await self.structured_output.free_tokens(TaskKind.MERGE, kind, length=length)
        while len(parts) > 1:
            groups = pack_slices([tokens + 8 for tokens in await self.structured_output.count(parts)], token_limit)
            if len(groups) == len(parts):  # no two fit together: side by side is the best there is
                return "\n\n".join(parts)
            is_last = len(groups) == 1
            answer_type, target_length = (kind, length) if is_last else (SummaryAnswer, SHORT_LENGTH)
            parts = [await self._merge_group(parts[group], answer_type, target_length) for group in groups]
        return parts[0]

    async def _merge_group(self, parts: list[str], kind: type[SummaryAnswer], length: str) -> str:
        if len(parts) == 1:
            return parts[0]
        text = "\n".join(f"Part {number}: {' '.join(part.split())}" for number, part in enumerate(parts, 1))
        return (await self.structured_output.ask(TaskKind.MERGE, kind, parts=text, length=length)).text

    async def make_part(self, part: SessionPart, lines: Sequence[Utterance], summary: str) -> object:
        """Return one part of the session's archive record: any but the facts. For the relevance, and if `lines` do not fit into
        one prompt, `summary` is read instead.
        """
        match part:
            case SessionPart.SUMMARY:
                return await self.summary(lines)
            case SessionPart.RELEVANCE:
                return (await self.structured_output.ask(TaskKind.RELEVANCE, RelevanceAnswer, summary=summary)).stars
            case SessionPart.ROLEPLAY:
                return await self._is_roleplay(lines)
        answer = _ANSWERS[part]
        fits = len(await self.structured_output.split_to_fit(part.value, answer, lines)) == 1
        conversation = format_lines(lines, dated=True) if fits else summary
        return getattr(await self.structured_output.ask(part.value, answer, conversation=conversation), part.value)

    async def _is_roleplay(self, lines: Sequence[Utterance]) -> bool:
        """Return whether every portion of the session is roleplay."""
        for part in await self.structured_output.split_to_fit(TaskKind.ROLEPLAY, RoleplayAnswer, lines):
            if not (
                await self.structured_output.ask(TaskKind.ROLEPLAY, RoleplayAnswer, conversation=format_lines(part))
            ).is_roleplay:
                return False
        return bool(lines)

    async def recap(self, so_far: str, lines: Sequence[Utterance], instructions: str = "") -> str:
        """Return the rolling summary, extended by lines that leave the context window; `instructions` are the user's."""
        task = self.structured_output.load_prompt(TaskKind.RECAP).with_instructions(instructions)
        (recap_tokens,) = await self.structured_output.count([so_far])
        reserved_tokens = max(recap_tokens, SummaryAnswer.max_tokens)
        for part in await self.structured_output.split_to_fit(
            task, SummaryAnswer, lines, reserved_tokens=reserved_tokens, length=SHORT_LENGTH
        ):
            values = {"so_far": so_far or NOTHING, "conversation": format_lines(part, dated=True), "length": SHORT_LENGTH}
            so_far = (await self.structured_output.ask(task, SummaryAnswer, **values)).text
        return so_far
