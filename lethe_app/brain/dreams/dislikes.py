"""Inference from thumbs down without an explanation: weak evidence, which only ever leads to a question to the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.brain.dreams.consolidation import INFERRED, ChangeProvenance, build_change
from lethe_app.brain.dreams.corrections import UNNAMED_BEHAVIOUR, CorrectionStrength
from lethe_app.brain.dreams.preferences import CorrectionRemark, build_inferred_memory, find_remarks
from lethe_app.brain.fact_guard.grounding import find_invented_words
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.domain.changes import INFER, RATINGS_TAG, ChangedRecords

MIN_DISLIKED_REPLIES = int(CorrectionStrength.CASUAL)
"""Minimum number of disliked replies that share a pattern: a thumb without explanation weighs as much as a casual remark."""
MAX_DISLIKED_REPLIES = 8
"""Maximum number of disliked replies examined together, the newest ones."""
MAX_TEXT_LENGTH = 500
"""Maximum length of each text in the prompt, in characters."""


@dataclass(frozen=True)
class DislikedReply:
    """Reply with a thumb down and no explanation."""

    message: UUID
    position: int
    session: UUID
    at: datetime
    user_text: str
    """The user's message before the reply; empty if the persona began the session."""
    reply: str


def format_disliked_replies(disliked: Sequence[DislikedReply], user: str, name: str) -> str:
    """Return the replies as a numbered prompt text, from 1, each with its word count because long replies are shortened."""
    lines: list[str] = []
    for number, disliked_reply in enumerate(disliked, 1):
        user_line = f"{user}: {_shorten(disliked_reply.user_text)}\n" if disliked_reply.user_text.strip() else ""
        lines.append(
            f"{number}. ({len(disliked_reply.reply.split())} words)\n{user_line}{name}: {_shorten(disliked_reply.reply)}"
        )
    return "\n\n".join(lines)


def infer_dislike(
    pattern: str,
    matching_replies: Sequence[DislikedReply],
    names: tuple[str, str],
    provenance: ChangeProvenance,
) -> RecordedChange | None:
    """Return an inferred dislike as a change to be confirmed by the user; None if too few replies support it or it is not
    grounded.

    `names` are the user's and the persona's names, `provenance` is (persona id, run id, moment). `pattern` continues a sentence
    that begins with the persona's name: “asks a question at every end”.
    """
    user, name = names
    behaviour = pattern.strip().rstrip(".!… ")
    texts = [text for one in matching_replies for text in (one.reply, one.user_text)]
    if (
        len({one.message for one in matching_replies}) < MIN_DISLIKED_REPLIES
        or not behaviour
        or find_invented_words(f". {behaviour}", [*texts, *names])
    ):
        return None
    content = f"{user} seems not to like it when {name} {behaviour}."
    messages = [one.message for one in matching_replies]
    memory = build_inferred_memory(content, INFERRED, ["inferred", RATINGS_TAG], messages, provenance[2])
    reason = f"You gave a thumb down to {len(messages)} replies like that, without a word."
    return build_change(INFER, reason, ChangedRecords(), ChangedRecords(memories=[memory]), provenance)


def parse_explanation(text: str, message: UUID, session: UUID, at: datetime) -> list[CorrectionRemark]:
    """Return the remarks in an explanation that was written after a thumb down; all count as strong, because writing it
    takes effort.
    """
    remarks = find_remarks(text, message, session, at)
    if not remarks and text.strip():
        remarks = [
            CorrectionRemark(
                words=text.strip(),
                strength=CorrectionStrength.STRONG,
                message=message,
                session=session,
                at=at,
                unwanted=UNNAMED_BEHAVIOUR,
            )
        ]
    return [one.model_copy(update={"strength": CorrectionStrength.STRONG}) for one in remarks]


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return (
        words
        if len(words) <= MAX_TEXT_LENGTH
        else f"{words[: MAX_TEXT_LENGTH // 2].rstrip()} … {words[-MAX_TEXT_LENGTH // 2 :].lstrip()}"
    )
