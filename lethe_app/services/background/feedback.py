"""The user's feedback on replies: thumb ratings, their reasons, and corrections in messages, which rules detect."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict

from lethe_app.brain.dreams.corrections import CorrectionStrength
from lethe_app.brain.dreams.dislikes import DislikedReply, parse_explanation
from lethe_app.brain.dreams.preferences import CorrectionRemark, find_remarks
from lethe_app.brain.text.utterance import Utterance, to_utterances, without_withdrawn
from lethe_app.domain.agent_runs import Feedback, ReplyRating
from lethe_app.domain.chat import Message, Role
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.services.events import Listeners
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.chats.feedback import FeedbackStore
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.chats.turn_rows import newest_user_message
from lethe_app.storage.key_value import AppState

SCOPE = "remarks"
MAX_REMARKS = 300
"""Remarks kept for each persona until something is concluded from them; the oldest are dropped first."""
MAX_LISTED = 100
MAX_REASON_CHARACTERS = 240
"""Characters of a reason, which is also the limit for a sentence that the rules read."""
LOOK_BACK = 6
"""Number of messages before a reply among which the user's message is searched."""


class FeedbackProgress(BaseModel):
    """How far the messages were evaluated, and the remarks from which nothing was concluded yet."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    until: AwareDatetime | None = None
    remarks: list[CorrectionRemark] = []


@dataclass(frozen=True)
class FeedbackEntry:
    """Feedback on a reply, with the reply's text."""

    feedback: Feedback
    text: str
    """Text of the rated alternative; empty if the reply was deleted."""
    session: UUID | None


@dataclass(frozen=True)
class _Line:
    """Message of the user and the reply before it."""

    utterance: Utterance
    session: UUID
    reply: Message | None


class FeedbackService:
    """Feedback of all personas. `changed` emits the persona id."""

    def __init__(self, rows: FeedbackStore, session_store: SessionStore, app_state: AppState) -> None:
        self.changed: Listeners[str] = Listeners()
        self._feedback_store = rows
        self._session_store = session_store
        self._app_state = app_state
        self._lock = asyncio.Lock()

    async def rate_reply(self, message_id: UUID, verdict: ReplyRating) -> ReplyRating | None:
        """Rate the selected alternative; the same rating again removes it. Return the present rating. Raise StorageError."""
        message = await self._session_store.message(message_id)
        persona_id = (await self._session_store.session(message.session_id)).persona_id
        position = min(message.shown, len(message.alternatives) - 1)
        previous = await self._feedback_store.get(message_id, position)
        is_removed = previous is not None and previous.verdict is verdict
        if is_removed or verdict is ReplyRating.GOOD:
            await self._drop_reasons(persona_id, message_id)  # whatever was wrong with it
        if is_removed:
            await self._feedback_store.delete_feedback(message_id, position)
        else:
            reason = previous.words if previous is not None else ""
            key = {"message_id": message_id, "position": position, "persona_id": persona_id}
            await self._feedback_store.save_feedback(Feedback(**key, verdict=verdict, words=reason, at=now()))
        self.changed.notify(persona_id)
        return None if is_removed else verdict

    async def ratings_of(self, messages: Sequence[UUID]) -> dict[UUID, dict[int, ReplyRating]]:
        """Return the ratings of these messages, by message and position of the alternative, with one query."""
        ratings: dict[UUID, dict[int, ReplyRating]] = {}
        for feedback in await self._feedback_store.feedback_on(messages):
            ratings.setdefault(feedback.message_id, {})[feedback.position] = feedback.verdict
        return ratings

    async def list_feedback(self, persona_id: str) -> list[FeedbackEntry]:
        """Return the feedback on a persona's replies with their texts, newest first."""
        return [await self._load_entry(feedback) for feedback in await self._feedback_store.feedback_of(persona_id, MAX_LISTED)]

    async def _load_entry(self, feedback: Feedback) -> FeedbackEntry:
        try:
            message = await self._session_store.message(feedback.message_id)
        except StorageError:
            return FeedbackEntry(feedback, "", None)
        alternative = (
            message.alternatives[feedback.position] if feedback.position < len(message.alternatives) else message.current
        )
        return FeedbackEntry(feedback, alternative.content, message.session_id)

    async def save_reason(self, message_id: UUID, position: int, reason: str) -> None:
        """Store the reason of a thumb down for the next dream; an empty text removes it. Raise StorageError if the rating is
        gone.
        """
        feedback, message = await self._feedback_store.get(message_id, position), await self._session_store.message(message_id)
        if feedback is None or feedback.verdict is not ReplyRating.BAD:
            raise StorageError("This reply is no longer rated as bad.")
        if (await self._session_store.session(message.session_id)).is_incognito:
            raise StorageError("Nothing is stored about an incognito conversation.")
        short_reason = " ".join(reason.split())[:MAX_REASON_CHARACTERS]
        await self._drop_reasons(feedback.persona_id, message_id)
        await self._feedback_store.save_feedback(feedback.model_copy(update={"words": short_reason, "settled": False}))
        async with self._lock:
            progress = await self._load_progress(feedback.persona_id)
            remarks = [*progress.remarks, *parse_explanation(short_reason, message_id, message.session_id, now())]
            await self._save_progress(feedback.persona_id, progress.model_copy(update={"remarks": remarks[-MAX_REMARKS:]}))
        self.changed.notify(feedback.persona_id)

    async def _drop_reasons(self, persona_id: str, message_id: UUID) -> None:
        """Remove remarks that were written as the reason of a rating; they carry the id of the reply, other remarks that of
        the user's message.
        """
        async with self._lock:
            progress = await self._load_progress(persona_id)
            remaining = [remark for remark in progress.remarks if remark.message != message_id]
            if len(remaining) < len(progress.remarks):
                await self._save_progress(persona_id, progress.model_copy(update={"remarks": remaining}))

    # Inputs of a dream

    async def newest_time(self, persona_id: str) -> datetime | None:
        """Return the time of the newest rating or remark about the persona's replies."""
        rating_times = [feedback.at for feedback in await self._feedback_store.feedback_of(persona_id, 1)]
        return max([*rating_times, *(remark.at for remark in (await self._load_progress(persona_id)).remarks)], default=None)

    async def list_disliked(self, persona_id: str) -> list[DislikedReply]:
        """Return replies with a thumb down and no reason, from which nothing was concluded yet, oldest first."""
        disliked_replies: list[DislikedReply] = []
        for feedback in reversed(await self._feedback_store.feedback_of(persona_id, MAX_LISTED, settled=False)):
            if _is_unexplained(feedback) and (entry := await self._load_entry(feedback)).session is not None:
                earlier = await self._session_store.newest_messages(entry.session, LOOK_BACK, feedback.message_id)
                question = newest_user_message(earlier)
                position = (feedback.message_id, feedback.position, entry.session, feedback.at)
                disliked_replies.append(
                    DislikedReply(*position, without_withdrawn(question).content if question else "", entry.text)
                )
        return disliked_replies

    async def list_new_messages(self, persona_id: str) -> list[list[Utterance]]:
        """Return the user's messages since the last evaluation, grouped by session, oldest first."""
        utterances_by_session: dict[UUID, list[Utterance]] = {}
        for line in await self._new_lines(persona_id, (await self._load_progress(persona_id)).until):
            utterances_by_session.setdefault(line.session, []).append(line.utterance)
        return list(utterances_by_session.values())

    async def collect_remarks(self, persona_id: str, model_remarks: Sequence[CorrectionRemark] = ()) -> list[CorrectionRemark]:
        """Return all remarks from which nothing was concluded, including those that rules find in new messages and those of
        a model in `model_remarks`.

        A correction is also stored as feedback on the reply before it.
        """
        async with self._lock:
            progress = await self._load_progress(persona_id)
            lines = await self._new_lines(persona_id, progress.until)
            rule_remarks: list[CorrectionRemark] = []
            for line in lines:
                rule_remarks += await self._extract_remarks(persona_id, line)
            remarks = [*progress.remarks, *merge_remarks(rule_remarks, model_remarks)][-MAX_REMARKS:]
            until = max((line.utterance.time for line in lines), default=progress.until)
            if lines or model_remarks:
                await self._save_progress(persona_id, FeedbackProgress(until=until, remarks=remarks))
        if rule_remarks:
            self.changed.notify(persona_id)
        return remarks

    async def session_of(self, message: UUID) -> UUID:
        """Return the session of a message. Raise StorageError."""
        return (await self._session_store.message(message)).session_id

    async def mark_concluded(self, persona_id: str, messages: Collection[UUID]) -> None:
        """Remove the remarks of these messages and mark the feedback they belong to as settled, so that neither counts
        again.
        """
        async with self._lock:
            progress = await self._load_progress(persona_id)
            used_quotes = [remark.words for remark in progress.remarks if remark.message in messages]
            remaining = [remark for remark in progress.remarks if remark.message not in messages]
            await self._save_progress(persona_id, progress.model_copy(update={"remarks": remaining}))
            unsettled = await self._feedback_store.feedback_of(persona_id, MAX_REMARKS, settled=False)
            settled = [feedback for feedback in unsettled if any(quote in feedback.words for quote in used_quotes)]
            settled += [feedback for feedback in unsettled if feedback.message_id in messages and _is_unexplained(feedback)]
            await self._feedback_store.mark_concluded(settled)
        self.changed.notify(persona_id)

    async def _extract_remarks(self, persona_id: str, line: _Line) -> list[CorrectionRemark]:
        remarks = find_remarks(line.utterance.text, line.utterance.id, line.session, line.utterance.time)
        if not remarks or line.reply is None:
            return remarks
        reply = line.reply
        position = min(reply.shown, len(reply.alternatives) - 1)
        previous = await self._feedback_store.get(reply.id, position)
        reasons = "\n".join(
            dict.fromkeys([*(previous.words.splitlines() if previous else ()), *(remark.words for remark in remarks)])
        )
        verdict = previous.verdict if previous is not None else ReplyRating.BAD
        values = {"message_id": reply.id, "position": position, "persona_id": persona_id, "at": line.utterance.time}
        await self._feedback_store.save_feedback(Feedback(**values, verdict=verdict, words=reasons))
        if previous is not None and previous.verdict is ReplyRating.BAD and not previous.words:
            return [_strengthen(remark) for remark in remarks]  # a thumb down and words besides: it was meant
        return remarks

    async def _new_lines(self, persona_id: str, until: datetime | None) -> list[_Line]:
        lines: list[_Line] = []
        for session in await self._session_store.sessions(persona_id):
            if until is None or session.last_activity > until:
                lines += await self._new_lines_of_session(session.guid, until)
        return sorted(lines, key=lambda line: line.utterance.time)

    async def _new_lines_of_session(self, session: UUID, until: datetime | None) -> list[_Line]:
        messages = await self._session_store.page(session, 0, len(await self._session_store.outline(session)))
        utterances, reply, lines = {spoken.id: spoken for spoken in to_utterances(messages)}, None, list[_Line]()
        for message in messages:
            utterance = utterances.get(message.id)
            if utterance is not None and utterance.role is Role.USER and (until is None or utterance.time > until):
                lines.append(_Line(utterance, session, reply))
            if utterance is not None:
                reply = message if utterance.role is Role.ASSISTANT else None
        return lines

    async def _load_progress(self, persona_id: str) -> FeedbackProgress:
        stored = await self._app_state.get(SCOPE, persona_id)
        return read_stored(FeedbackProgress.model_validate, stored) or FeedbackProgress()

    async def _save_progress(self, persona_id: str, progress: FeedbackProgress) -> None:
        await self._app_state.set(SCOPE, persona_id, progress.model_dump(mode="json"))


def merge_remarks(
    rule_remarks: Sequence[CorrectionRemark], model_remarks: Sequence[CorrectionRemark]
) -> list[CorrectionRemark]:
    """Merge remarks of rules and of a model: where both found one, take the strength of the rules and the model's wording."""
    wishes = {remark.message: remark.wish for remark in model_remarks}
    rule_messages = {remark.message for remark in rule_remarks}
    merged = [remark.model_copy(update={"wish": wishes.get(remark.message, "")}) for remark in rule_remarks]
    return sorted(
        [*merged, *(remark for remark in model_remarks if remark.message not in rule_messages)], key=lambda remark: remark.at
    )


def _is_unexplained(feedback: Feedback) -> bool:
    return feedback.verdict is ReplyRating.BAD and not feedback.words


def _strengthen(remark: CorrectionRemark) -> CorrectionRemark:
    return remark.model_copy(update={"strength": CorrectionStrength(max(remark.strength - 1, CorrectionStrength.STRONG))})
