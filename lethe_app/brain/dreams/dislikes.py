"""Inference from thumbs down without an explanation: weak evidence, which only ever leads to a question to the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.brain.dreams.consolidation import DREAM, INFERRED
from lethe_app.brain.dreams.corrections import THAT, Strength
from lethe_app.brain.dreams.preferences import ASK_FIRST, Remark, is_delicate, remarks_in
from lethe_app.brain.fact_guard.faithfulness import invented
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.domain.changes import INFER, THUMBS, Records
from lethe_app.domain.memory import MemoryUnit

LEAST = int(Strength.CASUAL)
"""Minimum number of disliked replies that share a pattern: a thumb without explanation weighs as much as a casual remark."""
MOST = 8
"""Maximum number of disliked replies examined together, the newest ones."""
LONGEST = 500
"""Maximum length of each text in the prompt, in characters."""


@dataclass(frozen=True)
class Disliked:
    """Reply with a thumb down and no explanation."""

    message: UUID
    position: int
    session: UUID
    at: datetime
    asked: str
    """The user's message before the reply; empty if the persona began the session."""
    reply: str


def spelled(disliked: Sequence[Disliked], user: str, name: str) -> str:
    """Return the replies as a numbered prompt text, from 1, each with its word count because long replies are shortened."""
    lines: list[str] = []
    for number, one in enumerate(disliked, 1):
        asked = f"{user}: {_short(one.asked)}\n" if one.asked.strip() else ""
        lines.append(f"{number}. ({len(one.reply.split())} words)\n{asked}{name}: {_short(one.reply)}")
    return "\n\n".join(lines)


def concluded(
    pattern: str, meant: Sequence[Disliked], names: tuple[str, str], frame: tuple[str, UUID | None, datetime]
) -> RecordedChange | None:
    """Return an inferred dislike as a change to be confirmed by the user; None if too few replies support it or it is not
    grounded.

    `names` are the user's and the persona's names, `frame` is (persona id, run id, moment). `pattern` continues a sentence
    that begins with the persona's name: “asks a question at every end”.
    """
    (user, name), (persona_id, run_id, moment) = names, frame
    what = pattern.strip().rstrip(".!… ")
    texts = [text for one in meant for text in (one.reply, one.asked)]
    if len({one.message for one in meant}) < LEAST or not what or invented(f". {what}", [*texts, *names]):
        return None
    content = f"{user} seems not to like it when {name} {what}."
    is_risky = is_delicate(content)
    memory = MemoryUnit(
        content=f"{content} {ASK_FIRST}" if is_risky else content,
        priority=1,
        filed_under=INFERRED,
        tags=["inferred", THUMBS],
        sources=[f"message:{one.message}" for one in meant],
        made_by=DREAM,
        needs_permission=is_risky,
        added=moment,
        last_trigger=moment,
    )
    return RecordedChange(
        run_id=run_id,
        persona_id=persona_id,
        at=moment,
        what=INFER,
        reason=f"You gave a thumb down to {len(meant)} replies like that, without a word.",
        before=Records().model_dump_json(),
        after=Records(memories=[memory]).model_dump_json(),
    )


def reasons_in(words: str, message: UUID, session: UUID, at: datetime) -> list[Remark]:
    """Return the remarks in an explanation that was written after a thumb down; all count as strong, because writing it
    takes effort.
    """
    found = remarks_in(words, message, session, at)
    if not found and words.strip():
        found = [Remark(words=words.strip(), strength=Strength.STRONG, message=message, session=session, at=at, unwanted=THAT)]
    return [one.model_copy(update={"strength": Strength.STRONG}) for one in found]


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST // 2].rstrip()} … {words[-LONGEST // 2 :].lstrip()}"
