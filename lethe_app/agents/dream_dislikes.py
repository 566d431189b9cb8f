"""Dislike part of a dream: find what replies with an unexplained thumb down have in common."""

from __future__ import annotations

from typing import Protocol

from lethe_app.agents.task import TaskContext
from lethe_app.brain.dreams.dislikes import (
    MAX_DISLIKED_REPLIES,
    MIN_DISLIKED_REPLIES,
    Disliked,
    format_disliked_replies,
    infer_dislike,
)
from lethe_app.brain.llm_schemas.dreams import Common
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.errors import ModelError

ASKED = "thumbs"
"""Key of the state: the replies about which a model was asked last. Without a new one it is not asked again."""


class Looking(Protocol):
    """Inputs of the dislike part of a dream."""

    def may_write(self) -> bool:
        """Return whether a model is loaded that is qualified to write text of its own."""

    async def disliked(self, persona_id: str) -> list[Disliked]:
        """Return replies with a thumb down without a reason, from which nothing was concluded yet, oldest first."""


async def suspected(scene: TaskContext, desk: Looking) -> tuple[RecordedChange, list[Disliked]] | None:
    """Return a change that describes what the user may dislike, with the replies it is based on. Rules cannot detect this,
    so the replies wait until a model is qualified.
    """
    if not desk.may_write():
        return None
    disliked = (await desk.disliked(scene.persona.unique_name))[-MAX_DISLIKED_REPLIES:]
    here, state = [str(one.message) for one in disliked], await scene.state()
    if len(disliked) < MIN_DISLIKED_REPLIES or here == state.get(ASKED):
        return None
    found = await _asked(scene, disliked)
    await scene.set_state({**await scene.state(), ASKED: here})
    return found


async def _asked(scene: TaskContext, disliked: list[Disliked]) -> tuple[RecordedChange, list[Disliked]] | None:
    user, name = scene.user.name, scene.persona.name
    try:
        answer = await scene.ask(
            "disliked", Common, user=user, name=name, replies=format_disliked_replies(disliked, user, name)
        )
    except ModelError:
        return None  # it could not say
    meant = [disliked[place] for place in answer.reply_indices(len(disliked))]
    frame = (scene.persona.unique_name, scene.run_id, scene.moment)
    change = infer_dislike(answer.pattern, meant, (user, name), frame)
    return (change, meant) if change is not None else None
