"""Conversations of ours made of a transcript: split into sessions, with a time for every message, ready to be archived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from pydantic import ValidationError

from lethe_app.domain.bundle import BundledConversation, BundledMessage, BundledPart, BundledSession
from lethe_app.domain.chat import Alternative, ChatSession, MessageMode, Role, SessionPart
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.transcripts.silly_tavern import MODE, OWN_FIELDS, keep_line
from lethe_app.interchange.transcripts.transcript import ChatTranscript, TranscriptMessage, TranscriptReply

GAP = timedelta(hours=6)
"""Pause between two messages after which a new session begins: a night, but not a meal."""
MAX_MESSAGES = 120
"""Maximum messages of a session, so that a summary and the context of a model can hold it; the next one begins with the
user's next message.
"""
CHAT_ID = "lethe_chat"
"""Field in the original of the sessions of one chat, by which an export joins them again."""
STEP = timedelta(seconds=30)
"""Assumed time between two messages without dates."""


@dataclass(frozen=True)
class Speakers:
    """Ids of the personas that speak in a transcript."""

    persona_id: str
    user_id: str
    by_name: Mapping[str, str]
    """Ids of the members of a group by name in lower case."""

    def id_of(self, message: TranscriptMessage) -> str:
        """Return the id of the persona that speaks a message; empty for a narrator."""
        if message.role is Role.USER:
            return self.user_id
        return self.by_name.get(message.name.casefold(), self.persona_id) if message.role is Role.ASSISTANT else ""


def build_conversations(transcript: ChatTranscript, speakers: Speakers, file_time: datetime) -> list[BundledConversation]:
    """Return a transcript as archived sessions, all parts of which are still to be made.

    Messages without a date get one before the next that has one, or before `file_time`, when the file was last changed.
    """
    times = _fill_times([message.time for message in transcript.messages], file_time)
    dated = list(zip(transcript.messages, times, strict=True))
    guests = list(
        dict.fromkeys(
            guest
            for name in transcript.members
            if (guest := speakers.by_name.get(name.casefold(), "")) not in ("", speakers.persona_id)
        )
    )
    conversations = []
    parts = list(split_sessions(dated))
    mark: JsonObject = {CHAT_ID: str(uuid4())} if len(parts) > 1 else {}
    for number, part in enumerate(parts):
        session = ChatSession(
            persona_id=speakers.persona_id,
            user_id=speakers.user_id,
            guests=guests,
            added=part[0][1],
            last_trigger=part[-1][1],
            archived=True,
        )
        messages = _build_messages(session, part, speakers)
        session = session.model_copy(update={"leaf_id": messages[-1].id})
        record = BundledSession(
            session=session,
            worlds=[transcript.world] if transcript.world else [],
            parts=[BundledPart(part=kind) for kind in SessionPart],
            original={**(transcript.original if number == 0 else {}), **mark},
        )
        conversations.append(BundledConversation(record, messages))
    return conversations


Dated = Sequence[tuple[TranscriptMessage, datetime]]


def split_sessions(messages: Dated) -> Iterator[Dated]:
    """Yield the sessions of dated messages. A new one begins after `GAP`, with the first message said again (a greeting),
    and with a message of the user after `MAX_MESSAGES`.
    """
    start = 0
    for index in range(1, len(messages)):
        message, time = messages[index]
        is_greeting = message.role is Role.ASSISTANT and message.text == messages[0][0].text and bool(message.text)
        is_long = index - start >= MAX_MESSAGES and message.role is Role.USER
        if time - messages[index - 1][1] > GAP or is_greeting or is_long:
            yield messages[start:index]
            start = index
    if messages:
        yield messages[start:]


def _fill_times(times: Sequence[datetime | None], file_time: datetime) -> list[datetime]:
    """Return a time for every message: its own, one after the last known, or before the first known."""
    first = next((index for index, time in enumerate(times) if time is not None), None)
    first_time = times[first] if first is not None else None
    if first is None or first_time is None:
        return [file_time - STEP * (len(times) - index) for index in range(len(times))]
    filled = [first_time - STEP * (first - index) for index in range(first)]
    for time in times[first:]:
        filled.append(time if time is not None else filled[-1] + STEP)
    return filled


def _build_messages(session: ChatSession, part: Dated, speakers: Speakers) -> list[BundledMessage]:
    messages: list[BundledMessage] = []
    for message, time in part:
        built = BundledMessage(
            id=uuid4(),
            session_id=session.guid,
            parent_id=messages[-1].id if messages else None,
            role=message.role,
            speaker=speakers.id_of(message),
            speaker_name=message.name,
            time=time,
            mode=_read_mode(message.replies[message.shown]),
            alternatives=[_build_alternative(reply, time) for reply in message.replies],
            shown=message.shown,
        )
        # Of a line of SillyTavern only what an export would not write by itself.
        kept = keep_line(message, built) if "mes" in message.original else message.original
        messages.append(built.model_copy(update={"original": kept}))
    return messages


def _build_alternative(reply: TranscriptReply, time: datetime) -> Alternative:
    alternative = Alternative(content=reply.text, thinking=reply.thinking, created=reply.time or time, model=reply.model)
    try:
        own = {name: value for name, value in reply.own.items() if name in OWN_FIELDS}
        return Alternative.model_validate({**alternative.model_dump(), **own})
    except ValidationError:  # of a newer version, or edited
        return alternative


def _read_mode(reply: TranscriptReply) -> MessageMode:
    return MessageMode.VOICE if reply.own.get(MODE) == MessageMode.VOICE else MessageMode.TEXT


def write_markdown(session: ChatSession, messages: Sequence[BundledMessage]) -> str:
    """Return a conversation with its title, or the beginning of the user's first message, and each message below its speaker
    and local time.
    """
    spoken = [message for message in messages if message.content.strip()]
    first_words = next((" ".join(one.content.split())[:60] for one in spoken if one.role is Role.USER), "")
    title = session.name or first_words or f"{session.added.astimezone():%Y-%m-%d}"
    parts = [f"# {title}", *map(_format_message, spoken)]
    return "\n\n".join(parts) + "\n"


def _format_message(message: BundledMessage) -> str:
    return f"**{message.speaker_name}** · {message.time.astimezone():%Y-%m-%d %H:%M}\n\n{message.content.strip()}"
