"""Preference part of a dream: infer preferences and anti-patterns from remarks, and dislikes from thumb ratings."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from lethe_app.agents.session_material import update_state
from lethe_app.agents.task import TaskContext
from lethe_app.brain.dreams.consolidation import normalize_category
from lethe_app.brain.dreams.corrections import CorrectionStrength
from lethe_app.brain.dreams.dislikes import (
    MAX_DISLIKED_REPLIES,
    MIN_DISLIKED_REPLIES,
    DislikedReply,
    format_disliked_replies,
    infer_dislike,
)
from lethe_app.brain.dreams.preferences import (
    CorrectionRemark,
    PreferenceRemarks,
    build_anti_pattern_change,
    build_preference_change,
    build_worded_anti_pattern,
    group_remarks,
)
from lethe_app.brain.fact_guard.grounding import is_grounded
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.dreams import AntiPatternAnswer, CommonPatternAnswer, PreferencesAnswer
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.errors import ModelError

PREFERENCE_WORDS = ("wants", "prefers", "likes", "asks", "wishes", "be", "being")
"""Words of a preference sentence that need not occur in the user's message."""
_NEGATION = re.compile(r"\b(?:stop|quit|hate|dislike|enough(?: with)?|less|fewer)\b", re.IGNORECASE)
"""Words that express a negation without “not”."""
PLACEHOLDER_REASON = "objected"
"""Placeholder reason of a model that found none; it is left out of the grounding check."""
ASKED_REPLIES_KEY = "thumbs"
"""Key of the state: the replies about which a model was asked last. Without a new one it is not asked again."""


class FeedbackInputs(Protocol):
    """The user's feedback on replies, from which a dream concludes preferences and dislikes."""

    async def list_new_messages(self, persona_id: str) -> list[list[Utterance]]:
        """Return the user's messages to the persona since the last evaluation, grouped by session."""

    async def collect_remarks(self, persona_id: str, model_remarks: Sequence[CorrectionRemark]) -> list[CorrectionRemark]:
        """Store the remarks of a model, and return all remarks from which nothing was concluded yet."""

    async def session_of(self, message: UUID) -> UUID:
        """Return the session of a message."""

    async def mark_concluded(self, persona_id: str, messages: Collection[UUID]) -> None:
        """Mark the remarks of these messages as concluded."""

    async def list_disliked(self, persona_id: str) -> list[DislikedReply]:
        """Return replies with a thumb down without a reason, from which nothing was concluded yet, oldest first."""

    async def newest_time(self, persona_id: str) -> datetime | None:
        """Return the time of the user's last rating of a reply or reason for one."""


async def propose_preferences(
    context: TaskContext, feedback: FeedbackInputs, may_write: Callable[[], bool]
) -> AsyncIterator[tuple[RecordedChange, list[UUID]]]:
    """Yield each proposed change with the messages it was concluded from; `may_write` returns whether a model is loaded that
    is qualified to write text of its own.
    """
    persona_id, new_remarks = context.persona.unique_name, list[CorrectionRemark]()
    if may_write():
        for utterances in await feedback.list_new_messages(persona_id):
            new_remarks += await _extract_remarks(context, feedback, utterances)
    for preference_remarks in group_remarks(await feedback.collect_remarks(persona_id, new_remarks)):
        if preference_remarks.is_frequent_enough:
            change = await _build_change(context, may_write, preference_remarks)
            yield change, [remark.message for remark in preference_remarks.remarks]


async def _extract_remarks(
    context: TaskContext, feedback: FeedbackInputs, utterances: Sequence[Utterance]
) -> list[CorrectionRemark]:
    """Let a model extract preferences. One that is not grounded in the line it refers to is discarded."""
    remarks: list[CorrectionRemark] = []
    names = {"user": context.user.name, "name": context.persona.name}
    for portion in await context.split_to_fit("infer", PreferencesAnswer, utterances, **names):
        answer = await context.ask("infer", PreferencesAnswer, conversation=format_lines(portion, numbered=True), **names)
        for stated in answer.wishes:
            line = portion[stated.line - 1] if stated.line <= len(portion) else None
            # “Stop”, “hate” and similar words become “not”, so that the grounding check sees equal polarity.
            if line is not None and is_grounded(
                stated.wish, [_NEGATION.sub("not", line.text)], [*names.values(), *PREFERENCE_WORDS]
            ):
                session, values = await feedback.session_of(line.id), {"words": line.text, "strength": stated.strength}
                remarks.append(CorrectionRemark(message=line.id, session=session, at=line.time, wish=stated.wish, **values))
    return remarks


async def _build_change(
    context: TaskContext, may_write: Callable[[], bool], preference_remarks: PreferenceRemarks
) -> RecordedChange:
    origin = (context.persona.unique_name, context.run_id, context.moment)
    has_strong_objection = any(
        remark.unwanted and remark.strength is CorrectionStrength.STRONG for remark in preference_remarks.remarks
    )
    if not has_strong_objection:
        return build_preference_change(preference_remarks, context.user.name, *origin)
    answer = await _word_anti_pattern(context, preference_remarks) if may_write() else None
    if answer is None:
        return build_anti_pattern_change(preference_remarks, context.user.name, *origin)
    domain = normalize_category(answer.domain).replace("/", "-")
    return build_worded_anti_pattern(answer.avoid, answer.because, answer.instead, domain, preference_remarks, origin)


async def _word_anti_pattern(context: TaskContext, preference_remarks: PreferenceRemarks) -> AntiPatternAnswer | None:
    """Let a model word an anti-pattern. Return None if the answer contains words that the user did not use."""
    quotes, names = [remark.words for remark in preference_remarks.distinct_remarks], (context.user.name, context.persona.name)
    try:
        answer = await context.ask("avoid", AntiPatternAnswer, words="\n".join(quotes), user=names[0], name=names[1])
    except ModelError:
        return None
    parts = [f"Don't {answer.avoid}.", *([f"{answer.because}."] if PLACEHOLDER_REASON not in answer.because else [])]
    if not answer.is_clear or not answer.avoid.strip() or not answer.because.strip():
        return None
    if answer.instead.strip():
        parts.append(f"{answer.instead}.")
    return answer if all(_is_grounded_part(part, quotes, names) for part in parts) else None


def _is_grounded_part(part: str, quotes: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a part of the answer is grounded, with or without its negation: an objection often states the opposite
    of what the user wants.
    """
    positive = part.removeprefix("Don't ")
    return any(is_grounded(variant, quotes, names) for variant in (positive, f"Not {positive}"))


async def propose_dislike(context: TaskContext, feedback: FeedbackInputs) -> tuple[RecordedChange, list[DislikedReply]] | None:
    """Return a change that describes what the user may dislike, with the replies it is based on. Rules cannot detect this;
    a qualified model is required.
    """
    disliked = (await feedback.list_disliked(context.persona.unique_name))[-MAX_DISLIKED_REPLIES:]
    message_ids, state = [str(reply.message) for reply in disliked], await context.load_state()
    if len(disliked) < MIN_DISLIKED_REPLIES or message_ids == state.get(ASKED_REPLIES_KEY):
        return None
    proposal = await _ask_for_dislike(context, disliked)
    await update_state(context, {ASKED_REPLIES_KEY: message_ids})
    return proposal


async def _ask_for_dislike(
    context: TaskContext, disliked: list[DislikedReply]
) -> tuple[RecordedChange, list[DislikedReply]] | None:
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
