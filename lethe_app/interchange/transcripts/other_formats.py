"""Chats of Agnai, text-generation-webui, CAI Tools, KoboldAI Lite, RisuAI, Open WebUI and the original Lethe AI Chat."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape

from pydantic import JsonValue

from lethe_app.domain.chat import Role
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.transcripts.dates import parse_date
from lethe_app.interchange.transcripts.silly_tavern import build_transcript
from lethe_app.interchange.transcripts.transcript import ChatTranscript, TranscriptMessage, TranscriptReply

_KOBOLD_TURN = re.compile(r"\{\{\[(INPUT|OUTPUT)\]\}\}")
_AGNAI_NAME = "Exported"
"""Name that Agnai gives every exported chat."""
_KOBOLD_NAMES = "||$||"
_WEB_UI_MARKS = ("<|BEGIN-VISIBLE-CHAT|>",)
"""Texts with which text-generation-webui begins a chat that has a greeting."""
_LETHE_ROLES = {"user": Role.USER, "0": Role.SYSTEM, "system": Role.SYSTEM, "bot": Role.ASSISTANT, "assistant": Role.ASSISTANT}
_MAX_PATH = 200_000


def _message(
    role: Role,
    name: str,
    text: str,
    values: Mapping[str, JsonValue] | None = None,
    time: JsonValue = None,
    thinking: str = "",
) -> TranscriptMessage:
    moment = parse_date(time)
    return TranscriptMessage(role, name, (TranscriptReply(text, thinking, moment),), 0, moment, original=dict(values or {}))


def read_agnai(values: JsonObject, title: str) -> list[ChatTranscript]:
    """Read a chat of Agnai. A message with a `userId` is the user's."""
    reader = FieldReader(values)
    messages = [
        _message(
            Role.USER if one.get("userId") else Role.ASSISTANT,
            message.text("handle") or message.text("name"),
            message.text("msg"),
            one,
            one.get("createdAt"),
        )
        for one, message in reader.objects("messages")
        if message.text("msg")
    ]
    name = reader.text("name")
    return [build_transcript({}, messages, name if name and name != _AGNAI_NAME else title)]


def read_text_generation_webui(values: JsonObject, title: str) -> list[ChatTranscript]:
    """Read a chat of text-generation-webui: pairs of the user's and the character's text.

    The texts as the model knows them are read; those for display are HTML.
    """
    reader = FieldReader(values)
    metadata = reader.child("metadata")
    messages = []
    pairs = [*map(_texts_of, reader.items("data") or reader.items("internal"))]
    pairs = pairs or [[*map(unescape, _texts_of(pair))] for pair in reader.items("data_visible")]
    for number, pair in enumerate(pairs):
        for role, name, text in zip((Role.USER, Role.ASSISTANT), ("user", "assistant"), pair, strict=False):
            if text.strip() and text not in _WEB_UI_MARKS:
                details = metadata.child(f"{name}_{number}")
                messages.append(_web_ui_message(role, text, details))
    return [build_transcript({}, messages, title)]


def _texts_of(pair: JsonValue) -> list[str]:
    return [text if isinstance(text, str) else "" for text in pair] if isinstance(pair, list) else []


def _web_ui_message(role: Role, text: str, details: FieldReader) -> TranscriptMessage:
    """Return a message with the versions of a reply that was regenerated."""
    time = parse_date(details.text("timestamp"))
    versions = [
        TranscriptReply(version.text("content"), "", parse_date(version.text("timestamp")) or time)
        for _, version in details.objects("versions")
        if version.text("content")
    ]
    texts = [version.text for version in versions]
    if text not in texts:
        versions.append(TranscriptReply(text, "", time))
        texts.append(text)
    return TranscriptMessage(role, "", tuple(versions), texts.index(text), time)


def read_cai_tools(values: JsonObject, title: str) -> list[ChatTranscript]:
    """Read a file of CAI Tools: several histories of one character."""
    reader = FieldReader(values)
    histories = reader.child("histories").objects("histories") or reader.objects("histories")
    transcripts = []
    for number, (_values, history) in enumerate(histories, start=1):
        messages = []
        for one, message in history.objects("msgs"):
            source = message.child("src")
            role = Role.USER if source.flag("is_human") else Role.ASSISTANT
            if message.text("text"):
                messages.append(_message(role, source.text("name"), message.text("text"), one, one.get("created")))
        if messages:
            transcripts.append(build_transcript({}, messages, f"{title} {number}"))
    return transcripts


def read_kobold(values: JsonObject, title: str) -> list[ChatTranscript]:
    """Read a saved story of KoboldAI Lite, whose turns are marked in one running text."""
    reader = FieldReader(values)
    settings = reader.child("savedsettings")
    user, opponents = settings.text("chatname"), settings.text("chatopponent").split(_KOBOLD_NAMES)
    actions = [action for action in reader.items("actions") if isinstance(action, str)]
    pieces = _KOBOLD_TURN.split("".join([reader.text("prompt"), *actions]))
    messages = []
    if pieces[0].strip():
        messages.append(_message(Role.ASSISTANT, opponents[0], pieces[0].strip()))
    for kind, text in zip(pieces[1::2], pieces[2::2], strict=True):
        if text.strip():
            is_user = kind == "INPUT"
            messages.append(_message(Role.USER if is_user else Role.ASSISTANT, user if is_user else opponents[0], text.strip()))
    header: JsonObject = {name: value for name, value in values.items() if name not in {"actions", "prompt", "worldinfo"}}
    return [build_transcript({"kobold": header}, messages, title)]


def read_risu(values: JsonObject, title: str) -> list[ChatTranscript]:
    """Read a chat of RisuAI, or all chats of a character."""
    reader = FieldReader(values)
    is_all = reader.text("type") == "risuAllChats"
    chats = [chat for _values, chat in reader.objects("data")] if is_all else [reader.child("data")]
    transcripts = []
    for chat in chats:
        messages = [
            _message(
                Role.USER if message.text("role") == "user" else Role.ASSISTANT,
                message.text("name"),
                message.text("data"),
                one,
                one.get("time"),
            )
            for one, message in chat.objects("message")
            if message.text("data") and not message.flag("isComment")
        ]
        if messages:
            transcripts.append(build_transcript({}, messages, chat.text("name") or title))
    return transcripts


def read_open_web_ui(values: Sequence[JsonValue], title: str) -> list[ChatTranscript]:
    """Read an export of Open WebUI. Of the tree of messages the branch in use is read, with its siblings as alternatives."""
    transcripts = []
    for _values, exported in FieldReader({"chats": [*values]}).objects("chats"):
        chat = exported.child("chat")
        history = chat.child("history")
        messages = _branch(history.mapping("messages"), history.text("currentId"))
        if messages:
            transcripts.append(build_transcript({}, messages, chat.text("title") or title))
    return transcripts


def _branch(tree: JsonObject, leaf: str) -> list[TranscriptMessage]:
    path: list[str] = []
    while leaf in tree and leaf not in path[-1:] and len(path) < _MAX_PATH:
        path.append(leaf)
        node = tree[leaf]
        parent = node.get("parentId") if isinstance(node, dict) else None
        if not isinstance(parent, str) or parent == leaf:
            break
        leaf = parent
    if len(set(path)) < len(path):  # a circle, which only a damaged or hostile file contains
        path = list(dict.fromkeys(path))
    return [message for guid in reversed(path) if (message := _with_siblings(tree, guid)) is not None]


def _with_siblings(tree: JsonObject, guid: str) -> TranscriptMessage | None:
    node = tree[guid]
    if not isinstance(node, dict):
        return None
    parent = tree.get(str(node.get("parentId")))
    siblings = FieldReader(parent).texts("childrenIds")
    role = FieldReader(node).text("role")
    same_role = [
        (sibling, FieldReader(found))
        for sibling in (siblings if guid in siblings else [guid])[:500]
        if isinstance(found := tree.get(sibling), dict) and found.get("role") == role
    ]
    replies = [
        TranscriptReply(reader.text("content"), "", parse_date(reader.optional_number("timestamp")), reader.text("model"))
        for _, reader in same_role
    ]
    if not replies:
        return None
    shown = next((number for number, (sibling, _) in enumerate(same_role) if sibling == guid), 0)
    ours = Role.USER if role == "user" else Role.SYSTEM if role == "system" else Role.ASSISTANT
    return TranscriptMessage(ours, "", tuple(replies), shown, replies[shown].time, original=node)


def read_old_lethe(values: JsonObject, title: str) -> list[ChatTranscript]:
    """Read a chat log of the original Lethe AI Chat: sessions with messages."""
    reader = FieldReader(values)
    sessions = [session for _values, session in reader.objects("Sessions")] or [reader]
    transcripts = []
    for session in sessions:
        messages = []
        for one, message in session.objects("Messages"):
            role = _LETHE_ROLES.get(message.text("Role").casefold(), Role.ASSISTANT)
            text = message.text("Message")
            if text:
                speaker = message.text("UserID") if role is Role.USER else message.text("CharID")
                messages.append(_message(role, speaker, text, one, one.get("Date"), message.text("ThinkBlock")))
        if messages:
            transcripts.append(build_transcript({}, messages, session.text("Name") or title))
    return transcripts


Reader = Callable[[JsonObject, str], list[ChatTranscript]]


def find_reader(values: JsonValue) -> Reader | None:
    """Return the function that reads a chat in one JSON object; None if the format is not known."""
    if not isinstance(values, dict):
        return None
    messages = values.get("messages")
    if isinstance(messages, list) and any(isinstance(one, dict) and "msg" in one for one in messages[:10]):
        return read_agnai
    kind = values.get("type")
    readers: tuple[tuple[bool, Reader], ...] = (
        ("histories" in values, read_cai_tools),
        ("data_visible" in values or ("visible" in values and "internal" in values), read_text_generation_webui),
        (kind in ("risuChat", "risuAllChats"), read_risu),
        ("savedsettings" in values and "actions" in values, read_kobold),
        ("Messages" in values or "Sessions" in values, read_old_lethe),
    )
    return next((read for matches, read in readers if matches), None)


def is_open_web_ui(values: JsonValue) -> bool:
    """Return whether a JSON value is an export of Open WebUI."""
    first = values[0] if isinstance(values, list) and values else None
    chat = first.get("chat") if isinstance(first, dict) else None
    return isinstance(chat, dict) and "history" in chat
