"""The user's feedback on replies: thumb ratings, their reasons, and corrections in messages, which rules detect."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from lethe_app.brain.dreams.corrections import Strength
from lethe_app.brain.dreams.dislikes import Disliked, parse_explanation
from lethe_app.brain.dreams.preferences import Remark, find_remarks
from lethe_app.brain.text.utterance import Utterance, to_utterances
from lethe_app.domain.agent_runs import Feedback, ReplyRating
from lethe_app.domain.chat import Message, Role
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.services.events import Listeners
from lethe_app.storage.chats.feedback import FeedbackRows
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import AppState

SCOPE = "remarks"
MOST_REMARKS = 300
"""Remarks kept for each persona until something is concluded from them; the oldest are dropped first."""
MOST_TOLD = 100
LONGEST_REASON = 240
"""Characters of a reason, which is also the limit for a sentence that the rules read."""
LOOK_BACK = 6
"""Number of messages before a reply among which the user's message is searched."""


class FeedbackProgress(BaseModel):
    """How far the messages were evaluated, and the remarks from which nothing was concluded yet."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    until: AwareDatetime | None = None
    remarks: list[Remark] = []


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

    said: Utterance
    session: UUID
    reply: Message | None


class Feedbacks:
    """Feedback of all personas. `changed` emits the persona id."""

    def __init__(self, rows: FeedbackRows, chats: Chats, state: AppState) -> None:
        self.changed: Listeners[str] = Listeners()
        self._rows = rows
        self._chats = chats
        self._state = state
        self._one_at_a_time = asyncio.Lock()

    async def thumb(self, message_id: UUID, verdict: ReplyRating) -> ReplyRating | None:
        """Rate the selected alternative; the same rating again removes it. Return the present rating. Raise StorageError."""
        message = await self._chats.message(message_id)
        persona_id = (await self._chats.session(message.session_id)).persona_id
        position = min(message.shown, len(message.alternatives) - 1)
        before = await self._rows.get(message_id, position)
        is_taken_back = before is not None and before.verdict is verdict
        if is_taken_back or verdict is ReplyRating.GOOD:
            await self._drop_reasons(persona_id, message_id)  # whatever was wrong with it
        if is_taken_back:
            await self._rows.take_away(message_id, position)
        else:
            words = before.words if before is not None else ""
            where = {"message_id": message_id, "position": position, "persona_id": persona_id}
            await self._rows.save_feedback(Feedback(**where, verdict=verdict, words=words, at=now()))
        self.changed.tell(persona_id)
        return None if is_taken_back else verdict

    async def about(self, messages: Sequence[UUID]) -> dict[UUID, dict[int, ReplyRating]]:
        """Return the ratings of these messages, by message and position of the alternative, with one query."""
        found: dict[UUID, dict[int, ReplyRating]] = {}
        for one in await self._rows.about(messages):
            found.setdefault(one.message_id, {})[one.position] = one.verdict
        return found

    async def list_feedback(self, persona_id: str) -> list[FeedbackEntry]:
        """Return the feedback on a persona's replies with their texts, newest first."""
        return [await self._told(one) for one in await self._rows.feedback_of(persona_id, MOST_TOLD)]

    async def _told(self, one: Feedback) -> FeedbackEntry:
        try:
            message = await self._chats.message(one.message_id)
        except StorageError:
            return FeedbackEntry(one, "", None)
        wording = message.alternatives[one.position] if one.position < len(message.alternatives) else message.current
        return FeedbackEntry(one, wording.content, message.session_id)

    async def say_why(self, message_id: UUID, position: int, words: str) -> None:
        """Store the reason of a thumb down for the next dream; an empty text removes it. Raise StorageError if the rating is
        gone.
        """
        one, message = await self._rows.get(message_id, position), await self._chats.message(message_id)
        if one is None or one.verdict is not ReplyRating.BAD:
            raise StorageError("This reply is no longer rated as bad.")
        said = " ".join(words.split())[:LONGEST_REASON]
        await self._drop_reasons(one.persona_id, message_id)
        await self._rows.save_feedback(one.model_copy(update={"words": said, "settled": False}))
        async with self._one_at_a_time:
            kept = await self._kept(one.persona_id)
            remarks = [*kept.remarks, *parse_explanation(said, message_id, message.session_id, now())]
            await self._keep(one.persona_id, kept.model_copy(update={"remarks": remarks[-MOST_REMARKS:]}))
        self.changed.tell(one.persona_id)

    async def _drop_reasons(self, persona_id: str, message_id: UUID) -> None:
        """Remove remarks that were written as the reason of a rating; they carry the id of the reply, other remarks that of
        the user's message.
        """
        async with self._one_at_a_time:
            kept = await self._kept(persona_id)
            left = [one for one in kept.remarks if one.message != message_id]
            if len(left) < len(kept.remarks):
                await self._keep(persona_id, kept.model_copy(update={"remarks": left}))

    # Inputs of a dream

    async def newest(self, persona_id: str) -> datetime | None:
        """Return the time of the newest rating or remark about the persona's replies."""
        moments = [one.at for one in await self._rows.feedback_of(persona_id, 1)]
        return max([*moments, *(one.at for one in (await self._kept(persona_id)).remarks)], default=None)

    async def disliked(self, persona_id: str) -> list[Disliked]:
        """Return replies with a thumb down and no reason, from which nothing was concluded yet, oldest first."""
        found: list[Disliked] = []
        for one in reversed(await self._rows.feedback_of(persona_id, MOST_TOLD, settled=False)):
            if _is_unexplained(one) and (thought := await self._told(one)).session is not None:
                asked = await self._asked(thought.session, one.message_id)
                where = (one.message_id, one.position, thought.session, one.at)
                found.append(Disliked(*where, asked, thought.text))
        return found

    async def _asked(self, session: UUID, reply: UUID) -> str:
        """Return the user's message that the reply answers."""
        above = to_utterances(await self._chats.tail(session, LOOK_BACK, reply))
        return next((one.text for one in reversed(above) if one.role is Role.USER and one.id != reply), "")

    async def unheard(self, persona_id: str) -> list[list[Utterance]]:
        """Return the user's messages since the last evaluation, grouped by session, oldest first."""
        talks: dict[UUID, list[Utterance]] = {}
        for line in await self._lines(persona_id, (await self._kept(persona_id)).until):
            talks.setdefault(line.session, []).append(line.said)
        return list(talks.values())

    async def collect_remarks(self, persona_id: str, told: Sequence[Remark] = ()) -> list[Remark]:
        """Return all remarks from which nothing was concluded, including those that rules find in new messages and those of
        a model in `told`.

        A correction is also stored as feedback on the reply before it.
        """
        async with self._one_at_a_time:
            kept = await self._kept(persona_id)
            lines = await self._lines(persona_id, kept.until)
            new: list[Remark] = []
            for line in lines:
                new += await self._listen(persona_id, line)
            remarks = [*kept.remarks, *joined(new, told)][-MOST_REMARKS:]
            until = max((line.said.time for line in lines), default=kept.until)
            if lines or told:
                await self._keep(persona_id, FeedbackProgress(until=until, remarks=remarks))
        if new:
            self.changed.tell(persona_id)
        return remarks

    async def session_of(self, message: UUID) -> UUID:
        """Return the session of a message. Raise StorageError."""
        return (await self._chats.message(message)).session_id

    async def conclude(self, persona_id: str, messages: Collection[UUID]) -> None:
        """Remove the remarks of these messages and mark the feedback they belong to as settled, so that neither counts
        again.
        """
        async with self._one_at_a_time:
            kept = await self._kept(persona_id)
            used = [one.words for one in kept.remarks if one.message in messages]
            left = [one for one in kept.remarks if one.message not in messages]
            await self._keep(persona_id, kept.model_copy(update={"remarks": left}))
            open_ones = await self._rows.feedback_of(persona_id, MOST_REMARKS, settled=False)
            settled = [one for one in open_ones if any(words in one.words for words in used)]
            settled += [one for one in open_ones if one.message_id in messages and _is_unexplained(one)]
            await self._rows.mark_concluded(settled)
        self.changed.tell(persona_id)

    async def _listen(self, persona_id: str, line: _Line) -> list[Remark]:
        found = find_remarks(line.said.text, line.said.id, line.session, line.said.time)
        if not found or line.reply is None:
            return found
        reply = line.reply
        position = min(reply.shown, len(reply.alternatives) - 1)
        before = await self._rows.get(reply.id, position)
        words = "\n".join(dict.fromkeys([*(before.words.splitlines() if before else ()), *(one.words for one in found)]))
        verdict = before.verdict if before is not None else ReplyRating.BAD
        values = {"message_id": reply.id, "position": position, "persona_id": persona_id, "at": line.said.time}
        await self._rows.save_feedback(Feedback(**values, verdict=verdict, words=words))
        if before is not None and before.verdict is ReplyRating.BAD and not before.words:
            return [_raised(one) for one in found]  # a thumb down and words besides: it was meant
        return found

    async def _lines(self, persona_id: str, until: datetime | None) -> list[_Line]:
        found: list[_Line] = []
        for one in await self._chats.sessions(persona_id):
            if until is None or one.last_activity > until:
                found += await self._lines_of(one.guid, until)
        return sorted(found, key=lambda line: line.said.time)

    async def _lines_of(self, session: UUID, until: datetime | None) -> list[_Line]:
        messages = await self._chats.page(session, 0, len(await self._chats.outline(session)))
        spoken, reply, found = {one.id: one for one in to_utterances(messages)}, None, list[_Line]()
        for message in messages:
            said = spoken.get(message.id)
            if said is not None and said.role is Role.USER and (until is None or said.time > until):
                found.append(_Line(said, session, reply))
            if said is not None:
                reply = message if said.role is Role.ASSISTANT else None
        return found

    async def _kept(self, persona_id: str) -> FeedbackProgress:
        try:
            return FeedbackProgress.model_validate(await self._state.get(SCOPE, persona_id) or {})
        except ValidationError:
            return FeedbackProgress()

    async def _keep(self, persona_id: str, heard: FeedbackProgress) -> None:
        await self._state.set(SCOPE, persona_id, heard.model_dump(mode="json"))


def joined(by_rules: Sequence[Remark], told: Sequence[Remark]) -> list[Remark]:
    """Merge remarks of rules and of a model: where both found one, take the strength of the rules and the model's wording."""
    wishes = {one.message: one.wish for one in told}
    known = {one.message for one in by_rules}
    heard = [one.model_copy(update={"wish": wishes.get(one.message, "")}) for one in by_rules]
    return sorted([*heard, *(one for one in told if one.message not in known)], key=lambda one: one.at)


def _is_unexplained(one: Feedback) -> bool:
    return one.verdict is ReplyRating.BAD and not one.words


def _raised(one: Remark) -> Remark:
    return one.model_copy(update={"strength": Strength(max(one.strength - 1, Strength.STRONG))})
