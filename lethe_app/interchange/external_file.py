"""Files of other programs: the kind is recognised by suffix and content; read as personas, worlds, chats or presets."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import cast

import yaml
from pydantic import JsonValue

from lethe_app.domain.import_notes import ImportNote, ImportNotes
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, UnknownFormat
from lethe_app.interchange.cards import png
from lethe_app.interchange.cards.card import ImportedCard, build_card, is_card, read_card
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject, decode_text, parse_json_text
from lethe_app.interchange.lorebooks.lorebook import NO_SETTINGS, LorebookFormat, find_format, read_lorebook
from lethe_app.interchange.memories import ImportedMemories, find_memories, read_memories
from lethe_app.interchange.presets.preset import Preset, is_preset, read_presets
from lethe_app.interchange.presets.samplers import CHAT_COMPLETION_MARKS
from lethe_app.interchange.transcripts.other_formats import find_reader, is_open_web_ui, read_open_web_ui
from lethe_app.interchange.transcripts.silly_tavern import read_chat
from lethe_app.interchange.transcripts.transcript import ChatTranscript

MAX_FILE_BYTES = 512 * 1024 * 1024
"""Maximum size of a file: a CHARX archive with pictures and sounds."""
MAX_YAML_BYTES = 1024 * 1024
NAMES, DESCRIPTIONS = "personas", "persona_descriptions"
"""Fields with the names and the descriptions of user personas, by the file name of their picture."""
UNSUPPORTED = (
    ("reasoning template", {"prefix", "suffix", "separator"}),
    *(("chat completion preset", {mark}) for mark in sorted(CHAT_COMPLETION_MARKS)),
    ("quick reply set", {"qrList"}),
    ("quick reply set", {"quickReplySlots"}),
    ("theme", {"main_text_color"}),
    ("group definition", {"members", "activation_strategy"}),
    ("settings file", {"power_user"}),
)
"""Files of SillyTavern without a counterpart in Lethe, by the fields that mark them."""
_PICTURE_STARTS = (png.SIGNATURE, b"RIFF", b"\xff\xd8")


@dataclass(frozen=True)
class ExternalContent:
    """What one file contains. A saved story of KoboldAI Lite, for one, is a conversation with a world."""

    cards: tuple[ImportedCard, ...] = ()
    worlds: tuple[World, ...] = ()
    transcripts: tuple[ChatTranscript, ...] = ()
    presets: tuple[Preset, ...] = ()
    memories: ImportedMemories | None = None
    notes: list[ImportNote] = field(default_factory=list)


def read_external_file(content: bytes, file_name: str, settings: JsonObject = NO_SETTINGS) -> ExternalContent:
    """Read a file of another program. Raise FileError, naming the file and the field, if it is none that is known.

    `settings` are SillyTavern's global ones of World Info (`read_world_settings`), if there are any with the file.
    """
    if len(content) > MAX_FILE_BYTES:
        raise FileError(file_name, f"is larger than {MAX_FILE_BYTES // 1024 // 1024} MB")
    if content.startswith(_PICTURE_STARTS) or b"PK\x05\x06" in content[-70_000:]:
        card = read_card(content, file_name, settings)
        return ExternalContent(cards=(card,), notes=card.notes)
    notes = ImportNotes()
    title, suffix = PurePath(file_name).stem, PurePath(file_name).suffix.lower()
    text = decode_text(content, file_name)
    if suffix in (".yaml", ".yml"):
        card = build_card(_parse_yaml(text, file_name), file_name, notes, settings=settings)
        return ExternalContent(cards=(card,), notes=card.notes)
    if suffix == ".jsonl":
        return ExternalContent(transcripts=(read_chat(text, file_name, title, notes),), notes=notes.notes)
    values = parse_json_text(text, file_name, notes)
    return _recognise(values, file_name, notes, settings)


def _recognise(values: JsonValue, file_name: str, notes: ImportNotes, settings: JsonObject) -> ExternalContent:
    title = PurePath(file_name).stem
    if is_card(values):
        card = build_card(values, file_name, notes, settings=settings)
        return ExternalContent(cards=(card,), notes=card.notes)
    if is_open_web_ui(values) and isinstance(values, list):
        return ExternalContent(transcripts=tuple(read_open_web_ui(values, title)), notes=notes.notes)
    if find_memories(values) and find_format(values) is None:
        return ExternalContent(memories=read_memories(values, title, notes), notes=notes.notes)
    read = find_reader(values)
    if read is not None and isinstance(values, dict):
        has_book = find_format(values) is LorebookFormat.KOBOLD and values.get("worldinfo")
        worlds = (read_lorebook(values, title, notes),) if has_book else ()
        return ExternalContent(worlds=worlds, transcripts=tuple(read(values, title)), notes=notes.notes)
    if find_format(values) is not None:
        return ExternalContent(worlds=(read_lorebook(values, title, notes, settings),), notes=notes.notes)
    return _recognise_settings(values, title, file_name, notes)


def _recognise_settings(values: JsonValue, title: str, file_name: str, notes: ImportNotes) -> ExternalContent:
    """Return presets or user personas. Raise UnknownFormat if it is neither."""
    if is_preset(values) and isinstance(values, dict) and (presets := read_presets(values, title, notes)):
        return ExternalContent(presets=tuple(presets), notes=notes.notes)
    if (cards := read_user_personas(values)) is not None:
        return ExternalContent(cards=cards, notes=notes.notes)
    marks = values.keys() if isinstance(values, dict) else set[str]()
    kind = next((kind for kind, fields in UNSUPPORTED if marks >= fields), "")
    if kind:
        raise UnknownFormat(file_name, f"is a {kind} of SillyTavern, which has no counterpart in Lethe", kind)
    raise UnknownFormat(file_name, "has a format that Lethe cannot import")


def read_user_personas(values: JsonValue) -> tuple[ImportedCard, ...] | None:
    """Return the user personas of SillyTavern, from a settings file or a backup of the personas, without their pictures, which
    are files of their own; None if the value has none.
    """
    found = FieldReader(values)
    settings = found.mapping("power_user") if found.child("power_user").mapping(NAMES) else values
    found = FieldReader(settings)
    if not (isinstance(settings, dict) and isinstance(settings.get(DESCRIPTIONS), dict) and found.mapping(NAMES)):
        return None
    names, descriptions = found.child(NAMES), found.child(DESCRIPTIONS)
    named = [(picture, name) for picture in found.mapping(NAMES) if (name := names.text(picture).strip())]
    return tuple(
        ImportedCard(Persona(name=name[:200], bio=descriptions.child(picture).text("description"), is_user=True))
        for picture, name in named
    )


def read_world_settings(content: bytes, file_name: str) -> JsonObject:
    """Return the global settings of World Info in a settings file of SillyTavern, which older versions kept at its top."""
    values = parse_json_text(decode_text(content, file_name), file_name, ImportNotes())
    found = FieldReader(values).mapping("world_info_settings")
    return found or (values if isinstance(values, dict) else {})


def _parse_yaml(text: str, file_name: str) -> JsonValue:
    """Parse YAML without aliases, with which a short text can stand for billions of values."""
    if len(text) > MAX_YAML_BYTES:
        raise FileError(file_name, f"is larger than {MAX_YAML_BYTES // 1024} KB")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise FileError(file_name, "contains YAML aliases, which Lethe does not support")
        # Through JSON, which makes texts of dates and of keys that are numbers.
        return cast("JsonValue", json.loads(json.dumps(yaml.safe_load(text), default=str)))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise FileError(file_name, "is not valid YAML") from error
