"""Dislike part of a dream: find what replies with an unexplained thumb down have in common."""

from __future__ import annotations

from lethe_app.agents.dream_preferences import FeedbackInputs
from lethe_app.agents.task import TaskContext
from lethe_app.brain.dreams.dislikes import (
    MAX_DISLIKED_REPLIES,
    MIN_DISLIKED_REPLIES,
    DislikedReply,
    format_disliked_replies,
    infer_dislike,
)
from lethe_app.brain.llm_schemas.dreams import CommonPatternAnswer
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.errors import ModelError

ASKED_REPLIES_KEY = "thumbs"
"""Key of the state: the replies about which a model was asked last. Without a new one it is not asked again."""


async def propose_dislike(context: TaskContext, feedback: FeedbackInputs) -> tuple[RecordedChange, list[DislikedReply]] | None:
    """Return a change that describes what the user may dislike, with the replies it is based on. Rules cannot detect this;
    a qualified model is required.
    """
    disliked = (await feedback.list_disliked(context.persona.unique_name))[-MAX_DISLIKED_REPLIES:]
    message_ids, state = [str(reply.message) for reply in disliked], await context.load_state()
    if len(disliked) < MIN_DISLIKED_REPLIES or message_ids == state.get(ASKED_REPLIES_KEY):
        return None
    proposal = await _ask_model(context, disliked)
    await context.save_state({**await context.load_state(), ASKED_REPLIES_KEY: message_ids})
    return proposal


async def _ask_model(context: TaskContext, disliked: list[DislikedReply]) -> tuple[RecordedChange, list[DislikedReply]] | None:
    user, name = context.user.name, context.persona.name
    try:
        answer = await context.ask(
            "disliked", CommonPatternAnswer, user=user, name=name, replies=format_disliked_replies(disliked, user, name)
        )
    except ModelError:
        return None  # it could not say
    supporting_replies = [disliked[index] for index in answer.reply_indices(len(disliked))]
    origin = (context.persona.unique_name, context.run_id, context.moment)
    change = infer_dislike(answer.pattern, supporting_replies, (user, name), origin)
    return (change, supporting_replies) if change is not None else None
