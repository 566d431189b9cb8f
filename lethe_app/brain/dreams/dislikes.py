"""What thumbs down without a word may mean: weak evidence, from which nothing but a question to the user is ever concluded."""

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
"""Replies that must have it in common: a thumb without a word says no more than a casual remark."""
MOST = 8
"""Replies that are looked at together, the newest ones."""
LONGEST = 500
"""Characters of each."""


@dataclass(frozen=True)
class Disliked:
    """A reply that was not liked, and nobody said why."""

    message: UUID
    position: int
    session: UUID
    at: datetime
    asked: str
    """What the user had said; empty where the persona began."""
    reply: str


def spelled(disliked: Sequence[Disliked], user: str, name: str) -> str:
    """For a model, numbered from 1; how long each is stands with it, for that cannot be seen once they are cut."""
    lines: list[str] = []
    for number, one in enumerate(disliked, 1):
        asked = f"{user}: {_short(one.asked)}\n" if one.asked.strip() else ""
        lines.append(f"{number}. ({len(one.reply.split())} words)\n{asked}{name}: {_short(one.reply)}")
    return "\n\n".join(lines)


def concluded(
    pattern: str, meant: Sequence[Disliked], names: tuple[str, str], frame: tuple[str, UUID | None, datetime]
) -> RecordedChange | None:
    """What the user may not like, as something to be asked about; None where too little speaks for it.

    `names` are the user's and the persona's; `pattern` goes on after the persona's name: “asks a question at every end”.
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
    """Why a reply was not liked, written down afterwards: who takes that trouble means it, whatever the tone."""
    found = remarks_in(words, message, session, at)
    if not found and words.strip():
        found = [Remark(words=words.strip(), strength=Strength.STRONG, message=message, session=session, at=at, unwanted=THAT)]
    return [one.model_copy(update={"strength": Strength.STRONG}) for one in found]


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST // 2].rstrip()} … {words[-LONGEST // 2 :].lstrip()}"
