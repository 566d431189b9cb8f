"""Chats of SillyTavern: one JSON object per line, a header and then the messages; Chub writes a variant."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import JsonValue

from lethe_app.domain.chat import Alternative, Message, MessageMode, Role
from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.errors import FileError
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject, parse_json_text
from lethe_app.interchange.originals import keep_original, restore_original
from lethe_app.interchange.transcripts.dates import parse_date
from lethe_app.interchange.transcripts.transcript import ChatTranscript, TranscriptMessage, TranscriptReply

HEADER_FIELDS = ("user_name", "character_name", "chat_metadata")
MAX_MESSAGES, MAX_SWIPES = 200_000, 500
UNUSED = "unused"
"""What newer files hold in place of the names in the header."""
NARRATOR_TYPE = "narrator"
OWN, MODE = "lethe", "mode"
"""Field of `extra` with what SillyTavern has no place for, and its field with the mode of the message."""
OWN_FIELDS = {"language", "is_sensitive", "first_token_ms", "total_ms", "degradations"}
"""Fields of an alternative that are written into `OWN` where they are not at their defaults."""
HIDDEN_LINES = "lethe_hidden_lines"
"""Field in the original of a message or header with the hidden lines that followed it."""


def read_chat(text: str, file_name: str, title: str, notes: ImportNotes) -> ChatTranscript:
    """Read a chat. A line that cannot be read is left out with a note. Raise FileError if none can be read."""
    header: JsonObject = {}
    messages: list[TranscriptMessage] = []
    hidden: dict[int, list[JsonObject]] = {}
    """Hidden lines by the number of messages before them."""
    for place, values in _parse_lines(text, file_name, notes):
        if "mes" not in values and not messages and is_header(values):
            header = values
        elif is_hidden(values):
            hidden.setdefault(len(messages), []).append(values)
        elif (message := read_message(values, notes, place)) is not None:
            messages.append(message)
        else:
            notes.add(NoteKind.SKIPPED, place)
    if not messages and not header:
        raise FileError(file_name, "contains no messages")
    if hidden:
        notes.add(NoteKind.HIDDEN_LINES, count=sum(map(len, hidden.values())))
    if 0 in hidden:
        header = {**header, HIDDEN_LINES: [*hidden[0]]}
    messages = [replace(message, hidden_lines=tuple(hidden.get(index, ()))) for index, message in enumerate(messages, start=1)]
    return build_transcript(header, messages, title)


def _parse_lines(text: str, file_name: str, notes: ImportNotes) -> Iterator[tuple[str, JsonObject]]:
    """Yield the objects in the lines, each with its place. A line that holds none is left out with a note."""
    lines = text.splitlines()
    if len(lines) > MAX_MESSAGES:
        raise FileError(file_name, f"contains more than {MAX_MESSAGES:,} messages")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            values = parse_json_text(line, file_name, notes, place)
        except FileError:
            values = None
        if isinstance(values, dict):
            yield place, values
        else:
            notes.add(NoteKind.SKIPPED, place)


def is_hidden(values: Mapping[str, JsonValue]) -> bool:
    """Return whether a line is hidden from the model: a message that the user hid, a comment or help of the program."""
    reader = FieldReader(values)
    return "mes" in values and reader.flag("is_system") and reader.child("extra").text("type") != NARRATOR_TYPE


def is_header(values: Mapping[str, JsonValue]) -> bool:
    """Return whether an object is the header of a chat."""
    return any(name in values for name in HEADER_FIELDS)


def build_transcript(header: JsonObject, messages: Sequence[TranscriptMessage], title: str) -> ChatTranscript:
    """Return a transcript; who takes part is taken from the header, or else from the messages."""
    reader = FieldReader(header)
    metadata = reader.child("chat_metadata")
    speakers = list(dict.fromkeys(message.name for message in messages if message.role is Role.ASSISTANT and message.name))
    users = [message.name for message in messages if message.role is Role.USER and message.name]
    character, user = reader.text("character_name"), reader.text("user_name")
    return ChatTranscript(
        title=title,
        character=character if character and character != UNUSED else next(iter(speakers), ""),
        user=user if user and user != UNUSED else next(iter(users), ""),
        messages=tuple(messages),
        members=tuple(speakers) if len(speakers) > 1 else (),
        world=metadata.text("world_info"),
        original=header,
    )


def read_message(values: JsonObject, notes: ImportNotes, place: str) -> TranscriptMessage | None:
    """Return the message of a line, or None if it has no text."""
    reader = FieldReader(values, notes, place)
    extra = reader.child("extra")
    time = parse_date(values.get("send_date"))
    if time is None and values.get("send_date"):
        notes.add(NoteKind.WRONG_TYPE, reader.location_of("send_date"), found="date")
    replies = _read_swipes(values, reader)
    current = _text_of(values.get("mes"))
    if current is None and not replies:
        return None
    shown = reader.number("swipe_id", 0, 0, max(0, len(replies) - 1))
    if current is not None and (not replies or replies[shown].text != current):
        # An edited text may be missing among the swipes.
        texts = [reply.text for reply in replies]
        shown = texts.index(current) if current in texts else len(replies)
        if shown == len(replies):
            replies.append(_build_reply(current, extra, time))
    is_narrator = reader.child("extra").text("type") == NARRATOR_TYPE
    role = Role.USER if reader.flag("is_user") else Role.SYSTEM if is_narrator else Role.ASSISTANT
    return TranscriptMessage(role, reader.text("name").strip(), tuple(replies), shown, time, values)


def _read_swipes(values: Mapping[str, JsonValue], reader: FieldReader) -> list[TranscriptReply]:
    infos = reader.items("swipe_info")
    shown = reader.number("swipe_id", 0)
    replies = []
    for number, swipe in enumerate(reader.items("swipes")[:MAX_SWIPES]):
        text = _text_of(swipe)
        if text is None:
            continue
        info = FieldReader(infos[number] if number < len(infos) else None)
        extra = info.mapping("extra") or (reader.mapping("extra") if number == shown else {})
        time = parse_date(info.text("send_date")) or parse_date(values.get("send_date"))
        replies.append(_build_reply(text, FieldReader(extra), time))
    return replies


def _build_reply(text: str, extra: FieldReader, time: datetime | None) -> TranscriptReply:
    return TranscriptReply(text, extra.text("reasoning"), time, extra.text("model"), extra.mapping(OWN))


def _text_of(value: JsonValue) -> str | None:
    """Return the text of `mes` or of a swipe; Chub writes an object with the field `message`."""
    if isinstance(value, dict):
        value = value.get("message")
    return FieldReader({"mes": value}).text("mes") if isinstance(value, str) else None


def write_message(message: Message) -> JsonObject:
    """Return a message as a line of a chat, from our fields alone."""
    current = message.current
    line: JsonObject = {
        "name": message.speaker_name,
        "is_user": message.role is Role.USER,
        "is_system": False,
        "send_date": message.time.isoformat(),
        "mes": current.content,
        "extra": _write_extra(current, NARRATOR_TYPE if message.role is Role.SYSTEM else "", message.mode),
    }
    if len(message.alternatives) > 1:
        line["swipe_id"] = min(message.shown, len(message.alternatives) - 1)
        line["swipes"] = [alternative.content for alternative in message.alternatives]
        line["swipe_info"] = [
            {"send_date": alternative.created.isoformat(), "extra": _write_extra(alternative)}
            for alternative in message.alternatives
        ]
    return line


def _write_extra(alternative: Alternative, kind: str = "", mode: MessageMode = MessageMode.TEXT) -> JsonObject:
    own: JsonObject = alternative.model_dump(mode="json", include=OWN_FIELDS, exclude_defaults=True)
    own |= {MODE: mode} if mode is not MessageMode.TEXT else {}
    values: JsonObject = {"reasoning": alternative.thinking, "model": alternative.model, "type": kind, OWN: own}
    return {name: value for name, value in values.items() if value}


def restore_lines(message: Message, original: JsonObject) -> list[JsonObject]:
    """Return a message as a line of a chat, with the fields of the line it was imported from that still hold, and after it
    the hidden lines that followed.
    """
    own, hidden = _split_hidden_lines(original)
    return [restore_original(write_message(message), own, _comparable), *hidden]


def keep_line(found: TranscriptMessage, message: Message) -> JsonObject:
    """Return the part of the line read as `found` that an export of the message made of it would not contain, with the hidden
    lines that follow.
    """
    kept = keep_original(found.original, write_message(message), _comparable, _without_lines(found))
    return {**kept, HIDDEN_LINES: [*found.hidden_lines]} if found.hidden_lines else kept


def _comparable(line: JsonObject) -> object:
    found = read_message(line, ImportNotes(), "")
    return _without_lines(found) if found is not None else None


def _without_lines(found: TranscriptMessage) -> TranscriptMessage:
    return replace(found, original={}, hidden_lines=())


def _split_hidden_lines(original: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    """Return the fields of a line or header, and the hidden lines that were kept with it."""
    own = {name: value for name, value in original.items() if name != HIDDEN_LINES}
    return own, [line for line, _reader in FieldReader(original).objects(HIDDEN_LINES)]


def write_chat(header: JsonObject, lines: Iterable[JsonObject]) -> str:
    """Return a chat file: the header, the hidden lines kept with it and the messages, one per line."""
    own, hidden = _split_hidden_lines(header)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (own, *hidden, *lines))
